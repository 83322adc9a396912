/* What panels need is run while they are looked at: the ladder's rungs, the map's
 * points, stall reasons. */
#include "lab_wait.h"
#include "lab/order.h"
#include "model/buffer_look.h"
#include "model/ladder.h"
#include "model/sweep_map.h"

static bool climbed(const struct session *s)
{
	return s->state != RUN_RUNNING && s->ladder && s->ladder->running < 0 &&
	       ladder_missing(s->ladder) < 0;
}

static bool asked(const struct session *s)
{
	return s->ladder->library_asked;
}

static bool climbing(const struct session *s)
{
	return s->ladder && s->ladder->running >= 0;
}

TEST(test_the_ladder_runs_when_looked_at)
{
	struct lab *a = settled_lab();
	struct session *s = lab_session(a);
	assert_null(s->ladder);
	assert_int_equal(fake.runs, 1);
	s->view = "rungs";
	lab_focus(a);
	assert_true(climbing(s));
	assert_int_equal(s->state, RUN_DONE);
	wait_for(a, climbed);
	assert_int_equal(fake.runs, 2); /* the run at hand is one of the two */
	wait_for(a, asked);             /* and no library multiplies matrices for this family */
	assert_string_equal(s->ladder->library_name, "");
	assert_ptr_equal(s->now->sel.kernel, &toy);
	assert_int_equal(s->now->sel.variant, 0); /* a rung is no run of the person's */
	assert_null(s->before);
	assert_false(s->stale);
	/* the other variant: the same rungs */
	lab_select(a, &toy, 1);
	assert_int_equal(ladder_missing(s->ladder), -1);
	wait_for(a, climbed);
	assert_int_equal(fake.runs, 3);
	/* a factor that only the second has: the first stays; another length: both are new */
	lab_param(a, TOY_W, 4);
	assert_int_equal(ladder_missing(s->ladder), 1);
	wait_for(a, climbed);
	assert_int_equal(fake.runs, 4);
	lab_param(a, TOY_N, 77);
	assert_int_equal(ladder_missing(s->ladder), 0);
	wait_for(a, climbed);
	assert_int_equal(fake.runs, 6);
	/* a block that no variant can have */
	lab_param(a, TOY_BLOCK, 4096);
	wait_for(a, settled);
	lab_poll(a);
	assert_non_null(strstr(s->ladder->rungs[0].why, "4096"));
	assert_int_equal(fake.runs, 6);
	/* and nothing runs while another panel is looked at */
	s->view = "plain";
	lab_param(a, TOY_BLOCK, 64);
	wait_for(a, settled);
	lab_focus(a);
	assert_int_equal(fake.runs, 7);
	assert_false(climbing(s));
	lab_free(a);
	assert_int_equal(fake.open, 0);
}

static bool mapped(const struct session *s)
{
	return s->state != RUN_RUNNING && s->map && s->map->running < 0 && sweep_map_due(s->map, 0) < 0;
}

TEST(test_the_map_fills_when_looked_at)
{
	struct lab *a = settled_lab();
	struct session *s = lab_session(a);
	assert_null(s->map);
	s->view = "points";
	lab_focus(a);
	assert_non_null(s->map);
	wait_for(a, mapped);
	/* the run at hand is one of them, and none is a run of the person's */
	const unsigned points = sweep_map_ran(s->map);
	assert_true(points > 4);
	const unsigned runs = (unsigned)fake.runs; /* long ones are sampled in two steps */
	assert_true(runs >= points && runs <= 2 * points);
	assert_null(s->before);
	assert_false(s->stale);
	/* to another point of it: it stays, and only what the person asked for runs */
	const struct selection to = sweep_map_selection(s->map, s->map->point[0].state != SWEEP_RAN);
	lab_selection(a, &to);
	wait_for(a, settled);
	wait_for(a, mapped);
	assert_true((unsigned)fake.runs > runs && (unsigned)fake.runs <= runs + 2);
	assert_int_equal(sweep_map_ran(s->map), points);
	/* other parameters: a new one around the same launch */
	s->map_pair = 1;
	lab_focus(a);
	wait_for(a, mapped);
	assert_int_equal(s->map->pair, 1 % s->map->pairs);
	/* ended by the person it stays as it is */
	lab_param(a, TOY_N, 77);
	lab_cancel(a);
	wait_for(a, settled);
	const int stopped = fake.runs;
	lab_focus(a);
	lab_poll(a);
	assert_int_equal(fake.runs, stopped);
	lab_free(a);
	assert_int_equal(fake.open, 0);
}

TEST(test_stall_reasons_are_read_when_looked_at)
{
	fake_reset();
	fake.device = true;
	struct lab *a = open_lab(NULL, "cuda");
	struct session *s = lab_session(a);
	lab_start(a);
	wait_for(a, settled);
	lab_focus(a);
	assert_int_equal(fake.runs, 1);
	assert_int_equal(s->now->run.n_stalls, 0);
	s->view = "stalls";
	lab_focus(a);
	assert_int_equal(s->state, RUN_RUNNING);
	wait_for(a, settled);
	assert_int_equal(s->now->run.n_stalls, 1);
	assert_string_equal(s->now->run.stalls[0].reason, "barrier");
	lab_focus(a); /* once is enough */
	assert_int_equal(fake.runs, 2);
	assert_int_equal(fake.stalled, 1);
	/* the next change brings them at once; another panel leaves them out */
	lab_param(a, TOY_N, 500);
	wait_for(a, settled);
	assert_int_equal(fake.stalled, 2);
	s->view = "plain";
	lab_param(a, TOY_N, 600);
	wait_for(a, settled);
	assert_int_equal(fake.stalled, 2);
	assert_int_equal(fake.runs, 4);
	lab_free(a);
	/* the emulator has none: it is not asked again and again */
	fake_reset();
	a = open_lab("a100", "emu");
	s = lab_session(a);
	s->view = "stalls";
	lab_start(a);
	wait_for(a, settled);
	lab_focus(a);
	assert_int_equal(fake.runs, 1);
	lab_free(a);
}

TEST(test_buffers_are_looked_at_when_shown)
{
	struct lab *a = settled_lab();
	struct session *s = lab_session(a);
	assert_int_equal(fake.runs, 1);
	assert_null(s->now->data);
	s->view = "buffers";
	lab_focus(a);
	wait_for(a, settled);
	assert_int_equal(fake.runs, 2);
	assert_non_null(s->now->data);
	assert_int_equal(s->now->data->n, s->now->plan.n_buffers);
	for (unsigned b = 0; b < s->now->data->n; b++) {
		assert_string_equal(s->now->data->of[b].name, s->now->plan.buffers[b].name);
		assert_int_equal(s->now->data->of[b].seen, s->now->plan.buffers[b].count);
		assert_int_equal(s->now->data->of[b].stats.nans, 0);
	}
	lab_focus(a); /* once is enough */
	assert_int_equal(fake.runs, 2);
	/* the next change brings them at once; another panel leaves them out */
	lab_param(a, TOY_N, 500);
	wait_for(a, settled);
	assert_int_equal(fake.runs, 3);
	assert_non_null(s->now->data);
	s->view = "plain";
	lab_param(a, TOY_N, 600);
	wait_for(a, settled);
	assert_null(s->now->data);
	assert_int_equal(fake.runs, 4);
	lab_free(a);
	assert_int_equal(fake.open, 0);
}

TEST(test_a_long_rung_gives_way)
{
	fake_reset();
	struct lab *a = open_lab("a100", "emu");
	struct session *s = lab_session(a);
	lab_param(a, TOY_BLOCK, 32);
	lab_param(a, TOY_N, 32 * 60);
	lab_start(a);
	wait_for(a, settled);
	fake.block_us = 20000; /* 60 blocks: 1.2 s for what comes now */
	s->view = "rungs";
	lab_focus(a);
	while (fake.runs < 2)
		nap(1000);
	lab_cancel(a); /* by the person: it is not tried again */
	for (int i = 0; i < 40 && climbing(s); i++) {
		nap(10000);
		lab_poll(a);
	}
	assert_false(climbing(s));
	assert_int_equal(ladder_missing(s->ladder), 1);
	assert_int_equal(s->state, RUN_DONE); /* the person's own run is as it was */
	lab_poll(a);
	assert_false(climbing(s));
	/* by a change: the new run comes first, then the rungs, sampled as they are long */
	lab_start(a);
	nap(30000);
	fake.block_us = 5000;
	lab_param(a, TOY_N, 32 * 300); /* 1.5 s */
	wait_for(a, has_record);
	fake.block_us = 0;
	wait_for(a, climbed);
	assert_int_equal(s->ladder->sel.params[TOY_N], 32 * 300);
	assert_int_equal(s->now->sel.params[TOY_N], 32 * 300);
	assert_non_null(s->ladder->rungs[0].record);
	assert_non_null(s->ladder->rungs[1].record);
	lab_free(a);
	assert_int_equal(fake.open, 0);
}

TEST(test_a_long_rung_is_sampled)
{
	fake_reset();
	struct lab *a = open_lab("a100", "emu");
	struct session *s = lab_session(a);
	lab_param(a, TOY_BLOCK, 32);
	lab_param(a, TOY_N, 32 * 300);
	lab_start(a);
	wait_for(a, settled);
	fake.block_us = 1500; /* 450 ms in all */
	s->view = "rungs";
	lab_focus(a);
	wait_for(a, climbed);
	assert_int_equal(s->ladder->rungs[0].record->verify, VERIFY_OK);
	assert_int_equal(s->ladder->rungs[1].record->verify, VERIFY_SAMPLED);
	assert_int_equal(s->ladder->rungs[1].record->metrics.v[M_INST_WARP].origin, ORIGIN_SAMPLED);
	/* one that faults says why, and is not tried for ever */
	fake.fault = true;
	lab_param(a, TOY_N, 900);
	wait_for(a, climbed);
	assert_int_equal(s->state, RUN_FAILED);
	assert_non_null(strstr(s->ladder->rungs[1].why, "toy.cu:8"));
	lab_free(a);
}

/* The table of orders is consistent with itself. */
TEST(test_the_table_of_orders)
{
	for (unsigned kind = 0; kind < ORDER_KINDS; kind++) {
		const struct order_rule *r = &order_rules[kind];
		/* what a panel asks for must not push aside what a person asked for */
		assert_true(!r->needs || !(r->supersedes & ORDER_BIT(ORDER_RUN)));
		/* the session's own runs are whole and verified; figures for a ladder need not be */
		assert_int_equal(r->of_session, r->verifies);
		assert_false(r->of_session && r->sample_suffices);
		assert_true(r->of_session || r->needs); /* somebody asks for it */
	}
	assert_int_equal(order_rules[ORDER_RUN].needs, 0);
}

/* A panel that needs nothing runs nothing; a cancelled ladder waits for a change. */
TEST(test_a_cancelled_ladder_waits)
{
	struct lab *a = settled_lab();
	struct session *s = lab_session(a);
	s->view = "plain";
	lab_focus(a);
	assert_null(s->ladder);
	s->view = "rungs";
	lab_cancel(a); /* nothing is under way; it still means: not now */
	lab_focus(a);
	assert_null(s->ladder);
	lab_param(a, TOY_N, 70);
	wait_for(a, climbed);
	assert_int_equal(ladder_missing(s->ladder), -1);
	lab_free(a);
}

int main(void)
{
	return unit_run(own_cache, drop_cache);
}
