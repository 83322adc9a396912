/*
 * The time model on programs written down by hand, as any front end may fill them in: hyperblocks,
 * critical paths and what regions ask of an SM. And its constants: each with a source.
 */
#include "sample_program.h"

#include "timemodel/constants.h"
#include "timemodel/critical_path.h"
#include "timemodel/load_latency.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(operands_are_waited_for)
{
	struct sample dependent = { 0 }, apart = { 0 };
	for (int i = 0; i < 10; i++) {
		add_inst(&dependent, INST_FP32, 1, 1);
		add_inst(&apart, INST_FP32, 2 + i, 1);
	}
	end_block(&dependent, -1, -1);
	end_block(&apart, -1, -1);
	/* the last one issues after nine latencies; ten apart take a slot each */
	assert_true(cycles(&dependent) == 9 * timing.alu_cycles + 1);
	assert_true(cycles(&apart) == 10);
}

/* Passes beyond the first: of shared memory where that is used, else lines of global memory. */
TEST(replays_are_passes_beyond_the_first)
{
	assert_true(replays_of(&(struct counts){ .ld_requests = 10, .ld_lines = 10 }) == 0);
	assert_true(replays_of(&(struct counts){ .ld_requests = 10, .ld_lines = 40 }) == 3);
	assert_true(replays_of(&(struct counts){ .shared_ld_requests = 8,
	                                         .shared_ld_wavefronts = 12,
	                                         .ld_requests = 1,
	                                         .ld_lines = 9 }) == 0.5f);
	assert_true(replays_of(&(struct counts){ .st_requests = 3 }) == 0);
}

/* Stores and atomics both pass through shared memory; what is counted per region is summed, and
 * scaled where only a sample ran. */
TEST(shared_wavefronts_add_up)
{
	struct sample s = { 0 };
	add_inst(&s, INST_STORE, -1, 1)->space = MEMORY_SHARED;
	s.counts[0].shared_st_wavefronts = 10;
	s.counts[0].shared_st_requests = 5;
	add_inst(&s, INST_ATOMIC, -1, 1)->space = MEMORY_SHARED;
	s.counts[1].shared_atom_requests = 4;
	end_block(&s, -1, -1);
	for (unsigned factor = 1; factor <= 3; factor += 2) {
		struct run_counts c = build(&s, factor);
		double sum = 0;
		for (unsigned i = 0; i < c.n_regions; i++)
			sum += c.regions[i].shared_wavefronts;
		assert_true(sum == factor * 14.0);
		run_counts_free(&c);
	}
}

TEST(classes_cost_what_the_table_says)
{
	assert_true(inst_issued(INST_INT_DIV, false) == 20 && inst_issued(INST_INT_DIV, true) == 70);
	assert_true(inst_latency_cycles(INST_FP32, 1) == timing.alu_cycles);
	assert_true(inst_latency_cycles(INST_SFU_ROUNDED, 8) ==
	            timing.sfu_cycles + 7 * timing.alu_cycles);
	/* three trips through the SFU, the other 17 instructions in the integer pipe */
	assert_true(inst_latency_cycles(INST_INT_DIV, 20) ==
	            3 * timing.sfu_cycles + 17 * timing.alu_cycles);
	assert_int_equal(inst_pipe(INST_INT_MUL), SM_PIPE_FP32);
	/* a uniform integer takes the longer way, a uniform division is a division */
	struct sample s = { 0 };
	add_inst(&s, INST_INT_ADD, 1, -1)->uniform = true;
	add_inst(&s, INST_INT_DIV, 2, 1)->uniform = true;
	add_inst(&s, INST_FP32, 3, 2);
	end_block(&s, -1, -1);
	assert_true(cycles(&s) == timing.uniform_cycles + 60 + 17 * 4 + 1);
}

static struct timing_inst *add_shared_load(struct sample *s, uint8_t board)
{
	struct timing_inst *x = add_machine(s, INST_LOAD, 2, board, 0);
	x->space = MEMORY_SHARED;
	s->counts[s->p.n_insts - 1].shared_ld_requests = WARPS;
	s->counts[s->p.n_insts - 1].shared_ld_wavefronts = WARPS;
	return x;
}

TEST(machine_code_issues_in_its_order)
{
	const struct gpu_spec *g = gpu_find("h200");
	const double trip = g->smem_latency_ns * g->clock_mhz * 1e-3;
	struct sample s = { 0 };
	add_machine(&s, INST_FP32, 4, 7, 0);
	add_machine(&s, INST_FP32, 13, 7, 0);
	add_machine(&s, INST_FP32, 0, 7, 0);
	end_block(&s, -1, -1);
	assert_true(cycles(&s) == 4 + 13 + 1); /* stall counts; at least a cycle */

	/* two loads under way together; who shares a scoreboard waits for the later one as well */
	struct sample own = { 0 }, shared = { 0 }, idle = { 0 };
	struct sample *const of[] = { &own, &shared, &idle };
	for (unsigned k = 0; k < ARRAY_LEN(of); k++) {
		add_shared_load(of[k], 0);
		add_machine(of[k], INST_FP32, 10, 7, 0);
		add_shared_load(of[k], k == 0 ? 1 : 0);
		add_machine(of[k], INST_FP32, 5, 7, 1);
		if (k == 2) /* the second one's guard is false in most warps */
			of[k]->counts[2].shared_ld_requests = 0;
		end_block(of[k], -1, -1);
	}
	assert_true(fabs(cycles(&own) - (trip + 5)) < 1e-3);
	assert_true(fabs(cycles(&shared) - (12 + trip + 5)) < 1e-3);
	assert_true(fabs(cycles(&idle) - (trip + 5)) < 1e-3);
}

/* A loop: what is under way at its end is waited for at its top. Lanes that leave it one by one
 * pass its exit more often than there are warps; it is entered once by each all the same. */
TEST(machine_code_goes_round)
{
	struct sample s = { 0 };
	add_machine(&s, INST_FP32, 4, 7, 0);
	end_block(&s, 1, -1);
	add_machine(&s, INST_FP32, 10, 7, 0);
	add_machine(&s, INST_BRANCH, 5, 7, 0)->guard = 0;
	end_block(&s, 1, 2);
	add_machine(&s, INST_OTHER, 5, 7, 0);
	end_block(&s, -1, -1);
	s.block[1].warp_passes = 10 * WARPS;
	s.counts[1].warp_executed = s.counts[2].warp_executed = 10 * WARPS;
	struct hyperblocks h;
	for (unsigned exits = 1; exits <= 4; exits++) {
		s.block[2].warp_passes = exits * WARPS;
		hyperblocks_build(&h, &s.p);
		assert_true(edge_passes(&h, 0, 1) == WARPS);
		assert_true(edge_passes(&h, 1, 1) == 9 * WARPS);
		hyperblocks_free(&h);
	}
	s.block[2].warp_passes = WARPS;
	struct run_counts c = build(&s, 1);
	assert_true(fabs(c.regions[1].critical_path_cycles - (15 + 0.9 * timing.jump_cycles)) < 1e-6);
	run_counts_free(&c);
}

/* Machine code: a branch over what comes next takes as long whatever its stall count is. */
TEST(machine_code_jumps_ahead)
{
	for (unsigned stall = 6; stall <= 12; stall += 6) {
		struct sample s = { 0 };
		add_machine(&s, INST_BRANCH, (uint8_t)stall, 7, 0)->guard = 0;
		end_block(&s, 2, 1);
		add_machine(&s, INST_FP32, 4, 7, 0);
		end_block(&s, 2, -1);
		add_machine(&s, INST_FP32, 4, 7, 0);
		end_block(&s, -1, -1);
		s.block[1].warp_passes = 0;
		s.counts[1].warp_executed = 0;
		struct run_counts c = build(&s, 1);
		double sum = 0;
		for (unsigned r = 0; r < c.n_regions; r++)
			sum += c.regions[r].block_passes / c.regions[0].block_passes *
			       c.regions[r].critical_path_cycles;
		const double jump = fmax(timing.forward_jump_cycles, stall + timing.jump_cycles);
		assert_true(fabs(sum - (jump + 4)) < 1e-6);
		run_counts_free(&c);
	}
}

/* A guard of machine code is no scoreboard: looked for among those, it is a fault. */
TEST(machine_code_guards_are_no_scoreboards)
{
	struct sample s = { 0 };
	add_machine(&s, INST_FP32, 4, 7, 0)->guard = 1 << 28;
	add_machine(&s, INST_FP32, 2, 7, 0)->guard = 1 << 28;
	end_block(&s, -1, -1);
	assert_true(cycles(&s) == 4 + 2);
}

/* One region before each barrier and one behind the last; the more warps meet, the later. */
TEST(barriers_end_regions)
{
	struct sample s = { 0 };
	add_inst(&s, INST_FP32, 1, -1);
	add_inst(&s, INST_BARRIER, -1, -1);
	add_inst(&s, INST_FP32, 2, 1);
	add_inst(&s, INST_BARRIER, -1, -1);
	end_block(&s, -1, -1);
	struct run_counts c = build(&s, 3);
	assert_int_equal(c.n_regions, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(c.regions[i].warp_passes == 3 * WARPS);
		assert_true(c.regions[i].block_passes == 3 * BLOCKS);
		assert_true(c.regions[i].issue_slots == (i < 2 ? 3 * 2 * WARPS : 0));
	}
	const double two_warps = timing.barrier_cycles + 2 * timing.barrier_warp_cycles;
	assert_true(c.regions[0].critical_path_cycles == 2 + two_warps);
	run_counts_free(&c);
}

/* A short side that a branch skips is predicated into one hyperblock; a long one is not. */
TEST(short_sides_are_predicated)
{
	for (unsigned length = 2; length <= 20; length += 18) {
		struct sample s = { 0 };
		add_inst(&s, INST_INT_LOGIC, 1, -1);
		add_inst(&s, INST_BRANCH, -1, -1)->guard = 1;
		end_block(&s, 2, 1);
		for (unsigned i = 0; i < length; i++)
			add_inst(&s, INST_FP32, 2, -1);
		end_block(&s, 2, -1);
		add_inst(&s, INST_FP32, 3, 2);
		add_inst(&s, INST_OTHER, -1, -1);
		end_block(&s, -1, -1);
		struct hyperblocks h;
		hyperblocks_build(&h, &s.p);
		assert_int_equal(h.n, length <= timing.predicated_insts ? 1 : 3);
		hyperblocks_free(&h);
	}
}

/* Who skips such a side exits at once instead. */
TEST(sides_before_an_exit_are_not_predicated)
{
	struct sample s = { 0 };
	add_inst(&s, INST_INT_LOGIC, 1, -1);
	add_inst(&s, INST_BRANCH, -1, -1)->guard = 1;
	end_block(&s, 2, 1);
	add_inst(&s, INST_FP32, 2, -1);
	end_block(&s, 2, -1);
	add_inst(&s, INST_OTHER, -1, -1);
	end_block(&s, -1, -1);
	struct hyperblocks h;
	hyperblocks_build(&h, &s.p);
	assert_int_equal(h.n, 3);
	hyperblocks_free(&h);
}

/* Machine code: lanes that end a loop one after the other pass its last block more often than what
 * follows, where they are together again: that is a hyperblock of its own. */
TEST(lanes_meet_again)
{
	static const double often[] = { 1, 1.25, 2 };
	for (unsigned i = 0; i < 3; i++) {
		struct sample s = { 0 };
		add_machine(&s, INST_OTHER, 5, 7, 0);
		end_block(&s, 1, -1);
		add_machine(&s, INST_SHUFFLE, 2, 0, 0);
		add_machine(&s, INST_FP32, 4, 7, 1);
		end_block(&s, -1, -1);
		s.block[0].warp_passes *= often[i];
		struct hyperblocks h;
		hyperblocks_build(&h, &s.p);
		assert_int_equal(h.n, i ? 2 : 1);
		hyperblocks_free(&h);
	}
}

/* As many additions as comparisons: the first leave the integer pipe to the others. */
TEST(either_pipe_is_the_one_with_less_to_do)
{
	struct sample s = { 0 };
	for (int32_t i = 0; i < 8; i++)
		add_inst(&s, i % 2 ? INST_INT_ADD : INST_INT_LOGIC, i, -1);
	end_block(&s, -1, -1);
	struct run_counts c = build(&s, 1);
	assert_true(c.regions[0].int_slots == 4 * WARPS);
	assert_true(c.regions[0].fp32_slots == 4 * WARPS);
	run_counts_free(&c);
}

/* A block whose warps go through three times as often takes three times as long. */
TEST(the_longest_block_is_followed_by_itself)
{
	struct sample s = { 0 };
	add_inst(&s, INST_FP32, 1, -1);
	add_inst(&s, INST_FP32, 2, 1);
	end_block(&s, -1, -1);
	s.block[0].longest_passes = 3.0 * WARPS / BLOCKS;
	struct run_counts c = build(&s, 1);
	assert_true(c.regions[0].critical_path_cycles > 0);
	assert_true(c.longest_block_cycles == 3 * c.regions[0].critical_path_cycles);
	run_counts_free(&c);
}

/* One load more than there are registers for waits for the first of them. */
TEST(loads_ahead_of_their_use_are_few)
{
	struct sample few = { 0 }, many = { 0 };
	for (unsigned i = 0; i < (unsigned)timing.loads_ahead; i++)
		add_inst(&few, INST_LOAD, 1, -1)->space = MEMORY_GLOBAL;
	for (unsigned i = 0; i < (unsigned)timing.loads_ahead + 1; i++)
		add_inst(&many, INST_LOAD, 1, -1)->space = MEMORY_GLOBAL;
	end_block(&few, -1, -1);
	end_block(&many, -1, -1);
	assert_true(cycles(&few) < 100);
	assert_true(cycles(&many) > cycles(&few) + 100);
}

/* A barrier in shared memory is passed when the copies are there, and a texel used when it is: no
 * request of L1 is counted of it. */
TEST(machine_code_waits_for_the_copy_engine_and_textures)
{
	const double mhz = gpu_find("h200")->clock_mhz;
	for (unsigned fetch = 0; fetch < 2; fetch++) {
		struct sample s = { 0 };
		add_machine(&s, fetch ? INST_LOAD : INST_BULK, 2, fetch ? 0 : 7, 0)->space =
			fetch ? MEMORY_TEXELS : MEMORY_NONE;
		add_machine(&s, fetch ? INST_FP32 : INST_MBARRIER, 2, 7, fetch ? 1 : 1 << 6);
		end_block(&s, -1, -1);
		assert_true(cycles(&s) > (fetch ? 200 : timing.bulk_ns * mhz * 1e-3));
	}
}

/* A load leaves behind the lines of the store before it. */
TEST(loads_leave_behind_stores)
{
	double took[2];
	for (unsigned many = 0; many < 2; many++) {
		struct sample s = { 0 };
		add_machine(&s, INST_STORE, 2, 7, 0)->space = MEMORY_GLOBAL;
		add_machine(&s, INST_LOAD, 2, 0, 0)->space = MEMORY_GLOBAL;
		add_machine(&s, INST_FP32, 2, 7, 1);
		end_block(&s, -1, -1);
		s.counts[0].st_lines = s.counts[0].st_sectors = (many ? 32 : 1) * s.counts[0].warp_executed;
		s.counts[0].st_bytes = 32 * s.counts[0].st_sectors;
		s.counts[1].ld_requests = s.counts[1].ld_lines = s.counts[1].warp_executed;
		took[many] = cycles(&s);
	}
	assert_true(fabs(took[1] - took[0] - (32 * timing.store_line_cycles - 2)) < 0.01);
}

/* What one warp of several does while the others wait delays its thread block. */
TEST(optional_sides_delay_the_block)
{
	struct sample s = { 0 };
	add_inst(&s, INST_INT_LOGIC, 1, -1);
	struct timing_inst *branch = add_inst(&s, INST_BRANCH, -1, -1);
	branch->guard = 1;
	branch->lanes_choose = true;
	end_block(&s, 2, 1);
	s.block[0].join = 2;
	for (unsigned i = 0; i < 20; i++)
		add_inst(&s, INST_FP32, 2, -1);
	end_block(&s, 2, -1);
	s.block[1].warp_passes = BLOCKS; /* one warp of two */
	add_inst(&s, INST_BARRIER, -1, -1);
	end_block(&s, -1, -1);
	struct hyperblocks h;
	hyperblocks_build(&h, &s.p);
	assert_true(h.block_passes[1] == BLOCKS); /* not half as often */
	hyperblocks_free(&h);
}

/* Lanes of a warp that part wait for what they loaded before only on the side that comes first;
 * warps that choose a side each wait on theirs. */
TEST(sides_wait_once)
{
	for (unsigned each = 1; each <= 2; each++) { /* sides that a warp takes */
		struct sample s = { 0 };
		struct timing_inst *load = add_inst(&s, INST_LOAD, 1, -1);
		load->space = MEMORY_GLOBAL;
		load->origin = (struct load_origin){ .known = true, .l2 = 1, .dram = 1 };
		add_inst(&s, INST_INT_LOGIC, 2, -1);
		add_inst(&s, INST_BRANCH, -1, -1)->guard = 2;
		end_block(&s, 2, 1);
		for (unsigned side = 1; side <= 2; side++) {
			for (unsigned i = 0; i < 12; i++)
				add_inst(&s, INST_FP32, 3, 1);
			end_block(&s, 3, -1);
			s.block[side].warp_passes = each * WARPS / 2.0;
		}
		add_inst(&s, INST_FP32, 4, 3);
		end_block(&s, -1, -1);
		const double sum = cycles(&s);
		assert_true(each == 1 ? sum > 1250 : sum > 650 && sum < 800);
	}
}

/* A load of another iteration costs what is left of it; replays and misses make it longer. */
TEST(loads_come_from_somewhere)
{
	const struct gpu_spec *g = gpu_find("h200");
	struct sample s = { 0 };
	add_inst(&s, INST_LOAD, 1, -1)->space = MEMORY_SHARED;
	add_inst(&s, INST_FP32, 2, 1);
	end_block(&s, -1, -1);
	const double one = cycles(&s);
	assert_true(fabs(one - (g->smem_latency_ns * g->clock_mhz * 1e-3 + 1)) < 1e-3);
	s.counts[0].shared_ld_requests = WARPS;
	s.counts[0].shared_ld_wavefronts = 5 * WARPS;
	assert_true(fabs(cycles(&s) - one - 4) < 1e-3);
	struct run_counts c = build(&s, 1);
	assert_true(c.regions[0].shared_wavefronts == 5 * WARPS);
	run_counts_free(&c);
	struct counts total = { .ld_sectors = 100 };
	const struct load_misses m = load_misses_of(&total, 50, 0, 320);
	assert_true(m.l1 == 0.5 && m.l2 == 0.1);
	assert_true(load_misses_of(&total, -1, 0, -1).l1 == 1 &&
	            load_misses_of(&total, -1, 0, -1).l2 == 0);
}

/* Sectors that another block has just asked DRAM for are waited for, too; written ones are not
 * loads' misses. */
TEST(stores_are_no_misses)
{
	const struct counts total = { .ld_sectors = 100 };
	assert_true(load_misses_of(&total, 50, 0, 320).l2 == 0.1);
	assert_true(load_misses_of(&total, 50, 20, 320).l1 == 0.3);
}

/* Lines of global loads cost tags, or the words that lie in one bank; lines of local memory what
 * their kind of access does. */
TEST(passes_of_l1)
{
	struct sample s = { 0 };
	for (unsigned i = 0; i < 3; i++) {
		struct timing_inst *x = add_inst(&s, i < 2 ? INST_LOAD : INST_STORE, -1, 1);
		x->space = i < 1 ? MEMORY_GLOBAL : MEMORY_LOCAL;
		x->load_passes = i < 1 ? 8 * WARPS : 0;
		x->local_lines = i < 1 ? 0 : 32 * WARPS;
		s.counts[i].ld_requests = i < 1 ? WARPS : 0;
		s.counts[i].ld_lines = i < 1 ? 4 * WARPS : 0;
	}
	end_block(&s, -1, -1);
	struct run_counts c = build(&s, 1);
	assert_true(c.regions[0].load_cycles == (8 + 32) * WARPS);
	assert_true(c.regions[0].store_cycles == 32 * WARPS * timing.local_store_cycles);
	assert_true(c.regions[0].local_store_cycles == c.regions[0].store_cycles);
	run_counts_free(&c);
}

/* 32 lines of a request by how much of each is stored: 4 bytes, a sector, all four
 * (tests/gpu/h200-2026-11-28/micro/stores.jsonl: 62, 41 and 122 cycles). */
TEST(stores_leave_by_sectors)
{
	static const struct {
		unsigned sectors, bytes;
		double least, most;
	} rows[] = { { 32, 128, 60, 64 }, { 32, 1024, 40, 43 }, { 128, 4096, 119, 124 } };
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		const struct counts c = { .st_lines = 32,
			                      .st_sectors = rows[i].sectors,
			                      .st_bytes = rows[i].bytes };
		assert_true(stored_cycles(&c) > rows[i].least && stored_cycles(&c) < rows[i].most);
	}
}

/* A copy of a line into shared memory takes its wavefront and so much more; products of a group of
 * warps are told apart. */
TEST(copies_and_products_of_groups)
{
	struct sample s = { 0 };
	for (unsigned i = 0; i < 2; i++) {
		struct timing_inst *x = add_inst(&s, INST_OTHER, -1, -1);
		x->by_group = i;
		x->products = 4;
	}
	add_inst(&s, INST_COPY, -1, -1);
	s.counts[2].ld_requests = s.counts[2].ld_lines = s.counts[2].shared_st_wavefronts = WARPS;
	end_block(&s, -1, -1);
	struct run_counts c = build(&s, 1);
	assert_true(fabs(c.regions[0].load_cycles + c.regions[0].shared_wavefronts -
	                 WARPS * (timing.copy_request_cycles + timing.copy_line_cycles)) < 1e-6);
	assert_true(c.regions[0].products == 4 * WARPS && c.regions[0].group_products == 4 * WARPS);
	run_counts_free(&c);
}

TEST(every_constant_has_a_source)
{
	unsigned n = 0;
	for (const struct timing_constant *c; (c = timing_constant_at(n)); n++) {
		assert_true(isfinite(c->value) && c->value > 0);
		assert_true(strlen(c->unit) > 0 && strlen(c->source) > 3);
		for (unsigned i = 0; i < n; i++)
			assert_string_not_equal(c->name, timing_constant_at(i)->name);
	}
	assert_int_equal(n, sizeof timing / sizeof(double));
}
