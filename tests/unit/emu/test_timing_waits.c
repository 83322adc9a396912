/*
 * What the time model is told about instructions that wait: sums of floats on shared memory, calls
 * of the system, fences, clusters, copies by the copy engine.
 */
#define EMU_SHEET "h200"
#include "emu_fixture.h"

#include "timemodel/constants.h"

#include <math.h>

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* Two blocks of 64 threads run @body; caller frees. */
static struct emu_case run(const char *declarations, const char *body)
{
	struct emu_case c = { 0 };
	const size_t n = strlen(HEAD) + strlen(declarations) + strlen(body) + 500;
	c.ptx = mem_alloc(n);
	snprintf(c.ptx, n,
	         HEAD "%s.visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<4>;\n.reg .f32 %%f<4>;\n"
	              ".reg .b32 %%r<8>;\n.reg .b64 %%d<8>;\n"
	              "ld.param.u64 %%d1, [p];\ncvta.to.global.u64 %%d1, %%d1;\n"
	              "mov.u32 %%r1, %%tid.x;\n%s\nret;\n}\n",
	         declarations, body);
	emu_buffer(&c, "p", ELEM_F32, BUF_INOUT, 4096);
	emu_launch(&c, "k", (struct dim3u){ 2, 1, 1 }, (struct dim3u){ 64, 1, 1 });
	emu_must_run(&c);
	return c;
}

static double path_of(const struct run_counts *c)
{
	double sum = 0;
	for (unsigned i = 0; i < c->n_regions; i++)
		sum += c->regions[i].block_passes / (double)c->blocks_total *
		       c->regions[i].critical_path_cycles;
	return sum;
}

/* Cycles of a warp's way that @body adds to an empty kernel's. */
static double added(const char *declarations, const char *body)
{
	struct emu_case with = run(declarations, body), empty = run("", "");
	const double cycles = path_of(&with.res.counts) - path_of(&empty.res.counts);
	emu_case_free(&with);
	emu_case_free(&empty);
	return cycles;
}

#define ROOM ".shared .align 8 .b8 s[1024];\n"

/* All lanes of both warps want one word, or each of a warp its own; only floats go round. */
TEST(sums_of_floats_go_round)
{
	struct emu_case one = run(ROOM, "red.shared.add.f32 [s], 0f3F800000;\n");
	assert_true(one.res.counts.shared_swap_chain == 32); /* of the other warp */
	assert_true(path_of(&one.res.counts) >= 32 * timing.swap_round_cycles);
	emu_case_free(&one);
	/* the next one begins when all have ended */
	struct emu_case two =
		run(ROOM, "red.shared.add.f32 [s], 0f3F800000;\nred.shared.add.f32 [s+4], 0f3F800000;\n");
	assert_int_equal(two.res.counts.shared_swap_chain, 64);
	emu_case_free(&two);
	struct emu_case own = run(ROOM, "mov.u32 %r2, s;\nand.b32 %r3, %r1, 31;\nshl.b32 %r3, %r3, 2;\n"
	                                "add.s32 %r2, %r2, %r3;\n"
	                                "red.shared.add.f32 [%r2], 0f3F800000;\n");
	assert_int_equal(own.res.counts.shared_swap_chain, 1);
	assert_true(path_of(&own.res.counts) < 3 * timing.swap_round_cycles);
	emu_case_free(&own);
	struct emu_case whole = run(ROOM, "red.shared.add.u32 [s], 1;\n");
	assert_int_equal(whole.res.counts.shared_swap_chain, 0);
	assert_true(path_of(&whole.res.counts) < timing.swap_round_cycles);
	emu_case_free(&whole);
	/* of swaps, those that held: one of each round, and none that found another value */
	struct emu_case swap = run(ROOM, "mov.b32 %r2, 0;\nst.shared.u32 [s], %r2;\nbar.sync 0;\n"
	                                 "atom.shared.cas.b32 %r3, [s], 0, 7;\n");
	assert_int_equal(swap.res.counts.shared_swap_chain, 1);
	emu_case_free(&swap);
}

/* A call by 64 threads: warps of 32 lanes. */
TEST(calls_take_their_time)
{
	static const char *const declarations =
		".extern .func (.param .b64 r) malloc (.param .b64 n);\n"
		".extern .func free (.param .b64 p);\n";
	static const char *const body =
		"{\n.param .b64 a;\n.param .b64 b;\nst.param.b64 [a], 16;\ncall.uni (b), malloc, (a);\n"
		"ld.param.b64 %d2, [b];\n}\n{\n.param .b64 a;\nst.param.b64 [a], %d2;\n"
		"call.uni free, (a);\n}\n";
	const double mhz = gpu_find("h200")->clock_mhz;
	struct emu_case c = run(declarations, body);
	const double want =
		timing.malloc_ns + 31 * timing.malloc_lane_ns + timing.free_ns + 31 * timing.free_lane_ns;
	const double got = path_of(&c.res.counts) / mhz * 1e3;
	assert_true(got > want && got < 1.05 * want);
	double serial = 0;
	for (unsigned i = 0; i < c.res.counts.n_regions; i++)
		serial += c.res.counts.regions[i].call_ns;
	const double all = 4 * (timing.malloc_serial_ns + timing.free_serial_ns) +
	                   128 * (timing.malloc_serial_lane_ns + timing.free_serial_lane_ns);
	assert_true(fabs(serial - all) < 1);
	emu_case_free(&c);
}

/* No memory for half of the lanes, and for all. */
TEST(calls_in_vain_take_less)
{
	static const char *const declarations =
		".extern .func (.param .b64 r) malloc (.param .b64 n);\n";
	static const char body[] =
		"and.b32 %%r2, %%r1, 1;\nor.b32 %%r2, %%r2, %u;\ncvt.u64.u32 %%d2, %%r2;\n"
		"shl.b64 %%d2, %%d2, 40;\nadd.u64 %%d2, %%d2, 16;\n"
		"{\n.param .b64 a;\n.param .b64 b;\nst.param.b64 [a], %%d2;\n"
		"call.uni (b), malloc, (a);\n}\n";
	const double mhz = gpu_find("h200")->clock_mhz;
	for (unsigned all = 0; all <= 1; all++) {
		char text[sizeof body + 16];
		snprintf(text, sizeof text, body, all);
		struct emu_case c = run(declarations, text);
		const double want =
			all ? timing.malloc_vain_ns
				: (timing.malloc_vain_ns + timing.malloc_ns) / 2 + 15 * timing.malloc_lane_ns;
		const double got = path_of(&c.res.counts) / mhz * 1e3;
		assert_true(got > want && got < 1.03 * want + 50);
		double serial = 0;
		for (unsigned i = 0; i < c.res.counts.n_regions; i++)
			serial += c.res.counts.regions[i].call_ns;
		assert_true(all ? serial == 0 : serial > 0);
		emu_case_free(&c);
	}
}

TEST(fences_and_clusters_wait)
{
	const double first = timing.fence_cycles + timing.first_fence_cycles;
	assert_true(fabs(added("", "membar.gl;\n") - first) < 8);
	assert_true(fabs(added("", "membar.sys;\n") - timing.host_fence_cycles) < 8);
	assert_true(added("", "membar.cta;\n") < 20);
	const double meet =
		added("", "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n");
	assert_true(meet > timing.cluster_wait_cycles && meet < 1.1 * timing.cluster_wait_cycles + 20);
}

/* The first thread has 256 bytes brought, all wait at the barrier. */
TEST(copies_are_waited_for)
{
	const double waits =
		added(".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 bar;\n",
	          "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra B;\nmbarrier.init.shared.b64 [bar], 1;\n"
	          "mbarrier.arrive.expect_tx.shared::cta.b64 %d4, [bar], 256;\n"
	          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
	          " [tile], [%d1], 256, [bar];\n"
	          "B:\nbar.sync 0;\n"
	          "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra W;\n");
	const double mhz = gpu_find("h200")->clock_mhz;
	assert_true(waits > (timing.bulk_ns + gpu_find("h200")->l2_latency_ns) * mhz * 1e-3);
}

/* One warp looks again and again until the other has turned forty times: how often it looks here
 * makes no loop longer. */
TEST(spinning_makes_no_loop_longer)
{
	struct emu_case c = run(
		"",
		"mov.u32 %r6, %ctaid.x;\nmul.wide.u32 %d2, %r6, 4;\nadd.s64 %d2, %d1, %d2;\n"
		"st.volatile.global.u32 [%d2], 0;\nbar.sync 0;\n"
		"setp.ge.u32 %p1, %r1, 32;\n@%p1 bra WORK;\n"
		"W:\nld.volatile.global.u32 %r2, [%d2];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra W;\nbra E;\n"
		"WORK:\nmov.u32 %r3, 0;\nmov.f32 %f1, 0f3F800000;\n"
		"L:\nfma.rn.f32 %f1, %f1, %f1, %f1;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 40;\n"
		"@%p3 bra L;\nmembar.gl;\nst.volatile.global.u32 [%d2], 1;\nE:\n");
	double turns = 0;
	for (unsigned i = 0; i < c.res.counts.n_regions; i++)
		if (c.res.counts.regions[i].fp32_slots >= 20)
			turns = fmax(turns, c.res.counts.regions[i].block_passes);
	emu_case_free(&c);
	assert_true(turns > 0 && turns <= 2 * 40);
}

/* Critical path of what one warp does, in cycles. */
static double cycles_of(const char *body)
{
	struct emu_case c = run("", body);
	const double path = path_of(&c.res.counts);
	emu_case_free(&c);
	return path;
}

/* A lock that lanes take one after the other: each waits once, however often it asks here. A sum by
 * compare-and-swap wants what it has just seen, and does wait each time. */
TEST(a_lock_is_asked_for_once_by_each)
{
	static const char lock[] =
		"W:\natom.global.cas.b32 %r2, [%d1], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\n"
		"membar.gl;\natom.global.exch.b32 %r3, [%d1], 0;\n";
	const double latency = timing.swap_round_trip_ns * gpu_find("h200")->clock_mhz * 1e-3;
	const double path = cycles_of(lock);
	if (getenv("PMPP_PERF_SHOW"))
		print_message("a lock: %.0f cycles, %.1f latencies\n", path, path / latency);
	assert_true(path < 32 * (3 * latency + timing.fence_cycles + 100));
	assert_true(path > 32 * (latency + timing.fence_cycles));
}

/* Four warps of two blocks hand a lock on 128 times, one after the other: the launch lasts four
 * times as long as a warp's own way, and is no contest of compare-and-swap. Beside it a sum by
 * compare-and-swap is one. */
TEST(who_waits_for_a_lock_waits_for_all_others)
{
	static const char lock[] =
		"W:\natom.global.cas.b32 %r2, [%d1], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\n"
		"membar.gl;\nld.global.u32 %r4, [%d1+4];\nadd.u32 %r4, %r4, 1;\n"
		"st.global.u32 [%d1+4], %r4;\nmembar.gl;\natom.global.exch.b32 %r3, [%d1], 0;\n";
	static const char sum[] =
		"ld.global.u32 %r2, [%d1];\n"
		"W:\nmov.u32 %r3, %r2;\nadd.u32 %r4, %r3, 1;\natom.global.cas.b32 %r2, [%d1], %r3, %r4;\n"
		"setp.ne.u32 %p1, %r2, %r3;\n@%p1 bra W;\n";
	struct emu_case c = run("", lock);
	const double own = path_of(&c.res.counts), all = c.res.counts.longest_block_cycles;
	const uint32_t *const left = c.buffers[0].data;
	assert_int_equal(left[1], 128);
	assert_true(all > 3 * own && all < 5 * own);
	assert_true(c.res.counts.atomics.swaps == 0 && c.res.counts.atomics.contest_ns == 0);
	emu_case_free(&c);
	c = run("", sum);
	assert_true(c.res.counts.atomics.swaps == 128 && c.res.counts.atomics.contest_ns > 0);
	emu_case_free(&c);
}

/* The launch against a warp's own way, where four warps hand on a lock by @lock. */
static double against_own(const char *lock)
{
	struct emu_case c = run("", lock);
	const double ratio = c.res.counts.longest_block_cycles / path_of(&c.res.counts);
	assert_true(c.res.counts.atomics.swaps == 0 && c.res.counts.atomics.contest_ns == 0);
	emu_case_free(&c);
	return ratio;
}

/* Machine code has what it found in the register that it compares; looks until the lock is free
 * before it tries again; has sums in a register in which it decides something else later. */
TEST(locks_are_known_whatever_their_code)
{
	static const char one_register[] =
		"W:\nmov.u32 %r2, 0;\natom.global.cas.b32 %r2, [%d1], %r2, 1;\nsetp.ne.u32 %p1, %r2, 0;\n"
		"@%p1 bra W;\natom.global.exch.b32 %r3, [%d1], 0;\n";
	static const char looks[] =
		"T:\natom.global.exch.b32 %r2, [%d1], 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra G;\n"
		"W:\nld.volatile.global.u32 %r3, [%d1];\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra W;\nbra T;\n"
		"G:\nmembar.gl;\nld.global.u32 %r4, [%d1+256];\nadd.u32 %r4, %r4, 1;\n"
		"st.global.u32 [%d1+256], %r4;\nmembar.gl;\natom.global.exch.b32 %r3, [%d1], 0;\n";
	static const char reused[] =
		"mov.u32 %r6, 0;\nL:\n"
		"W:\natom.global.cas.b32 %r2, [%d1], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\n"
		"ld.volatile.global.u32 %r4, [%d1+256];\nadd.u32 %r5, %r4, 1;\n"
		"st.volatile.global.u32 [%d1+256], %r5;\natom.global.exch.b32 %r3, [%d1], 0;\n"
		"add.u32 %r6, %r6, 1;\nshl.b32 %r4, %r6, 1;\nsetp.lt.u32 %p2, %r4, 6;\n@%p2 bra L;\n";
	const double a = against_own(one_register), b = against_own(looks), c = against_own(reused);
	if (getenv("PMPP_PERF_SHOW"))
		print_message("%.1f %.1f %.1f times a warp's own way\n", a, b, c);
	assert_true(a > 3.6 && a < 4.4);
	assert_true(b > 2.5 && b < 4.4); /* one who waits alone looks again and again */
	assert_true(c > 3.6 && c < 4.4);
}

/* Constants at places that lanes choose, and matches: one place, or value, after the other. */
TEST(values_of_lanes_come_one_after_the_other)
{
	static const char constants[] = ".const .align 4 .b32 t[64];\n";
	static const char load[] = "and.b32 %%r2, %%r1, %u;\nmul.wide.u32 %%d2, %%r2, 4;\n"
							   "mov.u64 %%d3, t;\nadd.s64 %%d3, %%d3, %%d2;\n"
							   "ld.const.u32 %%r3, [%%d3];\nst.global.u32 [%%d1], %%r3;\n";
	static const char match[] = "and.b32 %%r2, %%r1, %u;\n"
								"match.any.sync.b32 %%r3, %%r2, 0xffffffff;\n"
								"st.global.u32 [%%d1], %%r3;\n";
	for (unsigned k = 0; k < 2; k++) {
		double of[2];
		for (unsigned i = 0; i < 2; i++) {
			char body[400];
			snprintf(body, sizeof body, k ? match : load, i ? 31u : 0u); /* 32 values, or one */
			struct emu_case c = run(constants, body);
			double busy = 0;
			for (unsigned r = 0; r < c.res.counts.n_regions; r++)
				busy += c.res.counts.regions[r].value_cycles;
			assert_true(busy == timing.value_port_cycles * 4 * (i ? 32 : 1)); /* of four warps */
			of[i] = path_of(&c.res.counts);
			emu_case_free(&c);
		}
		assert_true(fabs(of[1] - of[0] - 31 * timing.value_cycles) < 0.1);
	}
}

/* A fence for other blocks empties L1. */
TEST(behind_a_fence_loads_come_from_l2)
{
	static const char first[] = "ld.global.u32 %r2, [%d1];\nadd.u32 %r4, %r2, %r1;\n",
					  store[] = "add.u32 %r5, %r3, %r4;\nst.global.u32 [%d1+512], %r5;\n";
	static const char load[] = "ld.global.u32 %r3, [%d1];\n", fence[] = "membar.gl;\n";
	const struct gpu_spec *g = gpu_find("h200");
	char body[400];
	snprintf(body, sizeof body, "%s%s%s%s", first, fence, load, store);
	const double behind = cycles_of(body);
	snprintf(body, sizeof body, "%s%s%s%s", first, load, fence, store);
	const double before = cycles_of(body);
	const double longer = (g->l2_latency_ns - g->l1_latency_ns) * g->clock_mhz * 1e-3;
	assert_true(behind - before > longer && behind - before < 1.5 * longer);
}

/* What only the block has to agree on may come from L1; what the GPU has, not. */
TEST(loads_of_the_block_find_l1)
{
	static const char twice[] =
		"ld.relaxed.%s.global.u32 %%r2, [%%d1];\nbar.sync 0;\n"
		"ld.relaxed.%s.global.u32 %%r3, [%%d1];\nadd.u32 %%r4, %%r2, %%r3;\n"
		"st.global.u32 [%%d1+512], %%r4;\n";
	char body[300];
	snprintf(body, sizeof body, twice, "cta", "cta");
	struct emu_case block = run("", body);
	snprintf(body, sizeof body, twice, "gpu", "gpu");
	struct emu_case gpu = run("", body);
	assert_true(block.res.counts.l2_sectors < gpu.res.counts.l2_sectors);
	emu_case_free(&block);
	emu_case_free(&gpu);
}

/* The largest float by compare-and-swap: all lanes come to it, though what it stores is made a
 * card's NaN before. */
TEST(all_lanes_come_to_a_swap_of_floats)
{
	struct emu_case c = run("", "cvt.rn.f32.u32 %f3, %r1;\nld.global.u32 %r2, [%d1];\n"
	                            "W:\nmov.b32 %f1, %r2;\nmax.f32 %f2, %f1, %f3;\nmov.b32 %r4, %f2;\n"
	                            "mov.u32 %r3, %r2;\natom.global.cas.b32 %r2, [%d1], %r3, %r4;\n"
	                            "setp.ne.u32 %p1, %r2, %r3;\n@%p1 bra W;\n");
	assert_true(c.res.counts.atomics.swap_candidates >= 128);
	assert_true(c.res.counts.atomics.settles);
	emu_case_free(&c);
}
