/*
 * PTX to a cubin, by NVIDIA's ptxas and a cache: for programs that bring no machine code for the
 * GPU that is asked about. A driver does the same when such a program starts.
 */
#ifndef PMPP_COMPILE_ASSEMBLE_H
#define PMPP_COMPILE_ASSEMBLE_H

#include "base/err.h"
#include "base/text.h"

#include <stdatomic.h>

/*
 * Appends the cubin of @ptx for compute capability @cc (90) to @cubin. Thread-safe; blocks while
 * ptxas runs. ERR_UNAVAILABLE: no ptxas and not in the cache, or ptxas refused it; ERR_TIMEOUT,
 * ERR_CANCELLED: it was killed. PMPP_PTXAS names one file to use instead of searching.
 */
bool assemble(const char *ptx, size_t len, unsigned cc, const atomic_bool *cancel,
              struct text *cubin, struct err *err);

#endif
