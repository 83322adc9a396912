/* NVTX 3 under the name of NVTX 2, which CUDA 13 took out. It needs no library. */
#include <nvtx3/nvToolsExt.h>
