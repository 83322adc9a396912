/* Fills a timing program from the internal form; see timing.h and timemodel/regions.h. */
#include "emu/timing/timing.h"

#include "emu/timing/lane_variance.h"
#include "emu/timing/machine_insts.h"
#include "emu/timing/machine_timing.h"
#include "emu/timing/products.h"
#include "emu/timing/spins.h"
#include "timemodel/constants.h"
#include "timemodel/held_warp.h"
#include "timemodel/regions.h"
#include "base/text.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

_Static_assert(X_MAX_VEC <= TIMING_MAX_RESULTS && X_MAX_VEC + 2 <= TIMING_MAX_SOURCES,
               "an operation's operands fit");

static struct timing_inst describe(const struct ir *ir, const uint8_t *variance, uint32_t o)
{
	const struct xop *x = &ir->ops[o];
	struct timing_inst t = {
		.guard = x->guard,
		.n_results = x->n_d,
		.space = timing_space(x),
		.read_only = ir->func->insts[x->pc].flags & PF_NC,
		.one_address = x->mem >= 0 && !variance_of_source(variance, &x->s[0]),
		.float_data = x->type >= PTX_F16 && x->type <= PTX_F64,
		.uniform =
			x->kind == X_OP && x->n_d && x->d[0] >= 0 && !(variance[x->d[0]] & VARIES_BY_LANE),
		.lanes_choose = x->kind == X_BRA && x->guard >= 0 && variance[x->guard] & VARIES_BY_LANE,
	};
	const enum ptx_op op = ir->func->insts[x->pc].op;
	t.by_group = op == OP_WGMMA || op == OP_WGMMA_SP;
	t.products = timing_products(ir, x, t.by_group);
	t.fragment = op == OP_WMMA_LOAD;
	t.half_transpose = t.fragment && x->kind == X_LD && x->bytes == 2;
	for (unsigned i = 0; i < x->n_d; i++)
		t.result[i] = x->d[i];
	for (unsigned i = 0; i < x->n_s; i++)
		if (x->s[i].kind == S_REG)
			t.source[t.n_sources++] = x->s[i].reg;
	return t;
}

/*
 * An operation of an instruction of tensor cores. Its first one finds out the lane, which the
 * assembler does once. A fragment is so many loads or stores; a product is one instruction for each
 * 16 x 8 x 16 halves, or keeps the FP64 pipe as long as so many; wgmma is one altogether.
 */
static void describe_part(struct timing_inst *t, const struct ir *ir, uint32_t o)
{
	const struct xop *x = &ir->ops[o];
	const enum ptx_op op = ir->func->insts[x->pc].op;
	if (t->class == INST_SPECIAL || t->class == INST_SHUFFLE)
		t->class = INST_OTHER;
	if ((op == OP_WMMA_LOAD || op == OP_WMMA_STORE) && x->mem >= 0)
		t->issued = 1;
	if (t->fragment && x->mem >= 0 && ir->func->insts[x->pc].type == PTX_TF32) {
		unsigned before = 0, all = 0;
		for (uint32_t k = o; !ir->ops[k].first && ir->ops[k - 1].pc == x->pc; k--)
			before += ir->ops[k - 1].mem >= 0;
		for (uint32_t k = o; k < ir->n_ops && ir->ops[k].pc == x->pc; k++)
			all += ir->ops[k].mem >= 0;
		t->second_half = before >= all;
	}
	if (x->kind != X_TENSOR)
		return;
	const struct ir_tensor *p = &ir->tensors[x->target];
	const int32_t matrix[] = { p->first_a, p->first_b, p->first_c };
	const int32_t last[] = { p->n_a - 1, p->n_b - 1, p->n_c - 1 };
	for (unsigned i = 0; i < ARRAY_LEN(matrix); i++) { /* the others lie between */
		t->source[t->n_sources++] = matrix[i];
		t->source[t->n_sources++] = matrix[i] + last[i];
	}
	t->class = t->products > 0 ? INST_PRODUCT : INST_FP64;
	if (t->class == INST_FP64)
		t->issued = (float)(p->m * p->n * p->k) / 32;
	else if (!t->by_group)
		t->issued = fmaxf(1, t->products / (16 * 8 * 16));
}

/* Barriers in shared memory tell when copies are there: by a register of their own. */
static void describe_copies(struct timing_inst *t, int32_t copies)
{
	if (t->class == INST_BULK)
		t->result[t->n_results++] = copies;
	else if (t->class == INST_MBARRIER && t->n_sources < TIMING_MAX_SOURCES)
		t->source[t->n_sources++] = copies;
}

static struct timing_inst *describe_insts(const struct ir *ir, const struct op_memory *memory,
                                          const struct counts *of_op, uint8_t *copies)
{
	struct timing_inst *inst = mem_calloc(ir->n_ops + 1, sizeof *inst);
	struct machine_inst *machine = mem_calloc(ir->n_ops + 1, sizeof *machine);
	struct wide_load *loads = wide_loads(ir);
	uint8_t *variance = lane_variance(ir);
	machine_insts(ir, loads, machine, copies);
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		inst[o] = describe(ir, variance, o);
		inst[o].class = machine[o].class;
		inst[o].issued = machine[o].issued;
		if (ptx_op_class(ir->func->insts[ir->ops[o].pc].op) == CLASS_TENSOR)
			describe_part(&inst[o], ir, o);
		inst[o].merged = loads[o].merged;
		inst[o].wide_words = loads[o].words;
		inst[o].shared_passes = memory[o].shared_passes;
		inst[o].load_passes = memory[o].load_passes;
		inst[o].local_lines = memory[o].local_lines;
		inst[o].origin = memory[o].origin;
		inst[o].values = memory[o].values;
		inst[o].vain = memory[o].vain;
		inst[o].sleep_periods_ns = memory[o].sleep_periods_ns;
		inst[o].strong = ir->ops[o].kind == X_LD && ir->ops[o].bypass_l1;
		inst[o].remote_sectors = memory[o].remote_sectors;
		if (ir->ops[o].kind == X_TEXTURE)
			inst[o].space = texture_space(&ir->ops[o]);
		if (memory[o].remote)
			inst[o].space = MEMORY_REMOTE;
		describe_copies(&inst[o], (int32_t)ir->n_regs);
		if (inst[o].class == INST_SHARED_SWAP)
			inst[o].issued *= (float)swap_rounds(&inst[o], &of_op[o]);
	}
	free(machine);
	free(loads);
	free(variance);
	return inst;
}

static uint32_t insts_of(const struct ir *ir, const struct xblock *b)
{
	uint32_t n = 0;
	for (uint32_t o = b->first; o < b->end; o++)
		n += ir->ops[o].first;
	return n;
}

static struct timing_block *describe_blocks(const struct ir *ir, const struct counts *of_op,
                                            const uint8_t *copies,
                                            const struct block_passes *passes)
{
	struct timing_block *block = mem_calloc(ir->n_blocks + 1, sizeof *block);
	for (uint32_t b = 0; b < ir->n_blocks; b++) {
		const struct xblock *x = &ir->blocks[b];
		block[b] = (struct timing_block){
			.first = x->first,
			.end = x->end,
			.successor = { x->succ[0], x->succ[1] },
			.targets = x->targets,
			.n_targets = x->n_targets,
			.join = x->reconv,
			.copies = copies[b] ? copies[b] : 1,
			.warp_passes = (double)of_op[x->first].warp_executed,
			.longest_passes = (double)passes[b].longest,
			.entering_blocks = passes[b].entering,
			.insts = insts_of(ir, x),
		};
	}
	return block;
}

/* What was counted of an instruction belongs to what it does, not to NaN that are settled before.
 */
static void counts_behind_nan(const struct ir *ir, uint32_t first, uint32_t end, struct counts *c)
{
	uint32_t o = first;
	while (o + 1 < end && xop_settles_nan(&ir->ops[o]))
		o++;
	if (o == first)
		return;
	c[o] = c[first];
	c[first] = (struct counts){ .warp_executed = c[o].warp_executed,
		                        .thread_executed = c[o].thread_executed };
}

/*
 * An instruction of several memory operations (a fragment, a matrix): what was counted of it in
 * all, each of them in equal parts. Caller frees.
 */
static struct counts *counts_by_operation(const struct ir *ir, const struct counts *of_op)
{
	struct counts *c = mem_calloc(ir->n_ops + 1, sizeof *c);
	for (uint32_t o = 0, end; o < ir->n_ops; o = end) {
		unsigned parts = ir->ops[o].mem >= 0;
		c[o] = of_op[o];
		for (end = o + 1; end < ir->n_ops && !ir->ops[end].first; end++) {
			parts += ir->ops[end].mem >= 0;
			if (ir->ops[end].kind == X_TENSOR)
				c[end].warp_executed = c[o].warp_executed;
		}
		for (uint32_t k = o + 1; k < end; k++)
			if (ir->ops[k].kind == X_SYSTEM) { /* its lanes; a call comes last */
				c[k].warp_executed = c[o].warp_executed;
				c[k].thread_executed = c[o].thread_executed;
				c[k].ld_bytes = c[o].ld_bytes;
			}
		if (parts < 2) {
			counts_behind_nan(ir, o, end, c);
			continue;
		}
		struct counts *const all = &c[o];
		uint64_t *const figures[] = { &all->ld_requests,        &all->ld_lines,
			                          &all->ld_sectors,         &all->local_requests,
			                          &all->shared_ld_requests, &all->shared_ld_wavefronts };
		uint64_t share[ARRAY_LEN(figures)];
		for (unsigned i = 0; i < ARRAY_LEN(figures); i++) {
			share[i] = *figures[i] / parts;
			*figures[i] = 0;
		}
		for (uint32_t k = o; k < end; k++) {
			if (ir->ops[k].mem < 0)
				continue;
			c[k].ld_requests = share[0];
			c[k].ld_lines = share[1];
			c[k].ld_sectors = share[2];
			c[k].local_requests = share[3];
			c[k].shared_ld_requests = share[4];
			c[k].shared_ld_wavefronts = share[5];
			c[k].warp_executed = all->warp_executed;
		}
	}
	return c;
}

static uint32_t block_of(const struct ir *ir, uint32_t op)
{
	uint32_t b = 0;
	while (b + 1 < ir->n_blocks && ir->blocks[b].end <= op)
		b++;
	return b;
}

static struct timing_turns turns_of(const struct ir *ir, const struct timing_turns *by_op)
{
	const uint32_t a = block_of(ir, by_op->from), b = block_of(ir, by_op->to);
	struct timing_turns t = *by_op;
	t.from = a < b ? a : b;
	t.to = a < b ? b : a;
	/* the loop in which they wait may begin before */
	for (uint32_t k = t.from; k <= t.to; k++)
		for (unsigned i = 0; i < 2; i++)
			if (ir->blocks[k].succ[i] >= 0 && (uint32_t)ir->blocks[k].succ[i] < t.from)
				t.from = (uint32_t)ir->blocks[k].succ[i];
	return t;
}

/* A fence for other blocks leaves nothing in L1: what its basic block loads behind it comes from
 * L2. What is said of an instruction of machine code is with its first operation. */
static void load_behind_fences(const struct ir *ir, bool machine_code, struct timing_inst *inst)
{
	for (uint32_t b = 0; b < ir->n_blocks; b++) {
		struct timing_inst *first = NULL;
		bool fenced = false;
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			first = ir->ops[o].first || !machine_code ? &inst[o] : first;
			fenced |= inst[o].class == INST_FENCE || inst[o].class == INST_MEMBAR ||
			          inst[o].class == INST_HOST_FENCE;
			if (!fenced || !first || ir->ops[o].kind != X_LD)
				continue;
			first->origin.known = true;
			first->origin.l2 = first->origin.l2_lines = 1;
		}
	}
}

static void note_behind_groups(struct timing_inst *inst, uint32_t n)
{
	bool behind = false;
	for (uint32_t i = 0; i < n; i++) {
		inst[i].behind_groups = behind;
		behind |= inst[i].by_group;
	}
}

void timing_input(const struct ir *ir, const struct sass_func *code, const struct gpu_spec *g,
                  const struct counts *of_op, const struct op_memory *memory,
                  const struct timing_run *run, struct run_counts *out)
{
	uint8_t *copies = mem_zalloc(ir->n_blocks + 1);
	struct counts *counts = code ? NULL : counts_by_operation(ir, of_op);
	struct timing_inst *inst =
		code ? machine_timing_insts(ir, code, memory) : describe_insts(ir, memory, counts, copies);
	load_behind_fences(ir, code, inst);
	note_behind_groups(inst, ir->n_ops);
	struct timing_block *block = describe_blocks(ir, of_op, copies, run->passes);
	/* how long a warp spins here says nothing of a card: nor does its number of instructions */
	const double known = spins_shorten(ir, of_op, inst, block) ? 0 : 1;
	const struct timing_program p = {
		.n_insts = ir->n_ops,
		.n_blocks = ir->n_blocks,
		.machine_code = code,
		.n_registers = ir->n_regs + 1, /* describe_copies() */
		.inst = inst,
		.block = block,
		.counts = code ? of_op : counts,
		.warps = run->thread_blocks * run->block_warps,
		.counted_warps = run->thread_blocks * run->block_warps,
		.thread_blocks = run->thread_blocks,
		.slowest_warp_insts = known * run->slowest_warp_insts,
		.longest_warp_insts = known * run->longest_warp_insts,
		.turns = turns_of(ir, &run->turns),
	};
	regions_build(&p, g, run->factor, out);
	free(counts);
	free(copies);
	free(inst);
	free(block);
}
