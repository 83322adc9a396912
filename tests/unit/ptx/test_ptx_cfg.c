/*
 * Control-flow graphs: blocks, successors, immediate post-dominators, points of reconvergence.
 * Shapes by hand, and random graphs against the definition computed the slow way.
 */
#include "ptx_fixture.h"

static struct ptx_module m;

static int teardown(void **state)
{
	(void)state;
	ptx_free(&m);
	return 0;
}

static const struct ptx_func *graph(const char *statements)
{
	struct text t = { 0 };
	text_add(&t, "%s%s\n}\n", HEAD ".entry k() {\n" REGS, statements);
	ptx_free(&m);
	m = parsed(t.s);
	text_free(&t);
	return kernel(&m);
}

static void assert_block(const struct ptx_func *f, unsigned b, unsigned first, unsigned last,
                         int taken, int falls, int ipdom)
{
	assert_true(b < f->n_blocks);
	assert_int_equal(f->blocks[b].first, first);
	assert_int_equal(f->blocks[b].last, last);
	assert_int_equal(f->blocks[b].succ[0], taken);
	assert_int_equal(f->blocks[b].succ[1], falls);
	assert_int_equal(f->blocks[b].ipdom, ipdom);
}

TEST(straight)
{
	const struct ptx_func *f = graph("mov.u32 %r1, 1; bar.sync 0; mov.u32 %r2, 2; ret;");
	assert_int_equal(f->n_blocks, 1);
	assert_block(f, 0, 0, 3, -1, -1, -1);
	assert_true(f->blocks[0].has_barrier);
	assert_false(f->blocks[0].leaves_only);
	assert_int_equal(f->blocks[0].reconv, -1);
}

TEST(diamond)
{
	const struct ptx_func *f =
		graph("@%p1 bra ELSE; mov.u32 %r1, 1; bra.uni END; ELSE: mov.u32 %r1, 2;"
	          "END: mov.u32 %r2, %r1; ret;");
	assert_int_equal(f->n_blocks, 4);
	assert_block(f, 0, 0, 0, 2, 1, 3);
	assert_block(f, 1, 1, 2, 3, -1, 3);
	assert_block(f, 2, 3, 3, 3, -1, 3);
	assert_block(f, 3, 4, 5, -1, -1, -1);
	assert_int_equal(f->insts[0].opnd[0].label, 2);
	assert_int_equal(f->blocks[0].reconv, 3);
}

/* A switch: two branches share a table; a case that only leaves is not waited for. */
TEST(label_at_the_end)
{
	const struct ptx_func *f = graph("@%p1 bra END; mov.u32 %r1, 1; END:");
	assert_int_equal(f->n_blocks, 3);
	assert_block(f, 0, 0, 0, 2, 1, 2);
	assert_block(f, 2, 2, 2, -1, -1, -1);
	assert_int_equal(f->insts[2].op, OP_RET);
}

TEST(branch_table)
{
	const struct ptx_func *f =
		graph("T: .branchtargets A, B, A, C; brx.idx %r1, T; A: mov.u32 %r2, 1; bra.uni END;"
	          "B: mov.u32 %r2, 2; brx.idx %r2, T; C: ret; END: mov.u32 %r3, 1; ret;");
	char text[80];
	assert_int_equal(f->n_blocks, 5);
	assert_block(f, 0, 0, 0, -1, -1, -1);
	assert_block(f, 1, 1, 2, 4, -1, 4);
	assert_block(f, 2, 3, 4, -1, -1, -1);
	assert_int_equal(f->insts[0].opnd[1].i64, 4);
	const int32_t *to = f->lists + f->insts[0].opnd[1].reg;
	assert_true(to[0] == 1 && to[1] == 2 && to[2] == 1 && to[3] == 3);
	assert_int_equal(f->insts[4].opnd[1].reg, f->insts[0].opnd[1].reg);
	assert_true(f->blocks[3].leaves_only);
	assert_int_equal(f->blocks[0].reconv, 1); /* B comes back to A or to itself */
	assert_int_equal(f->blocks[2].reconv, 1);
	ptx_inst_format(&m, f, &f->insts[0], text, sizeof text);
	assert_string_equal(text, "brx.idx %r1, (B1, B2, B1, B3)");
}

TEST(loop)
{
	const struct ptx_func *f =
		graph("mov.u32 %r1, 0; TOP: add.u32 %r1, %r1, 1; bar.arrive 0, 32;"
	          "setp.lt.u32 %p1, %r1, 9; @%p1 bra TOP; mov.u32 %r2, %r1; ret;");
	assert_int_equal(f->n_blocks, 3);
	assert_block(f, 0, 0, 0, 1, -1, 1);
	assert_block(f, 1, 1, 4, 1, 2, 2);
	assert_block(f, 2, 5, 6, -1, -1, -1);
	assert_false(f->blocks[1].has_barrier); /* arriving does not wait */
	assert_int_equal(f->blocks[1].reconv, 2);
}

/* while (a) { if (b) break; if (c) x; } y */
TEST(nested_with_break)
{
	const struct ptx_func *f =
		graph("TOP: setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; @%p2 bra DONE;"
	          "@!%p3 bra NEXT; mov.u32 %r3, 1; NEXT: add.u32 %r1, %r1, -1; bra TOP;"
	          "DONE: mov.u32 %r2, 1; ret;");
	assert_int_equal(f->n_blocks, 6);
	assert_block(f, 0, 0, 1, 5, 1, 5);
	assert_block(f, 1, 2, 2, 5, 2, 5);
	assert_block(f, 2, 3, 3, 4, 3, 4);
	assert_block(f, 3, 4, 4, 4, -1, 4);
	assert_block(f, 4, 5, 6, 0, -1, 0);
	assert_block(f, 5, 7, 8, -1, -1, -1);
}

/* if (a) { if (b) return; x } y: lanes that return are not waited for, so all meet again at y. */
TEST(early_return)
{
	const struct ptx_func *f = graph("@!%p1 bra Y; @%p2 bra OUT; mov.u32 %r1, 1; Y: mov.u32 %r2, 1;"
	                                 "OUT: ret;");
	assert_int_equal(f->n_blocks, 5);
	assert_block(f, 0, 0, 0, 3, 1, 4);
	assert_block(f, 1, 1, 1, 4, 2, 4);
	assert_block(f, 2, 2, 2, 3, -1, 3);
	assert_block(f, 3, 3, 3, 4, -1, 4);
	assert_true(f->blocks[4].leaves_only);
	assert_int_equal(f->blocks[0].reconv, 3);
	assert_int_equal(f->blocks[1].reconv, 2);
	assert_int_equal(f->blocks[3].reconv, 4);
	assert_int_equal(f->blocks[4].reconv, -1);
}

/* while (true) { if (a) { x } barrier; if (b) return; if (c) { y } }: the sides of a branch meet
 * within the round, though lanes leave in the middle of it. */
TEST(rounds_with_return)
{
	const struct ptx_func *f =
		graph("END: bar.sync 0; TOP: @%p1 bra GO; mov.u32 %r1, 1; GO: bar.sync 0; @%p2 bra OUT;"
	          "@%p1 bra END; mov.u32 %r2, 1; bra.uni END; OUT: ret;");
	assert_int_equal(f->n_blocks, 7);
	assert_int_equal(f->blocks[1].reconv, 3);
	assert_int_equal(f->blocks[3].reconv, 4);
	assert_int_equal(f->blocks[4].reconv, 0);
	assert_int_equal(f->blocks[5].reconv, 0);
}

/* while (true) { if (a) { x; if (b) return; continue; } y }: the next round */
TEST(rounds_that_continue)
{
	const struct ptx_func *f = graph("TOP: @%p1 bra Y; mov.u32 %r1, 1; @%p2 bra OUT; bra TOP;"
	                                 "Y: mov.u32 %r1, 2; bra TOP; OUT: ret;");
	assert_int_equal(f->n_blocks, 5);
	assert_int_equal(f->blocks[0].reconv, 0);
	assert_int_equal(f->blocks[1].reconv, 2);
}

TEST(guarded_exit)
{
	const struct ptx_func *f =
		graph("@%p1 exit; mov.u32 %r1, 1; @!%p2 ret; @%p3 trap; mov.u32 %r2, 1;");
	assert_int_equal(f->n_blocks, 4);
	assert_block(f, 0, 0, 0, 1, -1, -1);
	assert_block(f, 1, 1, 2, 2, -1, -1);
	assert_block(f, 2, 3, 3, 3, -1, -1);
	assert_block(f, 3, 4, 4, -1, -1, -1); /* falls off the end: an implicit return */
	assert_int_equal(f->blocks[0].reconv, 1);
	assert_int_equal(f->blocks[1].reconv, 2);
	assert_int_equal(f->blocks[2].reconv, 3);
}

TEST(endless)
{
	const struct ptx_func *f =
		graph("@%p1 bra OUT; TOP: add.u32 %r1, %r1, 1; @%p2 bra TOP; bra TOP; OUT: ret;");
	assert_int_equal(f->n_blocks, 4);
	assert_block(f, 0, 0, 0, 3, 1, -1);
	assert_block(f, 1, 1, 2, 1, 2, 2);
	assert_block(f, 2, 3, 3, 1, -1, -1);
	assert_block(f, 3, 4, 4, -1, -1, -1);
	f = graph("TOP: bra TOP;");
	assert_int_equal(f->n_blocks, 1);
	assert_block(f, 0, 0, 0, 0, -1, -1);
}

/* Two entries into one cycle. */
TEST(irreducible)
{
	const struct ptx_func *f =
		graph("@%p1 bra B; A: mov.u32 %r1, 1; @%p2 bra OUT; B: mov.u32 %r1, 2;"
	          "@%p3 bra A; OUT: mov.u32 %r2, 2; ret;");
	assert_int_equal(f->n_blocks, 4);
	assert_block(f, 0, 0, 0, 2, 1, 3);
	assert_block(f, 1, 1, 2, 3, 2, 3);
	assert_block(f, 2, 3, 4, 1, 3, 3);
	assert_block(f, 3, 5, 6, -1, -1, -1);
}

TEST(unreachable_and_double_edges)
{
	const struct ptx_func *f =
		graph("@%p1 bra NEXT; NEXT: bra OUT; mov.u32 %r1, 1; OUT: brkpt; ret;");
	assert_int_equal(f->n_blocks, 5);
	assert_block(f, 0, 0, 0, 1, 1, 1);
	assert_block(f, 1, 1, 1, 3, -1, 3);
	assert_block(f, 2, 2, 2, 3, -1, 3);
	assert_block(f, 3, 3, 3, 4, -1, 4);
	f = graph("");
	assert_int_equal(f->n_blocks, 0);
	assert_int_equal(f->n_insts, 0);
}

/* --- the definition, the slow way --- */
#define MAX_BLOCKS 24

/* Can the exit be reached from @from without passing @without? */
static bool reaches_exit(const struct ptx_func *f, int from, int without)
{
	bool seen[MAX_BLOCKS] = { false };
	int stack[MAX_BLOCKS], depth = 0;
	if (from == without)
		return false;
	stack[depth++] = from;
	seen[from] = true;
	while (depth) {
		int b = stack[--depth];
		const struct ptx_block *block = &f->blocks[b];
		const struct ptx_inst *last = &f->insts[block->last];
		if (last->op == OP_RET || block->succ[0] < 0 ||
		    (last->op == OP_BRA && last->guard >= 0 && block->succ[1] < 0))
			return true;
		for (int k = 0; k < 2; k++) {
			int s = block->succ[k];
			if (s >= 0 && s != without && !seen[s]) {
				seen[s] = true;
				stack[depth++] = s;
			}
		}
	}
	return false;
}

/* d post-dominates b if every way from b to the exit passes it; the immediate one is the one that
 * all others post-dominate too. */
static int slow_ipdom(const struct ptx_func *f, int b)
{
	for (int d = 0; d < (int)f->n_blocks; d++) {
		if (d == b || reaches_exit(f, b, d))
			continue;
		bool immediate = true;
		for (int e = 0; e < (int)f->n_blocks; e++)
			if (e != b && e != d && !reaches_exit(f, b, e) && reaches_exit(f, d, e))
				immediate = false;
		if (immediate)
			return d;
	}
	return -1;
}

TEST(random_graphs)
{
	uint64_t seed = 20;
	int compared = 0, chains = 0; /* chains: meeting points that are post-dominators, too */
	for (int round = 0; round < 400; round++) {
		struct text t = { 0 };
		int n = 2 + (int)(rand_next(&seed) % (MAX_BLOCKS / 2 - 2));
		for (int b = 0; b < n; b++) {
			int target = (int)(rand_next(&seed) % (uint64_t)n);
			text_add(&t, "L%d: mov.u32 %%r1, %d; ", b, b);
			switch (rand_next(&seed) % 6) {
			case 0: text_add(&t, "bra L%d;\n", target); break;
			case 1: text_add(&t, "%sret;\n", rand_next(&seed) % 2 ? "@%p1 " : ""); break;
			case 2: text_add(&t, "\n"); break;
			default: text_add(&t, "@%%p1 bra L%d;\n", target); break;
			}
		}
		text_add(&t, "ret;");
		const struct ptx_func *f = graph(t.s);
		text_free(&t);
		assert_true(f->n_blocks <= MAX_BLOCKS);
		bool leaves = true; /* the definition says nothing about endless parts */
		for (int b = 0; b < (int)f->n_blocks; b++)
			leaves &= reaches_exit(f, b, -1);
		for (int b = 0; leaves && b < (int)f->n_blocks; b++, compared++)
			assert_int_equal(f->blocks[b].ipdom, slow_ipdom(f, b));
		/* from every block, following ipdom ends; so does reconv, but in rounds without an end */
		for (int b = 0; b < (int)f->n_blocks; b++) {
			int steps = 0, r = b;
			for (; r >= 0 && steps <= MAX_BLOCKS; steps++)
				r = f->blocks[r].ipdom;
			assert_true(steps <= MAX_BLOCKS);
			assert_in_range(f->blocks[b].reconv + 1, 0, f->n_blocks);
			chains += f->blocks[b].reconv >= 0 && f->blocks[b].reconv == f->blocks[b].ipdom;
		}
	}
	assert_true(compared > 1000 && chains > 1000);
}

TEST(direct_use)
{
	struct err err = { 0 };
	struct ptx_inst insts[2] = {
		{ .op = OP_BRA, .guard = 0, .n_opnds = 1, .opnd = { { .kind = OPND_LABEL, .label = 0 } } },
		{ .op = OP_RET, .guard = -1 },
	};
	struct ptx_func f = { .n_insts = 2, .insts = insts };
	char name[] = "f";
	f.name = name;
	const struct ptx_label label = { .inst = 1 };
	assert_true(ptx_build_cfg(&f, &label, 1, &err));
	assert_block(&f, 0, 0, 0, 1, 1, 1);
	free(f.blocks);
	f.blocks = NULL;
	insts[0].opnd[0].label = 5;
	assert_false(ptx_build_cfg(&f, &label, 1, &err));
	assert_int_equal(err.code, ERR_INTERNAL);
	free(f.blocks);
}

int main(void)
{
	return unit_run(NULL, teardown);
}
