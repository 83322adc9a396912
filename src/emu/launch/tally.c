/*
 * Totals and per-line counts, derived after the run.
 *
 * What an instruction executed follows from its segment's counters; guarded instructions and
 * branches have a lane counter of their own, memory instructions their probes. Which pipe an
 * instruction uses and how many operations it does is in ir.insts.
 */
#include "emu/launch/tally.h"

#include "emu/launch/flow_counts.h"
#include "emu/launch/launch_fidelity.h"
#include "emu/launch/left_memory.h"
#include "emu/launch/sampled_traffic.h"
#include "emu/timing/timing.h"
#include "base/mem.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REUSED 64 /* requests for each line of a load that finds it again */

/* --- counters of all workers --- */

struct sums {
	struct segment_count *segments; /* warps and lanes hold everything */
	struct mem_count *mem;
	uint64_t *guards, *divergent, *again_warps, *again_lanes;
};

/* All counts but those that are flushed into the others. */
static void add_mem(struct mem_count *to, const struct mem_count *from)
{
	uint64_t *sum = (uint64_t *)to;
	const uint64_t *more = (const uint64_t *)from;
	for (size_t i = offsetof(struct mem_count, slow) / sizeof *sum; i < sizeof *to / sizeof *sum;
	     i++)
		sum[i] += more[i];
}

static struct sums sum_workers(const struct emu_launch *l)
{
	const struct image *im = &l->image;
	struct sums s = {
		.segments = mem_calloc(im->n_segments + 1, sizeof *s.segments),
		.mem = mem_calloc(im->ir.n_mem + 1, sizeof *s.mem),
		.guards = mem_calloc(im->ir.n_ops + 1, sizeof *s.guards),
		.divergent = mem_calloc(im->ir.n_blocks + 1, sizeof *s.divergent),
		.again_warps = mem_calloc(im->ir.n_blocks + 1, sizeof *s.again_warps),
		.again_lanes = mem_calloc(im->ir.n_blocks + 1, sizeof *s.again_lanes),
	};
	for (unsigned k = 0; k < l->n_workers; k++) {
		const struct worker *wk = &l->workers[k];
		for (unsigned i = 0; i < im->n_segments; i++) {
			const struct segment_count *c = &wk->segments[i];
			for (unsigned p = 0; p < COUNTED_PROGRAMS; p++)
				s.segments[i].full[p] += c->full[p];
			s.segments[i].warps += c->warps + segment_full(c);
			s.segments[i].lanes += c->lanes + 32 * segment_full(c);
		}
		for (unsigned i = 0; i < im->ir.n_mem; i++)
			add_mem(&s.mem[i], &wk->mem[i]);
		for (unsigned i = 0; i < im->ir.n_ops; i++)
			s.guards[i] += wk->guard_lanes[i];
		for (unsigned i = 0; i < im->ir.n_blocks; i++) {
			s.divergent[i] += wk->divergent[i];
			s.again_warps[i] += wk->again_warps[i];
			s.again_lanes[i] += wk->again_lanes[i];
		}
	}
	return s;
}

/* Full-warp handlers left their counting to the segment: adds it to the memory counters. */
static void add_full(const struct emu_launch *l, struct sums *s, enum program_kind kind)
{
	const struct image *im = &l->image;
	const struct program *p = &im->program[kind];
	for (unsigned i = 0; p->mem && i < im->ir.n_mem; i++) {
		const struct memop *m = &p->mem[i];
		if (!m->x || !m->full_probe)
			continue;
		const uint32_t op = (uint32_t)(m->x - im->ir.ops);
		struct mem_count *c = &s->mem[i];
		const uint64_t n = s->segments[im->op_segment[op]].full[kind] - c->slow[kind];
		c->requests += n;
		if (m->x->space == SPACE_SHARED) {
			c->space[1] += n;
			c->wavefronts += n * m->wavefronts_full;
			c->ideal += n * m->ideal_full;
		} else {
			c->space[0] += n;
			c->wavefronts += n * m->wavefronts_full;
			c->bytes += n * m->bytes_full;
			c->sectors += (n - c->odd[kind]) * m->sectors_full;
			c->lines += (n - c->odd[kind]) * m->lines_full;
		}
	}
}

/* --- one instruction --- */

/*
 * Bulk copies. Here: sectors and bytes of global memory as those of loads, stores and atomics, a
 * request for each line of 128 bytes, and the bytes of shared memory in wavefronts of 128. On
 * hardware the copy engine asks L2 by itself: its sectors are in the L2's counters (lts__t_...),
 * not in those of L1 (l1tex__t_..._pipe_lsu), which see no request of it: what of each count bulk
 * copies are is told beside it.
 */
static void add_bulk(const struct xop *x, const struct mem_count *m, struct counts *c)
{
	const struct mem_count *global = m + 1;
	switch ((enum system_call)x->op) {
	case SYSTEM_BULK_LOAD:
	case SYSTEM_TENSOR_LOAD:
		c->ld_requests += global->requests;
		c->ld_sectors += global->sectors;
		c->ld_lines += global->lines;
		c->ld_bytes += global->bytes;
		c->bulk_ld_requests += global->requests;
		c->bulk_ld_sectors += global->sectors;
		c->bulk_shared_st_requests += m->requests;
		c->bulk_shared_st_wavefronts += m->wavefronts;
		c->shared_st_requests += m->requests;
		c->shared_st_wavefronts += m->wavefronts;
		c->shared_st_ideal += m->ideal;
		return;
	case SYSTEM_BULK_STORE:
	case SYSTEM_TENSOR_STORE:
		c->st_requests += global->requests;
		c->st_sectors += global->sectors;
		c->st_lines += global->lines;
		c->st_bytes += global->bytes;
		c->bulk_st_requests += global->requests;
		c->bulk_st_sectors += global->sectors;
		break;
	default:
		c->atom_requests += global->requests;
		c->atom_sectors += global->sectors;
		c->bulk_atom_requests += global->requests;
		c->bulk_atom_sectors += global->sectors;
		break;
	}
	c->bulk_shared_ld_requests += m->requests;
	c->bulk_shared_ld_wavefronts += m->wavefronts;
	c->shared_ld_requests += m->requests;
	c->shared_ld_wavefronts += m->wavefronts;
	c->shared_ld_ideal += m->ideal;
}

static void add_memory(const struct xop *x, const struct sums *s, struct counts *c)
{
	const struct mem_count *m = &s->mem[x->mem];
	switch (x->kind) {
	case X_LD:
		c->ld_requests += m->space[0];
		c->ld_sectors += m->sectors;
		c->ld_lines += m->lines;
		c->ld_bytes += m->bytes;
		c->shared_ld_requests += x->same_request ? 0 : m->space[1];
		c->shared_ld_wavefronts += x->space == SPACE_GLOBAL ? 0 : m->wavefronts;
		c->shared_ld_ideal += m->ideal;
		c->shared_ldm_requests += x->matrix && !x->same_request ? m->space[1] : 0;
		c->shared_ldm_wavefronts += x->matrix ? m->wavefronts : 0;
		break;
	case X_ST:
		c->st_requests += m->space[0];
		c->st_sectors += m->sectors;
		c->st_lines += m->lines;
		c->st_bytes += m->bytes;
		c->shared_st_requests += x->same_request ? 0 : m->space[1];
		c->shared_st_wavefronts += x->space == SPACE_GLOBAL ? 0 : m->wavefronts;
		c->shared_st_ideal += m->ideal;
		break;
	case X_ASYNC: { /* a global load, if only of zeros, and a shared store in one */
		const struct mem_count *from = m + 1;
		c->ld_requests += m->space[1];
		c->ld_sectors += from->sectors;
		c->ld_lines += from->lines;
		c->ld_bytes += from->bytes;
		c->shared_st_requests += m->space[1];
		c->shared_st_wavefronts += m->wavefronts;
		c->shared_st_ideal += m->ideal;
		break;
	}
	case X_SYSTEM: add_bulk(x, m, c); break;
	case X_MATCH:
	case X_NOP: break;
	default:
		c->atom_requests += m->space[0];
		c->atom_sectors += m->sectors;
		c->shared_atom_requests += m->space[1];
		c->shared_atom_wavefronts += m->wavefronts;
		break;
	}
	if (x->space == SPACE_LOCAL || x->space == SPACE_GENERIC) {
		const bool load = x->kind == X_LD;
		c->local_requests += m->space[2];
		*(load ? &c->local_ld_requests : &c->local_st_requests) += m->space[2];
		*(load ? &c->local_ld_sectors : &c->local_st_sectors) += m->local_sectors;
	}
}

static struct counts count_inst(const struct emu_launch *l, const struct sums *s, uint32_t first,
                                uint32_t end)
{
	const struct image *im = &l->image;
	const struct xop *x = &im->ir.ops[first];
	const struct ir_inst *in = &im->ir.insts[x->pc];
	const uint32_t segment = im->op_segment[first];
	const uint64_t warps = s->segments[segment].warps;
	uint64_t lanes = s->segments[segment].lanes;
	struct counts c = {
		.warp_executed = warps,
		.thread_active = lanes,
		.uniform_inst = in->mix_pipe == CODE_PIPE_UNIFORM ? warps : 0,
		.reg_reads = warps * in->reg_reads,
		.reg_kept = warps * in->reg_kept,
		.reg_conflicts = warps * in->reg_conflicts,
	};
	for (uint32_t o = first; o < end; o++) {
		const struct xop *y = &im->ir.ops[o];
		if (!y->counts)
			continue;
		if (y->kind == X_BRA)
			c.branch_idle_lanes = s->guards[o];
		else if (y->kind == X_EXIT || y->kind == X_LEAVE) /* a guard that leaves by ending */
			c.branch_idle_lanes = lanes - s->guards[o];
		lanes = y->kind == X_BRA ? lanes - s->guards[o] : s->guards[o];
	}
	c.thread_executed = lanes;
	c.half_moves = in->half_move ? lanes : 0;
	c.flop16 = lanes * in->flop16;
	c.flop32 = lanes * in->flop32;
	c.flop64 = lanes * in->flop64;
	c.fp32_inst = in->pipe == PIPE_FP32 ? warps : 0;
	c.fp64_inst = in->pipe == PIPE_FP64 ? warps : 0;
	c.int_inst = in->pipe == PIPE_INT ? warps : 0;
	c.sfu_inst = in->pipe == PIPE_SFU ? warps : 0;
	const uint32_t block = im->segments[segment].block;
	const struct block_flow flow = { .block = block,
		                             .warps = warps,
		                             .divergent = s->divergent[block],
		                             .again_warps = s->again_warps[block],
		                             .again_lanes = s->again_lanes[block] };
	for (uint32_t o = first; o < end; o++) {
		const struct xop *y = &im->ir.ops[o];
		if (y->mem >= 0)
			add_memory(y, s, &c);
		if (y->kind == X_BAR)
			c.barriers += warps;
		count_flow(&im->ir, o, &flow, &c);
		if (y->kind == X_BRX) /* lanes whose guard does not hold, where it was issued again */
			c.thread_executed -= s->guards[o];
	}
	return c;
}

/*
 * Of many requests whose lines the simulation does not follow, one in 1 << level: these are few,
 * and found where they were left.
 */
static struct load_origin origin_of_few_lines(const struct emu_launch *l, const struct xop *x,
                                              const struct counts *c)
{
	const double lines = (double)((uint64_t)1 << cache_sim_level(l->grid.cache));
	const double requests = (double)c->ld_requests + (double)c->local_requests;
	const double l2 = x->bypass_l1 ? 1 : 0;
	return (struct load_origin){ .known = requests > REUSED * lines, .l2_lines = l2, .l2 = l2 };
}

static struct load_origin origin_of(const struct emu_launch *l, const struct xop *x,
                                    const struct counts *c, double fresh)
{
	const struct load_sum seen = cache_sim_load(l->grid.cache, (unsigned)x->mem);
	if (!(seen.lines > 0))
		return origin_of_few_lines(l, x, c);
	return (struct load_origin){
		.known = true,
		.l2_lines = seen.slow[FROM_L2] / seen.lines,
		.dram_lines = fmin(1, fresh * seen.slow[FROM_DRAM] / seen.lines),
		.l2 = seen.slow_requests[LATE] / seen.requests,
		.dram = fmin(1, fresh * seen.slow_requests[FROM_DRAM] / seen.requests),
	};
}

static struct op_memory memory_of(const struct xop *x, const struct sums *s)
{
	struct op_memory m = { 0 };
	if (x->mem < 0)
		return m;
	const struct mem_count *c = &s->mem[x->mem];
	if (x->kind == X_ATOM || x->kind == X_RED)
		m.shared_passes = (double)c->passes;
	m.local_lines = (double)c->local_lines;
	m.remote_sectors = (double)c->remote_sectors;
	m.remote = 2 * c->remote > c->requests;
	if (x->kind == X_LD && x->space == SPACE_GLOBAL)
		m.load_passes = (double)c->wavefronts;
	if (x->kind == X_MATCH || x->kind == X_SYSTEM || (x->kind == X_LD && x->space == SPACE_CONST))
		*(x->kind == X_SYSTEM ? &m.vain : &m.values) = (double)c->passes;
	if (x->kind == X_NOP)
		m.sleep_periods_ns = (double)c->passes;
	return m;
}

/* Lanes that come to where a compare-and-swap stands: those of its basic block, or of one before
 * it, where some may have seen that there is nothing to change. */
static double swap_candidates(const struct ir *ir, const struct counts *of_op)
{
	double sum = 0;
	for (uint32_t b = 0; b < ir->n_blocks; b++) {
		double lanes = 0, before = 0;
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			const struct xop *x = &ir->ops[o];
			if (x->kind == X_ATOM && x->op == ATOM_CAS && x->space != SPACE_SHARED)
				lanes = fmax(lanes, (double)of_op[ir_counted_at(ir, o)].thread_executed);
		}
		for (uint32_t p = 0; lanes > 0 && p < ir->n_blocks; p++)
			if (p != b &&
			    (ir->blocks[p].succ[0] == (int32_t)b || ir->blocks[p].succ[1] == (int32_t)b))
				before += (double)of_op[ir->blocks[p].first].thread_executed;
		sum += fmax(0, before > 0 ? before : lanes);
	}
	return sum;
}

/* Of the lines that those look at who may swap then, the share that L1 does not have. */
static double looks_missed(const struct ir *ir, const struct counts *of_op,
                           const struct op_memory *memory)
{
	double all = 0, missed = 0;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		if (!ir->ops[o].precedes_swap)
			continue;
		all += (double)of_op[o].ld_lines;
		missed += (double)of_op[o].ld_lines *
		          (memory[o].origin.known ? fmin(1, memory[o].origin.l2_lines) : 1);
	}
	return all > 0 ? missed / all : 1;
}

static int by_line(const void *a, const void *b)
{
	const struct line_counts *x = a, *y = b;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void add_line(struct run_counts *out, uint32_t line, const struct counts *c)
{
	for (unsigned i = 0; i < out->n_lines; i++)
		if (out->lines[i].line == line) {
			counts_add(&out->lines[i].c, c);
			return;
		}
	out->lines = mem_realloc(out->lines, out->n_lines + 1, sizeof *out->lines);
	out->lines[out->n_lines++] = (struct line_counts){ .line = line, .c = *c };
}

/* What each instruction of machine code executed; in any order. */
static void add_code(struct run_counts *out, const struct ir *ir, uint32_t pc,
                     const struct counts *c)
{
	if (!out->code)
		out->code = mem_calloc(ir->n_insts, sizeof *out->code);
	if (out->n_code < ir->n_insts)
		out->code[out->n_code++] = (struct code_count){ .offset = ir->insts[pc].listing,
			                                            .warps = c->warp_executed,
			                                            .lanes = c->thread_executed };
}

static void add_mix(struct run_counts *out, const struct ir *ir, uint32_t pc, uint64_t warps)
{
	if (!ir_of_machine_code(ir))
		return;
	out->mix_known = true;
	out->mix.by_class[ir->insts[pc].mix_class] += warps;
	out->mix.by_pipe[ir->insts[pc].mix_pipe] += warps;
}

static int by_offset(const void *a, const void *b)
{
	const struct code_count *x = a, *y = b;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void take_trace(const struct emu_launch *l, const struct sums *s, struct run_counts *out)
{
	const struct trace *t = l->grid.trace;
	if (!t)
		return;
	out->n_steps = t->n_steps;
	out->steps_cut = t->cut;
	out->steps = mem_calloc(t->n_steps + 1, sizeof *out->steps);
	memcpy(out->steps, t->steps, t->n_steps * sizeof *t->steps);
	out->n_accesses = t->n_accesses;
	out->accesses = mem_calloc(t->n_accesses + 1, sizeof *out->accesses);
	memcpy(out->accesses, t->accesses, t->n_accesses * sizeof *t->accesses);
	for (unsigned i = 0; i < t->n_accesses; i++)
		out->accesses[i].executions = s->mem[t->access_mem[i]].space[t->accesses[i].shared ? 1 : 0];
}

/* Those of one warp alone are in its own way. */
static struct timing_turns turns_of(const struct turn_log *log)
{
	const struct turn_totals t = log ? turn_log_totals(log) : (struct turn_totals){ 0 };
	return t.turns == t.own ? (struct timing_turns){ 0 }
	                        : (struct timing_turns){ .n = (double)t.turns,
		                                             .share = (double)t.turns / (double)t.accesses,
		                                             .from = t.from,
		                                             .to = t.to };
}

/* Per basic block, of the thread blocks looked at. @run gets what it knows of warps. */
static struct block_passes *passes_of_blocks(const struct emu_launch *l, struct timing_run *run)
{
	const struct ir *ir = &l->image.ir;
	const struct longest_block *longest = &l->workers[0].longest;
	struct block_passes *passes = mem_calloc(ir->n_blocks + 1, sizeof *passes);
	double looked_at = 0, ticks = 0;
	for (unsigned k = 0; k < l->n_workers; k++) {
		const struct longest_block *own = &l->workers[k].longest;
		longest = own->lasts > longest->lasts ? own : longest;
		looked_at += own->looked_at;
		ticks += (double)own->all_ticks;
	}
	const double factor = looked_at > 0 ? run->thread_blocks / looked_at : 0;
	run->slowest_warp_insts = looked_at > 0 ? ticks / looked_at : 0;
	run->longest_warp_insts = (double)longest->ticks;
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		const uint32_t segment = l->image.op_segment[ir->blocks[b].first];
		passes[b].longest = longest->passes[segment];
		for (unsigned k = 0; k < l->n_workers; k++)
			passes[b].entering += (double)l->workers[k].longest.entered[segment] * factor;
	}
	run->passes = passes;
	return passes;
}

void tally(const struct emu_launch *l, double factor, struct run_counts *out)
{
	const struct ir *ir = &l->image.ir;
	struct sums s = sum_workers(l);
	for (unsigned p = 0; p < COUNTED_PROGRAMS; p++)
		add_full(l, &s, (enum program_kind)p);
	struct counts *of_op = mem_calloc(ir->n_ops + 1, sizeof *of_op);
	struct op_memory *memory = mem_calloc(ir->n_ops + 1, sizeof *memory);
	uint32_t first = 0;
	while (first < ir->n_ops && !ir->ops[first].first) /* made for calls: no instruction */
		first++;
	for (uint32_t end; first < ir->n_ops; first = end) {
		end = first + 1;
		while (end < ir->n_ops && !ir->ops[end].first)
			end++;
		of_op[first] = count_inst(l, &s, first, end);
		counts_add(&out->total, &of_op[first]);
		add_line(out, ir->insts[ir->ops[first].pc].line, &of_op[first]);
		if (ir_of_machine_code(ir))
			add_code(out, ir, ir->ops[first].pc, &of_op[first]);
		add_mix(out, ir, ir->ops[first].pc, of_op[first].warp_executed);
	}
	for (unsigned b = 0; b < ir->n_blocks; b++) /* blocks of nothing else: how often they ran */
		if (ir->blocks[b].first < ir->blocks[b].end && !ir->ops[ir->blocks[b].first].first)
			of_op[ir->blocks[b].first].warp_executed =
				s.segments[l->image.op_segment[ir->blocks[b].first]].warps;
	fidelity_of(ir, of_op, &out->fidelity);
	launch_variation(l, of_op, &out->variation);
	out->atomics.swap_candidates = swap_candidates(ir, of_op) * factor;
	out->atom_wavefronts = 0;
	const double fresh = sampled_traffic_fill(l, factor, out);
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		out->atom_wavefronts += x->mem >= 0 ? (double)s.mem[x->mem].atom_waves * factor : 0;
		memory[o] = memory_of(x, &s);
		if (ir->ops[o].mem >= 0)
			memory[o].origin = origin_of(l, &ir->ops[o], &of_op[ir_counted_at(ir, o)], fresh);
	}
	out->atomics.look_lines *= looks_missed(ir, of_op, memory);
	struct timing_run run = { .thread_blocks = (double)counted_blocks(l),
		                      .block_warps = l->grid.n_warps,
		                      .factor = factor,
		                      .turns = turns_of(l->grid.turns) };
	struct block_passes *passes = passes_of_blocks(l, &run);
	timing_input(ir, l->sass_func, l->device->gpu, of_op, memory, &run, out);
	free(passes);
	qsort(out->lines, out->n_lines, sizeof *out->lines, by_line);
	if (out->n_code)
		qsort(out->code, out->n_code, sizeof *out->code, by_offset);
	take_trace(l, &s, out);
	free(of_op);
	free(memory);
	free(s.segments);
	free(s.mem);
	free(s.guards);
	free(s.divergent);
	free(s.again_warps);
	free(s.again_lanes);
}
