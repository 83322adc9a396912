/*
 * A cubin's disassembly, by NVIDIA's nvdisasm and a cache.
 *
 * nvdisasm comes with the CUDA Toolkit and as a Python wheel (nvidia-cuda-nvdisasm); it takes about
 * half a second a cubin, so what it printed is kept in the cache folder and needs neither it nor
 * time again. Knows nothing of what the listing says: sass/ reads it.
 */
#ifndef PMPP_COMPILE_DISASSEMBLE_H
#define PMPP_COMPILE_DISASSEMBLE_H

#include "base/err.h"
#include "base/text.h"

#include <stdatomic.h>

/*
 * Appends the listing of @cubin: "// nvdisasm 13.5.37", then nvdisasm's text without what its
 * reader passes over. Thread-safe; blocks while nvdisasm runs, so not for a thread that draws.
 * ERR_UNAVAILABLE: no nvdisasm and not in the cache, or nvdisasm failed; ERR_TIMEOUT,
 * ERR_CANCELLED: it was killed.
 */
bool disassemble(const void *cubin, size_t len, const atomic_bool *cancel, struct text *listing,
                 struct err *err);
/* The same from the cache alone; false = it is not there. */
bool disassembled(const void *cubin, size_t len, struct text *listing);
/* Its path, or ERR_UNAVAILABLE with every place that was looked into and the remedy.
 * PMPP_NVDISASM names one file to use instead of searching. */
bool disassembler_find(char *path, size_t n, struct err *err);

#endif
