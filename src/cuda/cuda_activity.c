/*
 * What the GPU did when, by CUPTI's activity records: the spans of a stream program, and kernel
 * durations by the GPU's own stamps.
 *
 * Kinds are enabled for the time of a collection only: left on, they falsify counters and slow
 * launches. Records arrive on CUPTI's thread, under a lock. docs.nvidia.com/cupti, Activity API.
 */
#include "cuda/cuda_work.h"
#include "base/mem.h"
#include "base/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BUFFER (256 * 1024)

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

static void append_record(const struct record *r)
{
	if (records.n == RUN_MAX_SPANS) {
		records.cut = true;
		return;
	}
	MEM_ROOM(records.r, records.n, records.cap, 256);
	records.r[records.n++] = *r;
}

static const char *overhead_name(int kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER: return "driver compiler";
	case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH: return "CUPTI buffer flush";
	case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION: return "CUPTI instrumentation";
	case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE: return "CUPTI resource";
	case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING: return "function loading";
	case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL: return "command buffer full";
	default: return "overhead";
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

/* Fields of a struct record that all work in a stream has. */
#define ON_STREAM(a) \
	.stream = (a)->streamId, .correlation = (a)->correlationId, .start = (a)->start, .end = (a)->end

static void read_activity(const CUpti_Activity *a)
{
	struct record r = { 0 };
	switch (a->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
		const CUpti_ActivityKernel10 *k = (const void *)a;
		r = (struct record){ .kind = SPAN_KERNEL, ON_STREAM(k), .queued = k->queued };
		snprintf(r.name, sizeof r.name, "%s", k->name ? k->name : "kernel");
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMCPY: {
		const CUpti_ActivityMemcpy6 *c = (const void *)a;
		r = (struct record){ .kind = c->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD   ? SPAN_H2D
			                         : c->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? SPAN_D2H
			                                                                          : SPAN_D2D,
			                 ON_STREAM(c),
			                 .bytes = c->bytes };
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMSET: {
		const CUpti_ActivityMemset4 *m = (const void *)a;
		r = (struct record){ .kind = SPAN_FILL, ON_STREAM(m), .bytes = m->bytes };
		break;
	}
	case CUPTI_ACTIVITY_KIND_DRIVER: {
		const CUpti_ActivityAPI *c = (const void *)a;
		r = (struct record){
			.kind = SPAN_CALL, .correlation = c->correlationId, .start = c->start, .end = c->end
		};
		call_name(c->cbid, r.name, sizeof r.name);
		break;
	}
	case CUPTI_ACTIVITY_KIND_OVERHEAD: {
		const CUpti_ActivityOverhead3 *o = (const void *)a;
		r = (struct record){ .kind = SPAN_OVERHEAD, .start = o->start, .end = o->end };
		snprintf(r.name, sizeof r.name, "%s", overhead_name((int)o->overheadKind));
		break;
	}
	default: return;
	}
	append_record(&r);
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
		read_activity(a);
	pthread_mutex_unlock(&records.lock);
	free(buffer);
}

static const CUpti_ActivityKind timeline_kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_DRIVER,
	CUPTI_ACTIVITY_KIND_OVERHEAD,
};
static const CUpti_ActivityKind kernel_kind[] = { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL };

static void disable_kinds(struct gpu_worker *w, const CUpti_ActivityKind *kinds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		w->cupti.ActivityDisable(kinds[i]);
}

static bool enable_kinds(struct gpu_worker *w, const CUpti_ActivityKind *kinds, size_t n,
                         struct cuda_fault *why)
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
			disable_kinds(w, kinds, i);
			return false;
		}
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	return x->start != y->start
	           ? (x->start > y->start) - (x->start < y->start)
	           : (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int by_call(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

bool activity_durations(struct gpu_worker *w, const struct timed *t, unsigned n, double *ns,
                        unsigned *got, struct cuda_fault *why)
{
	*got = 0;
	if (!work_cupti(w, why) || !enable_kinds(w, kernel_kind, ARRAY_LEN(kernel_kind), why))
		return false;
	work_step(w, "timing %u launches by activity records", n);
	bool ok = true;
	for (unsigned i = 0; ok && i < n; i++) {
		ok = (!t->restore || t->restore(w, t->ctx, why)) && (t->warm_l2 || flush_l2(w, why)) &&
		     t->launch(w, t->ctx, why);
	}
	ok = ok && cu_ok(w, w->cu.StreamSynchronize(w->stream), "cuStreamSynchronize", why);
	if (w->poisoned)
		return false;
	w->cupti.ActivityFlushAll(1);
	disable_kinds(w, kernel_kind, ARRAY_LEN(kernel_kind));
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

bool activity_begin(struct gpu_worker *w, struct cuda_fault *why)
{
	return work_cupti(w, why) && enable_kinds(w, timeline_kinds, ARRAY_LEN(timeline_kinds), why);
}

void activity_end(struct gpu_worker *w)
{
	w->cupti.ActivityFlushAll(1);
	disable_kinds(w, timeline_kinds, ARRAY_LEN(timeline_kinds));
}

void activity_clear(struct gpu_worker *w)
{
	w->cupti.ActivityFlushAll(1);
	pthread_mutex_lock(&records.lock);
	records.n = 0;
	pthread_mutex_unlock(&records.lock);
}

static bool is_work(const struct record *r)
{
	return r->kind != SPAN_CALL && r->kind != SPAN_OVERHEAD;
}

/* Of one call there is one piece of work; should the driver have split it, they become one. */
static void join_split(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < records.n; i++) {
		struct record *r = &records.r[i], *last = n ? &records.r[n - 1] : NULL;
		if (last && is_work(r) && is_work(last) && r->correlation == last->correlation &&
		    r->kind == last->kind) {
			last->start = r->start < last->start ? r->start : last->start;
			last->end = r->end > last->end ? r->end : last->end;
			last->bytes += r->bytes;
		} else {
			records.r[n++] = *r;
		}
	}
	records.n = n;
}

/* By call, and of one call the work behind the call. */
static int by_call_and_kind(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	const int order = by_call(a, b);
	return order ? order : is_work(x) - is_work(y);
}

static bool give_to_ops(const struct stream_program *p)
{
	unsigned op = 0;
	for (unsigned i = 0; i < records.n; i++) {
		struct record *r = &records.r[i], *next = i + 1 < records.n ? r + 1 : NULL;
		if (r->kind == SPAN_CALL) { /* of the work behind it, or of none */
			const bool own = next && is_work(next) && next->correlation == r->correlation;
			r->correlation = own ? UINT32_MAX : 0;
		}
		if (!is_work(r))
			continue;
		while (op < p->n_ops && !stream_is_work(&p->ops[op]))
			op++;
		if (op == p->n_ops)
			return false;
		snprintf(r->name, sizeof r->name, "%s", p->ops[op].name);
		r->stream = p->ops[op].stream;
		r->correlation = ++op;
		if (i && r[-1].correlation == UINT32_MAX)
			r[-1].correlation = op;
	}
	while (op < p->n_ops && !stream_is_work(&p->ops[op]))
		op++;
	return op == p->n_ops;
}

static bool take_spans(const struct stream_program *p, struct cuda_report *report)
{
	qsort(records.r, records.n, sizeof *records.r, by_call_and_kind);
	join_split();
	const bool all = give_to_ops(p);
	qsort(records.r, records.n, sizeof *records.r, by_start);
	uint64_t base = 0;
	for (unsigned i = 0; i < records.n && !base; i++)
		base = records.r[i].start;
	report->run.spans = mem_calloc(records.n ? records.n : 1, sizeof *report->run.spans);
	for (unsigned i = 0; i < records.n; i++) {
		const struct record *r = &records.r[i];
		if (!r->start || r->end < r->start)
			continue;
		struct span *s = &report->run.spans[report->run.n_spans++];
		*s = (struct span){ .kind = r->kind,
			                .stream = r->stream,
			                .correlation = r->correlation,
			                .start_ns = (double)(r->start - base),
			                .end_ns = (double)(r->end - base),
			                .queued_ns = r->queued >= base ? (double)(r->queued - base) : -1,
			                .bytes = r->bytes };
		snprintf(s->name, sizeof s->name, "%s", r->name[0] ? r->name : "copy");
	}
	return all;
}

bool activity_spans(const struct stream_program *p, struct cuda_report *report,
                    struct cuda_fault *why)
{
	pthread_mutex_lock(&records.lock);
	const bool all = take_spans(p, report);
	const unsigned n = records.n;
	pthread_mutex_unlock(&records.lock);
	return all ||
	       fault_set(why, FAULT_OTHER, "%u activity records do not fit the program's calls", n);
}
