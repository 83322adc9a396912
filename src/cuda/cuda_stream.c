/*
 * A stream program for real: copies, kernels, events on the stage that cuda_stage.h sets.
 *
 * A short program runs once to warm up, is timed as a whole, because recording slows the calls, and
 * recorded, by CUPTI's activity records, or by events where CUPTI is refused; the median of three
 * is taken. A long one is recorded once. What a program cut in pieces returns must be what the
 * single launch returned.
 */
#include "cuda/cuda_stage.h"
#include "base/monotonic.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECORDINGS 3
#define SHORT_S 0.25         /* a program that is played more than once */
#define HOST_BYTES_PER_S 8e9 /* of pageable memory; an H200 copies at 8 to 14 */

/* --- the program --- */

static bool issue_copy(struct gpu_worker *w, const struct stage *s, const struct stream_op *op,
                       struct cuda_fault *why)
{
	const uint64_t at = op->first * s->l->job->buffers[op->buffer].elem;
	const CUdeviceptr device = s->device[op->buffer] + at;
	uint8_t *host = s->host[op->buffer] + at;
	const CUstream stream = s->stream[op->stream];
	if (op->kind == SOP_H2D)
		return op->async ? cu_ok(w, w->cu.MemcpyHtoDAsync(device, host, op->bytes, stream),
		                         "cuMemcpyHtoDAsync", why)
		                 : cu_ok(w, w->cu.MemcpyHtoD(device, host, op->bytes), "cuMemcpyHtoD", why);
	return op->async ? cu_ok(w, w->cu.MemcpyDtoHAsync(host, device, op->bytes, stream),
	                         "cuMemcpyDtoHAsync", why)
	                 : cu_ok(w, w->cu.MemcpyDtoH(host, device, op->bytes), "cuMemcpyDtoH", why);
}

/* A piece's buffers begin at its first element. */
static bool issue_kernel(struct gpu_worker *w, const struct stage *s, const struct stream_op *op,
                         struct cuda_fault *why)
{
	const struct cuda_job *j = s->l->job;
	CUdeviceptr at[KERNEL_MAX_BUFFERS];
	for (unsigned b = 0; b < j->n_buffers; b++)
		at[b] = s->device[b] + op->first * j->buffers[b].elem;
	return launch_as(w, s->l, j->launches[op->launch].grid, j->launches[op->launch].args, at,
	                 s->stream[op->stream], why);
}

static bool issue(struct gpu_worker *w, const struct stage *s, const struct stream_op *op,
                  struct cuda_fault *why)
{
	const CUstream stream = s->stream[op->stream];
	switch (op->kind) {
	case SOP_H2D:
	case SOP_D2H: return issue_copy(w, s, op, why);
	case SOP_KERNEL: return issue_kernel(w, s, op, why);
	case SOP_RECORD:
		return cu_ok(w, w->cu.EventRecord(s->event[op->event], stream), "cuEventRecord", why);
	case SOP_WAIT:
		return cu_ok(w, w->cu.StreamWaitEvent(stream, s->event[op->event], 0), "cuStreamWaitEvent",
		             why);
	case SOP_SYNC_STREAM:
		return cu_ok(w, w->cu.StreamSynchronize(stream), "cuStreamSynchronize", why);
	case SOP_SYNC: return cu_ok(w, w->cu.CtxSynchronize(), "cuCtxSynchronize", why);
	case SOP_HOST:
		nanosleep(
			&(struct timespec){ .tv_nsec = (long)(op->time_ns < 1e9 ? op->time_ns : 1e9 - 1) },
			NULL);
		return true;
	case SOP_ALLOC: /* part of the stage */
	case SOP_FREE: return true;
	}
	return true;
}

static bool play(struct gpu_worker *w, const struct stage *s, struct cuda_fault *why)
{
	for (unsigned i = 0; i < s->p->n_ops; i++)
		if (!issue(w, s, &s->p->ops[i], why))
			return false;
	return cu_ok(w, w->cu.CtxSynchronize(), "cuCtxSynchronize", why);
}

/* The first calls after recording was switched on are slow: @warm plays the program before. */
static bool by_records(struct gpu_worker *w, struct stage *s, const uint8_t *shared, bool warm,
                       struct cuda_report *report, struct cuda_fault *why)
{
	if (!activity_begin(w, why))
		return false;
	bool ok = !warm || (play(w, s, why) && stage_fill(w, s, shared, why));
	if (ok)
		activity_clear(w);
	ok = ok && play(w, s, why);
	if (w->poisoned)
		return false;
	activity_end(w);
	return ok && activity_spans(s->p, report, why);
}

static bool played_between(struct gpu_worker *w, const struct stage *s, CUevent *e,
                           struct cuda_fault *why)
{
	for (unsigned i = 0; i < s->p->n_ops; i++) {
		const struct stream_op *op = &s->p->ops[i];
		const bool work = stream_is_work(op);
		if ((work &&
		     !cu_ok(w, w->cu.EventRecord(e[2 * i], s->stream[op->stream]), "cuEventRecord", why)) ||
		    !issue(w, s, op, why) ||
		    (work && !cu_ok(w, w->cu.EventRecord(e[2 * i + 1], s->stream[op->stream]),
		                    "cuEventRecord", why)))
			return false;
	}
	return cu_ok(w, w->cu.CtxSynchronize(), "cuCtxSynchronize", why);
}

static bool read_events(struct gpu_worker *w, const struct stage *s, CUevent start, CUevent *e,
                        struct cuda_report *report, struct cuda_fault *why)
{
	for (unsigned i = 0; i < s->p->n_ops; i++) {
		const struct stream_op *op = &s->p->ops[i];
		float from = 0, to = 0;
		if (!stream_is_work(op))
			continue;
		if (!cu_ok(w, w->cu.EventElapsedTime(&from, start, e[2 * i]), "cuEventElapsedTime", why) ||
		    !cu_ok(w, w->cu.EventElapsedTime(&to, start, e[2 * i + 1]), "cuEventElapsedTime", why))
			return false;
		struct span *sp = &report->run.spans[report->run.n_spans++];
		*sp = (struct span){ .kind = op->kind == SOP_H2D   ? SPAN_H2D
			                         : op->kind == SOP_D2H ? SPAN_D2H
			                                               : SPAN_KERNEL,
			                 .stream = op->stream,
			                 .correlation = i + 1,
			                 .start_ns = (double)from * 1e6,
			                 .end_ns = (double)to * 1e6,
			                 .queued_ns = -1,
			                 .bytes = op->bytes };
		snprintf(sp->name, sizeof sp->name, "%s", op->name);
	}
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* The same by an event before and after every operation, on the clock of a first event. */
static bool by_events(struct gpu_worker *w, const struct stage *s, struct cuda_report *report,
                      struct cuda_fault *why)
{
	const unsigned n_ops = s->p->n_ops, want = 2 * n_ops + 1;
	CUevent *e = mem_calloc(want, sizeof *e);
	unsigned n = 0;
	bool ok = true;
	while (ok && n < want)
		if ((ok = cu_ok(w, w->cu.EventCreate(&e[n], CU_EVENT_DEFAULT), "cuEventCreate", why)))
			n++;
	CUevent *const start = &e[2 * n_ops];
	report->run.spans = mem_calloc(n_ops ? n_ops : 1, sizeof *report->run.spans);
	ok = ok && cu_ok(w, w->cu.EventRecord(*start, NULL), "cuEventRecord", why) &&
	     cu_ok(w, w->cu.EventSynchronize(*start), "cuEventSynchronize", why) &&
	     played_between(w, s, e, why) && read_events(w, s, *start, e, report, why);
	for (unsigned i = 0; i < n && !w->poisoned; i++)
		w->cu.EventDestroy(e[i]);
	free(e);
	qsort(report->run.spans, report->run.n_spans, sizeof *report->run.spans, by_start);
	report->run.spans_from_events = ok;
	return ok;
}

/* --- what came of it --- */

/* Initialisation first, on the same axis; the pause between it and the program is left out. */
static void put_init_before(const struct stage *s, struct cuda_report *report)
{
	struct span *all = mem_calloc(report->run.n_spans + s->n_init, sizeof *all);
	double at = 0;
	for (unsigned i = 0; i < s->n_init; i++) {
		all[i] = (struct span){ .kind = SPAN_INIT,
			                    .start_ns = at,
			                    .end_ns = at + s->init[i].ns,
			                    .queued_ns = -1,
			                    .bytes = s->init[i].bytes };
		memcpy(all[i].name, s->init[i].name, sizeof all->name);
		at = all[i].end_ns;
	}
	const double begin = report->run.n_spans ? report->run.spans[0].start_ns : 0;
	for (unsigned i = 0; i < report->run.n_spans; i++) {
		struct span *t = &all[s->n_init + i];
		*t = report->run.spans[i];
		t->start_ns += at - begin;
		t->end_ns += at - begin;
		t->queued_ns = t->queued_ns < 0 ? -1 : t->queued_ns + at - begin;
	}
	free(report->run.spans);
	report->run.spans = all;
	report->run.n_spans += s->n_init;
}

static void compare(const struct stage *s, const uint8_t *shared, struct cuda_report *report)
{
	const struct cuda_job *j = s->l->job;
	bool pieces = false;
	for (unsigned i = 0; i < s->p->n_ops; i++)
		pieces |= s->p->ops[i].kind == SOP_KERNEL && s->p->ops[i].count;
	for (unsigned b = 0; pieces && b < j->n_buffers; b++)
		if (s->down[b] && memcmp(s->host[b], shared + j->buffers[b].offset, j->buffers[b].bytes))
			snprintf(report->run.note, sizeof report->run.note,
			         "the stream program's %s is not what the single launch gave: an operation "
			         "did not wait for another",
			         j->buffers[b].name);
}

static void drop_spans(struct cuda_report *r)
{
	free(r->run.spans);
	r->run.spans = NULL;
	r->run.n_spans = 0;
}

/* One recording; without CUPTI by events, and the note says why. */
static bool record_once(struct gpu_worker *w, struct stage *s, const uint8_t *shared, bool warm,
                        struct cuda_report *report, struct cuda_fault *why)
{
	struct cuda_fault refused = { 0 };
	if (!stage_fill(w, s, shared, why))
		return false;
	if (!report->run.spans_from_events && by_records(w, s, shared, warm, report, &refused))
		return true;
	drop_spans(report);
	if (w->poisoned) {
		*why = refused;
		return false;
	}
	if (refused.id != FAULT_NONE)
		snprintf(report->run.note, sizeof report->run.note, "timeline by events: %s",
		         fault_reason(refused.id));
	return stage_fill(w, s, shared, why) && by_events(w, s, report, why);
}

struct recording {
	struct span *spans;
	unsigned n;
	double ns; /* copies and kernels, first start to last end */
};

static int by_length(const void *a, const void *b)
{
	const struct recording *x = a, *y = b;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

static struct recording recording_of(struct cuda_report *report)
{
	struct recording t = { .spans = report->run.spans, .n = report->run.n_spans };
	double from = INFINITY, to = -INFINITY;
	for (unsigned i = 0; i < t.n; i++)
		if (t.spans[i].kind != SPAN_CALL && t.spans[i].kind != SPAN_OVERHEAD) {
			from = fmin(from, t.spans[i].start_ns);
			to = fmax(to, t.spans[i].end_ns);
		}
	t.ns = to > from ? to - from : 0;
	report->run.spans = NULL;
	report->run.n_spans = 0;
	return t;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* How long it recordings when nobody watches: by the host's clock, the median of @n. */
static bool play_timed(struct gpu_worker *w, struct stage *s, const uint8_t *shared, unsigned n,
                       double *ns, struct cuda_fault *why)
{
	double took_ns[RECORDINGS];
	for (unsigned i = 0; i < n; i++) {
		if (!stage_fill(w, s, shared, why))
			return false;
		const double begin = clock_now_s();
		if (!play(w, s, why))
			return false;
		took_ns[i] = (clock_now_s() - begin) * 1e9;
	}
	qsort(took_ns, n, sizeof *took_ns, by_value);
	*ns = took_ns[n / 2];
	return true;
}

/* Copies at a pace that hosts reach at best. */
static bool is_brief(const struct stream_program *p)
{
	double bytes = 0;
	for (unsigned i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind == SOP_H2D || p->ops[i].kind == SOP_D2H)
			bytes += (double)p->ops[i].bytes;
	return bytes / HOST_BYTES_PER_S < SHORT_S;
}

static bool play_and_record(struct gpu_worker *w, struct stage *s, const uint8_t *shared,
                            struct cuda_report *report, struct cuda_fault *why)
{
	double first_ns = 0;
	bool brief = is_brief(s->p);
	if (brief && !play_timed(w, s, shared, 1, &first_ns, why))
		return false;
	brief = brief && first_ns < SHORT_S * 1e9;
	const unsigned want = brief ? RECORDINGS : 1;
	if (brief && !play_timed(w, s, shared, want, &report->run.program_ns, why))
		return false;
	struct recording recordings[RECORDINGS];
	unsigned n = 0;
	while (n < want && !work_cancelled(w) && record_once(w, s, shared, brief, report, why))
		recordings[n++] = recording_of(report);
	drop_spans(report);
	qsort(recordings, n, sizeof *recordings, by_length);
	const bool ok = n > 0 && (n == want || work_cancelled(w));
	for (unsigned i = 0; i < n; i++)
		if (ok && i == n / 2) {
			report->run.spans = recordings[i].spans;
			report->run.n_spans = recordings[i].n;
			if (!brief) /* recording costs nothing beside it */
				report->run.program_ns = recordings[i].ns;
		} else {
			free(recordings[i].spans);
		}
	return ok || (n == 0 && work_cancelled(w) && !fault_set(why, FAULT_CANCELLED, "%s", ""));
}

bool stream_timeline(struct gpu_worker *w, const struct gpu_launch *l, uint8_t *shared,
                     struct cuda_report *report, struct cuda_fault *why)
{
	struct stage s = { .l = l, .p = &l->job->program };
	work_step(w, "preparing the stream program of %s", l->job->entry);
	bool ok = stage_set(w, &s, shared, why);
	work_step(w, "running the stream program of %s", l->job->entry);
	ok = ok && play_and_record(w, &s, shared, report, why);
	if (ok) {
		put_init_before(&s, report);
		compare(&s, shared, report);
	}
	stage_strike(w, &s);
	return ok;
}
