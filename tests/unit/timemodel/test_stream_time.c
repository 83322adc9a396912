/*
 * The stream model against the arithmetic of its rules: PMPP 20.5 and the seeds' overlap examples
 * (S-365, S-366, S-367, S-422, S-423, S-425, S-428). Ideal host: calls and latencies cost nothing.
 */
#include "../unit.h"
#include "timemodel/stream_time.h"

#include <stdio.h>
#include <string.h>

static const struct gpu_spec gpu = { .pcie_gbs = 1, .copy_engines = 2 }; /* 1 byte per ns */
static const struct gpu_spec one_engine = { .pcie_gbs = 1, .copy_engines = 1 };
static const struct stream_rates ideal = { .pinned_gbs = 1,
	                                       .duplex_gbs = 1,
	                                       .pageable_gbs = { 0.5, 0.5 } };

static struct stream_outcome run(const struct stream_program *p, const struct gpu_spec *g)
{
	struct stream_outcome o;
	struct err err = { 0 };
	if (!stream_run(p, g, &ideal, &o, &err))
		fail_msg("%s", err.msg);
	return o;
}

/* @chunks of x and y up, one kernel, r down, each chunk in its own stream (or all in one). */
static struct stream_program pipeline(unsigned chunks, bool one_stream, uint64_t in_bytes,
                                      double kernel_ns, uint64_t out_bytes, bool pinned)
{
	struct stream_program p = { 0 };
	for (unsigned i = 0; i < chunks; i++) {
		unsigned s = one_stream ? 1 : i + 1;
		stream_copy(&p, SOP_H2D, s, "in", in_bytes / chunks, pinned, true);
		stream_kernel(&p, s, "k", kernel_ns / chunks, 1);
		stream_copy(&p, SOP_D2H, s, "out", out_bytes / chunks, pinned, true);
	}
	return p;
}

TEST(one_stream_is_serial)
{
	struct stream_program p = pipeline(4, true, 400, 100, 400, true);
	struct stream_outcome o = run(&p, &gpu);
	assert_float_equal(o.makespan_ns, 900, 1e-6);
	assert_float_equal(o.overlap_pct, 0, 1e-6);
}

/* S-365: read and write 100 each, compute 10: 210 -> about 100 with many chunks; and 10/100/10. */
TEST(overlap_hides_all_but_the_slowest)
{
	struct stream_program serial = pipeline(1, true, 100, 10, 100, true);
	assert_float_equal(run(&serial, &gpu).makespan_ns, 210, 1e-6);
	struct stream_program many = pipeline(16, false, 160000, 16000, 160000, true);
	struct stream_outcome o = run(&many, &gpu);
	assert_float_equal(o.makespan_ns, 160000 + 11000, 1e-3);
	assert_int_equal(o.critical, ENGINE_H2D);
	struct stream_program compute = pipeline(16, false, 16000, 160000, 16000, true);
	o = run(&compute, &gpu);
	assert_float_equal(o.makespan_ns, 160000 + 2000, 1e-3);
	assert_int_equal(o.critical, ENGINE_SM);
}

/* S-366: four chunks; x and y one slot each up, add one slot, r one slot down: 10 slots, not 16. */
TEST(seed_chart_takes_ten_slots)
{
	struct stream_program p = { 0 };
	for (unsigned i = 1; i <= 4; i++) {
		stream_copy(&p, SOP_H2D, i, "x", 1, true, true);
		stream_copy(&p, SOP_H2D, i, "y", 1, true, true);
		stream_kernel(&p, i, "add", 1, 1);
		stream_copy(&p, SOP_D2H, i, "r", 1, true, true);
	}
	struct stream_outcome o = run(&p, &gpu);
	assert_float_equal(o.makespan_ns, 10, 1e-9);
	assert_float_equal(o.serial_ns, 16, 1e-9);
	assert_float_equal(o.overlap_pct, 37.5, 1e-9);    /* of the serial time, 6 of 16 */
	assert_float_equal(o.spans[2].start_ns, 2, 1e-9); /* add at t2, t4, t6, t8 */
	assert_float_equal(o.spans[14].start_ns, 8, 1e-9);
	assert_float_equal(o.spans[15].start_ns, 9, 1e-9); /* D2H at t9 */
}

TEST(pageable_copies_hold_the_host)
{
	struct stream_program p = pipeline(4, false, 400, 0, 0, false);
	struct stream_outcome o = run(&p, &gpu);
	/* staged: 2 ns per byte; the second copy is not called before the first is done */
	assert_float_equal(o.spans[0].end_ns, 200, 1e-6);
	assert_true(o.spans[3].call_ns >= o.spans[0].end_ns);
	struct stream_program q = pipeline(4, false, 400, 0, 0, true);
	o = run(&q, &gpu);
	assert_float_equal(o.spans[3].call_ns, 0, 1e-6);
}

/* What the host's calls wait for is no time of the host's: here the copies up are the path. */
TEST(the_path_goes_on_behind_a_held_host)
{
	struct stream_program p = pipeline(4, false, 4000, 40, 400, false);
	struct stream_outcome o = run(&p, &gpu);
	assert_int_equal(o.critical, ENGINE_H2D);
	/* staging doubles each byte: 8000 up, 800 down, and the kernels one after the other */
	assert_float_equal(o.makespan_ns, 8000 + 40 + 800, 1e-6);
	assert_float_equal(o.critical_pct, 90.4977f, 1e-3f);
}

TEST(one_copy_engine_is_shared)
{
	struct stream_program p = { 0 };
	stream_copy(&p, SOP_H2D, 1, "x", 100, true, true);
	stream_copy(&p, SOP_D2H, 2, "r", 100, true, true);
	assert_float_equal(run(&p, &gpu).makespan_ns, 100, 1e-9);
	assert_float_equal(run(&p, &one_engine).makespan_ns, 200, 1e-9);
}

/* The default-stream trap: a kernel in stream 0 between two others makes all three serial. */
TEST(legacy_default_stream_serialises)
{
	struct stream_program p = { 0 };
	stream_kernel(&p, 1, "a", 100, 0.25);
	stream_kernel(&p, 2, "b", 100, 0.25);
	assert_float_equal(run(&p, &gpu).makespan_ns, 100, 1e-9);
	p = (struct stream_program){ 0 };
	stream_kernel(&p, 1, "a", 100, 0.25);
	stream_kernel(&p, 0, "trap", 100, 0.25);
	stream_kernel(&p, 2, "b", 100, 0.25);
	assert_float_equal(run(&p, &gpu).makespan_ns, 300, 1e-9);
}

TEST(full_kernels_do_not_share)
{
	struct stream_program p = { 0 };
	stream_kernel(&p, 1, "a", 100, 1);
	stream_kernel(&p, 2, "b", 100, 1);
	assert_float_equal(run(&p, &gpu).makespan_ns, 200, 1e-9);
}

/* S-428: stream 2 waits for an event of stream 1. */
TEST(events_order_streams)
{
	struct stream_program p = { 0 };
	stream_kernel(&p, 1, "a", 100, 0.1);
	stream_event(&p, SOP_RECORD, 1, 0);
	stream_kernel(&p, 1, "a2", 100, 0.1);
	stream_event(&p, SOP_WAIT, 2, 0);
	int b = stream_kernel(&p, 2, "b", 50, 0.1);
	struct stream_outcome o = run(&p, &gpu);
	assert_float_equal(o.spans[b].start_ns, 100, 1e-9);
	assert_float_equal(o.makespan_ns, 200, 1e-9);
	p = (struct stream_program){ 0 };
	stream_event(&p, SOP_WAIT, 2, 7);
	struct err err = { 0 };
	assert_false(stream_run(&p, &gpu, &ideal, &o, &err));
	assert_non_null(strstr(err.msg, "event 7"));
}

TEST(calls_cost_the_host)
{
	struct stream_rates slow = ideal;
	slow.launch_call_ns = 10;
	struct stream_program p = { 0 };
	for (unsigned i = 0; i < 100; i++)
		stream_kernel(&p, 1, "tiny", 1, 1);
	struct stream_outcome o;
	struct err err = { 0 };
	assert_true(stream_run(&p, &gpu, &slow, &o, &err));
	assert_float_equal(o.makespan_ns, 1000, 1e-9);
	assert_int_equal(o.critical, ENGINE_HOST);
}

TEST(a_full_program_says_so)
{
	static struct stream_program p;
	int last = 0;
	for (unsigned i = 0; i < STREAM_MAX_OPS + 1; i++)
		last = stream_kernel(&p, 1, "k", 1, 1);
	assert_int_equal(last, -1);
	assert_float_equal(run(&p, &gpu).makespan_ns, STREAM_MAX_OPS, 1e-6);
}

/* Both directions at once are slower than one, for as long as both last. */
TEST(duplex_is_shared)
{
	struct stream_rates r = ideal;
	r.duplex_gbs = 0.5;
	struct stream_program p = { 0 };
	stream_copy(&p, SOP_D2H, 1, "r", 100, true, true);
	const int x = stream_copy(&p, SOP_H2D, 2, "x", 100, true, true);
	struct stream_outcome o;
	assert_true(stream_run(&p, &gpu, &r, &o, NULL));
	/* 100 ns beside the other at half speed: 50 bytes; the rest alone */
	assert_float_equal(o.spans[x].end_ns, 150, 1e-9);
}

static struct span seen(enum span_kind kind, unsigned op, double start, double end)
{
	return (struct span){ .kind = kind, .correlation = op + 1, .start_ns = start, .end_ns = end };
}

/* What a GPU did, and why: the order of its spans and the rules say what waited for what. */
TEST(spans_become_a_timeline)
{
	struct stream_program p = { 0 };
	const int x = stream_copy(&p, SOP_H2D, 1, "x", 100, true, true);
	stream_event(&p, SOP_RECORD, 1, 3);
	stream_event(&p, SOP_WAIT, 2, 3);
	const int k = stream_kernel(&p, 2, "k", 0, 1);
	const int y = stream_copy(&p, SOP_H2D, 3, "y", 100, true, true);
	const int r = stream_copy(&p, SOP_D2H, 2, "r", 100, true, false);
	struct span s[] = {
		seen(SPAN_CALL, (unsigned)x, 1e6, 1.001e6),
		seen(SPAN_H2D, (unsigned)x, 1.01e6, 1.11e6),
		seen(SPAN_KERNEL, (unsigned)k, 1.1105e6, 1.2105e6),
		seen(SPAN_H2D, (unsigned)y, 1.11e6, 1.2e6),
		seen(SPAN_D2H, (unsigned)r, 1.211e6, 1.311e6),
		{ .kind = SPAN_INIT, .name = "pin x", .end_ns = 5e5 },
		{ .kind = SPAN_INIT, .name = "pin y", .start_ns = 5e5, .end_ns = 9e5 },
		{ .kind = SPAN_OVERHEAD, .start_ns = 9.5e5, .end_ns = 9.9e5 },
	};
	struct stream_outcome o = { .modelled_ns = 1 };
	assert_true(stream_seen(&p, s, sizeof s / sizeof *s, &o));
	assert_int_equal(o.origin, ORIGIN_MEASURED);
	assert_float_equal(o.makespan_ns, 3.11e5, 1e-3); /* from the first call */
	assert_float_equal(o.serial_ns, 3.9e5, 1e-3);
	assert_float_equal(o.spans[x].start_ns, 1e4, 1e-3);
	assert_int_equal(o.spans[x].waits_for, -1); /* the host's call */
	assert_int_equal(o.spans[k].waits_for, x);  /* another stream: the event */
	assert_int_equal(o.spans[y].waits_for, x);  /* the engine */
	assert_int_equal(o.spans[r].waits_for, k);  /* the stream */
	assert_float_equal(o.modelled_ns, 1, 0);

	struct stream_init init;
	stream_init_of(&p, s, sizeof s / sizeof *s, &init);
	assert_int_equal(init.origin, ORIGIN_MEASURED);
	assert_float_equal(init.ns[INIT_PIN], 9e5, 1e-3);
	assert_float_equal(init.total_ns, 9e5, 1e-3);
	stream_init_of(&p, s, 5, &init); /* none among these */
	assert_int_equal(init.origin, ORIGIN_MODELLED);
	assert_true(init.ns[INIT_PIN] > 0 && init.ns[INIT_STREAMS] > 0);

	/* one operation unseen: the model stays */
	s[3].correlation = 0;
	o.makespan_ns = 77;
	assert_false(stream_seen(&p, s, sizeof s / sizeof *s, &o));
	assert_float_equal(o.makespan_ns, 77, 0);
}
