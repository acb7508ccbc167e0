/* The kernels in portable C. */
#define TM_KERNELS tm_kernels_portable
#include "quant/kernel.h"
