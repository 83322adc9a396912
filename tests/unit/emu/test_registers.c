/* Registers of machine code: one for each web of writes and reads, one for both words of a value.
 */
#include "../unit.h"
#include "base/mem.h"
#include "emu/analysis/analysis.h"

static const struct xreg kinds[] = { { .bytes = 4 }, { .bytes = 4 }, { .bytes = 8 }, { .bytes = 8 },
	                                 { .bytes = 4 }, { .bytes = 0 }, { .bytes = 0 } };
enum { LOW, HIGH, SUM, PLACE, VALUE, GUARD, OTHER, REGISTERS };

static struct xsrc reg(int32_t r)
{
	return (struct xsrc){ .kind = S_REG, .reg = r };
}

static struct xsrc number(uint64_t v)
{
	return (struct xsrc){ .kind = S_CONST, .value = v };
}

static struct xop op(enum emu_op o, int32_t d, struct xsrc a, struct xsrc b)
{
	return (struct xop){ .kind = X_OP,
		                 .op = (uint16_t)o,
		                 .first = true,
		                 .n_d = 1,
		                 .d = { d },
		                 .n_s = 2,
		                 .s = { a, b },
		                 .guard = -1,
		                 .mem = -1,
		                 .vec = 1 };
}

static struct xop op1(enum emu_op o, int32_t d, struct xsrc a)
{
	struct xop x = op(o, d, a, a);
	x.n_s = 1;
	return x;
}

/* A store, so that the value is needed. */
static struct xop use(int32_t place, int32_t value)
{
	return (struct xop){ .kind = X_ST,
		                 .first = true,
		                 .n_s = 2,
		                 .s = { reg(place), reg(value) },
		                 .guard = -1,
		                 .mem = 0,
		                 .vec = 1 };
}

static void make(struct ir *ir, const struct xop *ops, unsigned n, const struct xblock *blocks,
                 unsigned n_blocks)
{
	*ir = (struct ir){ .n_ops = n, .n_regs = REGISTERS, .n_blocks = n_blocks };
	ir->ops = mem_calloc(n, sizeof *ops);
	ir->cap_ops = n;
	ir->regs = mem_calloc(REGISTERS, sizeof *ir->regs);
	ir->cap_regs = REGISTERS;
	ir->blocks = mem_calloc(n_blocks, sizeof *blocks);
	memcpy(ir->ops, ops, n * sizeof *ops);
	memcpy(ir->regs, kinds, sizeof kinds);
	memcpy(ir->blocks, blocks, n_blocks * sizeof *blocks);
	ir_find_only_defs(ir);
}

TEST(values_that_share_a_register_are_parted)
{
	struct xop guarded = op1(E_mov_b32, VALUE, number(3));
	guarded.guard = GUARD;
	const struct xop ops[] = { op1(E_mov_b32, VALUE, number(1)), use(PLACE, VALUE),
		                       op1(E_mov_b32, VALUE, number(2)), guarded, use(PLACE, VALUE) };
	const struct xblock block = { .end = 5, .succ = { -1, -1 }, .reconv = -1 };
	struct ir ir;
	make(&ir, ops, 5, &block, 1);
	webs_split(&ir);
	const int32_t first = ir.ops[0].d[0], second = ir.ops[2].d[0];
	assert_int_not_equal(first, second);
	assert_int_equal(ir.ops[1].s[1].reg, first);
	/* lanes without the guard keep what the write before left */
	assert_int_equal(ir.ops[3].d[0], second);
	assert_int_equal(ir.ops[4].s[1].reg, second);
	assert_int_equal(ir.regs[second].bytes, 4);
	ir_free(&ir);
}

/* What two ways write and a third reads is one value. */
TEST(ways_that_meet_keep_one_register)
{
	struct xop branch = { .kind = X_BRA, .first = true, .guard = GUARD, .mem = -1, .target = 2 };
	const struct xop ops[] = { op1(E_mov_b32, VALUE, number(1)), branch,
		                       op1(E_mov_b32, VALUE, number(2)), use(PLACE, VALUE) };
	const struct xblock blocks[] = { { .end = 2, .succ = { 2, 1 }, .reconv = 2 },
		                             { .first = 2, .end = 3, .succ = { 2, -1 }, .reconv = -1 },
		                             { .first = 3, .end = 4, .succ = { -1, -1 }, .reconv = -1 } };
	struct ir ir;
	make(&ir, ops, 4, blocks, 3);
	webs_split(&ir);
	assert_int_equal(ir.ops[0].d[0], ir.ops[2].d[0]);
	assert_int_equal(ir.ops[3].s[1].reg, ir.ops[0].d[0]);
	ir_free(&ir);
}

/* A pointer that a loop moves on, in two words: nothing is put together inside the loop. */
TEST(words_of_a_pointer_become_one_value)
{
	struct xop again = { .kind = X_BRA, .first = true, .guard = GUARD, .mem = -1, .target = 1 };
	const struct xop ops[] = {
		op1(E_mov_b32, LOW, number(0x1000)),
		op1(E_mov_b32, HIGH, number(0x7f)),
		op(E_pack64, PLACE, reg(LOW), reg(HIGH)),
		use(PLACE, VALUE),
		op(E_add_b64, SUM, reg(PLACE), number(64)),
		op1(E_trunc32, LOW, reg(SUM)),
		op1(E_hi32, HIGH, reg(SUM)),
		again,
	};
	const struct xblock blocks[] = { { .end = 2, .succ = { 1, -1 }, .reconv = -1 },
		                             { .first = 2, .end = 8, .succ = { 1, -1 }, .reconv = -1 } };
	struct ir ir;
	make(&ir, ops, 8, blocks, 2);
	words_join(&ir);
	int32_t place = -1;
	for (unsigned o = 0; o < ir.n_ops; o++) {
		const struct xop *x = &ir.ops[o];
		assert_false(x->kind == X_OP && x->op == E_pack64);
		assert_false(x->kind == X_OP && x->op == E_trunc32);
		if (x->kind == X_ST)
			place = x->s[0].reg;
	}
	/* it begins as one number, and goes on as the sum */
	unsigned known = 0, moved = 0;
	for (unsigned o = 0; o < ir.n_ops; o++) {
		const struct xop *x = &ir.ops[o];
		if (!x->n_d || x->d[0] != place)
			continue;
		known += x->s[0].kind == S_CONST && x->s[0].value == 0x7f00001000;
		moved += x->s[0].kind == S_REG && x->s[0].reg == SUM;
	}
	assert_int_equal(known, 1);
	assert_int_equal(moved, 1);
	ir_free(&ir);
}

static struct xop under(struct xop x, int32_t guard)
{
	x.guard = guard;
	x.counts = true;
	return x;
}
static struct xop under_guard(struct xop x)
{
	return under(x, GUARD);
}

/* What only instructions with the same guard read may be written in all lanes; lanes are counted.
 */
TEST(guards_that_only_save_work_come_off)
{
	const struct xop ops[] = { under_guard(op1(E_mov_b32, VALUE, number(4))),
		                       under_guard(use(PLACE, VALUE)) };
	const struct xblock block = { .end = 2, .succ = { -1, -1 }, .reconv = -1 };
	struct ir ir;
	make(&ir, ops, 2, &block, 1);
	guards_lift(&ir);
	assert_int_equal(ir.n_ops, 3);
	assert_int_equal(ir.blocks[0].end, 3);
	assert_int_equal(ir.ops[0].kind, X_NOP);
	assert_true(ir.ops[0].first && ir.ops[0].counts);
	assert_int_equal(ir.ops[0].guard, GUARD);
	assert_int_equal(ir.ops[1].guard, -1);
	assert_false(ir.ops[1].first || ir.ops[1].counts);
	assert_int_not_equal(ir.ops[1].d[0], VALUE);
	assert_int_equal(ir.ops[2].s[1].reg, ir.ops[1].d[0]);
	assert_int_equal(ir.ops[2].guard, GUARD);
	ir_free(&ir);
}

/* One register holds two values, each for the lanes of its own guard: both come off, unless
 * somebody under the first guard reads after the second write, which then needs both. */
TEST(guards_of_two_values_in_one_register_come_off)
{
	const struct xop first = under_guard(op1(E_mov_b32, VALUE, number(4))),
					 second = under(op1(E_mov_b32, VALUE, number(5)), OTHER);
	const struct xop ops[] = { first, under_guard(use(PLACE, VALUE)), second,
		                       under(use(PLACE, VALUE), OTHER) };
	const struct xop mixed[] = { first, second, under_guard(use(PLACE, VALUE)),
		                         under(use(PLACE, VALUE), OTHER) };
	const struct xblock block = { .end = 4, .succ = { -1, -1 }, .reconv = -1 };
	struct ir ir;
	make(&ir, ops, 4, &block, 1);
	guards_lift(&ir);
	assert_int_equal(ir.n_ops, 6); /* two that count lanes */
	assert_int_equal(ir.ops[1].guard, -1);
	assert_int_equal(ir.ops[2].s[1].reg, ir.ops[1].d[0]);
	assert_int_equal(ir.ops[4].guard, -1);
	assert_int_equal(ir.ops[5].s[1].reg, ir.ops[4].d[0]);
	assert_int_not_equal(ir.ops[1].d[0], ir.ops[4].d[0]);
	ir_free(&ir);
	make(&ir, mixed, 4, &block, 1);
	guards_lift(&ir);
	assert_int_equal(ir.ops[0].guard, GUARD);
	assert_int_equal(ir.ops[0].d[0], VALUE);
	ir_free(&ir);
}

/* A load keeps its guard. What its register held before is another value, unless somebody reads
 * both.
 */
TEST(loads_under_a_guard_have_a_register_of_their_own)
{
	struct xop load = under_guard(op1(E_mov_b32, VALUE, reg(PLACE)));
	load.kind = X_LD;
	const struct xop before = op1(E_mov_b32, VALUE, number(4)), first_use = use(PLACE, VALUE);
	const struct xop apart[] = { before, first_use, load, under_guard(use(PLACE, VALUE)) },
					 mixed[] = { before, first_use, load, use(PLACE, VALUE) };
	const struct xblock block = { .end = 4, .succ = { -1, -1 }, .reconv = -1 };
	struct ir ir;
	make(&ir, apart, 4, &block, 1);
	guards_lift(&ir);
	assert_int_equal(ir.n_ops, 4);
	assert_int_equal(ir.ops[2].guard, GUARD);
	assert_true(ir.ops[2].first && ir.ops[2].counts);
	assert_int_not_equal(ir.ops[2].d[0], VALUE);
	assert_int_equal(ir.ops[3].s[1].reg, ir.ops[2].d[0]);
	assert_int_equal(ir.ops[1].s[1].reg, VALUE);
	ir_free(&ir);
	make(&ir, mixed, 4, &block, 1);
	guards_lift(&ir);
	assert_int_equal(ir.ops[2].d[0], VALUE);
	ir_free(&ir);
}

/* Not where other lanes read it: behind the guard, after the guard has changed, in another block.
 */
TEST(guards_that_decide_stay)
{
	const struct xop write = under_guard(op1(E_mov_b32, VALUE, number(4)));
	struct xop changed = { .kind = X_PRED,
		                   .op = BOOL_NONE,
		                   .first = true,
		                   .n_d = 1,
		                   .d = { GUARD },
		                   .n_s = 1,
		                   .s = { number(0) },
		                   .guard = -1,
		                   .mem = -1 };
	const struct xop same[] = { write, use(PLACE, VALUE) },
					 later[] = { write, changed, under_guard(use(PLACE, VALUE)) };
	const struct xblock one = { .end = 2, .succ = { -1, -1 }, .reconv = -1 },
						three = { .end = 3, .succ = { -1, -1 }, .reconv = -1 };
	const struct xblock two[] = { { .end = 1, .succ = { 1, -1 }, .reconv = -1 },
		                          { .first = 1, .end = 2, .succ = { -1, -1 }, .reconv = -1 } };
	struct ir ir[3];
	make(&ir[0], same, 2, &one, 1);
	make(&ir[1], later, 3, &three, 1);
	make(&ir[2], same, 2, two, 2);
	for (unsigned i = 0; i < 3; i++) {
		const unsigned n = ir[i].n_ops;
		guards_lift(&ir[i]);
		assert_int_equal(ir[i].n_ops, n);
		assert_int_equal(ir[i].ops[0].guard, GUARD);
		assert_int_equal(ir[i].ops[0].d[0], VALUE);
		ir_free(&ir[i]);
	}
}

/* A word of local memory at @offset from the stack pointer, read into @d or, -1, written from
 * VALUE.
 */
static struct xop local_word(int64_t offset, int32_t d)
{
	struct xop x = op(E_mov_b32, d, reg(LOW), reg(VALUE));
	x.kind = d < 0 ? X_ST : X_LD;
	x.n_d = d >= 0;
	x.n_s = d < 0 ? 2 : 1;
	x.space = SPACE_LOCAL;
	x.type = PTX_B32;
	x.bytes = 4;
	x.offset = offset;
	x.mem = 0;
	return x;
}

/* What was spilled comes back from a register; the accesses stay, for they are counted. */
TEST(spilled_values_are_kept)
{
	const struct xop ops[] = { op1(E_mov_b32, LOW, number(0x40)), local_word(8, -1),
		                       local_word(8, HIGH), use(PLACE, HIGH) };
	const struct xblock block = { .end = 4, .succ = { -1, -1 }, .reconv = -1 };
	struct ir ir;
	make(&ir, ops, 4, &block, 1);
	assert_true(spills_keep(&ir));
	assert_int_equal(ir.n_ops, 6);
	assert_int_equal(ir.blocks[0].end, 6);
	assert_int_equal(ir.ops[1].kind, X_ST);
	assert_int_equal(ir.ops[2].s[0].reg, VALUE);
	assert_int_equal(ir.ops[3].kind, X_LD);
	assert_int_equal(ir.ops[3].d[0], -1);
	assert_int_equal(ir.ops[4].s[0].reg, ir.ops[2].d[0]);
	assert_int_equal(ir.ops[4].d[0], HIGH);
	assert_false(ir.ops[2].first || ir.ops[4].first);
	ir_free(&ir);
}

/* Not where an address is made from the stack pointer, or is not known: an array lies there. */
TEST(arrays_in_local_memory_stay_there)
{
	const struct xop leaves[] = { op1(E_mov_b32, LOW, number(0x40)), local_word(8, -1),
		                          local_word(8, HIGH), op(E_add_b32, SUM, reg(LOW), reg(HIGH)) };
	struct xop unknown[] = { op1(E_mov_b32, LOW, number(0x40)), local_word(8, -1),
		                     local_word(8, HIGH), use(PLACE, HIGH) };
	unknown[2].s[0] = reg(VALUE);
	const struct xblock block = { .end = 4, .succ = { -1, -1 }, .reconv = -1 };
	struct ir ir[2];
	make(&ir[0], leaves, 4, &block, 1);
	make(&ir[1], unknown, 4, &block, 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_false(spills_keep(&ir[i]));
		assert_int_equal(ir[i].n_ops, 4);
		ir_free(&ir[i]);
	}
}
