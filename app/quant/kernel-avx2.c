/* The kernels once more, compiled for x86 processors with AVX2 and F16C; same source, same bits. */
#define TM_KERNELS tm_kernels_avx2
#include "quant/kernel.h"
