/*
 * A stream program as a GPU did it: the spans of its calls, copies and kernels, and what each
 * waited for. A GPU does not tell the latter: it is taken from the order of things and CUDA's
 * rules. Measures nothing; see stream_time.h.
 */
#include "timemodel/stream_time.h"

#include <math.h>

/* An op that starts within this time after another's end waited for it. */
#define SLACK_NS 1000

static bool span_fits_op(const struct stream_op *op, enum span_kind k)
{
	return (op->kind == SOP_H2D && k == SPAN_H2D) || (op->kind == SOP_D2H && k == SPAN_D2H) ||
	       (op->kind == SOP_KERNEL && k == SPAN_KERNEL);
}

static enum stream_engine engine_of_op(const struct stream_op *op)
{
	return op->kind == SOP_H2D ? ENGINE_H2D : op->kind == SOP_D2H ? ENGINE_D2H : ENGINE_SM;
}

/* An event that op @i's stream waited for, and that was recorded behind op @j. */
static bool by_event(const struct stream_program *p, unsigned i, unsigned j)
{
	for (unsigned w = j + 1; w < i; w++) {
		const struct stream_op *wait = &p->ops[w];
		if (wait->kind != SOP_WAIT || wait->stream != p->ops[i].stream)
			continue;
		for (unsigned r = j + 1; r < w; r++)
			if (p->ops[r].kind == SOP_RECORD && p->ops[r].event == wait->event &&
			    p->ops[r].stream == p->ops[j].stream)
				return true;
	}
	return false;
}

/* The last op to end before @i began, of those that @i had to wait for; -1 = the host's call. */
static int op_waited_for(const struct stream_program *p, const struct stream_outcome *o, unsigned i)
{
	const struct stream_op *op = &p->ops[i];
	int best = -1;
	for (unsigned j = 0; j < p->n_ops; j++) {
		const struct stream_op *b = &p->ops[j];
		if (j == i || !stream_is_work(b) || o->spans[j].end_ns > o->spans[i].start_ns + SLACK_NS ||
		    o->spans[j].start_ns >= o->spans[i].start_ns)
			continue;
		const bool queue = j < i && (b->stream == op->stream || b->stream == 0 || op->stream == 0);
		if (!queue && o->spans[j].engine != o->spans[i].engine && !(j < i && by_event(p, i, j)))
			continue;
		if (best < 0 || o->spans[j].end_ns > o->spans[best].end_ns)
			best = (int)j;
	}
	return best >= 0 && o->spans[best].end_ns >= o->spans[i].call_ns ? best : -1;
}

bool stream_seen(const struct stream_program *p, const struct span *spans, unsigned n,
                 struct stream_outcome *out)
{
	struct stream_outcome o = { .origin = ORIGIN_MEASURED,
		                        .modelled_ns = out->modelled_ns,
		                        .modelled_gbs = { out->modelled_gbs[0], out->modelled_gbs[1] } };
	bool seen[STREAM_MAX_OPS] = { false }, called[STREAM_MAX_OPS] = { false };
	int held_by[STREAM_MAX_OPS];
	double t0 = INFINITY;
	for (unsigned k = 0; k < n; k++) {
		const unsigned i = spans[k].correlation - 1; /* 0 becomes out of range */
		if (i >= p->n_ops)
			continue;
		struct stream_span *t = &o.spans[i];
		if (spans[k].kind == SPAN_CALL && !called[i]) {
			called[i] = true;
			t->call_ns = spans[k].start_ns;
			t->return_ns = spans[k].end_ns;
		} else if (span_fits_op(&p->ops[i], spans[k].kind) && !seen[i]) {
			seen[i] = true;
			t->start_ns = spans[k].start_ns;
			t->end_ns = spans[k].end_ns;
			t->engine = engine_of_op(&p->ops[i]);
		} else {
			continue;
		}
		t0 = fmin(t0, spans[k].start_ns);
	}
	for (unsigned i = 0; i < p->n_ops; i++)
		if (stream_is_work(&p->ops[i]) && !seen[i])
			return false;
	if (!isfinite(t0))
		return false;
	for (unsigned i = 0; i < p->n_ops; i++) {
		struct stream_span *t = &o.spans[i];
		held_by[i] = -1;
		t->waits_for = -1;
		t->call_ns = called[i] ? t->call_ns - t0 : 0;
		t->return_ns = called[i] ? t->return_ns - t0 : 0;
		if (!seen[i])
			continue;
		t->start_ns -= t0;
		t->end_ns -= t0;
		o.busy_ns[t->engine] += t->end_ns - t->start_ns;
		o.makespan_ns = fmax(o.makespan_ns, t->end_ns);
		if (stream_holds_host(&p->ops[i]))
			held_by[i] = (int)i;
	}
	for (unsigned i = 0; i < p->n_ops; i++)
		if (seen[i])
			o.spans[i].waits_for = op_waited_for(p, &o, i);
	stream_sum_up(p, held_by, &o);
	*out = o;
	return true;
}
