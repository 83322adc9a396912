/*
 * Launches: the call as nvcc writes it, what is legal on this device, the run, its time, its
 * record.
 */
#include "runtime/guest/guest_clock.h"
#include "runtime/guest/guest_op.h"
#include "runtime/guest/guest_record.h"
#include "runtime/guest/guest_time.h"

#include "base/mem.h"
#include "base/text.h"
#include "timemodel/stream_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* nvcc's generated code calls these; no header declares them. */
GUEST_API unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                         struct CUstream_st *stream);
GUEST_API cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                                           void *stream);
GUEST_API cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                   void **args, size_t shared, cudaStream_t stream);

/* --- kernel<<<grid, block, shared, stream>>>: pushed, then popped by the kernel's stub --- */

#define MAX_NESTED 8
static _Thread_local struct {
	dim3 grid, block;
	size_t shared;
	struct CUstream_st *stream;
} pushed[MAX_NESTED];
static _Thread_local unsigned n_pushed;

unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                               struct CUstream_st *stream)
{
	if (n_pushed == MAX_NESTED)
		return 1;
	pushed[n_pushed].grid = grid;
	pushed[n_pushed].block = block;
	pushed[n_pushed].shared = shared;
	pushed[n_pushed++].stream = stream;
	return 0;
}

cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                                 void *stream)
{
	if (!n_pushed)
		return cudaErrorMissingConfiguration;
	n_pushed--;
	*grid = pushed[n_pushed].grid;
	*block = pushed[n_pushed].block;
	*shared = pushed[n_pushed].shared;
	memcpy(stream, &pushed[n_pushed].stream, sizeof(cudaStream_t));
	return cudaSuccess;
}

/* --- the call --- */

static const struct guest_group alone = { .cooperative = false },
								together = { .cooperative = true };

static cudaError_t launch(const void *host, dim3 grid, dim3 block, void **args, size_t shared,
                          cudaStream_t stream, const struct guest_group *group, const void *caller)
{
	struct guest_stream *s = guest_stream_of(stream);
	struct guest_op op;
	cudaError_t e = s ? guest_pack_launch(host, grid, block, args, shared, group, &op)
	                  : cudaErrorInvalidResourceHandle;
	if (e != cudaSuccess) {
		guest.unchecked_launch = record_launch_number() + 1;
		return e;
	}
	e = guest_submit(s, &op, GUEST_ASYNC, caller);
	guest_op_drop(&op);
	return e;
}

cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                         size_t shared, cudaStream_t stream)
{
	GUEST_STREAM_CALL(launch(kernel, grid, block, args, shared, stream, &alone, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaLaunchKernel(const void *host, dim3 grid, dim3 block,
                                                 void **args, size_t shared, cudaStream_t stream)
{
	GUEST_STREAM_CALL(launch(host, grid, block, args, shared, stream, &alone, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block,
                                                            void **args, size_t shared,
                                                            cudaStream_t stream)
{
	GUEST_STREAM_CALL(launch(host, grid, block, args, shared, stream, &together, GUEST_CALLER));
}

static cudaError_t launch_ex(const cudaLaunchConfig_t *c, const void *host, void **args,
                             const void *caller)
{
	struct guest_group group = { .cooperative = false };
	for (unsigned i = 0; i < c->numAttrs; i++) {
		const cudaLaunchAttributeValue *v = &c->attrs[i].val;
		switch (c->attrs[i].id) {
		case cudaLaunchAttributeCooperative: group.cooperative = v->cooperative != 0; break;
		case cudaLaunchAttributeClusterDimension:
			if (!v->clusterDim.x || !v->clusterDim.y || !v->clusterDim.z)
				return cudaErrorInvalidClusterSize;
			group.cluster[0] = v->clusterDim.x;
			group.cluster[1] = v->clusterDim.y;
			group.cluster[2] = v->clusterDim.z;
			break;
		default: break; /* priorities and hints change no result */
		}
	}
	return launch(host, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream, &group,
	              caller);
}

GUEST_API cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                                    const void *host, void **args)
{
	GUEST_STREAM_CALL(launch_ex(config, host, args, GUEST_CALLER));
}
