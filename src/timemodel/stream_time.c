/*
 * The stream model: a discrete-event simulation in which the host issues calls in order and every
 * engine takes the issued operation that can start first. See stream_time.h for the rules.
 *
 * Start times are decided in ascending order, so an operation's end is known as soon as it
 * starts and nothing decided later can change it.
 */
#include "timemodel/stream_time.h"

#include "timemodel/constants.h"

#include <math.h>

static double figure_or(double figure, double otherwise)
{
	return figure > 0 ? figure : otherwise;
}

/* Where a sheet has no measurement of its own, the H200's as shares of the link: constants.def. The
 * host's staging of pageable memory is a matter of its memory, not of the link, unless that is
 * slower. */
struct stream_rates stream_rates_of(const struct gpu_spec *g)
{
	struct stream_rates r = {
		.copy_call_ns = figure_or(g->copy_call_ns, timing.copy_call_ns),
		.launch_call_ns = figure_or(g->launch_call_ns, timing.launch_call_ns),
		.held_ns = timing.held_call_ns,
		.staged_ns = timing.staged_call_ns,
		.copy_latency_ns = figure_or(g->copy_latency_ns, timing.copy_latency_ns),
		.pinned_gbs = figure_or(g->pinned_gbs, timing.pinned_link_share * g->pcie_gbs),
	};
	const double pageable = timing.pageable_share * r.pinned_gbs;
	r.duplex_gbs = figure_or(g->duplex_gbs, timing.duplex_share * r.pinned_gbs);
	r.pageable_gbs[0] = figure_or(g->pageable_h2d_gbs, fmin(timing.pageable_h2d_gbs, pageable));
	r.pageable_gbs[1] = figure_or(g->pageable_d2h_gbs, fmin(timing.pageable_d2h_gbs, pageable));
	return r;
}

/* --- the simulation --- */

struct sim {
	const struct stream_program *p;
	const struct gpu_spec *g;
	const struct stream_rates *rates;
	struct stream_outcome *out;
	bool issued[STREAM_MAX_OPS], started[STREAM_MAX_OPS];
	double engine_free[ENGINE_COUNT];
	int engine_last[ENGINE_COUNT];
	double host_ns;
	int held_by[STREAM_MAX_OPS]; /* op whose end let this call return; -1 = it did not wait */
	unsigned next;               /* next op the host will call */
	int blocked; /* op whose end the host waits for; -1 = none; n_ops = everything */
};

static enum stream_engine engine_of(const struct sim *s, const struct stream_op *op)
{
	switch (op->kind) {
	case SOP_H2D: return ENGINE_H2D;
	case SOP_D2H: return s->g->copy_engines == 1 ? ENGINE_H2D : ENGINE_D2H;
	case SOP_KERNEL: return ENGINE_SM;
	default: return ENGINE_HOST;
	}
}

static bool has_device_work(const struct stream_op *op)
{
	return stream_is_work(op) || op->kind == SOP_RECORD || op->kind == SOP_WAIT;
}

/* While the other direction is busy, a pinned copy is slower. */
static double pinned_ns(const struct sim *s, enum stream_engine e, double at, double bytes)
{
	const struct stream_rates *r = s->rates;
	const enum stream_engine other = e == ENGINE_H2D ? ENGINE_D2H : ENGINE_H2D;
	const double both = fmax(s->engine_free[other] - at, 0);
	if (bytes <= both * r->duplex_gbs)
		return bytes / r->duplex_gbs;
	return both + (bytes - both * r->duplex_gbs) / r->pinned_gbs;
}

static double duration_ns(const struct sim *s, const struct stream_op *op, double at)
{
	const struct stream_rates *r = s->rates;
	if (op->kind == SOP_KERNEL)
		return op->time_ns;
	if (op->kind != SOP_H2D && op->kind != SOP_D2H)
		return 0;
	const double bytes = (double)op->bytes, from = at + r->copy_latency_ns;
	return r->copy_latency_ns + (op->pinned ? pinned_ns(s, engine_of(s, op), from, bytes)
	                                        : bytes / r->pageable_gbs[op->kind == SOP_D2H]);
}

static double call_ns(const struct sim *s, const struct stream_op *op)
{
	switch (op->kind) {
	case SOP_HOST: return op->time_ns;
	case SOP_KERNEL: return s->rates->launch_call_ns;
	case SOP_SYNC:
	case SOP_SYNC_STREAM: return 0; /* it waits as long as it waits */
	default: return s->rates->copy_call_ns;
	}
}

/*
 * The earliest an issued op may start by its dependencies, and which op sets that; false while
 * one of them has not started. Dependencies: the op before in its stream; the event it waits for;
 * around the legacy default stream, everything issued before.
 */
static bool op_may_start(const struct sim *s, unsigned i, double *at, int *after)
{
	const struct stream_op *op = &s->p->ops[i];
	*at = s->out->spans[i].call_ns;
	*after = -1;
	bool same_done = false;
	for (unsigned j = i; j-- > 0;) {
		const struct stream_op *b = &s->p->ops[j];
		if (!has_device_work(b))
			continue;
		bool same = b->stream == op->stream;
		bool legacy = b->stream == 0 || op->stream == 0;
		bool event = op->kind == SOP_WAIT && b->kind == SOP_RECORD && b->event == op->event;
		if ((same && !same_done) || legacy || event) {
			if (!s->started[j])
				return false;
			if (s->out->spans[j].end_ns > *at) {
				*at = s->out->spans[j].end_ns;
				*after = (int)j;
			}
		}
		same_done |= same;
	}
	return true;
}

/* When the SMs have room for @share: kernels run side by side while their shares fit. */
static double sm_room(const struct sim *s, double at, double share, int *after)
{
	for (;;) {
		double used = 0;
		double first_end = INFINITY;
		int first = -1;
		for (unsigned j = 0; j < s->p->n_ops; j++) {
			const struct stream_span *t = &s->out->spans[j];
			if (s->p->ops[j].kind != SOP_KERNEL || !s->started[j] || t->end_ns <= at)
				continue;
			double sh = s->p->ops[j].share;
			used += sh > 0 ? sh : 1;
			if (t->end_ns < first_end) {
				first_end = t->end_ns;
				first = (int)j;
			}
		}
		if (used + share <= 1.0001 || first < 0)
			return at;
		at = first_end;
		*after = first;
	}
}

/* The issued op that can start first, or -1. */
static int next_start(const struct sim *s, double *start, int *after)
{
	int best = -1;
	for (unsigned i = 0; i < s->next; i++) {
		double at;
		int who;
		if (!s->issued[i] || s->started[i] || !op_may_start(s, i, &at, &who))
			continue;
		const struct stream_op *op = &s->p->ops[i];
		enum stream_engine e = engine_of(s, op);
		if (op->kind == SOP_KERNEL) {
			at = sm_room(s, at, op->share > 0 ? op->share : 1, &who);
		} else if (e != ENGINE_HOST && s->engine_free[e] > at) {
			at = s->engine_free[e];
			who = s->engine_last[e];
		}
		if (best < 0 || at < *start) {
			best = (int)i;
			*start = at;
			*after = who;
		}
	}
	return best;
}

static void start_op(struct sim *s, unsigned i, double at, int after)
{
	const struct stream_op *op = &s->p->ops[i];
	struct stream_span *t = &s->out->spans[i];
	enum stream_engine e = engine_of(s, op);
	t->engine = e;
	t->start_ns = at;
	t->end_ns = at + duration_ns(s, op, at);
	t->waits_for = after;
	s->started[i] = true;
	if (e != ENGINE_HOST) {
		s->engine_free[e] = t->end_ns;
		s->engine_last[e] = (int)i;
		s->out->busy_ns[e] += t->end_ns - t->start_ns;
	}
}

/* The end of what call @i waits for; false while part of it has not started. */
static bool wait_is_over(const struct sim *s, unsigned i, double *at, int *after)
{
	const struct stream_op *op = &s->p->ops[i];
	*at = s->host_ns;
	*after = -1;
	for (unsigned j = 0; j <= i; j++) {
		const struct stream_op *b = &s->p->ops[j];
		bool all = op->kind == SOP_SYNC || op->kind == SOP_FREE;
		bool stream = op->kind == SOP_SYNC_STREAM && b->stream == op->stream;
		if (!has_device_work(b) || !(all || stream || j == i))
			continue;
		if (!s->started[j])
			return false;
		if (s->out->spans[j].end_ns > *at) {
			*at = s->out->spans[j].end_ns;
			*after = (int)j;
		}
	}
	return true;
}

static bool program_is_legal(const struct stream_program *p, struct err *err)
{
	for (unsigned i = 0; i < p->n_ops; i++) {
		const struct stream_op *op = &p->ops[i];
		if (op->stream >= STREAM_MAX_STREAMS)
			return err_set(err, ERR_USAGE, "stream %u: at most %d streams", op->stream,
			               STREAM_MAX_STREAMS - 1);
		if (op->kind != SOP_WAIT)
			continue;
		bool recorded = false;
		for (unsigned j = 0; j < i; j++)
			recorded |= p->ops[j].kind == SOP_RECORD && p->ops[j].event == op->event;
		if (!recorded)
			return err_set(err, ERR_USAGE,
			               "operation %u waits for event %u, which nothing before it records", i,
			               op->event);
	}
	return true;
}

/* What let op @i start: an op, or, when that was the host's call, the op that held the host last.
 */
static int op_let_start(const struct stream_outcome *o, const int *held_by, int i)
{
	if (o->spans[i].waits_for >= 0)
		return o->spans[i].waits_for;
	while (--i >= 0)
		if (held_by[i] >= 0)
			return held_by[i];
	return -1;
}

/* Walks back from the last end over what each op waited for; adds up time per engine. */
static void sum_critical_path(const struct stream_program *p, const int *held_by,
                              struct stream_outcome *o)
{
	double on[ENGINE_COUNT] = { 0 };
	int i = -1;
	for (unsigned j = 0; j < p->n_ops; j++)
		if (has_device_work(&p->ops[j]) && (i < 0 || o->spans[j].end_ns > o->spans[i].end_ns))
			i = (int)j;
	double covered = 0;
	while (i >= 0) {
		const struct stream_span *t = &o->spans[i];
		on[t->engine] += t->end_ns - t->start_ns;
		covered += t->end_ns - t->start_ns;
		i = op_let_start(o, held_by, i);
	}
	on[ENGINE_HOST] += o->makespan_ns > covered ? o->makespan_ns - covered : 0;
	o->critical = ENGINE_HOST;
	for (enum stream_engine e = ENGINE_HOST; e < ENGINE_COUNT; e++)
		if (on[e] > on[o->critical])
			o->critical = e;
	o->critical_pct = o->makespan_ns > 0 ? 100 * on[o->critical] / o->makespan_ns : 0;
}

void stream_sum_up(const struct stream_program *p, const int *held_by, struct stream_outcome *o)
{
	o->serial_ns = o->overlap_pct = 0;
	for (enum stream_engine e = ENGINE_H2D; e < ENGINE_COUNT; e++)
		o->serial_ns += o->busy_ns[e];
	if (o->serial_ns > o->makespan_ns)
		o->overlap_pct = 100 * (o->serial_ns - o->makespan_ns) / o->serial_ns;
	sum_critical_path(p, held_by, o);
}

static double copy_gbs(const struct stream_program *p, const struct stream_outcome *o,
                       enum stream_op_kind dir)
{
	double bytes = 0, ns = 0;
	for (unsigned i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind == dir) {
			bytes += (double)p->ops[i].bytes;
			ns += o->spans[i].end_ns - o->spans[i].start_ns;
		}
	return ns > 0 ? bytes / ns : 0;
}

bool stream_run(const struct stream_program *p, const struct gpu_spec *g,
                const struct stream_rates *rates, struct stream_outcome *out, struct err *err)
{
	if (!program_is_legal(p, err))
		return false;
	*out = (struct stream_outcome){ 0 };
	struct sim s = { .p = p, .g = g, .rates = rates, .out = out, .blocked = -1 };
	for (;;) {
		double start = 0;
		int after = -1;
		int first = next_start(&s, &start, &after);
		if (s.blocked >= 0) {
			double at;
			int who;
			if (wait_is_over(&s, (unsigned)s.blocked, &at, &who)) {
				if (stream_is_work(&p->ops[s.blocked]))
					at += p->ops[s.blocked].pinned ? rates->held_ns : rates->staged_ns;
				out->spans[s.blocked].return_ns = s.host_ns = at;
				s.held_by[s.blocked] = who;
				s.blocked = -1;
				continue;
			}
		} else if (s.next < p->n_ops && (first < 0 || s.host_ns <= start)) {
			unsigned i = s.next++;
			const struct stream_op *op = &p->ops[i];
			out->spans[i] = (struct stream_span){
				.call_ns = s.host_ns, .waits_for = -1, .start_ns = s.host_ns, .end_ns = s.host_ns
			};
			s.host_ns += call_ns(&s, op);
			out->spans[i].return_ns = s.host_ns;
			s.issued[i] = has_device_work(op);
			s.held_by[i] = -1;
			if (stream_holds_host(op))
				s.blocked = (int)i;
			continue;
		}
		if (first < 0)
			break;
		start_op(&s, (unsigned)first, start, after);
	}
	out->makespan_ns = s.host_ns;
	for (unsigned i = 0; i < p->n_ops; i++)
		if (out->spans[i].end_ns > out->makespan_ns)
			out->makespan_ns = out->spans[i].end_ns;
	out->origin = ORIGIN_MODELLED;
	out->modelled_ns = out->makespan_ns;
	for (unsigned down = 0; down < 2; down++)
		out->modelled_gbs[down] = copy_gbs(p, out, down ? SOP_D2H : SOP_H2D);
	stream_sum_up(p, s.held_by, out);
	return true;
}
