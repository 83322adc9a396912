/* See guest_capture.h. */
#include "runtime/guest/guest_capture.h"
#include "runtime/guest/guest_graph.h"

#include "base/mem.h"

#include <stdlib.h>

static uint64_t n_captures;

/* --- what becomes a node, and behind which others --- */

static void front_add(struct guest_front *front, unsigned node)
{
	for (unsigned i = 0; i < front->n; i++)
		if (front->node[i] == node)
			return;
	MEM_ROOM(front->node, front->n, front->cap, 4);
	front->node[front->n++] = node;
}

static void front_join(struct guest_front *to, const struct guest_front *from)
{
	for (unsigned i = 0; i < from->n; i++)
		front_add(to, from->node[i]);
}

cudaError_t guest_capture(struct guest_stream *s, const struct guest_op *op)
{
	if (s->capture->spoiled)
		return cudaErrorStreamCaptureInvalidated;
	struct guest_graph *g = s->capture->graph;
	struct guest_node *node = graph_node(g, graph_node_type(op), op);
	for (unsigned i = 0; i < s->front.n; i++)
		graph_edge(g->node[s->front.node[i]], node);
	s->front.n = 0;
	front_add(&s->front, node->index);
	return cudaSuccess;
}

cudaError_t guest_capture_mark(struct guest_stream *s, struct guest_event *e)
{
	if (s->capture->spoiled)
		return cudaErrorStreamCaptureInvalidated;
	e->capture_number = s->capture->number;
	e->front.n = 0;
	front_join(&e->front, &s->front);
	return cudaSuccess;
}

/* @e was recorded in a capture, and @s is captured by none or another. */
static cudaError_t join_other(struct guest_stream *s, struct guest_capture *c)
{
	if (s->capture)
		s->capture->spoiled = true;
	if (!c || (!s->capture && c->spoiled))
		return cudaErrorInvalidValue;
	if (s->capture || s == guest.streams)
		c->spoiled = true;
	return s->capture           ? cudaErrorStreamCaptureMerge
	       : s == guest.streams ? cudaErrorStreamCaptureImplicit
	                            : cudaSuccess;
}

/* @s is captured, and @e was recorded outside of captures, or never. */
static cudaError_t meet_outside(struct guest_stream *s, const struct guest_event *e)
{
	if (!e->recorded && !e->pending)
		return cudaSuccess;
	s->capture->spoiled = true;
	return cudaErrorStreamCaptureIsolation;
}

cudaError_t guest_capture_join(struct guest_stream *s, struct guest_event *e)
{
	if (s->capture && s->capture->spoiled)
		return cudaErrorStreamCaptureInvalidated;
	if (s->capture && !e->capture_number)
		return meet_outside(s, e);
	struct guest_capture *c = capture_of_event(e);
	const cudaError_t error = c && s->capture == c ? cudaSuccess : join_other(s, c);
	if (error != cudaSuccess)
		return error;
	if (!s->capture)
		s->front.n = 0;
	s->capture = c;
	front_join(&s->front, &e->front);
	return cudaSuccess;
}

/* --- begin and end --- */

static cudaError_t begin(cudaStream_t handle, struct guest_graph *g,
                         enum cudaStreamCaptureMode mode, bool ours)
{
	struct guest_stream *s = guest_stream_of(handle);
	if (!s || s == guest.streams)
		return s ? cudaErrorStreamCaptureUnsupported : cudaErrorInvalidResourceHandle;
	if ((unsigned)mode > cudaStreamCaptureModeRelaxed || (!ours && (!g || g->gone)))
		return cudaErrorInvalidValue;
	if (s->capture || (g && g->captures))
		return cudaErrorIllegalState;
	struct guest_capture *c = mem_alloc(sizeof *c);
	*c = (struct guest_capture){
		.number = ++n_captures,
		.graph = ours ? graph_new() : g,
		.origin = s,
		.mode = mode,
		.thread = pthread_self(),
		.ours = ours,
		.next = guest_captures,
	};
	guest_captures = c;
	c->graph->captures++;
	s->capture = c;
	s->front.n = 0;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream,
                                                       enum cudaStreamCaptureMode mode)
{
	GUEST_CALL(begin(stream, NULL, mode, true));
}

static cudaError_t begin_into(cudaStream_t handle, cudaGraph_t graph, const cudaGraphNode_t *from,
                              size_t n, enum cudaStreamCaptureMode mode)
{
	const cudaError_t e = begin(handle, graph_of(graph), mode, false);
	if (e == cudaSuccess)
		for (size_t i = 0; i < n; i++)
			front_add(&guest_stream_of(handle)->front, node_of(from[i])->index);
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamBeginCaptureToGraph(
	cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *from,
	const cudaGraphEdgeData *data, size_t n, enum cudaStreamCaptureMode mode)
{
	(void)data;
	GUEST_CALL(begin_into(stream, graph, from, n, mode));
}

/* All that comes before what is reached; nodes mostly stand behind those that they follow. */
static void reach(const struct guest_graph *g, uint8_t *reached)
{
	bool again;
	do {
		again = false;
		for (unsigned i = g->n; i--;)
			for (unsigned e = 0; reached[i] && e < g->node[i]->n_edges; e++) {
				const unsigned from = g->node[i]->from[e]->index;
				again = again || (from > i && !reached[from]);
				reached[from] = 1;
			}
	} while (again);
}

static bool is_reached(const struct guest_front *front, const uint8_t *reached)
{
	for (unsigned i = 0; i < front->n; i++)
		if (!reached[front->node[i]])
			return false;
	return true;
}

/* The last nodes of all its streams come before those of its origin. */
static bool is_joined(const struct guest_capture *c)
{
	const struct guest_front *end = &c->origin->front;
	uint8_t *reached = mem_zalloc(c->graph->n + 1u);
	for (unsigned i = 0; i < end->n; i++)
		reached[end->node[i]] = 1;
	reach(c->graph, reached);
	bool joined = is_reached(&c->left, reached);
	for (const struct guest_stream *s = guest.streams; s; s = s->next)
		joined = joined && (s->capture != c || is_reached(&s->front, reached));
	free(reached);
	return joined;
}

/* What was captured in vain goes, even if the program made the graph. */
static void forget(struct guest_capture *c, bool in_vain)
{
	struct guest_capture **at = &guest_captures;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	for (struct guest_stream *s = guest.streams; s; s = s->next)
		if (s->capture == c) {
			s->capture = NULL;
			s->front.n = 0;
		}
	c->graph->captures--;
	if (in_vain && c->ours)
		graph_free(c->graph);
	else if (in_vain)
		graph_empty(c->graph);
	free(c->left.node);
	free(c);
}

static cudaError_t end(cudaStream_t handle, cudaGraph_t *out)
{
	struct guest_stream *s = guest_stream_of(handle);
	struct guest_capture *c = s ? s->capture : NULL;
	if (out) /* of a graph that the program gave it need not */
		*out = NULL;
	if (!c)
		return s ? cudaErrorIllegalState : cudaErrorInvalidResourceHandle;
	if (c->origin != s) {
		c->spoiled = true;
		return cudaErrorStreamCaptureUnmatched;
	}
	const bool other_thread =
		c->mode != cudaStreamCaptureModeRelaxed && !pthread_equal(c->thread, pthread_self());
	const cudaError_t e = c->spoiled     ? cudaErrorStreamCaptureInvalidated
	                      : other_thread ? cudaErrorStreamCaptureWrongThread
	                      : is_joined(c) ? cudaSuccess
	                                     : cudaErrorStreamCaptureUnjoined;
	if (out && e == cudaSuccess)
		*out = (cudaGraph_t)c->graph;
	forget(c, e != cudaSuccess);
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	GUEST_CALL(end(stream, graph));
}

void guest_capture_drop(struct guest_stream *s)
{
	struct guest_capture *c = s->capture;
	s->capture = NULL;
	if (c && c->origin == s)
		forget(c, true);
	else if (c)
		front_join(&c->left, &s->front);
}

void guest_capture_drop_all(void)
{
	while (guest_captures)
		forget(guest_captures, true);
}

/* --- questions, and edges by hand --- */

static enum cudaStreamCaptureStatus status_of(const struct guest_stream *s)
{
	return !s->capture           ? cudaStreamCaptureStatusNone
	       : s->capture->spoiled ? cudaStreamCaptureStatusInvalidated
	                             : cudaStreamCaptureStatusActive;
}

static cudaError_t is_capturing(cudaStream_t handle, enum cudaStreamCaptureStatus *status)
{
	const struct guest_stream *s = guest_stream_of(handle);
	if (!s || !status)
		return s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
	if (capture_meets(s, false))
		return cudaErrorStreamCaptureImplicit;
	*status = status_of(s);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream,
                                                      enum cudaStreamCaptureStatus *status)
{
	GUEST_CALL(is_capturing(stream, status));
}

static cudaError_t update_front(cudaStream_t handle, const cudaGraphNode_t *nodes, size_t n,
                                unsigned flags)
{
	struct guest_stream *s = guest_stream_of(handle);
	if (!s || !s->capture)
		return s ? cudaErrorIllegalState : cudaErrorInvalidResourceHandle;
	if (s->capture->spoiled)
		return cudaErrorStreamCaptureInvalidated;
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
	if (capture_meets(s, false))
		return cudaErrorStreamCaptureImplicit;
	*status = status_of(s);
	if (*status != cudaStreamCaptureStatusActive)
		return cudaSuccess;
	s->front_handles = mem_realloc(s->front_handles, s->front.n + 1u, sizeof *s->front_handles);
	for (unsigned i = 0; i < s->front.n; i++)
		s->front_handles[i] = (cudaGraphNode_t)s->capture->graph->node[s->front.node[i]];
	if (id)
		*id = s->capture->number;
	if (graph)
		*graph = (cudaGraph_t)s->capture->graph;
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
