/*
 * What CUPTI saw as a program's launches and copies; see program_measured.h.
 *
 * Work is sorted by the number of the call that made it, and of one call (a graph) by its start.
 * Streams that work was put into are numbered in the order of their making, the default one is 0.
 */
#include "runtime/program_measured.h"

#include "base/mem.h"
#include "base/text.h"
#include "cuda/cuda_fault.h"
#include "runtime/program_collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call of the runtime or the driver. */
struct call {
	uint32_t number, result;
	bool launches, runtime;
	double ns;
};

struct measured {
	uint64_t begin_ns; /* the program's clock, on CUPTI's */
	bool told, ended;  /* the library inside the program has answered; has said its last word */
	bool refused;      /* it could record nothing */
	size_t n_calls, cap_calls;
	struct call *calls;
	unsigned n_streams, cap_streams;
	uint32_t *streams; /* that work was put into, in the order of their making */
	unsigned n_defaults, cap_defaults;
	uint32_t *defaults;
	size_t n_counters, cap_counters;
	struct record_measured *counters;
	uint32_t fault;                /* error of a call that told of a kernel's fault; 0 = none */
	struct cuda_fault no_counters; /* FAULT_NONE = they were not refused */
};

struct measured *measured_new(void)
{
	return mem_zalloc(sizeof(struct measured));
}

void measured_free(struct measured *m)
{
	if (!m)
		return;
	free(m->calls);
	free(m->streams);
	free(m->defaults);
	free(m->counters);
	free(m);
}

/* --- taking --- */

static double on_clock(const struct measured *m, uint64_t ns)
{
	return ns > m->begin_ns ? (double)(ns - m->begin_ns) : 0;
}

static struct program_span span_of(const struct measured *m, const struct record_seen *s)
{
	const double start = on_clock(m, s->start_ns);
	return (struct program_span){ start, start, on_clock(m, s->end_ns) };
}

static bool take_launch(const struct measured *m, struct program *p, const struct record_seen *s)
{
	if (!s->kernel || s->kernel > p->n_kernels)
		return false;
	MEM_ROOM(p->launches, p->n_launches, p->cap_launches, 64);
	struct program_launch *l = &p->launches[p->n_launches++];
	*l = (struct program_launch){
		.number = p->n_launches,
		.like = p->n_launches,
		.call = s->call,
		.kernel = s->kernel - 1,
		.stream = s->stream,
		.dynamic_shared_bytes = s->dynamic_shared_bytes,
		.span = span_of(m, s),
		.flags = (s->cooperative ? 1u << PROGRAM_FLAG_COOPERATIVE : 0) |
		         (s->by_kernel ? 1u << PROGRAM_FLAG_NESTED : 0) |
		         (s->end_ns ? 0 : 1u << PROGRAM_FLAG_UNTIMED),
	};
	memcpy(l->grid, s->grid, sizeof l->grid);
	memcpy(l->block, s->block, sizeof l->block);
	return true;
}

static void take_copy(const struct measured *m, struct program *p, const struct record_seen *s)
{
	MEM_ROOM(p->copies, p->n_copies, p->cap_copies, 64);
	const uint64_t number = p->n_copies + 1;
	p->copies[p->n_copies++] = (struct program_copy){
		.number = number,
		.call = s->call,
		.direction = (enum program_direction)s->direction,
		.stream = s->stream,
		.bytes = s->bytes,
		.pinned = s->pinned,
		.async = s->async,
		.set = s->kind == RECORD_SEEN_SET,
		.span = span_of(m, s),
		.before = 1,
	};
}

static bool is_among(const uint32_t *list, unsigned n, uint32_t id)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i] == id)
			return true;
	return false;
}

static void take_stream(struct measured *m, uint32_t id)
{
	if (is_among(m->streams, m->n_streams, id))
		return;
	MEM_ROOM(m->streams, m->n_streams, m->cap_streams, 16);
	m->streams[m->n_streams++] = id;
}

static void take_call(struct measured *m, const struct record_seen *s)
{
	if (s->fault && !m->fault)
		m->fault = s->result;
	MEM_ROOM(m->calls, m->n_calls, m->cap_calls, 256);
	m->calls[m->n_calls++] = (struct call){ s->call, s->result, s->launches && !s->fault,
		                                    s->runtime, on_clock(m, s->start_ns) };
}

static bool take_one(struct measured *m, struct program *p, const struct record_seen *s)
{
	switch ((enum record_seen_kind)s->kind) {
	case RECORD_SEEN_BEGIN: m->begin_ns = s->start_ns; return true;
	case RECORD_SEEN_LAUNCH: return take_launch(m, p, s);
	case RECORD_SEEN_COPY:
	case RECORD_SEEN_SET: take_copy(m, p, s); return true;
	case RECORD_SEEN_CALL: take_call(m, s); return true;
	case RECORD_SEEN_CONTEXT:
		if (is_among(m->defaults, m->n_defaults, s->stream))
			return true;
		MEM_ROOM(m->defaults, m->n_defaults, m->cap_defaults, 4);
		m->defaults[m->n_defaults++] = s->stream;
		return true;
	case RECORD_SEEN_KINDS:
	default: return false;
	}
}

static bool take_seen(struct measured *m, struct program *p, struct wire_msg *msg)
{
	struct record_seen *s;
	size_t n;
	bool ok = record_get_seen(msg, &s, &n);
	for (size_t i = 0; ok && i < n; i++)
		ok = take_one(m, p, &s[i]);
	free(s);
	return ok;
}

static void add_finding(struct program *p, const char *kind, char *text, const char *remedy,
                        bool error)
{
	p->findings = mem_realloc(p->findings, p->n_findings + 1, sizeof *p->findings);
	p->findings[p->n_findings++] = (struct program_finding){
		.times = 1,
		.kind = mem_strdup(kind),
		.text = text,
		.remedy = mem_strdup(remedy),
		.file = mem_strdup(""),
		.error = error,
	};
}

static bool take_refusal(struct measured *m, struct program *p, struct wire_msg *msg)
{
	struct record_refusal r;
	if (!record_get_refusal(msg, &r))
		return false;
	const enum fault_id id =
		r.fault < FAULT_COUNT && r.fault ? (enum fault_id)r.fault : FAULT_OTHER;
	static const char *const kinds[] = { "not-recorded", "no-counters", "incomplete" };
	static const char *const words[] = { "what the program did on the GPU was not recorded",
		                                 "the counters were not read: times are measured",
		                                 "a part of what the program did is missing" };
	add_finding(p, kinds[r.what],
	            mem_printf("%s: %s%s%s%s", words[r.what], fault_reason(id), r.detail[0] ? " (" : "",
	                       r.detail, r.detail[0] ? ")" : ""),
	            fault_remedy(id), r.what != RECORD_REFUSED_COUNTERS);
	m->refused |= r.what == RECORD_REFUSED_ALL;
	if (r.what == RECORD_REFUSED_COUNTERS)
		fault_set(&m->no_counters, id, "%s", r.detail);
	return true;
}

static bool take_counters(struct measured *m, struct wire_msg *msg)
{
	struct record_measured *r = mem_alloc(sizeof *r);
	const bool ok = record_get_measured(msg, r);
	if (ok) {
		MEM_ROOM(m->counters, m->n_counters, m->cap_counters, 4);
		m->counters[m->n_counters++] = *r;
	}
	free(r);
	return ok;
}

bool measured_take(struct measured *m, struct program *p, struct wire_msg *msg, struct err *err)
{
	bool ok = true;
	switch ((enum record_kind)msg->type) {
	case RECORD_SEEN: ok = take_seen(m, p, msg); break;
	case RECORD_REFUSAL: ok = take_refusal(m, p, msg); break;
	case RECORD_MEASURED: ok = take_counters(m, msg); break;
	case RECORD_HELLO: m->told = true; return program_collect(p, msg, err);
	case RECORD_END: m->ended = true; return program_collect(p, msg, err);
	default: return program_collect(p, msg, err);
	}
	return ok || err_set(err, ERR_INTERNAL, "the program's library sent a malformed record (%u)",
	                     msg->type);
}

/* --- finishing --- */

static int in_order(uint64_t a, uint64_t b, const struct program_span *x,
                    const struct program_span *y)
{
	return a != b ? (a > b) - (a < b) : (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int launches_in_order(const void *a, const void *b)
{
	const struct program_launch *x = a, *y = b;
	const int order = in_order(x->call, y->call, &x->span, &y->span);
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int copies_in_order(const void *a, const void *b)
{
	const struct program_copy *x = a, *y = b;
	const int order = in_order(x->call, y->call, &x->span, &y->span);
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Of one number the outermost, which began first. */
static int calls_in_order(const void *a, const void *b)
{
	const struct call *x = a, *y = b;
	return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
	                              : (x->ns > y->ns) - (x->ns < y->ns);
}

static void number_them(struct program *p)
{
	if (p->n_launches)
		qsort(p->launches, p->n_launches, sizeof *p->launches, launches_in_order);
	if (p->n_copies)
		qsort(p->copies, p->n_copies, sizeof *p->copies, copies_in_order);
	for (size_t i = 0; i < p->n_launches; i++)
		p->launches[i].number = p->launches[i].like = i + 1;
	size_t next = 0;
	for (size_t i = 0; i < p->n_copies; i++) {
		struct program_copy *c = &p->copies[i];
		while (next < p->n_launches &&
		       in_order(p->launches[next].call, c->call, &p->launches[next].span, &c->span) < 0)
			next++;
		c->number = i + 1;
		c->before = next + 1;
	}
}

static int ascending(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static unsigned stream_number(const struct measured *m, uint32_t id)
{
	unsigned number = 1;
	if (is_among(m->defaults, m->n_defaults, id))
		return 0;
	for (unsigned i = 0; i < m->n_streams && m->streams[i] != id; i++)
		number += !is_among(m->defaults, m->n_defaults, m->streams[i]);
	return number;
}

static void number_streams(struct measured *m, struct program *p)
{
	for (size_t i = 0; i < p->n_launches; i++)
		take_stream(m, p->launches[i].stream);
	for (size_t i = 0; i < p->n_copies; i++)
		take_stream(m, p->copies[i].stream);
	if (m->n_streams) /* CUPTI numbers them as they are made */
		qsort(m->streams, m->n_streams, sizeof *m->streams, ascending);
	for (size_t i = 0; i < p->n_launches; i++)
		p->launches[i].stream = stream_number(m, p->launches[i].stream);
	for (size_t i = 0; i < p->n_copies; i++)
		p->copies[i].stream = stream_number(m, p->copies[i].stream);
}

static const struct call *call_numbered(const struct measured *m, uint64_t number)
{
	size_t low = 0, high = m->n_calls;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (m->calls[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->n_calls && m->calls[low].number == number ? &m->calls[low] : NULL;
}

/* When the host asked for it. Work that never ended stands where it was asked for. */
static void take_call_time(const struct call *c, struct program_span *s)
{
	if (c && (c->ns < s->start_ns || s->start_ns <= 0))
		s->call_ns = c->ns;
	if (c && s->start_ns <= 0)
		s->start_ns = s->end_ns = c->ns;
}

static void find_calls(struct measured *m, struct program *p)
{
	if (m->n_calls)
		qsort(m->calls, m->n_calls, sizeof *m->calls, calls_in_order);
	for (size_t i = 0; i < p->n_launches; i++) {
		struct program_launch *l = &p->launches[i];
		const struct call *c = call_numbered(m, l->call);
		take_call_time(c, &l->span);
		if (l->flags >> PROGRAM_FLAG_UNTIMED & 1 && c && c->launches && c->result)
			l->flags ^= 1u << PROGRAM_FLAG_UNTIMED | 1u << PROGRAM_FLAG_FAILED;
	}
	for (size_t i = 0; i < p->n_copies; i++)
		take_call_time(call_numbered(m, p->copies[i].call), &p->copies[i].span);
}

static const char *error_text(uint32_t number)
{
	static const struct {
		uint32_t number;
		const char *text;
	} errors[] = {
#define ERROR(name, number_, text_) { .number = number_, .text = text_ },
#include "runtime/guest/cuda_error.def"
#undef ERROR
	};
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (errors[i].number == number)
			return errors[i].text;
	return "unknown to this program";
}

/* Launches that the runtime or the driver refused: no kernel ran, so no record tells of it. */
static void find_refused(const struct measured *m, struct program *p)
{
	uint64_t times = 0;
	uint32_t last = 0, result = 0;
	for (size_t i = 0; i < m->n_calls; i++) {
		const struct call *c = &m->calls[i];
		if (!c->launches || !c->result || c->number == last)
			continue;
		last = c->number;
		times++;
		result = result ? result : c->result;
	}
	if (!times)
		return;
	add_finding(p, "launch-refused",
	            mem_printf("a launch was refused: error %u, %s", result, error_text(result)),
	            "check cudaGetLastError() behind each launch and what each call returns", false);
	p->findings[p->n_findings - 1].times = times;
}

static bool same_shape(const struct program_launch *a, const struct program_launch *b)
{
	return a->kernel == b->kernel && a->dynamic_shared_bytes == b->dynamic_shared_bytes &&
	       !memcmp(a->grid, b->grid, sizeof a->grid) &&
	       !memcmp(a->block, b->block, sizeof a->block);
}

static const struct record_measured *counters_of(const struct measured *m,
                                                 const struct program_launch *l)
{
	for (size_t i = 0; i < m->n_counters; i++)
		if (m->counters[i].call == l->call)
			return &m->counters[i];
	return NULL;
}

/* Launches with counters have metrics of their own; of the others the first of each kernel, grid
 * and block, unless one of those has counters. Shapes are few, launches may be many. */
static void gauge_all(const struct measured *m, struct program *p)
{
	const char *why = m->no_counters.id != FAULT_NONE
	                      ? fault_reason(m->no_counters.id)
	                      : "counters are read of launches that are asked for: --launch N, "
	                        "--launches A..B, or --count N";
	size_t n = 0, *shapes = mem_calloc(p->n_launches + 1, sizeof *shapes);
	for (size_t i = 0; m->n_counters && i < p->n_launches; i++) {
		const struct record_measured *c = counters_of(m, &p->launches[i]);
		size_t k = 0;
		if (!c)
			continue;
		gauge_launch(p, &p->launches[i], c, why);
		while (k < n && !same_shape(&p->launches[shapes[k]], &p->launches[i]))
			k++;
		if (k == n)
			shapes[n++] = i;
	}
	for (size_t i = 0; i < p->n_launches; i++) {
		struct program_launch *l = &p->launches[i];
		size_t k = 0;
		if (l->metrics)
			continue;
		while (k < n && !same_shape(&p->launches[shapes[k]], l))
			k++;
		if (k == n) {
			shapes[n++] = i;
			gauge_launch(p, l, NULL, why);
		}
		l->like = p->launches[shapes[k]].number;
	}
	free(shapes);
}

void measured_finish(struct measured *m, struct program *p)
{
	number_them(p);
	number_streams(m, p);
	find_calls(m, p);
	if (m->fault)
		add_finding(p, "kernel-fault",
		            mem_printf("%s: error %u, %s", fault_reason(FAULT_KERNEL_FAULT), m->fault,
		                       error_text(m->fault)),
		            fault_remedy(FAULT_KERNEL_FAULT), true);
	find_refused(m, p);
	if (!m->told)
		add_finding(p, "not-recorded",
		            mem_strdup("the program never opened the GPU, or its driver did not load our "
		                       "library"),
		            "CUDA_INJECTION64_PATH is what the driver reads: see that nothing unsets it",
		            false);
	else if (!m->ended && !m->refused)
		add_finding(p, "cut-short",
		            mem_strdup("the program ended without exit(): what it did in its last moments "
		                       "may be missing"),
		            "end it by exit() or by returning from main()", false);
	gauge_all(m, p);
}
