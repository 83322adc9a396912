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

static cudaError_t launch(const void *host, dim3 grid, dim3 block, void **args, size_t shared,
                          cudaStream_t stream, bool cooperative, const void *caller)
{
	struct guest_stream *s = guest_stream_of(stream);
	struct guest_op op;
	if (!s)
		return cudaErrorInvalidResourceHandle;
	cudaError_t e = guest_pack_launch(host, grid, block, args, shared, cooperative, &op);
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
	GUEST_CALL(launch(kernel, grid, block, args, shared, stream, false, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaLaunchKernel(const void *host, dim3 grid, dim3 block,
                                                 void **args, size_t shared, cudaStream_t stream)
{
	GUEST_CALL(launch(host, grid, block, args, shared, stream, false, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block,
                                                            void **args, size_t shared,
                                                            cudaStream_t stream)
{
	GUEST_CALL(launch(host, grid, block, args, shared, stream, true, GUEST_CALLER));
}

static cudaError_t no_clusters(void)
{
	struct err err = { 0 };
	err_set(&err, ERR_UNSUPPORTED, "clusters of blocks are not emulated; the launch was refused");
	err_remedy(&err, "launch with clusters of one block, or on a GPU of compute capability 9.0");
	record_problem("unsupported", &err);
	return cudaErrorNotSupported;
}

static cudaError_t launch_ex(const cudaLaunchConfig_t *c, const void *host, void **args,
                             const void *caller)
{
	bool cooperative = false;
	for (unsigned i = 0; i < c->numAttrs; i++)
		switch (c->attrs[i].id) {
		case cudaLaunchAttributeCooperative: cooperative = c->attrs[i].val.cooperative != 0; break;
		case cudaLaunchAttributeClusterDimension:
			if (c->attrs[i].val.clusterDim.x > 1 || c->attrs[i].val.clusterDim.y > 1 ||
			    c->attrs[i].val.clusterDim.z > 1)
				return no_clusters();
			break;
		default: break; /* priorities and hints change no result */
		}
	return launch(host, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream, cooperative,
	              caller);
}

GUEST_API cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                                    const void *host, void **args)
{
	GUEST_CALL(launch_ex(config, host, args, GUEST_CALLER));
}
