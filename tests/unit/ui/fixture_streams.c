/* Two chunks in two streams: copies and kernels that overlap. */
#include "fixture.h"

static void fixture_op(struct run_record *r, int op, enum stream_engine engine, double start,
                       double end, int after)
{
	r->timeline->spans[op] = (struct stream_span){
		.engine = engine, .start_ns = start, .end_ns = end, .waits_for = after
	};
}

struct session *fixture_streams(void)
{
	struct session *s = fixture_done();
	struct run_record *r = s->now;
	s->view = "timeline";
	free(r->run.spans); /* nothing was measured */
	r->run.spans = NULL;
	r->run.n_spans = 0;
	r->program = mem_zalloc(sizeof *r->program);
	r->timeline = mem_zalloc(sizeof *r->timeline);
	for (unsigned i = 0; i < 2; i++) {
		char name[8];
		snprintf(name, sizeof name, "A%u", i);
		stream_copy(r->program, SOP_H2D, 1 + i, name, 2000000, true, true);
		snprintf(name, sizeof name, "k%u", i);
		stream_kernel(r->program, 1 + i, name, 60000, 1);
		snprintf(name, sizeof name, "C%u", i);
		stream_copy(r->program, SOP_D2H, 1 + i, name, 1000000, true, true);
	}
	fixture_op(r, 0, ENGINE_H2D, 3000, 83000, -1);
	fixture_op(r, 1, ENGINE_SM, 83000, 143000, 0);
	fixture_op(r, 2, ENGINE_D2H, 143000, 183000, 1);
	fixture_op(r, 3, ENGINE_H2D, 83000, 163000, 0);
	fixture_op(r, 4, ENGINE_SM, 163000, 223000, 3);
	fixture_op(r, 5, ENGINE_D2H, 223000, 263000, 4);
	r->timeline->origin = ORIGIN_MODELLED;
	r->timeline->makespan_ns = r->timeline->modelled_ns = 263000;
	r->timeline->serial_ns = 360000;
	r->timeline->critical = ENGINE_H2D;
	r->timeline->critical_pct = 61;
	r->init = (struct stream_init){ .origin = ORIGIN_MODELLED };
	r->init.ns[INIT_CONTEXT] = 321e6;
	r->init.ns[INIT_MODULE] = 0.1e6;
	r->init.ns[INIT_ALLOCATE] = 100e3;
	r->init.ns[INIT_PIN] = 0.9e6 + 6e6 * 0.373;
	r->init.ns[INIT_STREAMS] = 2 * 35e3;
	for (enum stream_init_part k = 0; k < INIT_COUNT; k++)
		r->init.total_ns += r->init.ns[k];
	return s;
}
