/*
 * Programs that this CUDA's nvcc refuses although an earlier one took them: names that were taken
 * out, a C++ standard or an architecture that is too old now; programs that only a newer GPU runs;
 * and those whose makefile gives an option, or headers of NVIDIA's samples, that nobody gave here.
 * nvcc's messages tell which repair helps; each is noted for the person, whose files stay as they
 * are.
 */
#ifndef PMPP_COMPILE_PROGRAM_REPAIR_H
#define PMPP_COMPILE_PROGRAM_REPAIR_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>

/* X(ID, "what is noted") */
#define PROGRAM_REPAIRS(X)                                                                    \
	X(NAMES, "for CUDA 12 or earlier: what CUDA 13 took out of the runtime API is supplied")  \
	X(TEXTURES, "for CUDA 11 or earlier: texture references become texture objects")          \
	X(SURFACES, "for CUDA 11 or earlier: surface references become surface objects")          \
	X(OWN_SUM, "for GPUs before compute capability 6: its own atomicAdd() of doubles stands") \
	X(VOTES, "for CUDA 8 or earlier: votes are taken of the lanes that are there")            \
	X(LIBRARIES, "for CUDA 12 or earlier: what Thrust and CUB had then is supplied")          \
	X(DRIVER, "for CUDA 12 or earlier: cuCtxCreate() is called in its new form")              \
	X(STANDARD, "CUDA's C++ libraries want C++17: compiled with -std=c++17")                  \
	X(ARCHITECTURE, "this nvcc knows no architecture so old: compiled for the chosen GPU")    \
	X(NEWER, "only newer GPUs run this: compiled and run for one of compute capability 9.0")  \
	X(NVTX, "NVTX needs no library any more: linked without it")                              \
	X(RELOCATABLE, "kernels launch kernels or call other files: compiled with -rdc=true")     \
	X(PROFILER, "cuda_profiler_api.h is not installed: its two functions are declared")       \
	X(LAMBDAS, "kernels call lambdas of the host's code: compiled with --extended-lambda")    \
	X(CONSTEXPR, "kernels call constexpr functions: compiled with --expt-relaxed-constexpr")  \
	X(STANDARD_20, "it is C++20: compiled with -std=c++20")                                   \
	X(OPENMP, "it calls OpenMP: compiled with -Xcompiler -fopenmp")                           \
	X(CALLS_DRIVER, "it calls the driver API: linked with -lcuda")                            \
	X(CALLS_NVRTC, "it calls NVRTC: linked with -lnvrtc")                                     \
	X(SAMPLES, "the helper headers of NVIDIA's samples are missing: their functions are supplied")

enum program_repair {
#define X(id, note) PROGRAM_REPAIR_##id,
	PROGRAM_REPAIRS(X)
#undef X
		PROGRAM_REPAIR_COUNT
};

/* Bits by enum program_repair that nvcc's @messages ask for. */
unsigned program_repairs_for(const char *messages);
/* The note of one repair. */
const char *program_repair_note(enum program_repair r);
/* How many of nvcc's @words from the first on are left out: never those for the output and the
 * runtime library, which are ours; with @repairs also those that the repair replaces. */
unsigned program_repair_drops(unsigned repairs, unsigned n, char *const *words);
/* What nvcc is told for @repairs; @headers: the folder that program_repair_headers() filled. */
struct nvcc_command;
void program_repair_words(unsigned repairs, const char *headers, struct nvcc_command *c);
/* Puts the headers that repairs include into @folder. */
bool program_repair_headers(const char *folder, struct err *err);

#endif
