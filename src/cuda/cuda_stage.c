/* See cuda_stage.h. */
#include "cuda/cuda_stage.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/parallel.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST_MAX ((uint64_t)4 << 30) /* of host memory beside the run's own */
#define UNWRITTEN 0xff

static void note_init(struct stage *s, const char *what, const char *of, double ns, uint64_t bytes)
{
	snprintf(s->init[s->n_init].name, sizeof s->init->name, "%s%s%s", what, *of ? " " : "", of);
	s->init[s->n_init].bytes = bytes;
	s->init[s->n_init++].ns = ns;
}

static bool host_memory(struct gpu_worker *w, struct stage *s, unsigned b, uint8_t *shared,
                        struct cuda_fault *why)
{
	const uint64_t bytes = s->l->job->buffers[b].bytes;
	s->lent[b] = !s->pinned[b] && !s->down[b] && s->l->job->buffers[b].role == BUF_IN;
	if (s->lent[b]) {
		s->host[b] = shared + s->l->job->buffers[b].offset;
		return true;
	}
	if (!s->pinned[b]) {
		s->host[b] = mem_pages(bytes);
		return true;
	}
	void *p = NULL;
	const double begin = clock_now_s();
	if (!cu_ok(w, w->cu.MemHostAlloc(&p, bytes, 0), "cuMemHostAlloc", why))
		return false;
	note_init(s, "pin", s->l->job->buffers[b].name, (clock_now_s() - begin) * 1e9, bytes);
	s->host[b] = p;
	return true;
}

static bool allocate(struct gpu_worker *w, struct stage *s, uint8_t *shared, struct cuda_fault *why)
{
	const struct cuda_job *j = s->l->job;
	uint64_t host = 0;
	for (unsigned b = 0; b < j->n_buffers; b++)
		host += s->up[b] || s->down[b] ? j->buffers[b].bytes : 0;
	if (host > HOST_MAX) {
		char need[32], most[32];
		return fault_set(why, FAULT_OUT_OF_MEMORY,
		                 "the timeline needs %s of host memory, at most %s",
		                 fmt_bytes(need, sizeof need, (double)host),
		                 fmt_bytes(most, sizeof most, (double)HOST_MAX));
	}
	for (unsigned b = 0; b < j->n_buffers; b++) {
		const double begin = clock_now_s();
		if (!cu_ok(w, w->cu.MemAlloc(&s->device[b], j->buffers[b].bytes), "cuMemAlloc", why))
			return false;
		note_init(s, "allocate", j->buffers[b].name, (clock_now_s() - begin) * 1e9,
		          j->buffers[b].bytes);
		if ((s->up[b] || s->down[b]) && !host_memory(w, s, b, shared, why))
			return false;
	}
	return true;
}

/* What stays on the device for the whole program is put there before it. */
static bool resident(struct gpu_worker *w, struct stage *s, struct cuda_fault *why)
{
	for (unsigned b = 0; b < s->l->job->n_buffers; b++) {
		const CUdeviceptr from = s->l->pristine[b] ? s->l->pristine[b] : s->l->buffers[b];
		if (!s->up[b] && s->l->job->buffers[b].role != BUF_OUT &&
		    !cu_ok(
				w,
				w->cu.MemcpyDtoDAsync(s->device[b], from, s->l->job->buffers[b].bytes, w->stream),
				"cuMemcpyDtoDAsync", why))
			return false;
	}
	return cu_ok(w, w->cu.StreamSynchronize(w->stream), "cuStreamSynchronize", why);
}

static bool streams_and_events(struct gpu_worker *w, struct stage *s, struct cuda_fault *why)
{
	const double begin = clock_now_s();
	bool any = false;
	for (unsigned i = 0; i < s->p->n_ops; i++) {
		const struct stream_op *op = &s->p->ops[i];
		if (op->stream && !s->stream[op->stream]) {
			any = true;
			if (!cu_ok(w, w->cu.StreamCreate(&s->stream[op->stream], CU_STREAM_DEFAULT),
			           "cuStreamCreate", why))
				return false;
		}
		if (op->kind == SOP_RECORD && !s->event[op->event] &&
		    !cu_ok(w, w->cu.EventCreate(&s->event[op->event], CU_EVENT_DISABLE_TIMING),
		           "cuEventCreate", why))
			return false;
	}
	if (any)
		note_init(s, "streams", "", (clock_now_s() - begin) * 1e9, 0);
	return true;
}

bool stage_set(struct gpu_worker *w, struct stage *s, uint8_t *shared, struct cuda_fault *why)
{
	for (unsigned i = 0; i < s->p->n_ops; i++) {
		const struct stream_op *op = &s->p->ops[i];
		if (op->kind == SOP_H2D || op->kind == SOP_D2H) {
			s->up[op->buffer] |= op->kind == SOP_H2D;
			s->down[op->buffer] |= op->kind == SOP_D2H;
			s->pinned[op->buffer] |= op->pinned;
		}
	}
	note_init(s, "context", "", w->context_ns, 0);
	note_init(s, "module", "", s->l->load_ns, 0);
	return allocate(w, s, shared, why) && streams_and_events(w, s, why) && resident(w, s, why);
}

void stage_strike(struct gpu_worker *w, struct stage *s)
{
	for (unsigned b = 0; b < KERNEL_MAX_BUFFERS; b++) {
		if (s->lent[b])
			s->host[b] = NULL;
		else if (s->host[b] && !s->pinned[b])
			free(s->host[b]);
		else if (s->host[b] && !w->poisoned)
			w->cu.MemFreeHost(s->host[b]);
		if (s->device[b] && !w->poisoned)
			w->cu.MemFree(s->device[b]);
	}
	for (unsigned i = 1; i < STREAM_MAX_STREAMS && !w->poisoned; i++)
		if (s->stream[i])
			w->cu.StreamDestroy(s->stream[i]);
	for (unsigned i = 0; i < STREAM_MAX_EVENTS && !w->poisoned; i++)
		if (s->event[i])
			w->cu.EventDestroy(s->event[i]);
}

/* Host memory as it is before the program; every page is touched. */
bool stage_fill(struct gpu_worker *w, struct stage *s, const uint8_t *shared,
                struct cuda_fault *why)
{
	const struct cuda_job *j = s->l->job;
	for (unsigned b = 0; b < j->n_buffers; b++) {
		if (!s->host[b] || s->lent[b])
			continue;
		if (s->l->pristine[b]) {
			if (!cu_ok(w, w->cu.MemcpyDtoH(s->host[b], s->l->pristine[b], j->buffers[b].bytes),
			           "cuMemcpyDtoH", why))
				return false;
		} else if (s->up[b]) {
			parallel_copy(s->host[b], shared + j->buffers[b].offset, j->buffers[b].bytes);
		} else {
			parallel_set(s->host[b], UNWRITTEN, j->buffers[b].bytes);
		}
	}
	return true;
}
