/* What the parts of the stand-in for NVIDIA's libraries share; see fake_nvidia.c. */
#ifndef PMPP_TEST_FAKE_NVIDIA_H
#define PMPP_TEST_FAKE_NVIDIA_H

#include "cuda/cuda_dl.h"

#include <stddef.h>
#include <stdint.h>

/* The process has one device and one profiler, so this is one. */
extern struct fake_state {
	int sticky;   /* a kernel faulted: everything fails with this from then on */
	int started;  /* the range profiler counts */
	int launched; /* kernels since it does */
	int sass_on;  /* kernels are instrumented */
} fake_state;

/* The result that FAKE_NVIDIA wants of function @name, 0 = none; or crashes, hangs, naps here. */
int fake_result(const char *name);
/* Is @name, or a part of it, in the comma-separated list of the variable @env? */
int fake_listed(const char *env, const char *name);
/* Ends the process as the real CUPTI does. */
void fake_misuse(const char *what) __attribute__((noreturn));
uint64_t fake_now_ns(void);
/* fake_activity.c: an activity record from @start to now. @kind: a copy's kind; -1 = a kernel. */
void fake_record(int kind, size_t bytes, uint64_t start, const char *name);

#define CU(name)                                                             \
	do {                                                                     \
		int r_ = fake_state.sticky ? fake_state.sticky : fake_result(#name); \
		if (r_)                                                              \
			return (CUresult)r_;                                             \
	} while (0)
#define CP(name)                     \
	do {                             \
		int r_ = fake_result(#name); \
		if (r_)                      \
			return (CUptiResult)r_;  \
	} while (0)

#endif
