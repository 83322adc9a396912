/*
 * Which counts of a launch depend on when its warps and blocks come, and so differ from run to run
 * on a card. Only code that ran is looked at.
 *
 * Loops that ask until another has come are known to ir/polls.c and ir/asking.c: what is in them
 * differs. The old value of an atomic, a clock, and what a load finds that another thread may write
 * meanwhile, are followed through registers and through
 * shared memory: what they choose as an address differs in sectors or wavefronts, and what stands
 * behind a branch that they decide, up to where its sides meet again, in how often it runs.
 *
 * It says "may": that the last block to come adds up what all have left runs once, whichever block
 * that is, and is named all the same.
 */
#include "emu/launch/variation_of.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define BIT(what) (1u << VARY_##what)
#define BIT_OF(why) (1u << (why))

struct search {
	const struct ir *ir;
	const struct counts *of_op;
	const struct variation_facts *facts;
	uint32_t *first_op;     /* of the operation's instruction, by operation */
	enum variation_why *of; /* by operation: for what it is a source; VARIATION_WHYS = none */
	bool writes;            /* global memory, for others to see at once */
	/* for which reasons an operation's address differs, what it stores, whether it does: bits */
	uint16_t *where, *what, *whether;
	struct run_variation *v;
};

static bool is_set(const uint64_t *row, uint32_t o)
{
	return row && bits_get(row, o);
}

static bool ran(const struct search *s, uint32_t o)
{
	return s->of_op[s->first_op[o]].warp_executed > 0;
}

static void note(struct search *s, enum variation_why why, uint32_t o, uint32_t counts)
{
	const uint32_t line = s->ir->insts[s->ir->ops[o].pc].line;
	if (counts && !s->v->line[why])
		s->v->line[why] = line;
	s->v->counts[why] |= counts;
}

/* What an access that did not run would count. */
static uint32_t counts_by_kind(const struct xop *x)
{
	const bool shared = x->space == SPACE_SHARED;
	const bool global = x->space == SPACE_GLOBAL || x->space == SPACE_GENERIC;
	if (x->space == SPACE_LOCAL)
		return x->kind == X_LD || x->kind == X_ST ? BIT(LOCAL_REQUESTS) : 0;
	switch (x->kind) {
	case X_LD:
		return shared   ? BIT(SHARED_LD_REQUESTS) | BIT(SHARED_LD_WAVEFRONTS)
		       : global ? BIT(LD_REQUESTS) | BIT(LD_SECTORS)
		                : 0;
	case X_ST:
		return shared   ? BIT(SHARED_ST_REQUESTS) | BIT(SHARED_ST_WAVEFRONTS)
		       : global ? BIT(ST_REQUESTS) | BIT(ST_SECTORS)
		                : 0;
	case X_ATOM:
	case X_RED:
		return shared ? BIT(SHARED_ATOM_REQUESTS) | BIT(SHARED_ATOM_WAVEFRONTS)
		              : BIT(ATOM_REQUESTS) | BIT(ATOM_SECTORS);
	default: return 0;
	}
}

#define WHERE                                                                            \
	(BIT(LD_SECTORS) | BIT(ST_SECTORS) | BIT(ATOM_SECTORS) | BIT(SHARED_LD_WAVEFRONTS) | \
	 BIT(SHARED_ST_WAVEFRONTS) | BIT(SHARED_ATOM_WAVEFRONTS))

#define REQUESTS                                                                      \
	(BIT(LD_REQUESTS) | BIT(ST_REQUESTS) | BIT(ATOM_REQUESTS) | BIT(LOCAL_REQUESTS) | \
	 BIT(SHARED_LD_REQUESTS) | BIT(SHARED_ST_REQUESTS) | BIT(SHARED_ATOM_REQUESTS) | WHERE)
/* What the driver's code of a call may count. */
#define OF_DRIVER                                                              \
	(BIT(LD_REQUESTS) | BIT(LD_SECTORS) | BIT(ST_REQUESTS) | BIT(ST_SECTORS) | \
	 BIT(ATOM_REQUESTS) | BIT(ATOM_SECTORS))

/* What an access counts: how often it is made, and where. */
static uint32_t counts_of_access(const struct search *s, uint32_t o)
{
	const struct counts *c = &s->of_op[s->first_op[o]];
	if (!s->ir->ops[o].first || !ran(s, o))
		return counts_by_kind(&s->ir->ops[o]);
	return (c->ld_requests ? BIT(LD_REQUESTS) | BIT(LD_SECTORS) : 0) |
	       (c->st_requests ? BIT(ST_REQUESTS) | BIT(ST_SECTORS) : 0) |
	       (c->atom_requests ? BIT(ATOM_REQUESTS) | BIT(ATOM_SECTORS) : 0) |
	       (c->local_requests ? BIT(LOCAL_REQUESTS) : 0) |
	       (c->shared_ld_requests ? BIT(SHARED_LD_REQUESTS) | BIT(SHARED_LD_WAVEFRONTS) : 0) |
	       (c->shared_st_requests ? BIT(SHARED_ST_REQUESTS) | BIT(SHARED_ST_WAVEFRONTS) : 0) |
	       (c->shared_atom_requests ? BIT(SHARED_ATOM_REQUESTS) | BIT(SHARED_ATOM_WAVEFRONTS) : 0);
}

static uint32_t counts_of_work(const struct search *s, uint32_t o)
{
	const struct xop *x = &s->ir->ops[o];
	const struct ir_inst *i = &s->ir->insts[x->pc];
	const bool flops = i->flop16 || i->flop32 || i->flop64 || i->half_move;
	return counts_of_access(s, o) | (flops ? BIT(FLOPS) : 0);
}

/* Floating-point operations in any loop that waits, those that only move a constant among them. */
static uint32_t flops_of_waiting(const struct search *s)
{
	uint32_t counts = 0;
	for (uint32_t b = 0; b < s->ir->n_blocks; b++)
		for (uint32_t o = s->ir->blocks[b].first; o < s->ir->blocks[b].end; o++)
			counts |= s->ir->blocks[b].may_wait ? counts_of_work(s, o) & BIT(FLOPS) : 0;
	return counts;
}

/* --- loops that ask --- */

/* Is @to_block come to behind @block? */
static bool leads_to(const struct ir *ir, uint32_t block, uint32_t to_block, bool *seen)
{
	uint32_t *todo = mem_calloc(ir->n_blocks + 1, sizeof *todo), n = 0;
	memset(seen, 0, ir->n_blocks * sizeof *seen);
	todo[n++] = block;
	while (n && !seen[to_block]) {
		const struct xblock *b = &ir->blocks[todo[--n]];
		for (uint32_t i = 0; i < 2 + b->n_targets; i++) {
			const int32_t to = xblock_successor(b, i);
			if (to < 0 || seen[to])
				continue;
			seen[to] = true;
			todo[n++] = (uint32_t)to;
		}
	}
	free(todo);
	return seen[to_block];
}

/* Is the phase of a barrier in shared memory asked for? */
static bool asks_barrier(const struct xop *x)
{
	return x->kind == X_SYSTEM &&
	       (x->op == SYSTEM_MBARRIER_STATE || x->op == SYSTEM_MBARRIER_PARITY);
}

/* In a loop: for which reason does @x make it go round again? VARIATION_WHYS = for none. */
static enum variation_why goes_round(const struct xop *x)
{
	if (asks_barrier(x))
		return VARIES_ASKS;
	if (!x->decides || !(x->polls || x->looks))
		return VARIATION_WHYS;
	if (x->kind == X_LD || xop_asks_only(x))
		return x->kind == X_ATOM && x->op == ATOM_CAS && x->s[1].kind == S_REG ? VARIES_SWAPS
		                                                                       : VARIES_ASKS;
	return VARIATION_WHYS;
}

/* It ran, or what leads to it did: then it runs where another is late. */
static bool may_run(const struct search *s, uint32_t block)
{
	const struct xblock *b = &s->ir->blocks[block];
	bool may = b->first < b->end && ran(s, b->first);
	for (uint32_t k = 0; k < s->ir->n_blocks && !may; k++) {
		const struct xblock *from = &s->ir->blocks[k];
		for (uint32_t i = 0; from->first < from->end && i < 2 + from->n_targets; i++)
			may |= xblock_successor(from, i) == (int32_t)block && ran(s, from->end - 1);
	}
	return may;
}

static void search_block(struct search *s, uint32_t b, bool *seen)
{
	const struct xblock *block = &s->ir->blocks[b];
	enum variation_why why = VARIATION_WHYS;
	uint32_t at = block->first;
	for (uint32_t o = block->first; o < block->end && why != VARIES_SWAPS; o++) {
		const enum variation_why now = goes_round(&s->ir->ops[o]);
		at = now < VARIATION_WHYS ? o : at;
		why = now < VARIATION_WHYS ? now : why;
	}
	if (block->asks && why == VARIATION_WHYS)
		why = VARIES_ASKS;
	if (why == VARIATION_WHYS || !may_run(s, b) || !(block->asks || leads_to(s->ir, b, b, seen)))
		return;
	note(s, why, at, BIT(FLOW) | (block->asks ? 0 : flops_of_waiting(s)));
	for (uint32_t o = block->first; o < block->end; o++) {
		if (o != at && !block->asks && why != VARIES_SWAPS)
			continue;
		s->of[o] = why;
		note(s, why, o, counts_of_work(s, o));
	}
}

/* --- values that depend on it --- */

static bool is_shared(const struct xop *x)
{
	return x->space == SPACE_SHARED;
}

/* Is it a write of global memory that others are meant to see while they run? */
static bool tells_others(const struct xop *x)
{
	return ((x->kind == X_ST && x->strong) || x->kind == X_ATOM || x->kind == X_RED) &&
	       !is_shared(x);
}

struct looked_for {
	const struct search *s;
	enum variation_why why;
};

static bool op_ran(const void *context, uint32_t o)
{
	return ran(((const struct looked_for *)context)->s, o);
}

static bool is_source(const void *context, uint32_t o)
{
	const struct looked_for *l = context;
	const struct xop *x = &l->s->ir->ops[o];
	if (!ran(l->s, o) || l->s->of[o] != VARIATION_WHYS)
		return false;
	switch (l->why) {
	case VARIES_CLOCK: return x->kind == X_CLOCK;
	case VARIES_LEFT: return is_set(l->s->facts->left, o);
	case VARIES_RACES:
		return x->kind == X_LD &&
		       (is_set(l->s->facts->raced, o) || (l->s->writes && x->strong && !is_shared(x)));
	default: return x->kind == X_ATOM;
	}
}

/* What is done behind block @b for reason @why, up to block @end; -1 = to the end. VARIES_PARTS:
 * the same is done, but how often. */
static uint32_t behind_block(struct search *s, enum variation_why why, uint32_t b, int32_t end)
{
	const struct ir *ir = s->ir;
	bool *seen = mem_calloc(ir->n_blocks + 1, sizeof *seen);
	uint32_t *todo = mem_calloc(ir->n_blocks + 1, sizeof *todo), n = 0, counts = BIT(FLOW);
	todo[n++] = b;
	while (n) {
		const struct xblock *from = &ir->blocks[todo[--n]];
		for (uint32_t i = 0; i < 2 + from->n_targets; i++) {
			const int32_t to = xblock_successor(from, i);
			if (to < 0 || to == end || seen[to])
				continue;
			seen[to] = true;
			todo[n++] = (uint32_t)to;
			for (uint32_t o = ir->blocks[to].first; o < ir->blocks[to].end; o++) {
				counts |= counts_of_work(s, o);
				s->whether[o] |= why == VARIES_PARTS ? 0 : (uint16_t)BIT_OF(why);
			}
		}
	}
	free(seen);
	free(todo);
	return counts;
}

/* Where the sides of a branch meet; -1 = nowhere, as where one of them ends. */
static int32_t meeting(const struct ir *ir, uint32_t b)
{
	const int32_t *succ = ir->blocks[b].succ, end = ir->blocks[b].reconv;
	bool *seen = mem_calloc(ir->n_blocks + 1, sizeof *seen);
	bool all = true;
	for (unsigned i = 0; end >= 0 && i < 2; i++)
		all &=
			succ[i] < 0 || succ[i] == end || leads_to(ir, (uint32_t)succ[i], (uint32_t)end, seen);
	free(seen);
	return all ? end : -1;
}

/* Lanes that leave at operation @o of block @b do nothing of the rest. */
static uint32_t behind_exit(struct search *s, enum variation_why why, uint32_t b, uint32_t o)
{
	uint32_t counts = behind_block(s, why, b, -1);
	while (++o < s->ir->blocks[b].end)
		counts |= counts_of_work(s, o);
	return counts;
}

static void note_guarded(struct search *s, enum variation_why why, uint32_t o)
{
	note(s, why, o, BIT(FLOW) | counts_of_work(s, o));
	s->whether[o] |= (uint16_t)BIT_OF(why);
}

/* Which operands of a store or an atomic differ. */
static void note_operands(struct search *s, enum variation_why why, uint32_t o,
                          const uint64_t *found)
{
	const struct xop *x = &s->ir->ops[o];
	if (x->kind != X_ST && x->kind != X_ATOM && x->kind != X_RED)
		return;
	for (unsigned i = 0; i < x->n_s; i++)
		if (x->s[i].kind == S_REG && bits_get(found, (unsigned)x->s[i].reg))
			*(i ? &s->what[o] : &s->where[o]) |= (uint16_t)BIT_OF(why);
}

/* Operation @o of block @b, where registers @found hold what varies. */
static void search_op(struct search *s, enum variation_why why, uint32_t b, uint32_t o,
                      const uint64_t *found)
{
	const struct ir *ir = s->ir;
	const struct xop *x = &ir->ops[o];
	const bool branch = x->kind == X_BRA || x->kind == X_BRX;
	const bool guarded = x->guard >= 0 && bits_get(found, (unsigned)x->guard);
	if (!ran(s, o) || s->of[o] != VARIATION_WHYS)
		return;
	note_operands(s, why, o, found);
	if (branch && made_of_read(x, found))
		note(s, why, o, behind_block(s, why, b, meeting(ir, b)));
	else if ((x->kind == X_EXIT || x->kind == X_LEAVE) && guarded)
		note(s, why, o, behind_exit(s, why, b, o));
	else if (guarded)
		note_guarded(s, why, o);
	else if (x->s[0].kind == S_REG && bits_get(found, (unsigned)x->s[0].reg))
		note(s, why, o, counts_of_access(s, o) & WHERE);
}

static void search_values(struct search *s, enum variation_why why)
{
	const struct ir *ir = s->ir;
	const struct looked_for sought = { s, why };
	bool any = false;
	for (uint32_t o = 0; o < ir->n_ops; o++)
		any |= is_source(&sought, o);
	if (!any)
		return;
	struct made_of m = made_of(ir, op_ran, is_source, &sought);
	uint64_t *found = mem_calloc(m.words, sizeof *found);
	for (uint32_t b = 0; b < ir->n_blocks; b++) {
		made_of_before(&m, b, found);
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			search_op(s, why, b, o, found);
			made_of_step(&m, o, found);
		}
	}
	free(found);
	made_of_free(&m);
}

/* --- what is not seen in the code --- */

static bool is_drivers(uint16_t call)
{
	return call == SYSTEM_PRINT || call == SYSTEM_MALLOC || call == SYSTEM_FREE ||
	       (call >= SYSTEM_RUNTIME && call < SYSTEM_CALLS);
}

/* Calls of the system that ran: a card's driver has the code that they stand for. */
static void search_calls(struct search *s)
{
	for (uint32_t o = 0; o < s->ir->n_ops; o++) {
		const struct xop *x = &s->ir->ops[o];
		if (x->kind != X_SYSTEM || !ran(s, o))
			continue;
		if (x->op == SYSTEM_RUNTIME_LAUNCH || x->op == SYSTEM_RUNTIME_LAUNCH_V2)
			note(s, VARIES_CHILDREN, o, (1u << VARIATION_COUNTS) - 1);
		else if (is_drivers(x->op))
			note(s, VARIES_DRIVER, o, BIT(FLOW) | OF_DRIVER);
	}
}

/* How often anything is executed that has to do with memory, and all of the flow. */
static void note_all(struct search *s, enum variation_why why, uint32_t at)
{
	for (uint32_t o = 0; o < s->ir->n_ops; o++)
		if (ran(s, o))
			note(s, why, at, counts_of_access(s, o) & REQUESTS);
	note(s, why, at, BIT(FLOW));
}

/* YIELD: where chance decides which lanes go round once more, those that do may overtake others,
 * and a warp that has been divided there need not come together behind its loop. */
static void search_yields(struct search *s)
{
	uint32_t flow = 0;
	for (unsigned why = 0; why < VARIATION_WHYS; why++)
		flow |= s->v->counts[why] & BIT(FLOW);
	for (uint32_t b = 0; flow && b < s->ir->n_blocks; b++)
		for (uint32_t o = s->ir->blocks[b].first; o < s->ir->blocks[b].end; o++) {
			const struct xop *x = &s->ir->ops[o];
			const struct counts *c = &s->of_op[s->first_op[o]];
			if (x->kind == X_MEET_WARP && x->op == MEET_YIELD &&
			    c->thread_active < 32 * c->warp_executed)
				note(s, VARIES_PARTS, o, behind_block(s, VARIES_PARTS, b, -1));
		}
}

/* Parts of a warp that may go on together elsewhere, or not wait for those that sleep. */
static void search_parts(struct search *s)
{
	const struct ir *ir = s->ir;
	if (s->facts->parted_at)
		note_all(s, VARIES_PARTS, ir->blocks[s->facts->parted_at - 1].first);
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct counts *c = &s->of_op[o];
		if (ir->ops[o].first && ir->insts[ir->ops[o].pc].sleeps &&
		    c->thread_active < 32 * c->warp_executed)
			note_all(s, VARIES_SLEEPS, o);
	}
}

/* --- what it leaves --- */

/*
 * Does global memory differ behind operation @o? A place in a queue that an atomic gave out holds
 * what came there; but what a block whose number an atomic gave out stores at that block's place is
 * the same whichever block it was, and what the last one stores is the same whoever is the last.
 * Sums, and the largest or smallest of all, are the same in any order, if all are there; what is
 * swapped in is not, unless it is a constant, as of a lock.
 */
static bool leaves_other(const struct search *s, uint32_t o)
{
	const struct xop *x = &s->ir->ops[o];
	const uint32_t places = BIT_OF(VARIES_PLACES), where = s->where[o], what = s->what[o];
	if (is_shared(x) || x->space == SPACE_LOCAL || !ran(s, o))
		return false;
	const bool adds = x->kind == X_ATOM || x->kind == X_RED;
	if ((x->kind == X_ST || adds) && s->whether[o] & ~places)
		return true;
	if (x->kind == X_ST)
		return is_set(s->facts->stored, o) || (what && !where) ||
		       (where & places && !(what & places));
	if (adds && what & BIT_OF(VARIES_RACES))
		return true;
	return x->kind == X_ATOM && (x->op == ATOM_CAS || x->op == ATOM_EXCH) &&
	       x->s[x->n_s - 1].kind == S_REG;
}

void variation_of(const struct ir *ir, const struct counts *of_op,
                  const struct variation_facts *facts, uint64_t *leaves, struct run_variation *v)
{
	struct search s = { .ir = ir,
		                .of_op = of_op,
		                .facts = facts,
		                .where = mem_calloc(ir->n_ops + 1, sizeof *s.where),
		                .what = mem_calloc(ir->n_ops + 1, sizeof *s.what),
		                .whether = mem_calloc(ir->n_ops + 1, sizeof *s.whether),
		                .first_op = mem_calloc(ir->n_ops + 1, sizeof *s.first_op),
		                .of = mem_calloc(ir->n_ops + 1, sizeof *s.of),
		                .v = v };
	bool *seen = mem_calloc(ir->n_blocks + 1, sizeof *seen);
	*v = (struct run_variation){ .counts = { 0 } };
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		s.first_op[o] = ir->ops[o].first || !o ? o : s.first_op[o - 1];
		s.of[o] = VARIATION_WHYS;
		s.writes |= tells_others(&ir->ops[o]) && ran(&s, o);
	}
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		search_block(&s, b, seen);
	search_values(&s, VARIES_PLACES);
	search_values(&s, VARIES_RACES);
	search_values(&s, VARIES_CLOCK);
	search_values(&s, VARIES_LEFT);
	search_calls(&s);
	search_yields(&s);
	search_parts(&s);
	for (uint32_t o = 0; leaves && o < ir->n_ops; o++)
		if (leaves_other(&s, o))
			bits_set(leaves, o);
	free(s.where);
	free(s.what);
	free(s.whether);
	free(seen);
	free(s.first_op);
	free(s.of);
}
