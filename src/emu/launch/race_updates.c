/*
 * Races that only matter by the order in which their two sides run, and those that lose updates.
 *
 * Where threads only mark what they find unmarked, it is enough to ask whether another order leaves
 * the same. Where one stores what follows from what it loaded (*sum += x), stores its own value if
 * that is better than what it loaded (if (*most < x) *most = x), or counts by what it loaded, two
 * that load the same value lose one update, and no order of whole blocks shows it.
 */
#include "emu/launch/fault_text.h"

#include "base/mem.h"

#include <stdlib.h>

static bool source_follows(const struct xop *x, unsigned i, const bool *follows)
{
	return i < x->n_s && x->s[i].kind == S_REG && follows[x->s[i].reg];
}

static bool goes_on(const struct xop *x, const bool *follows)
{
	if (x->kind == X_LD || x->kind == X_ATOM)
		return false; /* another value, of the place that follows */
	for (unsigned i = 0; i < x->n_s; i++)
		if (source_follows(x, i, follows))
			return true;
	return false;
}

/* By register: may its value follow from what @load brought? The caller's. */
static bool *follow(const struct ir *ir, const struct xop *load)
{
	bool *follows = mem_calloc(ir->n_regs + 1, sizeof *follows);
	for (bool more = true; more;) {
		more = false;
		for (const struct xop *x = ir->ops; x < ir->ops + ir->n_ops; x++) {
			if (x != load && !goes_on(x, follows))
				continue;
			for (unsigned i = 0; i < x->n_d; i++)
				if (x->d[i] >= 0 && !follows[x->d[i]])
					more = follows[x->d[i]] = true;
		}
	}
	return follows;
}

static bool stores_what_follows(const struct xop *store, const bool *follows)
{
	for (unsigned i = 1; i < store->n_s; i++)
		if (source_follows(store, i, follows))
			return true;
	return false;
}

/* Does @store put back what follows from @load, or any store to where @load looked? */
static bool puts_back(const struct ir *ir, const struct xop *load, const struct xop *store,
                      const bool *follows)
{
	for (const struct xop *x = ir->ops; x < ir->ops + ir->n_ops; x++)
		if (x->kind == X_ST && (x == store || race_same_address(ir, x, load)) &&
		    stores_what_follows(x, follows))
			return true;
	return false;
}

/* By block: does it lie behind @block, as far as @meet (-1 = to the end)? The caller's. */
static bool *blocks_behind(const struct ir *ir, uint32_t block, int32_t meet)
{
	bool *seen = mem_calloc(ir->n_blocks + 1, sizeof *seen);
	uint32_t *open = mem_calloc(ir->n_blocks + 2, sizeof *open), n = 0;
	open[n++] = block;
	while (n) {
		const struct xblock *b = &ir->blocks[open[--n]];
		for (uint32_t i = 0; i < 2 + b->n_targets; i++) {
			const int32_t to = xblock_successor(b, i);
			if (to < 0 || to == meet || seen[to])
				continue;
			seen[to] = true;
			open[n++] = (uint32_t)to;
		}
	}
	free(open);
	return seen;
}

/* Adds an atomic to what lies behind @block, as far as where its sides meet again? */
static bool counts_behind(const struct ir *ir, uint32_t block)
{
	bool found = false, *behind = blocks_behind(ir, block, ir->blocks[block].reconv);
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; b != block && behind[b] && o < ir->blocks[b].end;
		     o++)
			found |= ir->ops[o].kind == X_RED;
	free(behind);
	return found;
}

/* Is there an atomic that is done or not by what follows? */
static bool counts_by(const struct ir *ir, const bool *follows)
{
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			const struct xop *x = &ir->ops[o];
			if (x->guard < 0 || !follows[x->guard])
				continue;
			if (x->kind == X_RED || (x->kind == X_BRA && counts_behind(ir, b)))
				return true;
		}
	return false;
}

static bool is_given(const struct xop *x)
{
	return x->kind == X_LD && (x->space == SPACE_PARAM || x->space == SPACE_CONST);
}

/* By register: may the value that @store stores follow from it? The caller's. @own: is there
 * anything among it that threads have each their own of, an index or what memory holds? */
static bool *feeds(const struct ir *ir, const struct xop *store, bool *own)
{
	bool *feeds = mem_calloc(ir->n_regs + 1, sizeof *feeds);
	for (unsigned i = 1; i < store->n_s; i++)
		if (store->s[i].kind == S_REG)
			feeds[store->s[i].reg] = true;
	*own = false;
	for (bool more = true; more;) {
		more = false;
		for (const struct xop *x = ir->ops; x < ir->ops + ir->n_ops; x++) {
			bool fed = false;
			for (unsigned i = 0; i < x->n_d; i++)
				fed |= x->d[i] >= 0 && feeds[x->d[i]];
			if (!fed || is_given(x))
				continue;
			const bool plain =
				x->kind == X_OP || x->kind == X_CMP || x->kind == X_PRED || x->kind == X_SEL;
			*own |= !plain;
			for (unsigned i = 0; plain && i < x->n_s; i++)
				if (x->s[i].kind == S_REG && !feeds[x->s[i].reg])
					more = feeds[x->s[i].reg] = true;
		}
	}
	return feeds;
}

/* Is what @store stores, a value of the thread's own, compared with what @load brought? */
static bool keeps_better(const struct ir *ir, const struct xop *store, const bool *follows)
{
	bool own, better = false, *value = feeds(ir, store, &own);
	for (const struct xop *x = ir->ops; own && x < ir->ops + ir->n_ops; x++)
		better |=
			x->kind == X_CMP && ((source_follows(x, 0, follows) && source_follows(x, 1, value)) ||
		                         (source_follows(x, 1, follows) && source_follows(x, 0, value)));
	free(value);
	return better;
}

static bool loses_updates(const struct ir *ir, const struct xop *load, const struct xop *store)
{
	if (load->kind != X_LD || store->kind != X_ST)
		return false;
	bool *follows = follow(ir, load);
	const bool loses = puts_back(ir, load, store, follows) || keeps_better(ir, store, follows) ||
	                   counts_by(ir, follows);
	free(follows);
	return loses;
}

/* Tells one block what another has done. */
static bool learns(const struct xop *x)
{
	return x->kind == X_ATOM || x->polls || x->strong || x->hands_on || x->sem > SEM_WEAK;
}

struct party {
	uint64_t block;
	uint32_t thread, op;
};

static bool same_thread(const struct party *a, const struct party *b)
{
	return a->block == b->block && a->thread == b->thread;
}

/* One place where two threads meet: who came first in this run, and who came then. */
struct meeting {
	struct party first, then;
};

static struct meeting meeting_of(const struct emu_fault *f)
{
	return (struct meeting){ { f->other_block, f->other_thread, f->other_op },
		                     { f->block, f->warp * 32 + f->lane, f->xop } };
}

/* Does the thread of @p use the other place for sure, whatever it loads at the first one? It does
 * if it stores there; or if it has seen what the other stored, and went on as it did. */
static bool goes_on_for_sure(const struct ir *ir, const struct party *p, const struct meeting *at)
{
	return ir->ops[p->op].kind != X_LD || p == &at->then;
}

static uint32_t block_of(const struct ir *ir, const struct xop *x)
{
	uint32_t b = 0;
	while (b + 1 < ir->n_blocks &&
	       (x < &ir->ops[ir->blocks[b].first] || x >= &ir->ops[ir->blocks[b].end]))
		b++;
	return b;
}

static bool comes_behind(const struct ir *ir, const struct xop *load, const struct xop *store)
{
	const uint32_t from = block_of(ir, load), to = block_of(ir, store);
	if (from == to && load < store)
		return true;
	bool *behind = blocks_behind(ir, from, -1);
	const bool comes = behind[to];
	free(behind);
	return comes;
}

/* Is what is stored where they meet a mark, which threads store where they find none? */
static bool is_mark(const struct ir *ir, const struct meeting *at)
{
	const struct xop *x = &ir->ops[at->first.op], *y = &ir->ops[at->then.op];
	const struct xop *store = x->kind == X_ST ? x : y;
	for (const struct xop *load = ir->ops; load < ir->ops + ir->n_ops; load++)
		if (store->kind == X_ST && load->kind == X_LD && load->decides &&
		    race_same_address(ir, load, store) && comes_behind(ir, load, store))
			return true;
	return false;
}

/* Do two threads meet at two places, of which one comes to the first before the second, the other
 * too late to be wholly before or behind it? As where one stores a value, then its flag, and the
 * other loads the flag, then the value: what both see may come of no order of the two. */
static bool in_circle(const struct emu_launch *l, const struct emu_fault *f,
                      const struct emu_fault *g)
{
	const struct ir *ir = &l->image.ir;
	const struct meeting a = meeting_of(f), b = meeting_of(g);
	const bool turned = !same_thread(&a.first, &b.first);
	const struct party *mine = &a.first, *theirs = &a.then, *other = turned ? &b.then : &b.first,
					   *another = turned ? &b.first : &b.then;
	if (g->kind != FAULT_RACE || g->space != f->space || f->address == g->address ||
	    !same_thread(mine, other) || !same_thread(theirs, another))
		return false;
	/* instructions that are one do the same to many places, as to neighbours in a graph */
	if (mine->op == other->op || theirs->op == another->op || mine->op == another->op ||
	    theirs->op == other->op || (mine->op < other->op) != (another->op < theirs->op))
		return false;
	const bool at_mine = mine->op < other->op; /* where one of them begins, the other ends */
	if (!goes_on_for_sure(ir, at_mine ? mine : other, at_mine ? &a : &b) ||
	    !goes_on_for_sure(ir, at_mine ? another : theirs, at_mine ? &b : &a))
		return false;
	return !race_custom(l, g) && !(is_mark(ir, &a) && is_mark(ir, &b));
}

static bool in_any_circle(const struct emu_launch *l, const struct emu_fault *f)
{
	for (unsigned k = 0; k < l->n_workers; k++)
		for (unsigned i = 0; i < l->workers[k].n_noted; i++)
			if (in_circle(l, f, &l->workers[k].noted[i]))
				return true;
	return false;
}

bool race_of_order(const struct emu_launch *l, const struct emu_fault *f)
{
	const struct ir *ir = &l->image.ir;
	if (f->kind != FAULT_RACE || f->scope || f->space != SPACE_GLOBAL || l->grid.together ||
	    l->grid.order.cluster[0])
		return false;
	for (const struct xop *x = ir->ops; x < ir->ops + ir->n_ops; x++)
		if (x->kind != X_RED && learns(x))
			return false;
	const struct xop *mine = &ir->ops[f->xop], *theirs = &ir->ops[f->other_op];
	/* two stores of different values, where another order changes it: one had looked before */
	if (mine->kind == X_ST && theirs->kind == X_ST)
		return false;
	return !loses_updates(ir, mine, theirs) && !loses_updates(ir, theirs, mine) &&
	       !in_any_circle(l, f);
}
