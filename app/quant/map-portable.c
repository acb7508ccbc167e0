/* The loops in portable C. */
#define TM_MAP_KERNELS tm_map_kernels_portable

#include "quant/map-kernel.h"
