/*
 * What a stream program plays on: device and host memory of its own, pageable or pinned as the
 * program says, blocking streams (the legacy default stream waits for them and they for it),
 * events. What happens once (context, module, allocation, pinning) is timed by the host's clock.
 */
#ifndef PMPP_CUDA_CUDA_STAGE_H
#define PMPP_CUDA_CUDA_STAGE_H

#include "cuda/cuda_work.h"

#define INIT_MAX (3 + 2 * KERNEL_MAX_BUFFERS)

struct stage {
	const struct gpu_launch *l;
	const struct stream_program *p;
	CUdeviceptr device[KERNEL_MAX_BUFFERS];
	uint8_t *host[KERNEL_MAX_BUFFERS];
	bool pinned[KERNEL_MAX_BUFFERS], up[KERNEL_MAX_BUFFERS], down[KERNEL_MAX_BUFFERS];
	bool lent[KERNEL_MAX_BUFFERS];       /* host: the run's own, which the program only reads */
	CUstream stream[STREAM_MAX_STREAMS]; /* 0 stays NULL: the legacy default stream */
	CUevent event[STREAM_MAX_EVENTS];
	unsigned n_init;
	struct {
		char name[48];
		double ns;
		uint64_t bytes;
	} init[INIT_MAX];
};

/* Sets the stage for s->p around s->l; @shared is the run's own host memory. */
bool stage_set(struct gpu_worker *w, struct stage *s, uint8_t *shared, struct cuda_fault *why);
/* Host memory as it is before the program; every page is touched. */
bool stage_fill(struct gpu_worker *w, struct stage *s, const uint8_t *shared,
                struct cuda_fault *why);
void stage_strike(struct gpu_worker *w, struct stage *s);

#endif
