/* Streams while they are captured, beyond begin and end: what was captured, and edges by hand. */
#include "runtime/guest/guest_graph.h"

#include "base/mem.h"

static cudaError_t begin_into(cudaStream_t handle, cudaGraph_t graph, const cudaGraphNode_t *from,
                              size_t n)
{
	struct guest_stream *s = guest_stream_of(handle);
	if (!s || s == guest.streams)
		return s ? cudaErrorStreamCaptureUnsupported : cudaErrorInvalidResourceHandle;
	if (s->capture || !graph)
		return s->capture ? cudaErrorIllegalState : cudaErrorInvalidValue;
	guest_capture_begin(s, graph_of(graph), false);
	for (size_t i = 0; i < n; i++)
		front_add(&s->front, node_of(from[i])->index);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamBeginCaptureToGraph(
	cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *from,
	const cudaGraphEdgeData *data, size_t n, enum cudaStreamCaptureMode mode)
{
	(void)data, (void)mode;
	GUEST_CALL(begin_into(stream, graph, from, n));
}

static cudaError_t update_front(cudaStream_t handle, const cudaGraphNode_t *nodes, size_t n,
                                unsigned flags)
{
	struct guest_stream *s = guest_stream_of(handle);
	if (!s || !s->capture)
		return s ? cudaErrorIllegalState : cudaErrorInvalidResourceHandle;
	if (flags & cudaStreamSetCaptureDependencies)
		s->front.n = 0;
	for (size_t i = 0; i < n; i++)
		front_add(&s->front, node_of(nodes[i])->index);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                                    cudaGraphNode_t *nodes,
                                                                    const cudaGraphEdgeData *data,
                                                                    size_t n, unsigned flags)
{
	(void)data;
	GUEST_CALL(update_front(stream, nodes, n, flags));
}

/* The handles stay valid until the next question about the same stream. */
static cudaError_t capture_info(cudaStream_t handle, enum cudaStreamCaptureStatus *status,
                                unsigned long long *id, cudaGraph_t *graph,
                                const cudaGraphNode_t **nodes, const cudaGraphEdgeData **data,
                                size_t *n)
{
	struct guest_stream *s = guest_stream_of(handle);
	if (!s || !status)
		return s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
	*status = guest_capture_status(s);
	if (!s->capture)
		return cudaSuccess;
	s->front_handles = mem_realloc(s->front_handles, s->front.n + 1u, sizeof *s->front_handles);
	for (unsigned i = 0; i < s->front.n; i++)
		s->front_handles[i] = (cudaGraphNode_t)s->capture->node[s->front.node[i]];
	if (id)
		*id = (uintptr_t)s->capture;
	if (graph)
		*graph = (cudaGraph_t)s->capture;
	if (nodes)
		*nodes = s->front_handles;
	if (data)
		*data = NULL;
	if (n)
		*n = s->front.n;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t stream,
                                                         enum cudaStreamCaptureStatus *status,
                                                         unsigned long long *id, cudaGraph_t *graph,
                                                         const cudaGraphNode_t **nodes,
                                                         const cudaGraphEdgeData **data, size_t *n)
{
	GUEST_CALL(capture_info(stream, status, id, graph, nodes, data, n));
}
