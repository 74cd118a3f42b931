/* What UCX asks the driver for at run time. The virtual driver has no handle of a range for other
 * devices (DMA-BUF): UCX is told that there is no such function. */
#ifndef UCTRACE_VIRTUAL_CUDA_TYPEDEFS_H
#define UCTRACE_VIRTUAL_CUDA_TYPEDEFS_H

#include "cuda.h"

typedef CUresult (*PFN_cuMemGetHandleForAddressRange_v11070)(void* handle, CUdeviceptr address,
                                                             size_t bytes,
                                                             CUmemRangeHandleType type,
                                                             unsigned long long flags);
/* As in CUDA's own header, the name without a number is that of the newest. */
#define PFN_cuMemGetHandleForAddressRange PFN_cuMemGetHandleForAddressRange_v11070

#endif
