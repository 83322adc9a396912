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
	int replay;   /* CUPTI replays the kernel itself: one launch is all passes */
} fake_state;

/* The result that FAKE_NVIDIA wants of function @name, 0 = none; or crashes, hangs, naps here. */
int fake_result(const char *name);
/* Is @name, or a part of it, in the comma-separated list of the variable @env? */
int fake_listed(const char *env, const char *name);
/* Ends the process as the real CUPTI does. */
void fake_misuse(const char *what) __attribute__((noreturn));
uint64_t fake_now_ns(void);
/* fake_activity.c: an activity record from @start to now. @kind: a copy's kind; -1 = a kernel,
 * FAKE_SET. */
#define FAKE_SET (-2) /* a kind: a memset */
void fake_record(int kind, size_t bytes, uint64_t start, const char *name);
/* What the next record is of, beyond the usual: where it runs, how it is launched. */
struct fake_launch {
	CUstream stream;
	unsigned grid[3], block[3], shared;
};
void fake_next(const struct fake_launch *l);
/* A call that was refused: it makes no work. */
void fake_refused(int result, uint64_t start);
/* A stream that was made; its number to CUPTI. */
unsigned fake_stream_number(CUstream stream);
/* fake_callback.c: tells a subscriber of cuLaunchKernel, in front (@result NULL) and behind it. */
void fake_call(const char *kernel, const void *parameters, const CUresult *result);
/* The number of the call under way. */
unsigned fake_correlation(void);

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
