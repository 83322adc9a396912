/*
 * Schedules the blocks of a program for one warp; see chain.h.
 *
 * A block is taken together with the short "then" side that a branch in front of it skips, and with
 * what follows (the assembler predicates such sides), and is cut at barriers. Values that are still
 * on their way at its end are waited for where they are used, so that loads issued a step ahead
 * cost what is left of them; a block's time is the average over the ways into it. Two rounds over
 * the program settle the loops.
 */
#include "emu/count/chain.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Cycles, cc 9.0. Dependent issue of the arithmetic pipes: 4 (Luo et al. 2024, "Benchmarking and
 * Dissecting the Nvidia Hopper GPU Architecture"). The others fit loops measured on an H200: one
 * that counts and multiplies takes 28 cycles a turn (latency/ticket), one with two shared loads 56
 * (sgemm_fast/block_tile).
 */
#define ALU_CYCLES 4
#define UNIFORM_CYCLES 9 /* an integer that all lanes share, until a vector instruction sees it */
#define BRANCH_CYCLES 15 /* from the predicate to the first instruction at the target */
#define FALL_THROUGH_CYCLES 4
#define FP64_CYCLES 8
#define SFU_CYCLES 20 /* also conversions */
#define SHUFFLE_CYCLES 24
#define SPECIAL_CYCLES 20 /* reading %tid and its like */
/* A barrier that nobody comes late to, measured on an H200: 15 cycles for a block of one warp, 77
 * for one of 32. */
#define BARRIER_CYCLES 13
#define BARRIER_WARP_CYCLES 2
/* The longest side of a branch that is predicated, in machine instructions. */
#define PREDICATED_SLOTS 8

#define ROUNDS 2
/*
 * The slowest of n lines comes later than one by this share of the latency times ln n. Of 32 lines,
 * measured on an H200: from L2 after 264 to 290 ns (one: 145), from DRAM after 751 (one: 337).
 */
#define L2_SPREAD 0.24
#define DRAM_SPREAD 0.36
/* What lies in one page of DRAM comes together. HBM3, JESD238: 1 KB a pseudo-channel. */
#define DRAM_PAGE_BYTES 1024.0

struct pending {
	int32_t reg;
	float cycles;
};
struct group {           /* blocks scheduled together */
	uint32_t first, end; /* blocks [first, end) */
	unsigned n_pending, cap_pending;
	struct pending *pending; /* at its end */
	double cycles;
};
struct study {
	const struct chain_input *in;
	struct chain *out;
	struct group *group;
	unsigned n_groups;
	uint32_t *group_of;   /* per block */
	uint32_t *last_of;    /* per group: its last stretch */
	uint8_t *n_preds;     /* per block, saturating */
	int32_t *pred;        /* the only one, else -1 */
	double *block_passes; /* per block */
	float *ready;         /* per register */
	int32_t *touched;     /* registers with ready > 0 */
	unsigned n_touched;
	double end;    /* of the last pass */
	double *lines; /* per stretch: of global loads that are waited for together */
};

static double alone_lanes(unsigned lanes_per_sm, const struct gpu_spec *g)
{
	return lanes_per_sm ? 32.0 * g->schedulers_per_sm / lanes_per_sm : 1;
}

/* --- groups --- */

static const struct xop *last_op(const struct ir *ir, uint32_t b)
{
	const struct xblock *x = &ir->blocks[b];
	return x->end > x->first ? &ir->ops[x->end - 1] : NULL;
}

static void add_pred(struct study *s, uint32_t from, int32_t to)
{
	if (to < 0)
		return;
	s->pred[to] = s->n_preds[to] ? -1 : (int32_t)from;
	if (s->n_preds[to] < 200)
		s->n_preds[to]++;
}

static void find_preds(struct study *s)
{
	const struct ir *ir = s->in->ir;
	for (unsigned b = 0; b < ir->n_blocks; b++)
		s->pred[b] = -1;
	for (uint32_t b = 0; b < ir->n_blocks; b++) {
		const struct xblock *x = &ir->blocks[b];
		add_pred(s, b, x->succ[0]);
		if (x->succ[1] != x->succ[0])
			add_pred(s, b, x->succ[1]);
		for (unsigned i = 0; i < x->n_targets; i++)
			if (x->targets[i] != x->succ[0] && x->targets[i] != x->succ[1])
				add_pred(s, b, x->targets[i]);
	}
}

static double slots_of(const struct study *s, uint32_t b)
{
	double sum = 0;
	for (uint32_t o = s->in->ir->blocks[b].first; o < s->in->ir->blocks[b].end; o++)
		sum += s->in->machine->op[o].slots;
	return sum;
}

/* Can block @b + 1 be predicated, so that @b + 2 follows in any case? */
static bool predicable(const struct study *s, uint32_t b)
{
	const struct ir *ir = s->in->ir;
	if (b + 2 >= ir->n_blocks)
		return false;
	const struct xblock *x = &ir->blocks[b], *side = &ir->blocks[b + 1];
	const struct xop *branch = last_op(ir, b), *end = last_op(ir, b + 1);
	return branch && branch->kind == X_BRA && branch->guard >= 0 && x->succ[0] == (int32_t)b + 2 &&
	       s->n_preds[b + 1] == 1 && s->n_preds[b + 2] == 2 && side->succ[0] == (int32_t)b + 2 &&
	       side->succ[1] < 0 && (!end || end->kind != X_BAR) &&
	       slots_of(s, b + 1) <= PREDICATED_SLOTS;
}

static bool runs_on(const struct study *s, uint32_t b)
{
	const struct ir *ir = s->in->ir;
	return b + 1 < ir->n_blocks && ir->blocks[b].succ[0] == (int32_t)b + 1 &&
	       ir->blocks[b].succ[1] < 0 && s->n_preds[b + 1] == 1;
}

static void make_groups(struct study *s)
{
	const uint32_t n = s->in->ir->n_blocks;
	for (uint32_t b = 0; b < n;) {
		struct group *g = &s->group[s->n_groups];
		g->first = b;
		for (;;) {
			if (predicable(s, b))
				b += 2;
			else if (runs_on(s, b))
				b++;
			else
				break;
		}
		g->end = ++b;
		for (uint32_t i = g->first; i < g->end; i++)
			s->group_of[i] = s->n_groups;
		s->n_groups++;
	}
}

/* --- passes of blocks of threads --- */

/*
 * A warp's average passes are known. A side that only some threads take delays their whole block:
 * it counts as often as the choice came up, if there are enough warps that took it.
 */
static void find_block_passes(struct study *s)
{
	const struct chain_input *in = s->in;
	for (uint32_t b = 0; b < in->ir->n_blocks; b++) {
		const double average = in->passes[b] * in->blocks / fmax(in->warps, 1);
		double up = 1; /* how much more often than on average */
		if (s->n_preds[b] == 1 && s->pred[b] >= 0 && (uint32_t)s->pred[b] < b) {
			const uint32_t p = (uint32_t)s->pred[b];
			const double of_p = in->passes[p] * in->blocks / fmax(in->warps, 1);
			const struct xop *x = last_op(in->ir, p);
			/* one side only: of two, each warp takes one or both, as often as the average says */
			const int32_t join = in->ir->blocks[p].reconv, *succ = in->ir->blocks[p].succ;
			const bool choice = x && in->machine->op[x - in->ir->ops].lane_choice &&
			                    join != (int32_t)b && (succ[0] == join || succ[1] == join);
			up = of_p > 0 ? s->block_passes[p] / of_p : 1;
			if (choice) {
				s->block_passes[b] = fmax(average, fmin(in->passes[b], s->block_passes[p]));
				continue;
			}
		} else if (s->n_preds[b] > 1) {
			double least = INFINITY;
			for (uint32_t p = 0; p < b; p++) {
				const struct xblock *x = &in->ir->blocks[p];
				const double of_p = in->passes[p] * in->blocks / fmax(in->warps, 1);
				if ((x->succ[0] == (int32_t)b || x->succ[1] == (int32_t)b) && of_p > 0)
					least = fmin(least, s->block_passes[p] / of_p);
			}
			up = isfinite(least) ? least : 1;
		}
		s->block_passes[b] = average * up;
	}
}

/* --- one group --- */

static double edge(const struct study *s, uint32_t from, uint32_t to)
{
	const struct xblock *x = &s->in->ir->blocks[from];
	const double all = s->in->passes[from];
	if (x->succ[1] < 0 || x->succ[0] == x->succ[1])
		return all;
	const int32_t other = x->succ[0] == (int32_t)to ? x->succ[1] : x->succ[0];
	if (s->n_preds[to] == 1)
		return fmin(all, s->in->passes[to]);
	if (s->n_preds[other] == 1)
		return fmax(0, all - s->in->passes[other]);
	return fmin(all, s->in->passes[to]);
}

static void set_ready(struct study *s, int32_t reg, double t)
{
	if (!(s->ready[reg] > 0) && t > 0)
		s->touched[s->n_touched++] = reg;
	s->ready[reg] = (float)t;
}

struct clock {
	double start; /* of this stretch */
	double last;  /* latest issue so far */
	double slots, int_slots, sfu_slots;
	double memory;    /* latest issue of a memory operation */
	double stored[2]; /* latest issue of a store: global, shared */
	double choice;    /* when it is known whether this side is taken; 0 = no side */
};

/*
 * From global load @o of block @b to the use of its value: a wait for the slowest of its lines and,
 * for what comes from DRAM, of all that are on their way together. Where only some warps take part,
 * it is when all did that data came from afar.
 */
static double load_latency(const struct study *s, uint32_t o, uint32_t b)
{
	const struct chain_input *in = s->in;
	const struct gpu_spec *g = in->gpu;
	const double average = in->passes[b] * in->blocks / in->warps;
	const double part = s->block_passes[b] > 0 ? fmin(1, average / s->block_passes[b]) : 1;
	const double n = fmax(1, s->lines[s->out->of_op[o]]);
	const double pages = fmax(1, fmin(n, in->dram_bytes / DRAM_PAGE_BYTES));
	const double l2 = g->l2_latency_ns * (1 + L2_SPREAD * log(n));
	const double dram = g->dram_latency_ns * (1 + DRAM_SPREAD * log(pages));
	const double ns = g->l1_latency_ns + part * in->l1_miss * (l2 - g->l1_latency_ns) +
	                  part * in->l2_miss * (dram - l2);
	return ns * g->clock_mhz * 1e-3;
}

static double latency(const struct study *s, uint32_t o, uint32_t b)
{
	const struct xop *x = &s->in->ir->ops[o];
	const struct machine_op *m = &s->in->machine->op[o];
	const struct gpu_spec *g = s->in->gpu;
	const double cycles_per_ns = g->clock_mhz * 1e-3;
	switch (x->kind) {
	case X_LD:
		if (x->space == SPACE_CONST)
			return ALU_CYCLES;
		return (x->space == SPACE_SHARED ? g->smem_latency_ns * cycles_per_ns
		                                 : load_latency(s, o, b)) +
		       s->in->replays[o];
	case X_ATOM:
		return (x->space == SPACE_SHARED ? 2 * g->smem_latency_ns : g->l2_latency_ns) *
		       cycles_per_ns;
	case X_SPECIAL: return SPECIAL_CYCLES;
	case X_SHFL:
	case X_VOTE:
	case X_MATCH:
	case X_REDUX: return SHUFFLE_CYCLES;
	default: break;
	}
	if (m->slots <= 0)
		return 0;
	if (m->divides) /* to floating point, a reciprocal, back, and two corrections */
		return 3 * SFU_CYCLES + (m->slots - 3) * ALU_CYCLES;
	if (m->pipe == MP_SFU)
		return SFU_CYCLES + (m->slots - 1) * ALU_CYCLES;
	if (m->pipe == MP_FP64)
		return FP64_CYCLES * m->slots;
	if (m->pipe == MP_INT && m->uniform && x->kind == X_OP)
		return UNIFORM_CYCLES;
	return ALU_CYCLES * m->slots;
}

/* The least a warp alone needs to issue what the stretch holds. */
static double issue_time(const struct study *s, const struct clock *c)
{
	const struct gpu_spec *g = s->in->gpu;
	return fmax(c->slots, fmax(c->int_slots * alone_lanes(g->int32_lanes_per_sm, g),
	                           c->sfu_slots * alone_lanes(g->sfu_lanes_per_sm, g)));
}

static double stretch_end(const struct study *s, const struct clock *c)
{
	return fmax(c->last, c->start + issue_time(s, c));
}

static double source_time(const struct study *s, const struct xop *x)
{
	double t = x->guard >= 0 ? s->ready[x->guard] : 0;
	for (unsigned i = 0; i < x->n_s; i++)
		if (x->s[i].kind == S_REG)
			t = fmax(t, s->ready[x->s[i].reg]);
	return t;
}

static bool reads_only(const struct study *s, const struct xop *x)
{
	const struct ptx_inst *in = &s->in->ir->func->insts[x->pc];
	return (in->flags & PF_NC) || x->space == SPACE_CONST;
}

static void take_op(struct study *s, uint32_t o, uint32_t b, struct clock *c)
{
	const struct xop *x = &s->in->ir->ops[o];
	const struct machine_op *m = &s->in->machine->op[o];
	double t = fmax(fmax(c->start, c->choice), source_time(s, x));
	c->slots += m->slots;
	c->int_slots += m->int_slots;
	c->sfu_slots += m->pipe == MP_SFU ? m->slots : 0;
	if (x->mem >= 0 && x->space != SPACE_CONST) {
		const unsigned shared = x->space == SPACE_SHARED;
		if (x->kind != X_LD || !reads_only(s, x))
			t = fmax(t, c->stored[shared]);
		c->memory = fmax(c->memory, t);
		if (x->kind != X_LD)
			c->stored[shared] = t + 1;
	}
	if (m->slots > 0)
		c->last = fmax(c->last, t + m->slots);
	const double done = t + latency(s, o, b);
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] >= 0)
			set_ready(s, x->d[i], done);
}

/* Where a stretch ends, the next one may begin; @at is when. */
static void close_stretch(struct study *s, uint32_t *index, struct clock *c, double at,
                          double weight)
{
	s->out->stretch[(*index)++].cycles += weight * (at - c->start);
	*c = (struct clock){ .start = at, .last = at, .memory = at };
}

static double branch_time(const struct study *s, uint32_t b)
{
	const struct ir *ir = s->in->ir;
	const struct xop *x = last_op(ir, b);
	if (!x || (x->kind != X_BRA && x->kind != X_BRX))
		return 0;
	if (x->guard < 0)
		return ir->blocks[b].succ[0] == (int32_t)b + 1 ? 0 : BRANCH_CYCLES - ALU_CYCLES;
	const double all = s->in->passes[b];
	const double on = ir->blocks[b].succ[1] >= 0 ? edge(s, b, (uint32_t)ir->blocks[b].succ[1]) : 0;
	const double taken = all > 0 ? 1 - fmin(1, on / all) : 1;
	return taken * BRANCH_CYCLES + (1 - taken) * FALL_THROUGH_CYCLES;
}

static void pass_block(struct study *s, uint32_t b, uint32_t *index, struct clock *c, double weight)
{
	const struct ir *ir = s->in->ir;
	const double barrier = BARRIER_CYCLES + BARRIER_WARP_CYCLES * s->in->warps / s->in->blocks;
	const struct xop *before = b > s->group[s->group_of[b]].first ? last_op(ir, b - 1) : NULL;
	c->choice = before && before->kind == X_BRA && before->guard >= 0 ? s->ready[before->guard] : 0;
	for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
		if (ir->ops[o].kind != X_BAR && ir->ops[o].kind != X_BARRED) {
			take_op(s, o, b, c);
			continue;
		}
		c->slots++;
		close_stretch(s, index, c, fmax(stretch_end(s, c), c->memory) + barrier, weight);
	}
}

/* Times of the group's stretches when it is entered with what group @from left; -1 = with nothing.
 * @weight of them goes into their average. */
static void pass(struct study *s, const struct group *g, int32_t from, uint32_t index,
                 double weight)
{
	struct clock c = { 0 };
	for (unsigned i = 0; from >= 0 && i < s->group[from].n_pending; i++)
		set_ready(s, s->group[from].pending[i].reg, s->group[from].pending[i].cycles);
	const unsigned turns = s->in->machine->turns[g->first];
	for (unsigned t = 0; t < turns; t++)
		for (uint32_t b = g->first; b < g->end; b++)
			/* a side that is hardly ever taken delays nobody */
			if (b == g->first || s->block_passes[b] >= 0.5 * s->block_passes[g->first])
				pass_block(s, b, &index, &c, weight);
	const double end = stretch_end(s, &c) + branch_time(s, g->end - 1);
	close_stretch(s, &index, &c, end, weight / turns);
	s->end = end;
}

/* Forgets the registers; with @g, keeps what is still on its way as what @g leaves. */
static void leave(struct study *s, struct group *g)
{
	if (g)
		g->n_pending = 0;
	for (unsigned i = 0; i < s->n_touched; i++) {
		const int32_t r = s->touched[i];
		const double left = s->ready[r] - s->end;
		if (g && left > 0) {
			if (g->n_pending == g->cap_pending) {
				g->cap_pending = g->cap_pending ? 2 * g->cap_pending : 16;
				g->pending = mem_realloc(g->pending, g->cap_pending, sizeof *g->pending);
			}
			g->pending[g->n_pending++] = (struct pending){ .reg = r, .cycles = (float)left };
		}
		s->ready[r] = 0;
	}
	s->n_touched = 0;
}

/* Each way into the group counts as often as it is taken; the most usual one decides what is left.
 */
static void schedule(struct study *s, struct group *g, uint32_t index, uint32_t n)
{
	const struct ir *ir = s->in->ir;
	double all = 0, most = -1;
	int32_t usual = -1;
	for (uint32_t i = 0; i < n; i++)
		s->out->stretch[index + i].cycles = 0;
	for (uint32_t p = 0; p < ir->n_blocks; p++) {
		if (ir->blocks[p].succ[0] != (int32_t)g->first &&
		    ir->blocks[p].succ[1] != (int32_t)g->first)
			continue;
		const double e = edge(s, p, g->first);
		if (!(e > 0))
			continue;
		pass(s, g, (int32_t)s->group_of[p], index, e);
		leave(s, NULL);
		all += e;
		if (e > most) {
			most = e;
			usual = (int32_t)s->group_of[p];
		}
	}
	pass(s, g, usual, index, all > 0 ? 0 : 1);
	leave(s, g);
	for (uint32_t i = 0; all > 0 && i < n; i++)
		s->out->stretch[index + i].cycles /= all;
}

/* --- the whole program --- */

/* Numbers the stretches: one per group, one more after each barrier. */
static void number_stretches(struct study *s)
{
	const struct ir *ir = s->in->ir;
	struct chain *c = s->out;
	unsigned barriers = 0;
	for (uint32_t o = 0; o < ir->n_ops; o++)
		barriers += ir->ops[o].kind == X_BAR || ir->ops[o].kind == X_BARRED;
	c->stretch = mem_calloc(s->n_groups + barriers + 1, sizeof *c->stretch);
	for (unsigned g = 0; g < s->n_groups; g++) {
		const uint32_t head = s->group[g].first;
		c->stretch[c->n] = (struct stretch){ .block = head,
			                                 .passes = s->in->passes[head],
			                                 .block_passes = s->block_passes[head] };
		for (uint32_t b = head; b < s->group[g].end; b++)
			for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
				c->of_op[o] = c->n;
				if (ir->ops[o].kind != X_BAR && ir->ops[o].kind != X_BARRED)
					continue;
				c->stretch[c->n + 1] = c->stretch[c->n];
				c->n++;
			}
		s->last_of[g] = c->n++;
	}
}

/* Warps that go their own ways wait for their own loads; at a barrier, and at the end of the block,
 * which keeps its place until its last warp is done, for those of all. */
static void count_lines(struct study *s)
{
	const struct ir *ir = s->in->ir;
	const double warps = s->in->warps / s->in->blocks;
	double *batches = mem_calloc(s->out->n + 1, sizeof *batches);
	bool barriers = false, stored = false;
	s->lines = mem_calloc(s->out->n + 1, sizeof *s->lines);
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		const uint32_t at = s->out->of_op[o];
		barriers = barriers || x->kind == X_BAR || x->kind == X_BARRED;
		if (x->space == SPACE_GLOBAL && x->mem >= 0 && x->kind != X_LD)
			stored = true;
		if (x->kind != X_LD || x->space == SPACE_SHARED || x->space == SPACE_CONST)
			continue;
		if (stored && !reads_only(s, x)) /* waits for what the store waited for */
			batches[at]++;
		stored = false;
		s->lines[at] += 1 + s->in->replays[o];
	}
	for (unsigned i = 0; i < s->out->n; i++) {
		s->lines[i] /= fmax(1, batches[i]);
		if (barriers || s->out->stretch[i].passes <= s->in->warps)
			s->lines[i] *= warps;
	}
	free(batches);
}

void chain_build(struct chain *c, const struct chain_input *in)
{
	const struct ir *ir = in->ir;
	*c = (struct chain){ .of_op = mem_calloc(ir->n_ops + 1, sizeof *c->of_op) };
	struct study s = { .in = in,
		               .out = c,
		               .group = mem_calloc(ir->n_blocks + 1, sizeof *s.group),
		               .group_of = mem_calloc(ir->n_blocks + 1, sizeof *s.group_of),
		               .last_of = mem_calloc(ir->n_blocks + 1, sizeof *s.last_of),
		               .n_preds = mem_zalloc(ir->n_blocks + 1),
		               .pred = mem_calloc(ir->n_blocks + 1, sizeof *s.pred),
		               .block_passes = mem_calloc(ir->n_blocks + 1, sizeof *s.block_passes),
		               .ready = mem_calloc(ir->n_regs + 1, sizeof *s.ready),
		               .touched = mem_calloc(ir->n_regs + 1, sizeof *s.touched) };
	find_preds(&s);
	make_groups(&s);
	find_block_passes(&s);
	number_stretches(&s);
	count_lines(&s);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned g = 0; g < s.n_groups; g++) {
			const uint32_t first = c->of_op[ir->blocks[s.group[g].first].first];
			schedule(&s, &s.group[g], first, s.last_of[g] - first + 1);
		}
	for (unsigned g = 0; g < s.n_groups; g++)
		free(s.group[g].pending);
	free(s.lines);
	free(s.group);
	free(s.group_of);
	free(s.last_of);
	free(s.n_preds);
	free(s.pred);
	free(s.block_passes);
	free(s.ready);
	free(s.touched);
}

void chain_free(struct chain *c)
{
	free(c->stretch);
	free(c->of_op);
	*c = (struct chain){ 0 };
}
