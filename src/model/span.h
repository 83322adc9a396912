/*
 * What a GPU did when: kernels, copies, fills and the calls that caused them, on one clock.
 *
 * Filled from CUPTI activity records or, without them, from events; times are nanoseconds from the
 * first span's start; the pause between initialisation and the program is left out. Plain data
 * without pointers; draws and computes nothing.
 */
#ifndef PMPP_MODEL_SPAN_H
#define PMPP_MODEL_SPAN_H

#include "base/enum_list.h"

#include <stdint.h>

/* X(ID, "name", "what it is") */
#define SPAN_KINDS(X)                                                       \
	X(SPAN_KERNEL, "kernel", "a kernel on the GPU")                         \
	X(SPAN_H2D, "copy to GPU", "a copy from host memory to device memory")  \
	X(SPAN_D2H, "copy to host", "a copy from device memory to host memory") \
	X(SPAN_D2D, "copy on GPU", "a copy within device memory")               \
	X(SPAN_FILL, "fill", "a memset of device memory")                       \
	X(SPAN_CALL, "call", "a driver call of ours, on the host")              \
	X(SPAN_OVERHEAD, "overhead", "time the tools or the driver spent")      \
	X(SPAN_INIT, "initialisation", "context, module, allocation, pinning: once, before the program")

enum span_kind { SPAN_KINDS(LIST_ID) SPAN_KIND_COUNT };

struct span {
	enum span_kind kind;
	char name[48];        /* kernel entry, "H2D A", "cuLaunchKernel" */
	uint32_t stream;      /* row of the GPU; 0 for calls and overhead */
	uint32_t correlation; /* a call and the work it caused share it; 0 = none */
	double start_ns, end_ns;
	double queued_ns; /* kernels: when the command was queued; negative = unknown */
	uint64_t bytes;   /* copies and fills */
};

#endif
