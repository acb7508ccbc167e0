/* The kernels as processors without SSE2 and AVX2 get them. */
#define TM_PLAIN_C
#define TM_KERNELS tm_kernels_plain_c
#include "quant/kernel.h"
