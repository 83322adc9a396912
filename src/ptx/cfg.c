/*
 * Control-flow graph of one function: basic blocks, successors, immediate post-dominators.
 * Post-dominators after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001),
 * on the reversed graph with one virtual exit. Loops that never leave end where they begin again,
 * so that a round's branches meet within it; what else never leaves is tied to the exit at its last
 * block, so that every block has an answer.
 * Knows nothing of warps: what reconverges where is the emulator's business.
 */
#include "ptx/ptx.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool leaves_function(enum ptx_op op)
{
	return op == OP_RET || op == OP_EXIT || op == OP_TRAP;
}

static bool ends_block(enum ptx_op op)
{
	return leaves_function(op) || op == OP_BRA || op == OP_BRX_IDX || op == OP_BRKPT ||
	       op == OP_CALL || op == OP_ARRIVAL;
}

static bool is_barrier(const struct ptx_inst *inst)
{
	return (inst->op == OP_BAR || inst->op == OP_BARRIER) && !(inst->flags & PF_ARRIVE);
}

/* Finds the first instructions of blocks and makes the blocks; block_of[inst] is filled. */
static void make_blocks(struct ptx_func *f, const struct ptx_label *labels, unsigned n_labels,
                        uint32_t *block_of)
{
	const unsigned n = f->n_insts;
	bool *starts = mem_calloc(n + 1u, sizeof *starts);
	starts[0] = true;
	for (unsigned i = 0; i < n_labels; i++)
		starts[labels[i].inst] = true;
	for (unsigned i = 0; i < n; i++)
		if (ends_block(f->insts[i].op))
			starts[i + 1] = true;
	f->n_blocks = 0;
	for (unsigned i = 0; i < n; i++)
		f->n_blocks += starts[i];
	f->blocks = mem_calloc(f->n_blocks + 1u, sizeof *f->blocks);
	uint32_t b = 0;
	for (unsigned i = 0; i < n; i++) {
		if (starts[i] && i)
			b++;
		if (starts[i])
			f->blocks[b].first = i;
		f->blocks[b].last = i;
		f->blocks[b].has_barrier |= is_barrier(&f->insts[i]);
		block_of[i] = b;
	}
	free(starts);
}

static void connect_blocks(struct ptx_func *f)
{
	for (unsigned b = 0; b < f->n_blocks; b++) {
		struct ptx_block *block = &f->blocks[b];
		const struct ptx_inst *last = &f->insts[block->last];
		int32_t next = b + 1 < f->n_blocks ? (int32_t)b + 1 : -1;
		bool guarded = last->guard >= 0;
		block->leaves_only = block->first == block->last && leaves_function(last->op) && !guarded;
		block->succ[0] = next;
		block->succ[1] = -1;
		if (last->op == OP_BRA) {
			block->succ[0] = last->opnd[0].label;
			block->succ[1] = guarded ? next : -1;
		} else if (last->op == OP_BRX_IDX) {
			block->succ[0] = -1;
			block->succ[1] = guarded ? next : -1;
		} else if (leaves_function(last->op) && !guarded) {
			block->succ[0] = -1;
		}
	}
}

/* The edges that post-dominance looks at: those of block b are to[first[b] .. first[b + 1]); n, the
 * number of blocks, stands for the exit and -1 for none. */
struct edges {
	int32_t n, *first, *to;
};

static void edges_free(struct edges *e)
{
	free(e->first);
	free(e->to);
}

static const struct ptx_operand *branch_table(const struct ptx_inst *last)
{
	return last->op == OP_BRX_IDX ? &last->opnd[1] : NULL;
}

static struct edges all_edges(const struct ptx_func *f)
{
	const int32_t n = (int32_t)f->n_blocks;
	struct edges e = { .n = n, .first = mem_calloc((size_t)n + 1, sizeof *e.first) };
	for (int32_t b = 0; b < n; b++) {
		const struct ptx_operand *table = branch_table(&f->insts[f->blocks[b].last]);
		e.first[b + 1] = e.first[b] + 2 + (table ? (int32_t)table->i64 : 0);
	}
	e.to = mem_calloc((size_t)e.first[n] + 1, sizeof *e.to);
	for (int32_t b = 0; b < n; b++) {
		const struct ptx_block *block = &f->blocks[b];
		const struct ptx_inst *last = &f->insts[block->last];
		const struct ptx_operand *table = branch_table(last);
		int32_t *out = e.to + e.first[b];
		out[0] = block->succ[0];
		out[1] = block->succ[1];
		for (int64_t i = 0; table && i < table->i64; i++)
			out[2 + i] = f->lists[table->reg + i];
		if (block->succ[0] < 0 && !table)
			out[0] = n;
		else if (leaves_function(last->op) || /* guarded: leaves or goes on */
		         (last->op == OP_BRA && last->guard >= 0 && block->succ[1] < 0))
			out[1] = n; /* the branch falls off the end of the function */
	}
	return e;
}

/* Takes away edges to the exit, and to blocks that only leave, wherever another edge goes on. */
static void keep_staying(const struct ptx_func *f, struct edges *e)
{
	for (int32_t b = 0; b < e->n; b++) {
		bool goes_on = false;
		for (int32_t k = e->first[b]; k < e->first[b + 1]; k++) {
			const int32_t s = e->to[k];
			goes_on |= s >= 0 && s != e->n && !f->blocks[s].leaves_only;
		}
		for (int32_t k = e->first[b]; goes_on && k < e->first[b + 1]; k++) {
			const int32_t s = e->to[k];
			if (s == e->n || (s >= 0 && f->blocks[s].leaves_only))
				e->to[k] = -1;
		}
	}
}

struct post {
	int32_t n; /* blocks; node n is the exit */
	const struct edges *out;
	int32_t *in_first, *in; /* predecessors in the program = successors in the reversed graph */
	bool *tied;             /* has a made-up edge to the exit */
	int32_t *number;        /* place in the postorder of the reversed graph, -1 = not reached */
	int32_t *order;         /* nodes in postorder */
	int32_t n_order;
	int32_t *stack, *at;
	int32_t *idom;
};

static void reverse_edges(struct post *g)
{
	const struct edges *e = g->out;
	for (int32_t k = 0; k < e->first[g->n]; k++)
		if (e->to[k] >= 0)
			g->in_first[e->to[k] + 1]++;
	for (int32_t v = 0; v <= g->n; v++)
		g->in_first[v + 1] += g->in_first[v];
	memcpy(g->at, g->in_first, ((size_t)g->n + 1) * sizeof *g->at);
	for (int32_t b = 0; b < g->n; b++)
		for (int32_t k = e->first[b]; k < e->first[b + 1]; k++)
			if (e->to[k] >= 0)
				g->in[g->at[e->to[k]]++] = b;
}

/* Depth first from @root over the reversed edges, without recursion; numbers in postorder. */
static void walk_back(struct post *g, int32_t root)
{
	int32_t depth = 0;
	g->number[root] = -2; /* open */
	g->at[root] = g->in_first[root];
	g->stack[depth++] = root;
	while (depth) {
		int32_t v = g->stack[depth - 1];
		if (g->at[v] < g->in_first[v + 1]) {
			int32_t w = g->in[g->at[v]++];
			if (g->number[w] == -1) {
				g->number[w] = -2;
				g->at[w] = g->in_first[w];
				g->stack[depth++] = w;
			}
		} else {
			g->number[v] = g->n_order;
			g->order[g->n_order++] = v;
			depth--;
		}
	}
}

static int32_t intersect_paths(const struct post *g, int32_t a, int32_t b)
{
	while (a != b) {
		while (g->number[a] < g->number[b])
			a = g->idom[a];
		while (g->number[b] < g->number[a])
			b = g->idom[b];
	}
	return a;
}

/* The exit must come last in postorder, but tied parts are walked after what it reaches: so
 * first find the blocks to tie, then walk once with the exit as root of all. */
static void find_endless(struct post *g)
{
	walk_back(g, g->n);
	for (int32_t b = g->n - 1; b >= 0; b--)
		if (g->number[b] == -1) {
			g->tied[b] = true;
			walk_back(g, b);
		}
}

static void walk_all(struct post *g)
{
	for (int32_t v = 0; v <= g->n; v++)
		g->number[v] = -1;
	g->n_order = 0;
	g->number[g->n] = -2;
	for (int32_t b = 0; b < g->n; b++)
		if (g->tied[b] && g->number[b] == -1)
			walk_back(g, b);
	for (int32_t i = g->in_first[g->n]; i < g->in_first[g->n + 1]; i++)
		if (g->number[g->in[i]] == -1)
			walk_back(g, g->in[i]);
	g->number[g->n] = g->n_order;
	g->order[g->n_order++] = g->n;
}

static void solve_post_dominators(struct post *g)
{
	for (int32_t v = 0; v <= g->n; v++)
		g->idom[v] = -1;
	g->idom[g->n] = g->n;
	for (bool changed = true; changed;) {
		changed = false;
		for (int32_t i = g->n_order - 2; i >= 0; i--) {
			int32_t v = g->order[i], found = g->tied[v] ? g->n : -1;
			for (int32_t k = g->out->first[v]; k < g->out->first[v + 1]; k++) {
				int32_t s = g->out->to[k];
				if (s < 0 || g->idom[s] < 0)
					continue;
				found = found < 0 ? s : intersect_paths(g, s, found);
			}
			if (g->idom[v] != found) {
				g->idom[v] = found;
				changed = true;
			}
		}
	}
}

/* Immediate post-dominator of every block along the edges @out into @result; the exit is -1. */
static void post_dominators(const struct edges *out, int32_t *result)
{
	const int32_t n = out->n;
	const size_t nodes = (size_t)n + 1;
	struct post g = {
		.n = n,
		.out = out,
		.in_first = mem_calloc(nodes + 1, sizeof *g.in_first),
		.in = mem_calloc((size_t)out->first[n] + 1, sizeof *g.in),
		.tied = mem_calloc(nodes, sizeof *g.tied),
		.number = mem_calloc(nodes, sizeof *g.number),
		.order = mem_calloc(nodes, sizeof *g.order),
		.stack = mem_calloc(nodes, sizeof *g.stack),
		.at = mem_calloc(nodes, sizeof *g.at),
		.idom = mem_calloc(nodes, sizeof *g.idom),
	};
	for (int32_t v = 0; v <= n; v++)
		g.number[v] = -1;
	reverse_edges(&g);
	find_endless(&g);
	walk_all(&g);
	solve_post_dominators(&g);
	for (int32_t v = 0; v < n; v++)
		result[v] = g.idom[v] == n ? -1 : g.idom[v];
	free(g.in_first);
	free(g.in);
	free(g.tied);
	free(g.number);
	free(g.order);
	free(g.stack);
	free(g.at);
	free(g.idom);
}

/* --- loops that never leave: those too whose lanes only return, one after the other --- */

/* From which blocks can the exit be reached, or the beginning of a loop that stands for it (< -1)?
 */
static void find_leaving(const struct edges *e, bool *leaves)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (int32_t b = e->n; b-- > 0;)
			for (int32_t k = e->first[b]; k < e->first[b + 1] && !leaves[b]; k++) {
				const int32_t s = e->to[k];
				if (s == e->n || s < -1 || (s >= 0 && leaves[s]))
					leaves[b] = changed = true;
			}
	}
}

/* Depth first from block 0: @down and @up number the blocks on the way there and back, from 1; 0 =
 * not reached. */
static void number_blocks(const struct edges *e, int32_t *down, int32_t *up)
{
	int32_t *stack = mem_calloc((size_t)e->n + 1, sizeof *stack), depth = 0, n_down = 0, n_up = 0;
	int32_t *at = mem_calloc((size_t)e->n + 1, sizeof *at);
	memcpy(at, e->first, (size_t)e->n * sizeof *at);
	stack[depth++] = 0;
	down[0] = ++n_down;
	while (depth) {
		const int32_t b = stack[depth - 1];
		if (at[b] == e->first[b + 1]) {
			up[b] = ++n_up;
			depth--;
			continue;
		}
		const int32_t s = e->to[at[b]++];
		if (s >= 0 && s < e->n && !down[s]) {
			down[s] = ++n_down;
			stack[depth++] = s;
		}
	}
	free(stack);
	free(at);
}

/* Where the outermost loop begins that never leaves; -1 = there is none. */
static int32_t endless_loop(const struct edges *e, const bool *leaves, const int32_t *down,
                            const int32_t *up)
{
	int32_t found = -1;
	for (int32_t b = 0; b < e->n; b++)
		for (int32_t k = e->first[b]; k < e->first[b + 1]; k++) {
			const int32_t s = e->to[k];
			const bool back = s >= 0 && s < e->n && down[b] && down[s] <= down[b] && up[s] >= up[b];
			if (back && !leaves[s] && (found < 0 || down[s] < down[found]))
				found = s;
		}
	return found;
}

/* Edges back to @begin, within the loop, lead to what stands for it: -2 - begin. */
static void end_rounds(struct edges *e, int32_t begin, const int32_t *down, const int32_t *up)
{
	for (int32_t b = 0; b < e->n; b++)
		for (int32_t k = e->first[b]; k < e->first[b + 1]; k++)
			if (e->to[k] == begin && down[b] && down[begin] <= down[b] && up[begin] >= up[b])
				e->to[k] = -2 - begin;
}

/* @e with a block more, n + b, for each block b: where a round ends that began at b; it leads to
 * the exit. */
static struct edges with_ends(const struct edges *e)
{
	const int32_t n = e->n, n_edges = e->first[n];
	struct edges w = { .n = 2 * n, .first = mem_calloc(2 * (size_t)n + 1, sizeof *w.first) };
	w.to = mem_calloc((size_t)(n_edges + n) + 1, sizeof *w.to);
	memcpy(w.first, e->first, ((size_t)n + 1) * sizeof *w.first);
	for (int32_t k = 0; k < n_edges; k++)
		w.to[k] = e->to[k] == n ? 2 * n : e->to[k] < -1 ? n + (-2 - e->to[k]) : e->to[k];
	for (int32_t b = 0; b < n; b++) {
		w.to[n_edges + b] = 2 * n;
		w.first[n + b + 1] = n_edges + b + 1;
	}
	return w;
}

static void meeting_points(struct edges *e, int32_t *result)
{
	const size_t n = (size_t)e->n + 1;
	int32_t *down = mem_calloc(n, sizeof *down), *up = mem_calloc(n, sizeof *up), begin;
	bool *leaves = mem_calloc(n, sizeof *leaves), any = false;
	number_blocks(e, down, up);
	find_leaving(e, leaves);
	while ((begin = endless_loop(e, leaves, down, up)) >= 0) {
		end_rounds(e, begin, down, up);
		find_leaving(e, leaves);
		any = true;
	}
	free(down);
	free(up);
	free(leaves);
	if (!any) {
		post_dominators(e, result);
		return;
	}
	struct edges w = with_ends(e);
	int32_t *all = mem_calloc((size_t)w.n, sizeof *all);
	post_dominators(&w, all);
	for (int32_t b = 0; b < e->n; b++)
		result[b] = all[b] >= e->n ? all[b] - e->n : all[b];
	free(all);
	edges_free(&w);
}

/* Labels to blocks: an operand's, or an entry's of a branch table. */
struct targets {
	const struct ptx_func *f;
	const struct ptx_label *labels;
	unsigned n_labels;
	const uint32_t *block_of;
};

static bool set_target(const struct targets *t, unsigned inst, int32_t *label, struct err *err)
{
	if (*label < 0 || (unsigned)*label >= t->n_labels)
		return err_set(err, ERR_INTERNAL, "%s: branch %u has no label", t->f->name, inst);
	if (t->labels[*label].inst == t->f->n_insts)
		return err_set(err, ERR_INTERNAL, "%s: branch %u leads behind the function", t->f->name,
		               inst);
	*label = (int32_t)t->block_of[t->labels[*label].inst];
	return true;
}

static bool set_targets(struct ptx_func *f, const struct targets *t, struct err *err)
{
	bool *done = mem_calloc(f->n_lists + 1u, sizeof *done); /* several branches may share a table */
	bool ok = true;
	for (unsigned i = 0; i < f->n_insts && ok; i++) {
		struct ptx_operand *o = f->insts[i].opnd;
		if (f->insts[i].op == OP_BRA)
			ok = o->kind == OPND_LABEL
			         ? set_target(t, i, &o->label, err)
			         : err_set(err, ERR_INTERNAL, "%s: branch %u has no label", f->name, i);
		if (f->insts[i].op != OP_BRX_IDX || done[o[1].reg])
			continue;
		done[o[1].reg] = true;
		for (int64_t k = 0; k < o[1].i64 && ok; k++)
			ok = set_target(t, i, &f->lists[o[1].reg + k], err);
	}
	free(done);
	return ok;
}

bool ptx_build_cfg(struct ptx_func *f, const struct ptx_label *labels, unsigned n_labels,
                   struct err *err)
{
	uint32_t *block_of = mem_calloc(f->n_insts + 1u, sizeof *block_of);
	bool ok = true;
	for (unsigned i = 0; i < n_labels && ok; i++)
		if (labels[i].inst > f->n_insts)
			ok = err_set(err, ERR_INTERNAL, "%s: label %u lies behind the function", f->name, i);
	if (ok)
		make_blocks(f, labels, n_labels, block_of);
	const struct targets t = { f, labels, n_labels, block_of };
	ok = ok && set_targets(f, &t, err);
	free(block_of);
	if (!ok || !f->n_insts)
		return ok;
	connect_blocks(f);
	int32_t *result = mem_calloc(f->n_blocks, sizeof *result);
	struct edges e = all_edges(f);
	post_dominators(&e, result);
	for (unsigned b = 0; b < f->n_blocks; b++)
		f->blocks[b].ipdom = result[b];
	keep_staying(f, &e);
	meeting_points(&e, result);
	for (unsigned b = 0; b < f->n_blocks; b++)
		f->blocks[b].reconv = result[b];
	edges_free(&e);
	free(result);
	return true;
}
