/* Fuzz targets are plain functions with libFuzzer's name. Built as they are with a driver of its own, they take inputs
 * from a fuzzer; in the test suite fuzz-replay.h feeds them golden files, cut short and altered. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);
