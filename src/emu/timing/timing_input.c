/* Fills a timing program from the internal form; see timing.h and timemodel/regions.h. */
#include "emu/timing/timing.h"

#include "emu/timing/lane_variance.h"
#include "emu/timing/machine_insts.h"
#include "emu/timing/machine_timing.h"
#include "timemodel/regions.h"
#include "base/mem.h"

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
	for (unsigned i = 0; i < x->n_d; i++)
		t.result[i] = x->d[i];
	for (unsigned i = 0; i < x->n_s; i++)
		if (x->s[i].kind == S_REG)
			t.source[t.n_sources++] = x->s[i].reg;
	return t;
}

static struct timing_inst *describe_insts(const struct ir *ir, const struct op_memory *memory,
                                          uint8_t *copies)
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
		inst[o].merged = loads[o].merged;
		inst[o].wide_words = loads[o].words;
		inst[o].shared_passes = memory[o].shared_passes;
		inst[o].load_passes = memory[o].load_passes;
		inst[o].local_lines = memory[o].local_lines;
		inst[o].origin = memory[o].origin;
	}
	free(machine);
	free(loads);
	free(variance);
	return inst;
}

static struct timing_block *describe_blocks(const struct ir *ir, const struct counts *of_op,
                                            const uint8_t *copies, const uint64_t *longest)
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
			.longest_passes = (double)longest[b],
		};
	}
	return block;
}

void timing_input(const struct ir *ir, const struct sass_func *code, const struct gpu_spec *g,
                  const struct counts *of_op, const struct op_memory *memory,
                  const struct timing_run *run, struct run_counts *out)
{
	uint8_t *copies = mem_zalloc(ir->n_blocks + 1);
	struct timing_inst *inst =
		code ? machine_timing_insts(ir, code, memory) : describe_insts(ir, memory, copies);
	struct timing_block *block = describe_blocks(ir, of_op, copies, run->longest);
	const struct timing_program p = {
		.n_insts = ir->n_ops,
		.n_blocks = ir->n_blocks,
		.machine_code = code,
		.n_registers = code ? SASS_N_BARRIERS : ir->n_regs,
		.inst = inst,
		.block = block,
		.counts = of_op,
		.warps = run->thread_blocks * run->block_warps,
		.thread_blocks = run->thread_blocks,
	};
	regions_build(&p, g, run->factor, out);
	free(copies);
	free(inst);
	free(block);
}
