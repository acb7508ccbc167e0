/* The table of conventions, in the order they are asked. */
#include "recognise/convention.h"

extern const TmConvention tm_convention_ggml_nvfp4;

const TmConvention *const tm_conventions[] = {
  &tm_convention_ggml_nvfp4,
  NULL,
};
