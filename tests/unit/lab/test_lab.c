/* The session over its worker: changes, cancel, refusals, samples, records now and before. */
#include "lab_wait.h"

static bool moves(const struct session *s)
{
	return s->progress > 0.2;
}

TEST(test_first_run)
{
	fake_reset();
	struct lab *a = open_lab("a100", "emu");
	struct session *s = lab_session(a);
	assert_ptr_equal(s->sel.kernel, &toy);
	assert_true(s->plan_ok);
	assert_int_equal(s->state, RUN_NONE);
	assert_false(s->usage_known);
	lab_start(a);
	assert_int_equal(s->state, RUN_RUNNING);
	wait_for(a, settled);
	assert_int_equal(s->state, RUN_DONE);
	assert_non_null(s->now);
	assert_null(s->before);
	assert_false(s->stale);
	assert_int_equal(s->now->verify, VERIFY_OK);
	assert_true(s->usage_known && s->occ_ok);
	assert_true(s->occ.blocks_per_sm == s->now->occ.blocks_per_sm);
	lab_free(a);
	assert_int_equal(fake.open, 0);
}

TEST(test_occupancy_is_instant)
{
	struct lab *a = settled_lab();
	struct session *s = lab_session(a);
	/* No waiting here: register counts are known from the first compile. */
	lab_param(a, TOY_BLOCK, 1024);
	assert_true(s->usage_known && s->occ_ok);
	assert_int_equal(s->occ.blocks_per_sm, 2);
	assert_true(s->stale);
	assert_non_null(s->now);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(s->sweep[i].block, 32 * (i + 1));
	assert_int_equal(s->sweep[31].blocks_per_sm, 2);
	assert_true(s->sweep[0].pct == 50 && s->sweep[31].pct == 100 && s->sweep[23].pct == 75);
	/* The other variant comes from the same module. */
	lab_select(a, &toy, 1);
	assert_true(s->usage_known);
	/* Another macro, another architecture: the compiler has to say. */
	lab_param(a, TOY_W, 4);
	assert_false(s->usage_known);
	wait_for(a, settled);
	assert_true(s->usage_known);
	lab_gpu(a, gpu_find("t4"));
	assert_false(s->usage_known);
	wait_for(a, settled);
	assert_string_equal(s->now->sel.gpu->id, "t4");
	assert_string_equal(s->before->sel.gpu->id, "a100");
	lab_free(a);
}

TEST(test_refused_value_keeps_the_last_record)
{
	struct lab *a = settled_lab();
	struct session *s = lab_session(a);
	int runs = fake.runs;
	lab_param(a, TOY_N, -1);
	assert_false(s->plan_ok);
	assert_int_equal(s->plan_err.code, ERR_USAGE);
	assert_int_equal(s->sel.params[TOY_N], -1);
	assert_int_equal(s->state, RUN_NONE);
	assert_true(s->stale && s->now);
	lab_param(a, TOY_BLOCK, 4096);
	assert_false(s->plan_ok);
	lab_param(a, TOY_N, 500);
	assert_false(s->plan_ok);
	assert_non_null(strstr(s->plan_err.msg, "4096"));
	assert_int_equal(fake.runs, runs);
	lab_param(a, TOY_BLOCK, 64);
	assert_true(s->plan_ok);
	assert_int_equal(s->plan_err.code, ERR_NONE);
	wait_for(a, settled);
	assert_int_equal(s->now->sel.params[TOY_N], 500);
	assert_false(s->stale);
	lab_free(a);
}

TEST(test_now_and_before)
{
	struct lab *a = settled_lab();
	struct session *s = lab_session(a);
	lab_param(a, TOY_BLOCK, 256);
	wait_for(a, settled);
	assert_int_equal(s->now->sel.params[TOY_BLOCK], 256);
	assert_int_equal(s->before->sel.params[TOY_BLOCK], 128);
	/* Running the same again is no step: what is compared with stays. */
	lab_start(a);
	wait_for(a, settled);
	assert_int_equal(s->now->sel.params[TOY_BLOCK], 256);
	assert_int_equal(s->before->sel.params[TOY_BLOCK], 128);
	lab_free(a);
}

TEST(test_rapid_changes_end_with_the_last)
{
	fake_reset();
	fake.block_us = 1000;
	struct lab *a = open_lab("a100", "emu");
	struct session *s = lab_session(a);
	lab_start(a);
	for (int i = 0; i < 200; i++) {
		lab_param(a, TOY_N, 1000 + i);
		if (i % 20 == 0)
			nap(15000); /* let some of them start */
		if (i % 3 == 0)
			lab_poll(a);
	}
	wait_for(a, settled);
	assert_int_equal(s->state, RUN_DONE);
	assert_int_equal(s->now->sel.params[TOY_N], 1199);
	assert_false(s->stale);
	/* Most of them were never worth running. */
	assert_in_range(fake.runs, 1, 30);
	lab_free(a);
}

TEST(test_cancel_ends_a_long_run)
{
	fake_reset();
	fake.block_us = 20000;
	struct lab *a = open_lab("a100", "emu");
	struct session *s = lab_session(a);
	lab_param(a, TOY_N, 32 * 60);
	lab_param(a, TOY_BLOCK, 32); /* 60 blocks: 1.2 s */
	lab_start(a);
	wait_for(a, moves);
	assert_int_equal(s->state, RUN_RUNNING);
	lab_cancel(a);
	wait_for(a, settled);
	assert_int_equal(s->state, RUN_CANCELLED);
	assert_int_equal(fake.cancelled, 1);
	assert_null(s->now);
	/* And the next one runs. */
	fake.block_us = 0;
	lab_start(a);
	wait_for(a, settled);
	assert_int_equal(s->state, RUN_DONE);
	/* Cancel while only waiting for its turn. */
	lab_param(a, TOY_N, 64);
	lab_cancel(a);
	wait_for(a, settled);
	assert_int_equal(s->state, RUN_CANCELLED);
	lab_cancel(a); /* nothing to do */
	lab_free(a);
}

TEST(test_large_launch_is_sampled_first)
{
	fake_reset();
	fake.block_us = 1500;
	struct lab *a = open_lab("a100", "emu");
	struct session *s = lab_session(a);
	lab_param(a, TOY_BLOCK, 32);
	lab_param(a, TOY_N, 32 * 300); /* 450 ms in all */
	lab_start(a);
	wait_for(a, has_record);
	assert_int_equal(s->state, RUN_RUNNING);
	assert_int_equal(s->now->verify, VERIFY_SAMPLED);
	assert_int_equal(s->now->metrics.v[M_INST_WARP].origin, ORIGIN_SAMPLED);
	assert_in_range(s->now->run.counts.blocks_run, 16, 149);
	wait_for(a, settled);
	assert_int_equal(s->now->verify, VERIFY_OK);
	assert_int_equal(s->now->metrics.v[M_INST_WARP].origin, ORIGIN_COUNTED);
	assert_null(s->before); /* the sample was this run's own */
	lab_free(a);
}

TEST(test_a_fault_keeps_the_session)
{
	struct lab *a = settled_lab();
	struct session *s = lab_session(a);
	fake.fault = true;
	lab_param(a, TOY_N, 2000);
	wait_for(a, settled);
	assert_int_equal(s->state, RUN_FAILED);
	assert_int_equal(s->run_err.code, ERR_FAULT);
	assert_true(s->now && s->stale);
	fake.fault = false;
	lab_start(a);
	wait_for(a, settled);
	assert_int_equal(s->state, RUN_DONE);
	assert_int_equal(s->run_err.code, ERR_NONE);
	lab_free(a);
}

TEST(test_auto_takes_the_device_and_its_sheet)
{
	fake_reset();
	fake.device = true;
	struct lab *a = open_lab(NULL, "auto");
	struct session *s = lab_session(a);
	assert_string_equal(s->sel.backend, "emu"); /* nobody has looked yet */
	lab_start(a);
	wait_for(a, settled);
	assert_string_equal(s->sel.backend, "cuda");
	assert_string_equal(s->sel.gpu->id, "cuda0");
	assert_string_equal(s->now->sel.backend, "cuda");
	assert_false(s->stale);
	/* Another card's sheet can only be emulated, and the device brings its own back. */
	lab_gpu(a, gpu_find("a100"));
	wait_for(a, settled);
	assert_string_equal(s->now->sel.backend, "emu");
	assert_string_equal(s->now->sel.gpu->id, "a100");
	lab_backend(a, "cuda");
	wait_for(a, settled);
	assert_string_equal(s->now->sel.backend, "cuda");
	assert_string_equal(s->now->sel.gpu->id, "cuda0");
	/* The data sheet of the very device is as good. */
	lab_gpu(a, gpu_find("h200"));
	wait_for(a, settled);
	assert_string_equal(s->now->sel.backend, "cuda");
	assert_string_equal(s->now->sel.gpu->id, "h200");
	lab_free(a);

	fake.device = false;
	a = open_lab("rtx4090", "auto");
	lab_start(a);
	wait_for(a, settled);
	assert_string_equal(lab_session(a)->now->sel.backend, "emu");
	assert_string_equal(lab_session(a)->now->sel.gpu->id, "rtx4090");
	lab_backend(a, "cuda");
	wait_for(a, settled);
	assert_int_equal(lab_session(a)->state, RUN_FAILED);
	assert_non_null(strstr(lab_session(a)->run_err.msg, "no GPU in this test"));
	lab_free(a);
}

/* Some seconds after the last order, once, and again after the next. */
TEST(test_what_is_kept_for_a_next_run_goes)
{
	struct lab *a = settled_lab();
	for (int want = 1; want <= 2; want++) {
		assert_int_equal(fake.rests, want - 1);
		for (int ms = 0; fake.rests < want && ms < 10000; ms += 10)
			nap(10000);
		assert_int_equal(fake.rests, want);
		if (want == 1) {
			nap(2500000); /* there is nothing more to give back */
			assert_int_equal(fake.rests, 1);
		}
		lab_param(a, TOY_BLOCK, 64);
		wait_for(a, settled);
	}
	lab_free(a);
}

TEST(test_free_at_any_moment)
{
	fake_reset();
	assert_true(lab_free(NULL));
	for (int i = 0; i < 30; i++) {
		fake.block_us = 3000;
		struct lab *a = open_lab("a100", "emu");
		if (i)
			lab_start(a);
		nap(i * 700);
		if (i % 2)
			lab_poll(a);
		assert_true(lab_free(a));
	}
	assert_int_equal(fake.open, 0);
}

/* What cannot be interrupted must not keep a person from leaving. Last: its thread is left behind.
 */
TEST(test_leaving_does_not_wait_for_ever)
{
	struct timespec before, after;
	fake_reset();
	fake.deaf = true;
	fake.block_us = 5000000;
	struct lab *a = open_lab("a100", "emu");
	lab_start(a);
	while (!fake.runs)
		nap(1000);
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_false(lab_free(a));
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_in_range(after.tv_sec - before.tv_sec, 0, 2);
}

int main(void)
{
	return unit_run(own_cache, drop_cache);
}
