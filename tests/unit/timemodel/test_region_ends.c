/*
 * What lies between a region's work and its end: barriers, and where its stores begin.
 */
#include "sample_program.h"

#include "timemodel/constants.h"

#include <math.h>

/* Machine code: cycles of a barrier behind an instruction of @class; @votes: it counts threads. */
static double barrier_behind(enum inst_class class, bool votes)
{
	struct sample s = { 0 };
	add_machine(&s, class, 1, 7, 0)->space = class == INST_STORE ? MEMORY_SHARED : MEMORY_NONE;
	add_machine(&s, INST_BARRIER, 8, 7, 0)->votes = votes;
	end_block(&s, -1, -1);
	struct run_counts c = build(&s, 1);
	const double cycles = c.regions[0].critical_path_cycles;
	run_counts_free(&c);
	return cycles;
}

/* A warp that has done nothing in memory waits for the others of its block alone
 * (tests/gpu/micro/barriers.cu). */
TEST(barriers_wait_for_memory)
{
	const double idle = barrier_behind(INST_FP32, false);
	assert_true(fabs(idle - 9 - 2 * timing.barrier_warp_cycles) < 1e-9);
	assert_true(fabs(barrier_behind(INST_STORE, false) - idle - timing.barrier_cycles) < 1e-9);
	assert_true(fabs(barrier_behind(INST_FP32, true) - idle - timing.barrier_cycles) < 1e-9);
}

/* What one warp of two has begun on a side of its own, all wait for where the sides have met. */
TEST(copies_of_one_warp_are_waited_for)
{
	double took[2];
	for (unsigned copies = 0; copies < 2; copies++) {
		struct sample s = { 0 };
		struct timing_inst *branch = add_machine(&s, INST_BRANCH, 5, 7, 0);
		branch->guard = 1;
		branch->lanes_choose = true;
		end_block(&s, 2, 1);
		s.block[0].join = 2;
		add_machine(&s, copies ? INST_BULK : INST_OTHER, 2, 7, 0);
		end_block(&s, 2, -1);
		s.block[1].warp_passes /= 2;
		add_machine(&s, INST_OTHER, 2, 7, 0);
		end_block(&s, 3, -1);
		s.block[2].warp_passes *= 1.5; /* lanes come one after the other */
		add_machine(&s, INST_BARRIER, 8, 7, 0);
		add_machine(&s, INST_MBARRIER, 2, 7, 1 << TIMING_COPIES_BOARD);
		end_block(&s, -1, -1);
		took[copies] = cycles(&s);
	}
	const struct gpu_spec *g = gpu_find("h200");
	const double ns = (took[1] - took[0]) * 1e3 / g->clock_mhz;
	assert_true(ns > timing.bulk_ns && ns < 1.2 * (timing.bulk_ns + g->l2_latency_ns));
}

/* Where the first store is, is known. */
TEST(first_stores_are_known)
{
	for (unsigned machine = 0; machine < 2; machine++) {
		struct sample s = { 0 };
		for (unsigned i = 0; i < 4; i++) {
			const enum inst_class class = i < 2 ? INST_FP32 : INST_STORE;
			struct timing_inst *x =
				machine ? add_machine(&s, class, 5, 7, 0) : add_inst(&s, class, i < 2 ? 1 : -1, 1);
			x->space = i < 2 ? MEMORY_NONE : MEMORY_GLOBAL;
		}
		end_block(&s, -1, -1);
		struct run_counts c = build(&s, 1);
		const struct region *r = &c.regions[0];
		assert_true(r->store_wait_cycles >= 5 && r->store_wait_cycles <= 10);
		assert_true(r->critical_path_cycles > r->store_wait_cycles);
		run_counts_free(&c);
	}
}

/* Cycles of the longest block of a loop of turns for each of which a warp asks until it is its own,
 * as one loop or as @copies of it. */
static double turns_of(unsigned copies)
{
	struct sample s = { 0 };
	for (unsigned i = 0; i < copies; i++) {
		add_machine(&s, INST_ATOMIC, 2, 0, 0)->space = MEMORY_GLOBAL;
		add_machine(&s, INST_BRANCH, 5, 7, 1);
		end_block(&s, (int32_t)s.p.n_blocks, (int32_t)s.p.n_blocks + 1);
		s.block[2 * i].asks = true;
		s.block[2 * i].warp_passes = 1e5;
		add_machine(&s, INST_REDUCTION, 2, 7, 0)->space = MEMORY_GLOBAL;
		end_block(&s, (int32_t)s.p.n_blocks + 1, -1);
		s.block[2 * i + 1].warp_passes = 64.0 / copies;
	}
	s.block[s.p.n_blocks - 1].successor[0] = -1;
	s.p.turns = (struct timing_turns){ .n = 64, .share = 1, .to = s.p.n_blocks - 1 };
	struct run_counts c = build(&s, 1);
	const double cycles = c.longest_block_cycles;
	run_counts_free(&c);
	return cycles;
}

/* A loop that was unrolled has as many turns as before. */
TEST(turns_of_unrolled_loops)
{
	const double rolled = turns_of(1), unrolled = turns_of(4);
	assert_true(rolled > 64 * timing.atomic_latencies * gpu_find("h200")->l2_latency_ns);
	assert_true(fabs(unrolled / rolled - 1) < 0.1);
}
