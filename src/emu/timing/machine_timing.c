/*
 * The instructions of a timing program from machine code; see machine_timing.h.
 *
 * Nothing is guessed here: the instructions are those that run, in their order, and each says when
 * the next one may issue (stall count) and which scoreboards it sets and waits for.
 */
#include "emu/timing/machine_timing.h"

#include "emu/timing/machine_insts.h"
#include "emu/timing/products.h"

#include "emu/timing/lane_variance.h"
#include "base/mem.h"

#include <stdlib.h>

static enum inst_class class_of_fence(const struct sass_inst *i)
{
	if (sass_has(i, SASS_MOD_CTA))
		return INST_BLOCK_FENCE;
	return sass_has(i, SASS_MOD_SYS) ? INST_HOST_FENCE : INST_MEMBAR;
}

/* Whose results come through a scoreboard, or which pipe is busy. */
static enum inst_class class_of(const struct sass_inst *i, const struct sass_op_info *info)
{
	switch (info->access) {
	case SASS_ACCESS_LOAD: return info->space == SASS_SPACE_CONST ? INST_SPECIAL : INST_LOAD;
	case SASS_ACCESS_STORE: return INST_STORE;
	case SASS_ACCESS_COPY: return INST_COPY;
	case SASS_ACCESS_ATOMIC: return INST_ATOMIC;
	case SASS_ACCESS_REDUCTION: return INST_REDUCTION;
	case SASS_ACCESS_NONE: break;
	}
	if (info->class == SASS_CLASS_TEXTURE)
		return INST_LOAD;
	if (i->op == SASS_BAR)
		return INST_BARRIER;
	if (i->op == SASS_MEMBAR)
		return class_of_fence(i);
	if (i->op == SASS_ERRBAR)
		return INST_ERRBAR;
	if (info->flow == SASS_FLOW_BRANCH)
		return INST_BRANCH;
	if (info->flow == SASS_FLOW_INDIRECT)
		return INST_BRANCH_TABLE;
	if (i->op == SASS_MATCH)
		return INST_MATCH;
	if (i->op == SASS_REDUX)
		return INST_REDUX;
	if (info->class == SASS_CLASS_WARP)
		return INST_SHUFFLE;
	if (info->class == SASS_CLASS_SPECIAL)
		return INST_SPECIAL;
	switch (info->pipe) {
	case SASS_PIPE_ALU: return INST_INT_LOGIC;
	case SASS_PIPE_FMA: return info->class == SASS_CLASS_FP32 ? INST_FP32 : INST_INT_MUL;
	case SASS_PIPE_FP16: return INST_FP32;
	case SASS_PIPE_FP64: return INST_FP64;
	case SASS_PIPE_XU: return INST_SFU;
	default: return INST_OTHER;
	}
}

static bool is_group_product(const struct sass_inst *i)
{
	return i->op == SASS_HGMMA || i->op == SASS_IGMMA || i->op == SASS_QGMMA || i->op == SASS_BGMMA;
}

static void describe_memory(struct timing_inst *t, const struct xop *x, const struct op_memory *m,
                            const uint8_t *variance)
{
	t->space = m->remote ? MEMORY_REMOTE : timing_space(x);
	t->remote_sectors = m->remote_sectors;
	t->one_address = !variance_of_source(variance, &x->s[0]);
	t->strong = x->kind == X_LD && x->bypass_l1;
	t->float_data = x->type >= PTX_F16 && x->type <= PTX_F64;
	if (x->kind == X_LD && x->space == SPACE_SHARED && x->bytes * x->vec == 16)
		t->wide_words = 4;
	t->shared_passes = m->shared_passes;
	t->load_passes = m->load_passes;
	t->local_lines = m->local_lines;
	t->origin = m->origin;
	t->values = m->values;
	t->vain = m->vain;
	t->sleep_periods_ns = m->sleep_periods_ns;
}

struct timing_inst *machine_timing_insts(const struct ir *ir, const struct sass_func *f,
                                         const struct op_memory *memory)
{
	struct timing_inst *inst = mem_calloc(ir->n_ops + 1, sizeof *inst);
	uint8_t *variance = lane_variance(ir);
	struct timing_inst *t = inst;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		const struct sass_inst *i = &f->insts[x->pc];
		inst[o] = (struct timing_inst){ .class = INST_OTHER, .guard = -1 };
		if (x->first) {
			t = &inst[o];
			t->class = class_of(i, sass_op_info(i->op));
			t->issued = 1;
			t->control = (struct timing_control){ .stall = i->control.stall,
				                                  .waits_for = i->control.wait,
				                                  .result_board = i->control.write_bar,
				                                  .operand_board = i->control.read_bar };
		}
		if (x->kind == X_BRA) { /* which ends its basic block */
			if (t != &inst[o])
				t->class = INST_OTHER;
			inst[o].class = INST_BRANCH;
			inst[o].guard = x->guard;
			inst[o].lanes_choose = x->guard >= 0 && variance[x->guard] & VARIES_BY_LANE;
		}
		if (x->mem >= 0)
			describe_memory(t, x, &memory[o], variance);
		if (x->kind == X_LD && x->space == SPACE_CONST)
			t->class = INST_CONSTANT;
		if (x->kind == X_TEXTURE)
			t->space = texture_space(x);
		t->votes |= x->kind == X_BAR && x->op != ATOM_NONE;
		t->by_group = is_group_product(i);
		t->products += timing_products(ir, x, t->by_group);
		if (class_beyond_machine(x) != INST_OTHER)
			t->class = class_beyond_machine(x);
		if (t->class == INST_MBARRIER)
			t->control.waits_for |= 1u << TIMING_COPIES_BOARD;
	}
	free(variance);
	return inst;
}
