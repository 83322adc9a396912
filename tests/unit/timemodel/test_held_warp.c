/*
 * What machine code does by loops and calls, waits for other blocks, fetches of textures, copies by
 * the copy engine: on programs written down by hand.
 */
#include "sample_program.h"

#include "timemodel/constants.h"
#include "timemodel/held_warp.h"
#include "timemodel/load_latency.h"
#include "timemodel/sm_demand.h"

#include "base/text.h"

#include <math.h>

static const struct gpu_spec *h200(void)
{
	return gpu_find("h200");
}

static double cycles_of_ns(double ns)
{
	return ns * h200()->clock_mhz * 1e-3;
}

/* One instruction of @c by @lanes lanes of each warp, and one that follows. */
static struct sample one_of(enum inst_class c, unsigned lanes)
{
	struct sample s = { 0 };
	add_inst(&s, c, 1, -1);
	s.counts[0].thread_executed = (uint64_t)lanes * WARPS;
	s.counts[0].shared_atom_requests = WARPS;
	add_inst(&s, INST_FP32, 2, -1);
	return s;
}

static double finished(struct sample *s)
{
	end_block(s, -1, -1);
	return cycles(s);
}

/* Additions of floats go round once for each lane that wants the same word, and even what does not
 * need them comes after. Integers have an instruction. */
TEST(swaps_go_round)
{
	for (unsigned same = 1; same <= 64; same *= 4) {
		struct sample s = one_of(INST_SHARED_SWAP, 32);
		s.inst[0].space = MEMORY_SHARED;
		s.inst[0].shared_passes = same * WARPS;
		assert_true(fabs(finished(&s) - (same * timing.swap_round_cycles + 1)) < 1e-3);
		struct run_counts c = { .l2_sectors = -1, .dram_read_bytes = -1, .shared_swap_chain = 20 };
		regions_build(&s.p, h200(), 1, &c);
		assert_true(c.regions[0].shared_wavefronts == timing.swap_wavefronts * same * WARPS);
		/* what others change is waited for beside the own */
		assert_int_equal(c.shared_swap_chain, same < 20 ? 20 - same : 0);
		run_counts_free(&c);
	}
	struct sample whole = one_of(INST_REDUCTION, 32);
	whole.inst[0].space = MEMORY_SHARED;
	whole.inst[0].shared_passes = 32 * WARPS;
	assert_true(finished(&whole) < 3);
}

/* A warp's first sleep begins somewhere between two ticks, each further one at a tick. */
TEST(sleeps_end_at_ticks)
{
	for (unsigned times = 1; times <= 4; times++) {
		struct sample s = one_of(INST_SLEEP, 32);
		s.counts[0].warp_executed = times * WARPS;
		s.inst[0].sleep_periods_ns = 2048.0 * times * WARPS;
		end_block(&s, -1, -1);
		const double all = held_warp_cycles(&s.p, 0, h200(), INFINITY) * times;
		assert_true(fabs(all - cycles_of_ns(2048 * (times - 0.5))) < 1e-3);
	}
	struct sample s = one_of(INST_SLEEP, 32);
	end_block(&s, -1, -1);
	assert_true(held_warp_cycles(&s.p, 0, h200(), INFINITY) == 0);
}

/* A call takes a warp so long, the longer the more lanes call; of all warps, the chip does a part
 * one after the other. */
TEST(calls_hold_their_warp)
{
	static const enum inst_class calls[] = { INST_PRINT, INST_MALLOC, INST_FREE };
	const double first[] = { timing.print_ns, timing.malloc_ns, timing.free_ns };
	const double lane[] = { timing.print_lane_ns, timing.malloc_lane_ns, timing.free_lane_ns };
	const double serial[] = { timing.print_serial_ns, timing.malloc_serial_ns,
		                      timing.free_serial_ns };
	const double serial_lane[] = { timing.print_serial_lane_ns, timing.malloc_serial_lane_ns,
		                           timing.free_serial_lane_ns };
	for (unsigned i = 0; i < ARRAY_LEN(calls); i++)
		for (unsigned lanes = 1; lanes <= 32; lanes += 31) {
			struct sample s = one_of(calls[i], lanes);
			const double want = cycles_of_ns(first[i] + (lanes - 1) * lane[i]);
			assert_true(fabs(finished(&s) - want - 1) < 1e-3 * want);
			struct run_counts c = build(&s, 3);
			const double all = 3 * WARPS * (serial[i] + lanes * serial_lane[i]);
			assert_true(fabs(c.regions[0].call_ns - all) < 1e-6 * all);
			run_counts_free(&c);
		}
}

/* Alone, the first of a warp. */
static double first_fence(void)
{
	return timing.fence_cycles + timing.first_fence_cycles;
}

/* A cluster meets the later, the more warps its blocks have; a fence takes its time alike. */
TEST(blocks_of_a_cluster_meet)
{
	struct sample wait = one_of(INST_CLUSTER_WAIT, 32), fence = one_of(INST_FENCE, 32);
	const double warps = (double)WARPS / BLOCKS;
	const double want = timing.cluster_wait_cycles + timing.cluster_wait_warp_cycles * warps;
	assert_true(fabs(finished(&wait) - want - 1) < 1e-3);
	assert_true(fabs(finished(&fence) - first_fence() - 1) < 1e-3);
}

/* In machine code, where each instruction says when the next one may issue. */
static double in_machine_code(const enum inst_class *c, unsigned n)
{
	struct sample s = { .p = { .machine_code = true } };
	for (unsigned i = 0; i < n; i++) {
		struct timing_inst *x = add_inst(&s, c[i], -1, -1);
		x->space = c[i] == INST_STORE ? MEMORY_GLOBAL : MEMORY_NONE;
		x->control = (struct timing_control){ .stall = 1,
			                                  .result_board = TIMING_NO_BOARD,
			                                  .operand_board = TIMING_NO_BOARD };
	}
	return finished(&s) - n;
}

/* tests/gpu/micro/fences.cu: a fence is two instructions, or one of another kind; it waits for the
 * stores before it; a cluster's barrier has a fence in front of it. */
TEST(fences_of_machine_code)
{
	const enum inst_class fence[] = { INST_OTHER, INST_MEMBAR, INST_ERRBAR };
	const enum inst_class fences[] = { INST_MEMBAR, INST_ERRBAR, INST_MEMBAR, INST_ERRBAR };
	const enum inst_class host[] = { INST_HOST_FENCE, INST_ERRBAR };
	const enum inst_class in_block[] = { INST_BLOCK_FENCE };
	const enum inst_class behind[] = { INST_OTHER, INST_STORE, INST_MEMBAR, INST_ERRBAR };
	const enum inst_class condition[] = { INST_CONDITION };
	const enum inst_class meeting[] = { INST_MEETING };
	const enum inst_class cluster[] = { INST_MEMBAR, INST_ERRBAR, INST_CLUSTER_WAIT };
	assert_true(fabs(in_machine_code(fence, 3) - first_fence()) < 2);
	assert_true(fabs(in_machine_code(fence, 2) - first_fence() + timing.errbar_cycles) < 2);
	assert_true(fabs(in_machine_code(fences, 4) - first_fence() - timing.fence_cycles) < 4);
	assert_true(fabs(in_machine_code(in_block, 1) - timing.block_fence_cycles) < 2);
	assert_true(fabs(in_machine_code(behind, 4) - timing.first_fence_cycles -
	                 timing.fence_store_cycles) < 4);
	assert_true(fabs(in_machine_code(host, 2) - timing.host_fence_cycles) < 2);
	assert_true(fabs(in_machine_code(condition, 1) - timing.condition_cycles) < 2);
	assert_true(fabs(in_machine_code(meeting, 1) - timing.meeting_cycles) < 2);
	const double warps = (double)WARPS / BLOCKS;
	const double meet = timing.cluster_wait_cycles + timing.cluster_wait_warp_cycles * warps;
	assert_true(fabs(in_machine_code(cluster, 3) - meet - timing.first_fence_cycles) < 2);
}

/* Cycles of a fence behind a store of @lines lines by each warp. */
static double behind_lines(unsigned lines, bool machine_code)
{
	struct sample s = { .p = { .machine_code = machine_code } };
	struct timing_inst *x = add_machine(&s, INST_STORE, 1, TIMING_NO_BOARD, 0);
	x->space = MEMORY_GLOBAL;
	s.counts[0].st_lines = s.counts[0].st_sectors = (uint64_t)lines * WARPS;
	s.counts[0].st_bytes = 32 * s.counts[0].st_sectors;
	add_machine(&s, machine_code ? INST_MEMBAR : INST_FENCE, 1, TIMING_NO_BOARD, 0);
	s.p.machine_code = machine_code;
	return finished(&s);
}

/* tests/gpu/micro/group_steps.cu: those of all warps of the block have to leave first. */
TEST(fences_wait_for_the_stores_of_the_block)
{
	const double warps = (double)WARPS / BLOCKS;
	for (unsigned machine = 0; machine < 2; machine++) {
		const double more = behind_lines(96, machine) - behind_lines(32, machine);
		assert_true(fabs(more - 64 * warps * timing.store_line_cycles) < 1e-3 * more);
	}
}

/* Who waits for products of a group waits for those before them as well
 * (tests/gpu/h200-2026-11-28/micro/wgmma.jsonl). */
TEST(products_of_groups_are_waited_for)
{
	double took[2];
	for (unsigned many = 0; many < 2; many++) {
		struct sample s = { .p = { .machine_code = true } };
		for (unsigned i = 0; i < (many ? 4 : 1); i++) {
			struct timing_inst *x = add_inst(&s, INST_OTHER, -1, -1);
			x->by_group = true;
			x->products = 16 * 64 * 16;
			x->control =
				(struct timing_control){ .stall = 1, .result_board = 7, .operand_board = 7 };
		}
		add_inst(&s, INST_GROUP_WAIT, -1, -1)->control =
			(struct timing_control){ .stall = 1, .result_board = 7, .operand_board = 7 };
		took[many] = finished(&s);
	}
	const double each = 16 * 64 * 16 * 4 / products_per_cycle(gpu_find("h200"));
	const double first = timing.group_product_cycles + timing.first_product_cycles;
	assert_true(fabs(took[0] - first - each) < 4);
	assert_true(fabs(took[1] - took[0] - 3 * each) < 4);
	struct gpu_spec unknown = *gpu_find("h200"); /* whose sheet has no rate */
	unknown.fp16_tensor_gflops = 0;
	struct sample one = { 0 };
	struct timing_inst *x = add_inst(&one, INST_OTHER, -1, -1);
	x->by_group = true;
	x->products = 16 * 64 * 16;
	end_block(&one, -1, -1);
	assert_true(group_product_done(&one.p, 0, &unknown, 10, 0) == 10 + first);
	one.counts[0].warp_executed *= 10; /* in a loop: the others do not wait for it */
	assert_true(fabs(group_product_done(&one.p, 0, &unknown, 10, 0) - 10 -
	                 timing.group_product_cycles - timing.first_product_cycles / 10) < 1e-9);
}

/* Behind products of a group, what is stored leaves more slowly, by the sector
 * (tests/gpu/h200-2026-11-29/micro/group_steps.jsonl). */
TEST(sums_of_groups_leave_slowly)
{
	const struct counts c = { .st_lines = 64, .st_sectors = 256, .st_bytes = 256 * 32 };
	struct timing_inst x = { .class = INST_STORE, .space = MEMORY_GLOBAL };
	const double alone = leaving_cycles(&x, &c);
	assert_true(alone == stored_cycles(&c));
	x.behind_groups = true;
	assert_true(fabs(leaving_cycles(&x, &c) - alone - 256 * timing.sum_sector_cycles) < 1e-9);
}

/* A load of @space, and what needs it. */
static double load_from(enum memory_space space, bool polls, unsigned times)
{
	struct sample s = { 0 };
	struct timing_inst *x = add_inst(&s, INST_LOAD, 1, -1);
	x->space = space;
	x->polls = polls;
	s.counts[0].warp_executed = WARPS * times;
	add_inst(&s, INST_FP32, 2, 1);
	return finished(&s) - 1;
}

/* Shared memory of another block is further than the own, a texture further than what it shows; a
 * warp that fetches often finds most in L1. */
TEST(loads_that_go_another_way)
{
	const struct gpu_spec *g = h200();
	const double remote = load_from(MEMORY_REMOTE, false, 1);
	assert_true(fabs(remote - cycles_of_ns(timing.remote_latency_ns)) < 0.1);
	assert_true(remote > 2 * load_from(MEMORY_SHARED, false, 1));
	const double texture = load_from(MEMORY_TEXTURE, false, 1);
	const double texels = load_from(MEMORY_TEXELS, false, 1);
	const double far =
		g->l2_latency_ns + timing.texture_far * (g->dram_latency_ns - g->l2_latency_ns);
	assert_true(fabs(texture - cycles_of_ns(far) - timing.texture_cycles) < 0.1);
	struct sample fetch = { 0 };
	add_inst(&fetch, INST_LOAD, 1, -1)->space = MEMORY_TEXTURE;
	fetch.counts[0].warp_executed = WARPS;
	add_inst(&fetch, INST_FP32, 2, 1);
	end_block(&fetch, -1, -1);
	for (unsigned met = 0; met < 2; met++) { /* a launch before has had it from memory */
		struct run_counts c = {
			.l2_sectors = -1, .dram_read_bytes = -1, .of_program = true, .new_memory = !met
		};
		regions_build(&fetch.p, g, 1, &c);
		const double from = met ? g->l2_latency_ns : far;
		assert_true(fabs(c.regions[0].critical_path_cycles - 1 - cycles_of_ns(from) -
		                 timing.texture_cycles) < 0.1);
		run_counts_free(&c);
	}
	struct run_counts written = {
		.l2_sectors = -1, .dram_read_bytes = -1, .of_program = true, .far_share = 1
	};
	regions_build(&fetch.p, g, 1, &written);
	const double later = written.regions[0].critical_path_cycles - 1 -
	                     cycles_of_ns(g->l2_latency_ns) - timing.texture_cycles;
	assert_true(later > cycles_of_ns(timing.written_far_ns) / 2 &&
	            later <= cycles_of_ns(timing.written_far_ns) + 0.1);
	run_counts_free(&written);
	assert_true(fabs(texture - texels - (timing.texture_cycles - timing.texel_cycles)) < 0.1);
	const double near = load_from(MEMORY_TEXTURE, false, 1000);
	assert_true(fabs(near - cycles_of_ns(g->l1_latency_ns) - timing.texture_cycles) < 1);
	const double once = load_from(MEMORY_GLOBAL, false, 1);
	assert_true(fabs(load_from(MEMORY_GLOBAL, true, 1) - once - cycles_of_ns(timing.poll_ns)) <
	            0.1);
}

/* The texture unit takes so long for each request of a warp. */
TEST(textures_have_a_port)
{
	struct sample s = { 0 };
	add_inst(&s, INST_LOAD, 1, -1)->space = MEMORY_TEXTURE;
	add_inst(&s, INST_LOAD, 1, -1)->space = MEMORY_TEXELS;
	end_block(&s, -1, -1);
	struct run_counts c = build(&s, 1);
	assert_true(c.regions[0].texture_cycles ==
	            WARPS * (timing.texture_port_cycles + timing.texel_port_cycles));
	run_counts_free(&c);
}

/* Who asks a barrier in shared memory waits for the copies that are under way, and no one else. */
TEST(barriers_tell_of_copies)
{
	const struct gpu_spec *g = h200();
	struct sample s = { 0 }, apart = { 0 };
	for (unsigned waits = 0; waits < 2; waits++) {
		struct sample *const x = waits ? &s : &apart;
		add_inst(x, INST_BULK, 7, -1);
		x->counts[0].ld_bytes = 1030 * WARPS;
		add_inst(x, INST_MBARRIER, 1, waits ? 7 : -1);
		add_inst(x, INST_FP32, 2, 1);
	}
	const double copy =
		cycles_of_ns(timing.bulk_ns + g->l2_latency_ns) + 1030 / timing.bulk_bytes_per_cycle;
	const double waited = finished(&s);
	assert_true(fabs(waited - (copy + timing.mbarrier_cycles + 1)) < 0.1);
	assert_true(finished(&apart) < timing.mbarrier_cycles + 4);
}
