/*
 * Loads and atomics that may come to the same place again and again around a loop: what they wait
 * for, another block may have to write.
 *
 * Where the loop never writes the address, that is plain. Where it does, the ways around the loop
 * are walked, with a name for every value: as `while (k >= low) if (flag[k] >= 0) { ...; k -= n; }`
 * looks at flag[k] again as long as it is negative. A way may begin anywhere on the loop: one that
 * goes through a list again and again until all of it is done sets out from the list's beginning.
 */
#include "emu/ir/ir.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* All loops through one block. */
struct loops {
	const struct ir *ir;
	unsigned home;
	bool *on; /* by block: reached from home, and home from it */
};

static void reach(const struct ir *ir, int32_t from, bool *seen)
{
	const struct xblock *b = &ir->blocks[from];
	for (unsigned i = 0; i < 2 + b->n_targets; i++) {
		const int32_t to = i < 2 ? b->succ[i] : b->targets[i - 2];
		if (to < 0 || seen[to])
			continue;
		seen[to] = true;
		reach(ir, to, seen);
	}
}

static bool leads_to(const struct ir *ir, unsigned b, unsigned home, const bool *leads)
{
	const struct xblock *x = &ir->blocks[b];
	for (uint32_t i = 0; i < 2 + x->n_targets; i++) {
		const int32_t to = xblock_successor(x, i);
		if (to >= 0 && ((unsigned)to == home || leads[to]))
			return true;
	}
	return false;
}

/* Caller frees .on. */
static struct loops loops_through(const struct ir *ir, unsigned home)
{
	struct loops l = { .ir = ir, .home = home, .on = mem_calloc(ir->n_blocks + 1, sizeof *l.on) };
	bool *leads = mem_calloc(ir->n_blocks + 1, sizeof *leads), more = true;
	while (more) {
		more = false;
		for (unsigned b = ir->n_blocks; b-- > 0;)
			if (!leads[b] && leads_to(ir, b, home, leads))
				leads[b] = more = true;
	}
	reach(ir, (int32_t)home, l.on);
	for (unsigned b = 0; b < ir->n_blocks; b++)
		l.on[b] &= leads[b];
	free(leads);
	return l;
}

static bool is_move(const struct xop *x)
{
	return x->kind == X_OP && (x->op == E_mov_b32 || x->op == E_mov_b64);
}

static bool writes(const struct xop *x, int32_t r)
{
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] == r)
			return true;
	return false;
}

/* What writes register @r on the loops, from operation @*o on; NULL = nothing any more. */
static const struct xop *next_write(const struct loops *l, int32_t r, uint32_t *o)
{
	const struct ir *ir = l->ir;
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		if (!l->on[b] || ir->blocks[b].end <= *o)
			continue;
		for (*o = *o > ir->blocks[b].first ? *o : ir->blocks[b].first; *o < ir->blocks[b].end; ++*o)
			if (writes(&ir->ops[*o], r))
				return &ir->ops[(*o)++];
	}
	return NULL;
}

static bool written_in_loop(const struct loops *l, int32_t r)
{
	uint32_t o = 0;
	return next_write(l, r, &o);
}

#define MOST_MOVES 3 /* from a constant to a register that an instruction takes */

/* Is @s the same in each turn of the loop: a constant, or made of such alone? */
static bool stays(const struct loops *l, const struct xsrc *s, unsigned moves)
{
	const struct xop *x;
	if (s->kind != S_REG)
		return s->kind == S_CONST;
	for (uint32_t o = 0; (x = next_write(l, s->reg, &o));) {
		if (x->kind != X_OP || !moves)
			return false;
		for (unsigned i = 0; i < x->n_s; i++)
			if (!stays(l, &x->s[i], moves - 1))
				return false;
	}
	return true;
}

/* --- ways around a loop --- */

#define FEW_STEPS 1000   /* operations, for one beginning of a way: each is tried so far at first */
#define MOST_STEPS 20000 /* for one load, in each of two rounds */
#define MOST_DEPTH 200   /* blocks and forks on one way */

struct around {
	const struct ir *ir;
	const bool *on_loop; /* by block */
	const struct xop *home;
	unsigned source;   /* of it: what is looked at, its address or what a swap compares */
	bool another;      /* is a way wanted where that is another, or the same? */
	bool lost;         /* a way was too long, or not known */
	uint64_t at_first; /* name of it where the way began */
	uint64_t names;    /* given so far */
	unsigned steps, most_steps, depth;
	bool *on_way; /* by block */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	const uint64_t x = (a ^ b) * 0x9e3779b97f4a7c15u;
	return (x ^ x >> 29) * 0xbf58476d1ce4e5b9u + b;
}

static uint64_t name_of(const struct xsrc *s, const uint64_t *name)
{
	const uint64_t n = s->kind == S_REG ? name[s->reg] : mix(s->kind, s->value);
	return s->neg ? ~n : n;
}

/* What @x makes; the same of the same sources. */
static uint64_t made_by(struct around *w, const struct xop *x, unsigned i, const uint64_t *name)
{
	if (is_move(x))
		return name_of(&x->s[0], name);
	const bool pure = x->kind == X_OP || x->kind == X_CMP || x->kind == X_PRED ||
	                  x->kind == X_SEL || x->kind == X_SPECIAL;
	uint64_t n = mix(pure ? x->kind : ++w->names, pure ? x->op : (uint64_t)X_NOP + 1);
	n = mix(n, i + 2u * x->neg);
	for (unsigned s = 0; s < x->n_s; s++)
		n = mix(n, name_of(&x->s[s], name));
	return n;
}

static bool comes_again(struct around *w, int32_t block, uint32_t op, uint64_t *name);

/* The same with names of its own: what is tried does not hold for the other ways. */
static bool try_way(struct around *w, int32_t block, uint32_t op, const uint64_t *name, int32_t d,
                    uint64_t value)
{
	if (++w->depth > MOST_DEPTH) {
		w->lost = true;
		return false;
	}
	uint64_t *own = mem_alloc((w->ir->n_regs + 1) * sizeof *own);
	memcpy(own, name, (w->ir->n_regs + 1) * sizeof *own);
	if (d >= 0)
		own[d] = value;
	const bool again = comes_again(w, block, op, own);
	free(own);
	w->depth--;
	return again;
}

static bool leave_block(struct around *w, int32_t block, const uint64_t *name)
{
	const struct xblock *b = &w->ir->blocks[block];
	for (uint32_t i = 0; i < 2 + b->n_targets; i++) {
		const int32_t to = xblock_successor(b, i);
		if (to < 0 || w->on_way[to] || !w->on_loop[to])
			continue;
		w->on_way[to] = true;
		const bool again = try_way(w, to, w->ir->blocks[to].first, name, -1, 0);
		w->on_way[to] = false;
		if (again)
			return true;
	}
	return false;
}

/* From w->home, where it saw what @name[] says, at operation @op of @block. */
static bool comes_back(struct around *w, int32_t block, uint32_t op, const uint64_t *name)
{
	const struct xop *x = w->home;
	bool *way_here = w->on_way;
	w->on_way = mem_calloc(w->ir->n_blocks + 1, sizeof *w->on_way);
	w->at_first = name_of(&x->s[w->source], name);
	uint64_t *own = mem_alloc((w->ir->n_regs + 1) * sizeof *own);
	memcpy(own, name, (w->ir->n_regs + 1) * sizeof *own);
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] >= 0)
			own[x->d[i]] = made_by(w, x, i, name);
	const bool again = try_way(w, block, op + 1, own, -1, 0);
	free(own);
	free(w->on_way);
	w->on_way = way_here;
	w->at_first = 0;
	return again;
}

/* On a way from operation @op of @block on, does w->home see the same, or another, at its second
 * turn? */
static bool comes_again(struct around *w, int32_t block, uint32_t op, uint64_t *name)
{
	for (; op < w->ir->blocks[block].end; op++) {
		const struct xop *x = &w->ir->ops[op];
		if (x == w->home && w->at_first)
			return (name_of(&x->s[w->source], name) != w->at_first) == w->another;
		if (++w->steps > w->most_steps || x->kind == X_CALL || x->kind == X_RET) {
			w->lost = true;
			return false;
		}
		if (x == w->home)
			return comes_back(w, block, op, name);
		for (unsigned i = 0; i < x->n_d; i++) {
			const int32_t d = x->d[i];
			if (d < 0)
				continue;
			/* what is written under a condition, or chosen, may be the one or the other */
			if (x->guard >= 0 && try_way(w, block, op + 1, name, -1, 0))
				return true;
			if (x->kind == X_SEL && try_way(w, block, op + 1, name, d, name_of(&x->s[0], name)))
				return true;
			name[d] = x->kind == X_SEL ? name_of(&x->s[1], name) : made_by(w, x, i, name);
		}
	}
	return leave_block(w, block, name);
}

static bool way_from(struct around *w, unsigned start, uint32_t op)
{
	uint64_t *name = mem_alloc((w->ir->n_regs + 1) * sizeof *name);
	for (unsigned r = 0; r < w->ir->n_regs; r++)
		name[r] = mix(r + 1, 0);
	w->on_way = mem_calloc(w->ir->n_blocks + 1, sizeof *w->on_way);
	const bool again = comes_again(w, (int32_t)start, op, name);
	free(w->on_way);
	free(name);
	return again;
}

static struct around around_of(const struct loops *l, const struct xop *home)
{
	return (struct around){ .ir = l->ir,
		                    .on_loop = l->on,
		                    .home = home,
		                    .names = l->ir->n_regs + 1,
		                    .most_steps = MOST_STEPS };
}

/* One round of ways from everywhere on the loops; *@lost: not all of them were gone through. */
static bool asks_again(const struct loops *l, const struct xop *x, unsigned steps_each, bool *lost)
{
	struct around w = around_of(l, x);
	bool again = false;
	*lost = false;
	for (unsigned i = 0; i <= l->ir->n_blocks && !again && w.steps < MOST_STEPS; i++) {
		const unsigned b = i ? i - 1 : l->home, left = MOST_STEPS - w.steps;
		w.most_steps = w.steps + (steps_each < left ? steps_each : left);
		again = l->on[b] && way_from(&w, b, l->ir->blocks[b].first);
	}
	*lost = w.lost || w.steps >= MOST_STEPS;
	return again;
}

/* *@lost: that cannot be told. */
static bool may_ask_again(const struct loops *l, const struct xop *x, bool *lost)
{
	return asks_again(l, x, FEW_STEPS, lost) || (*lost && asks_again(l, x, MOST_STEPS, lost));
}

/* Does a compare-and-swap compare with the same again, whatever way it comes back? Its first time
 * may be another: the ways begin behind it. */
static bool compares_again(const struct loops *l, const struct xop *x)
{
	struct around w = around_of(l, x);
	w.source = 1;
	w.another = true;
	return !way_from(&w, l->home, (uint32_t)(x - l->ir->ops) + 1) && !w.lost;
}

/* --- what is made of it --- */

static bool speaks(const struct xop *x)
{
	return x->space != SPACE_SHARED && (x->scope == SCOPE_SYS || (x->kind == X_ST && x->strong));
}

/* Is it of memory that others may change meanwhile? Machine code does not tell volatile loads of
 * shared memory from others. */
static bool may_change(const struct ir *ir, const struct xop *x)
{
	if (x->kind != X_LD)
		return x->kind == X_ATOM;
	return x->strong || x->waits_plain ||
	       (ir_of_machine_code(ir) && (xop_looks_afresh(x) || x->space == SPACE_SHARED));
}

/* Does a loop wait by it? One that swaps in what it makes of the value it found goes on by itself.
 */
static bool waits_by(const struct loops *l, const struct xop *x)
{
	if (x->kind == X_ATOM && x->op == ATOM_CAS)
		return stays(l, &x->s[1], MOST_MOVES) || compares_again(l, x);
	return x->kind == X_LD || xop_asks_only(x);
}

static void judge(struct ir *ir, const struct loops *l, struct xop *x)
{
	const bool loops = l->on[l->home], waits = loops && x->decides && waits_by(l, x);
	bool lost = false;
	const bool polls = loops && (x->s[0].kind != S_REG || !written_in_loop(l, x->s[0].reg) ||
	                             (waits && may_ask_again(l, x, &lost)));
	x->polls = polls && (x->kind == X_ATOM || (x->strong && x->decides));
	x->looks = polls && x->kind == X_LD && x->space != SPACE_SHARED;
	/* where that cannot be told, blocks take turns, which does no harm */
	ir->waits |= (polls || lost) && x->space != SPACE_SHARED;
	x->waits = polls && waits;
	x->retries = loops && x->kind == X_ATOM && x->op == ATOM_CAS && !waits;
	for (unsigned b = 0; x->waits && b < ir->n_blocks; b++)
		ir->blocks[b].may_wait |= l->on[b];
}

void ir_find_polls(struct ir *ir)
{
	bool *read = ir_read_registers(ir);
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		struct loops l = { 0 };
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			struct xop *x = &ir->ops[o];
			ir->speaks |= speaks(x);
			/* a counter that is only counted up is not asked */
			if (!may_change(ir, x) || (x->kind == X_ATOM && !xop_is_read(x, read)))
				continue;
			if (!l.ir)
				l = loops_through(ir, b);
			judge(ir, &l, x);
		}
		free(l.on);
	}
	free(read);
}
