/* Encoders for the sample: enough of Q4_K, Q6_K, Q8_0 and F16 to write a model that looks like a real one. Written from
 * the block layouts alone and without the engine, so that the sample is no echo of the decoders that read it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum
{
  SAMPLE_F32,
  SAMPLE_F16,
  SAMPLE_Q8_0,
  SAMPLE_Q4_K,
  SAMPLE_Q6_K,
  N_SAMPLE_TYPES
} SampleType;

typedef struct
{
  uint32_t id;     /* ggml's number */
  size_t elements; /* of a block */
  size_t bytes;
  void (*encode) (const float *values, uint8_t *block);
} SampleTypeInfo;

extern const SampleTypeInfo sample_types[N_SAMPLE_TYPES];

uint16_t sample_float_to_half (float value);
float sample_half_to_float (uint16_t half);
