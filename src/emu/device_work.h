/*
 * What device code asks of the runtime (dynamic parallelism; CUDA C++ Programming Guide, "Device
 * Runtime"): kernels to launch, memory to copy and set, which is all done when the grid has ended,
 * and questions, which are answered at once.
 *
 * Errors are numbers of CUDA's enum cudaError, 0 = success.
 */
#ifndef PMPP_EMU_DEVICE_WORK_H
#define PMPP_EMU_DEVICE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_MAX_DEPTH 24 /* of launches in launches, as on hardware */

enum device_work_kind { DEVICE_WORK_LAUNCH, DEVICE_WORK_COPY, DEVICE_WORK_SET };

struct device_work {
	enum device_work_kind kind;
	bool tail;      /* only when the grid and all that it launched have ended */
	uint64_t block; /* of the grid: the one that asked */
	/* LAUNCH */
	const char *kernel; /* as the module names it */
	unsigned grid[3], threads[3], shared_bytes;
	const void *params;
	/* COPY, SET: @height rows of @width bytes */
	uint64_t to, from, to_pitch, from_pitch, width, height;
	unsigned value; /* SET: of each byte */
};

enum device_question {
	DEVICE_ASKS_ATTRIBUTE,    /* int, of argument 0: enum cudaDeviceAttr */
	DEVICE_ASKS_LIMIT,        /* size_t, of argument 0: enum cudaLimit */
	DEVICE_ASKS_FUNCTION,     /* struct cudaFuncAttributes, of the kernel */
	DEVICE_ASKS_OCCUPANCY,    /* int, of the kernel with blocks of argument 0 and 1 bytes */
	DEVICE_ASKS_VERSION,      /* int */
	DEVICE_ASKS_ERROR_NAME,   /* text, of argument 0 */
	DEVICE_ASKS_ERROR_STRING, /* text, of argument 0 */
};
struct device_answer {
	uint8_t bytes[512];
	size_t n;
};
/* May be called by several threads at once. @kernel: NULL where the question is of none. */
typedef int device_ask(void *ctx, enum device_question question, const char *kernel,
                       const uint64_t *arg, struct device_answer *answer);

#endif
