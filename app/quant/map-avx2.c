/* The loops once more, for x86 processors with AVX2; same source, same bits. */
#define TM_MAP_KERNELS tm_map_kernels_avx2

#include "quant/map-kernel.h"
