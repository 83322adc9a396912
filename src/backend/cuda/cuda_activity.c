/*
 * What the GPU did when: activity records of jobs (copy in, launch, copy out) on one or more
 * streams, or events where CUPTI is refused; and kernel durations by the GPU's own stamps.
 *
 * Kinds are enabled for the time of a collection only: left on, they falsify counters and slow
 * launches. Records arrive on CUPTI's thread, under a lock. docs.nvidia.com/cupti, Activity API.
 */
#include "backend/cuda/cuda_work.h"
#include "base/mem.h"
#include "base/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BUFFER (256 * 1024)
#define PINNED_MAX ((uint64_t)2 << 30)
#define MAX_SETS 8  /* streams that have buffers of their own */
#define MAX_OPS 4096

/* One record, on CUPTI's clock (CLOCK_REALTIME ns). */
struct record {
	enum span_kind kind;
	char name[48];
	uint32_t stream, correlation;
	uint64_t start, end, queued, bytes;
};

static struct {
	pthread_mutex_t lock;
	bool registered;
	const struct cupti_fns *cupti;
	unsigned n, cap;
	struct record *r;
	bool cut;
} records = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void add(const struct record *r)
{
	if (records.n == CUDA_MAX_SPANS) {
		records.cut = true;
		return;
	}
	if (records.n == records.cap) {
		records.cap = records.cap ? records.cap * 2 : 256;
		records.r = mem_realloc(records.r, records.cap, sizeof *records.r);
	}
	records.r[records.n++] = *r;
}

static const char *overhead_name(int kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
		return "driver compiler";
	case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
		return "CUPTI buffer flush";
	case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
		return "CUPTI instrumentation";
	case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
		return "CUPTI resource";
	case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
		return "function loading";
	case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
		return "command buffer full";
	default:
		return "overhead";
	}
}

static void call_name(uint32_t cbid, char *out, size_t n)
{
	const char *name = NULL;
	if (!records.cupti->GetCallbackName ||
	    records.cupti->GetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, cbid, &name) != CUPTI_SUCCESS ||
	    !name)
		name = "driver call";
	snprintf(out, n, "%s", name);
}

static void take(const CUpti_Activity *a)
{
	struct record r = { 0 };
	switch (a->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
		const CUpti_ActivityKernel10 *k = (const void *)a;
		r = (struct record){ .kind = SPAN_KERNEL, .stream = k->streamId,
			             .correlation = k->correlationId, .start = k->start, .end = k->end,
			             .queued = k->queued };
		snprintf(r.name, sizeof r.name, "%s", k->name ? k->name : "kernel");
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMCPY: {
		const CUpti_ActivityMemcpy6 *c = (const void *)a;
		r = (struct record){ .kind = c->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD ? SPAN_H2D
			                     : c->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? SPAN_D2H
			                                                                      : SPAN_D2D,
			             .stream = c->streamId, .correlation = c->correlationId,
			             .start = c->start, .end = c->end, .bytes = c->bytes };
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMSET: {
		const CUpti_ActivityMemset4 *m = (const void *)a;
		r = (struct record){ .kind = SPAN_FILL, .stream = m->streamId,
			             .correlation = m->correlationId, .start = m->start, .end = m->end,
			             .bytes = m->bytes };
		break;
	}
	case CUPTI_ACTIVITY_KIND_DRIVER: {
		const CUpti_ActivityAPI *c = (const void *)a;
		r = (struct record){ .kind = SPAN_CALL, .correlation = c->correlationId,
			             .start = c->start, .end = c->end };
		call_name(c->cbid, r.name, sizeof r.name);
		break;
	}
	case CUPTI_ACTIVITY_KIND_OVERHEAD: {
		const CUpti_ActivityOverhead3 *o = (const void *)a;
		r = (struct record){ .kind = SPAN_OVERHEAD, .start = o->start, .end = o->end };
		snprintf(r.name, sizeof r.name, "%s", overhead_name((int)o->overheadKind));
		break;
	}
	default:
		return;
	}
	add(&r);
}

static void CUPTIAPI buffer_wanted(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = mem_aligned(16, RECORD_BUFFER);
	*size = RECORD_BUFFER;
	*max_records = 0;
}

static void CUPTIAPI buffer_full(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid)
{
	(void)ctx;
	(void)stream;
	(void)size;
	pthread_mutex_lock(&records.lock);
	CUpti_Activity *a = NULL;
	while (valid && records.cupti->ActivityNext(buffer, valid, &a) == CUPTI_SUCCESS && a)
		take(a);
	pthread_mutex_unlock(&records.lock);
	free(buffer);
}

static const CUpti_ActivityKind timeline_kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_OVERHEAD,
};
static const CUpti_ActivityKind kernel_kind[] = { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL };

static void off(struct work *w, const CUpti_ActivityKind *kinds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		w->cupti.ActivityDisable(kinds[i]);
}

static bool on(struct work *w, const CUpti_ActivityKind *kinds, size_t n, struct fault *why)
{
	if (!records.registered) {
		records.cupti = &w->cupti;
		if (!cupti_ok(&w->cupti, w->cupti.ActivityRegister(buffer_wanted, buffer_full),
		              "cuptiActivityRegisterCallbacks", why))
			return false;
		records.registered = true;
		if (w->cupti.ActivityLatency)
			w->cupti.ActivityLatency(1);
	}
	pthread_mutex_lock(&records.lock);
	records.n = 0;
	records.cut = false;
	pthread_mutex_unlock(&records.lock);
	for (size_t i = 0; i < n; i++)
		if (!cupti_ok(&w->cupti, w->cupti.ActivityEnable(kinds[i]), "cuptiActivityEnable", why)) {
			off(w, kinds, i);
			return false;
		}
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
	                            : (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int by_call(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

bool activity_durations(struct work *w, const struct timed *t, unsigned n, double *ns,
                        unsigned *got, struct fault *why)
{
	*got = 0;
	if (!work_cupti(w, why) || !on(w, kernel_kind, ARRAY_LEN(kernel_kind), why))
		return false;
	work_step(w, "timing %u launches by activity records", n);
	bool ok = true;
	for (unsigned i = 0; ok && i < n; i++) {
		ok = (!t->restore || t->restore(w, t->ctx, why)) && (t->warm_l2 || time_flush(w, why)) &&
		     t->launch(w, t->ctx, why);
	}
	ok = ok && cu_ok(w, w->cu.StreamSynchronize(w->stream), "cuStreamSynchronize", why);
	if (w->poisoned)
		return false;
	w->cupti.ActivityFlushAll(1);
	off(w, kernel_kind, ARRAY_LEN(kernel_kind));
	if (!ok)
		return false;
	pthread_mutex_lock(&records.lock);
	unsigned m = 0;
	for (unsigned i = 0; i < records.n; i++)
		if (records.r[i].kind == SPAN_KERNEL && strcmp(records.r[i].name, "pmpp_flush_l2"))
			records.r[m++] = records.r[i];
	qsort(records.r, m, sizeof *records.r, by_start);
	unsigned per = n ? m / n : 0; /* a library's one call may be several kernels */
	if (per && m == per * n) {
		for (unsigned i = 0; i < n; i++) {
			const struct record *first = &records.r[i * per], *last = &first[per - 1];
			if (first->start && last->end > first->start)
				ns[(*got)++] = (double)(last->end - first->start);
		}
	}
	pthread_mutex_unlock(&records.lock);
	return *got > 0 || fault_set(why, FAULT_OTHER, "%u activity records of %u launches", m, n);
}

/* One thing that a job does on its stream. */
struct op {
	enum span_kind kind;
	char name[48];
	unsigned set;    /* buffers and stream */
	unsigned buffer; /* of a copy */
	uint64_t bytes;
};

/* What the jobs of one timeline use. */
struct sets {
	unsigned n;
	CUstream stream[MAX_SETS];
	CUdeviceptr device[MAX_SETS][KERNEL_MAX_BUFFERS];
	void *host[MAX_SETS][KERNEL_MAX_BUFFERS]; /* page-locked, so that copies can overlap */
};

static void free_sets(struct work *w, const struct launch *l, struct sets *s)
{
	if (w->poisoned)
		return;
	for (unsigned i = 0; i < s->n; i++) {
		for (unsigned b = 0; b < l->job->n_buffers; b++) {
			if (s->host[i][b])
				w->cu.MemFreeHost(s->host[i][b]);
			if (i && s->device[i][b])
				w->cu.MemFree(s->device[i][b]);
		}
		if (i && s->stream[i])
			w->cu.StreamDestroy(s->stream[i]);
	}
}

/* The first set is the run's own buffers and stream. */
static bool make_sets(struct work *w, const struct launch *l, const uint8_t *shared, unsigned n,
                      struct sets *s, struct fault *why)
{
	const struct cuda_job *j = l->job;
	uint64_t bytes = 0;
	for (unsigned b = 0; b < j->n_buffers; b++)
		bytes += j->buffers[b].bytes;
	if (bytes * n > PINNED_MAX) {
		char need[32], most[32];
		return fault_set(why, FAULT_OUT_OF_MEMORY, "the timeline needs %s page-locked, at most %s",
		                 fmt_bytes(need, sizeof need, (double)(bytes * n)),
		                 fmt_bytes(most, sizeof most, (double)PINNED_MAX));
	}
	for (; s->n < n; s->n++) {
		unsigned i = s->n;
		s->stream[i] = w->stream;
		if (i && !cu_ok(w, w->cu.StreamCreate(&s->stream[i], CU_STREAM_NON_BLOCKING),
		                "cuStreamCreate", why))
			return false;
		for (unsigned b = 0; b < j->n_buffers; b++) {
			s->device[i][b] = l->buffers[b];
			if (i && !cu_ok(w, w->cu.MemAlloc(&s->device[i][b], j->buffers[b].bytes), "cuMemAlloc",
			                why)) {
				s->device[i][b] = 0;
				s->n++;
				return false;
			}
			CUresult r = w->cu.MemHostAlloc(&s->host[i][b], j->buffers[b].bytes, 0);
			if (r == CUDA_SUCCESS && l->pristine[b])
				r = w->cu.MemcpyDtoH(s->host[i][b], l->pristine[b], j->buffers[b].bytes);
			else if (r == CUDA_SUCCESS)
				memcpy(s->host[i][b], shared + j->buffers[b].offset, j->buffers[b].bytes);
			if (!cu_ok(w, r, "cuMemHostAlloc", why)) {
				s->n++;
				return false;
			}
		}
	}
	return true;
}

static unsigned list_ops(const struct cuda_job *j, unsigned jobs, unsigned sets, struct op *ops)
{
	unsigned n = 0;
	for (unsigned i = 0; i < jobs && n + 2 * KERNEL_MAX_BUFFERS + 1 <= MAX_OPS; i++) {
		for (unsigned phase = 0; phase < 3; phase++) {
			if (phase == 1) {
				ops[n] = (struct op){ .kind = SPAN_KERNEL, .set = i % sets };
				snprintf(ops[n++].name, sizeof ops->name, "%.47s", j->entry);
				continue;
			}
			for (unsigned b = 0; b < j->n_buffers; b++) {
				enum buffer_role role = j->buffers[b].role;
				bool in = role != BUF_OUT || j->buffers[b].partial, out = role != BUF_IN;
				if (phase ? !out : !in)
					continue;
				ops[n] = (struct op){ .kind = phase ? SPAN_D2H : SPAN_H2D, .set = i % sets,
					              .buffer = b, .bytes = j->buffers[b].bytes };
				snprintf(ops[n++].name, sizeof ops->name, "%s %s", phase ? "D2H" : "H2D",
				         j->buffers[b].name);
			}
		}
	}
	return n;
}

static bool issue(struct work *w, const struct launch *l, const struct sets *s, const struct op *op,
                  struct fault *why)
{
	CUstream stream = s->stream[op->set];
	switch (op->kind) {
	case SPAN_H2D:
		return cu_ok(w,
		             w->cu.MemcpyHtoDAsync(s->device[op->set][op->buffer],
		                                   s->host[op->set][op->buffer], op->bytes, stream),
		             "cuMemcpyHtoDAsync", why);
	case SPAN_D2H:
		return cu_ok(w,
		             w->cu.MemcpyDtoHAsync(s->host[op->set][op->buffer],
		                                   s->device[op->set][op->buffer], op->bytes, stream),
		             "cuMemcpyDtoHAsync", why);
	default:
		return launch_on(w, l, s->device[op->set], stream, why);
	}
}

static bool wait_sets(struct work *w, const struct sets *s, struct fault *why)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!cu_ok(w, w->cu.StreamSynchronize(s->stream[i]), "cuStreamSynchronize", why))
			return false;
	return true;
}

/* Work on the GPU, named after the operations in the order they were asked for. */
static void name_records(struct record *r, unsigned n, const struct op *ops, unsigned n_ops)
{
	qsort(r, n, sizeof *r, by_call);
	unsigned work = 0;
	for (unsigned i = 0; i < n; i++)
		work += r[i].kind != SPAN_CALL && r[i].kind != SPAN_OVERHEAD;
	unsigned o = 0;
	for (unsigned i = 0; work == n_ops && i < n; i++)
		if (r[i].kind != SPAN_CALL && r[i].kind != SPAN_OVERHEAD)
			memcpy(r[i].name, ops[o++].name, sizeof r[i].name);
}

static void spans_from_records(struct cuda_report *report, const struct op *ops, unsigned n_ops)
{
	pthread_mutex_lock(&records.lock);
	name_records(records.r, records.n, ops, n_ops);
	qsort(records.r, records.n, sizeof *records.r, by_start);
	/* Calls before the first and after the last piece of GPU work are set-up of ours. */
	uint64_t base = 0;
	for (unsigned i = 0; i < records.n && !base; i++)
		if (records.r[i].start)
			base = records.r[i].start;
	report->spans = mem_calloc(records.n ? records.n : 1, sizeof *report->spans);
	for (unsigned i = 0; i < records.n; i++) {
		const struct record *r = &records.r[i];
		if (!r->start || r->end < r->start)
			continue;
		struct span *s = &report->spans[report->n_spans++];
		*s = (struct span){ .kind = r->kind, .stream = r->stream, .correlation = r->correlation,
			            .start_ns = (double)(r->start - base), .end_ns = (double)(r->end - base),
			            .queued_ns = r->queued >= base ? (double)(r->queued - base) : -1,
			            .bytes = r->bytes };
		snprintf(s->name, sizeof s->name, "%s", r->name[0] ? r->name : "copy");
	}
	pthread_mutex_unlock(&records.lock);
}

static bool by_records(struct work *w, const struct launch *l, const struct sets *s,
                       const struct op *ops, unsigned n_ops, struct cuda_report *report,
                       struct fault *why)
{
	if (!on(w, timeline_kinds, ARRAY_LEN(timeline_kinds), why))
		return false;
	work_step(w, "recording a timeline of %s", l->job->entry);
	bool ok = true;
	for (unsigned i = 0; ok && i < n_ops; i++)
		ok = issue(w, l, s, &ops[i], why);
	ok = ok && wait_sets(w, s, why);
	if (w->poisoned)
		return false;
	w->cupti.ActivityFlushAll(1);
	off(w, timeline_kinds, ARRAY_LEN(timeline_kinds));
	if (!ok)
		return false;
	spans_from_records(report, ops, n_ops);
	return report->n_spans > 0 || fault_set(why, FAULT_OTHER, "no activity records arrived");
}

/* The same by an event before and after every operation, from a first event's time on. */
static bool by_events(struct work *w, const struct launch *l, const struct sets *s,
                      const struct op *ops, unsigned n_ops, struct cuda_report *report,
                      struct fault *why)
{
	unsigned n = 0, want = 2 * n_ops + 1;
	CUevent *e = mem_calloc(want, sizeof *e);
	bool ok = true;
	work_step(w, "timing copies and kernels by events");
	while (ok && n < want)
		if ((ok = cu_ok(w, w->cu.EventCreate(&e[n], CU_EVENT_DEFAULT), "cuEventCreate", why)))
			n++;
	ok = ok && cu_ok(w, w->cu.EventRecord(e[0], s->stream[0]), "cuEventRecord", why) &&
	     cu_ok(w, w->cu.EventSynchronize(e[0]), "cuEventSynchronize", why);
	for (unsigned i = 0; ok && i < n_ops; i++)
		ok = cu_ok(w, w->cu.EventRecord(e[2 * i + 1], s->stream[ops[i].set]), "cuEventRecord", why) &&
		     issue(w, l, s, &ops[i], why) &&
		     cu_ok(w, w->cu.EventRecord(e[2 * i + 2], s->stream[ops[i].set]), "cuEventRecord", why);
	ok = ok && wait_sets(w, s, why);
	if (ok)
		report->spans = mem_calloc(n_ops ? n_ops : 1, sizeof *report->spans);
	double base = 0;
	for (unsigned i = 0; ok && i < n_ops; i++) {
		float from = 0, to = 0;
		ok = cu_ok(w, w->cu.EventElapsedTime(&from, e[0], e[2 * i + 1]), "cuEventElapsedTime", why) &&
		     cu_ok(w, w->cu.EventElapsedTime(&to, e[0], e[2 * i + 2]), "cuEventElapsedTime", why);
		if (i == 0)
			base = (double)from;
		struct span *sp = &report->spans[report->n_spans++];
		*sp = (struct span){ .kind = ops[i].kind, .stream = ops[i].set, .correlation = i + 1,
			             .start_ns = ((double)from - base) * 1e6,
			             .end_ns = ((double)to - base) * 1e6, .queued_ns = -1,
			             .bytes = ops[i].bytes };
		memcpy(sp->name, ops[i].name, sizeof sp->name);
	}
	for (unsigned i = 0; i < n && !w->poisoned; i++)
		w->cu.EventDestroy(e[i]);
	free(e);
	report->spans_from_events = ok;
	return ok;
}

bool activity_timeline(struct work *w, const struct launch *l, uint8_t *shared,
                       struct cuda_report *report, struct fault *why)
{
	unsigned jobs = l->job->jobs ? l->job->jobs : 1, n = l->job->streams ? l->job->streams : 1;
	if (n > jobs)
		n = jobs;
	if (n > MAX_SETS)
		n = MAX_SETS;
	struct sets s = { 0 };
	struct op *ops = mem_calloc(MAX_OPS, sizeof *ops);
	unsigned n_ops = list_ops(l->job, jobs, n, ops);
	bool ok = make_sets(w, l, shared, n, &s, why);
	if (ok) {
		struct fault refused = { 0 };
		ok = work_cupti(w, &refused) && by_records(w, l, &s, ops, n_ops, report, &refused);
		if (!ok && !w->poisoned) {
			cuda_report_free(report);
			ok = by_events(w, l, &s, ops, n_ops, report, why);
			if (ok)
				snprintf(report->note, sizeof report->note, "timeline by events: %s",
				         fault_reason(refused.id));
		} else if (!ok) {
			*why = refused;
		}
	}
	free_sets(w, l, &s);
	free(ops);
	return ok;
}
