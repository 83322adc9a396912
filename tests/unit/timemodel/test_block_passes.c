/*
 * How often a thread block passes a part of its program: by what was counted of warps, of blocks
 * that came there, and of their slowest warps. And what L1's port and the pipes ask for by region.
 */
#include "sample_program.h"

#include "timemodel/constants.h"
#include "timemodel/hyperblock.h"

#include <math.h>

static void add_insts(struct sample *s, enum inst_class c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		add_inst(s, c, 2, -1);
}

/* A branch over what one warp of each block does, and of whom all others leave: to an exit that is
 * no place where its sides meet. */
static void tail_of_one_warp(struct sample *s)
{
	add_inst(s, INST_INT_LOGIC, 1, -1);
	struct timing_inst *branch = add_inst(s, INST_BRANCH, -1, -1);
	branch->guard = 1;
	branch->lanes_choose = true;
	end_block(s, 2, 1);
	s->block[0].join = 1;
	add_insts(s, INST_FP32, 20);
	end_block(s, 2, -1);
	s->block[1].warp_passes = BLOCKS;
	add_inst(s, INST_OTHER, -1, -1);
	end_block(s, -1, -1);
	for (unsigned b = 0; b < 3; b++) {
		s->block[b].insts = s->block[b].end - s->block[b].first;
		s->block[b].entering_blocks = BLOCKS;
	}
	s->p.slowest_warp_insts = s->p.longest_warp_insts = 23;
}

static double passes(const struct sample *s, uint32_t b)
{
	struct hyperblocks h;
	hyperblocks_build(&h, &s->p);
	const double n = h.block_passes[b];
	hyperblocks_free(&h);
	return n;
}

TEST(what_one_warp_does_lasts_as_long_as_if_all_did)
{
	struct sample s = { 0 };
	tail_of_one_warp(&s);
	assert_true(passes(&s, 1) == BLOCKS);
	for (unsigned b = 0; b < 3; b++)
		s.block[b].entering_blocks = 0; /* not known */
	s.p.slowest_warp_insts = 0;
	assert_true(passes(&s, 1) < BLOCKS);
}

/* In half of the blocks nobody does it. */
TEST(blocks_that_never_come_there_do_not_wait)
{
	struct sample s = { 0 };
	tail_of_one_warp(&s);
	s.block[1].entering_blocks = s.block[1].warp_passes = BLOCKS / 2.0;
	s.p.slowest_warp_insts = 3 + 20 / 2.0;
	assert_true(passes(&s, 1) == BLOCKS / 2.0);
}

/* Two warps of a block take the two sides at the same time. */
TEST(sides_of_different_warps_are_one_after_the_other_in_none)
{
	struct sample s = { 0 };
	add_inst(&s, INST_INT_LOGIC, 1, -1);
	add_inst(&s, INST_BRANCH, -1, -1)->guard = 1;
	end_block(&s, 2, 1);
	for (unsigned side = 1; side <= 2; side++) {
		add_insts(&s, INST_FP32, 12);
		end_block(&s, 3, -1);
		s.block[side].warp_passes = WARPS / 2.0;
	}
	add_inst(&s, INST_OTHER, -1, -1);
	end_block(&s, -1, -1);
	for (unsigned b = 0; b < 4; b++) {
		s.block[b].insts = s.block[b].end - s.block[b].first;
		s.block[b].entering_blocks = BLOCKS;
	}
	s.p.slowest_warp_insts = 2 + 12 + 1;
	assert_true(fabs(passes(&s, 1) + passes(&s, 2) - BLOCKS) < 1e-9);
}

/* The slowest warp of a block turns more often than the mean of them. */
TEST(loops_last_as_long_as_in_the_slowest_warp)
{
	struct sample s = { 0 };
	add_inst(&s, INST_FP32, 1, -1);
	end_block(&s, 1, -1);
	add_inst(&s, INST_FP32, 1, 1);
	add_inst(&s, INST_BRANCH, -1, -1)->guard = 3;
	end_block(&s, 1, 2);
	s.block[1].warp_passes = 10 * WARPS;
	add_inst(&s, INST_OTHER, -1, -1);
	end_block(&s, -1, -1);
	for (unsigned b = 0; b < 3; b++) {
		s.block[b].insts = s.block[b].end - s.block[b].first;
		s.block[b].entering_blocks = BLOCKS;
	}
	s.p.slowest_warp_insts = 1 + 2 * 10 + 1;
	assert_true(fabs(passes(&s, 1) - 10 * BLOCKS) < 1e-9);
	s.p.slowest_warp_insts = 1 + 2 * 18 + 1;
	assert_true(fabs(passes(&s, 1) - 18 * BLOCKS) < 1e-9);
	struct run_counts c = build(&s, 1);
	double turns = 0;
	for (unsigned r = 0; r < c.n_regions; r++)
		turns += c.regions[r].loop_turns;
	assert_true(turns == 9 * WARPS); /* the tenth falls through */
	run_counts_free(&c);
}

/* One warp of a block goes round, of several that do not come there: on average, of the block's
 * warps, nobody does more than once. */
TEST(one_warp_of_a_block_goes_round)
{
	struct sample s = { 0 };
	add_inst(&s, INST_FP32, 1, -1);
	add_inst(&s, INST_BRANCH, -1, -1)->guard = 3;
	end_block(&s, 2, 1);
	add_inst(&s, INST_FP32, 1, 1);
	add_inst(&s, INST_BRANCH, -1, -1)->guard = 3;
	end_block(&s, 1, 2);
	s.block[1].warp_passes = BLOCKS * (double)WARPS / BLOCKS; /* as many as a block has warps */
	add_inst(&s, INST_OTHER, -1, -1);
	end_block(&s, -1, -1);
	for (unsigned b = 0; b < 3; b++) {
		s.block[b].insts = s.block[b].end - s.block[b].first;
		s.block[b].entering_blocks = BLOCKS;
	}
	s.p.slowest_warp_insts = 2 + 2.0 * WARPS / BLOCKS + 1;
	assert_true(fabs(passes(&s, 1) - WARPS) < 1e-9);
	assert_true(passes(&s, 0) == BLOCKS && passes(&s, 2) == BLOCKS);
}

/* Rows that lie anywhere fill the quarters of L1 unevenly: 16 of them take 6 cycles, not 4. */
TEST(lines_of_a_request_meet_in_l1)
{
	struct sample s = { 0 };
	struct timing_inst *x = add_inst(&s, INST_LOAD, -1, 1);
	x->space = MEMORY_GLOBAL;
	x->load_passes = WARPS;
	s.counts[0].ld_requests = WARPS;
	s.counts[0].ld_lines = 16 * WARPS;
	end_block(&s, -1, -1);
	struct run_counts c = build(&s, 1);
	assert_true(c.regions[0].load_cycles > 5.5 * WARPS && c.regions[0].load_cycles < 6.5 * WARPS);
	run_counts_free(&c);
}

/* Half of the lanes that multiply and add take integers, too. */
TEST(integers_take_the_heavy_half)
{
	struct sample s = { 0 };
	add_insts(&s, INST_INT_MUL, 3);
	add_insts(&s, INST_FP32, 2);
	end_block(&s, -1, -1);
	struct run_counts c = build(&s, 1);
	assert_true(c.regions[0].heavy_slots == 3 * WARPS);
	assert_true(c.regions[0].fp32_slots == 5 * WARPS);
	run_counts_free(&c);
}
