/*
 * Lines of constants that machine code waits for: what the launch brings, what lies in memory, what
 * textures and surfaces are.
 */
#include "../unit.h"

#include "emu/timing/timing.h"

#define MOST 8

struct code {
	struct sass_func f;
	struct sass_inst inst[MOST];
	struct sass_operand operand[MOST][2];
};

/* An instruction more: reads @bank at byte @at, by register @by, into register @to. */
static void add(struct code *c, uint16_t to, uint8_t bank, int64_t at, uint16_t by)
{
	const unsigned n = c->f.n_insts++;
	struct sass_operand *const o = c->operand[n];
	o[0] = (struct sass_operand){ .kind = SASS_OPND_REG, .reg = to };
	o[1] = (struct sass_operand){
		.kind = SASS_OPND_CONST, .bank = bank, .value = at, .reg = by, .ureg = SASS_NO_REG
	};
	c->inst[n] = (struct sass_inst){ .n_dsts = 1, .n_operands = 2, .operands = o };
	c->f.insts = c->inst;
}

/* The stack pointer is not waited for, what a register chooses is not known, and a line counts
 * once. */
TEST(lines_count_once)
{
	struct code c = { 0 };
	add(&c, 1, 0, 0x28, SASS_NO_REG);
	add(&c, 2, 0, 0x210, SASS_NO_REG);
	add(&c, 3, 0, 0x218, SASS_NO_REG);
	add(&c, 4, 3, 0x40, SASS_NO_REG);
	add(&c, 5, 3, 0x80, SASS_NO_REG);
	add(&c, 6, 3, 0x100, SASS_NO_REG);
	add(&c, 7, 3, 0x300, 8);
	struct constant_lines lines = constant_lines(NULL, &c.f);
	assert_int_equal(lines.of_launch, 1);
	assert_int_equal(lines.of_memory, 2);
	add(&c, 8, 0, 0, SASS_RZ);
	lines = constant_lines(NULL, &c.f);
	assert_int_equal(lines.of_launch, 2);
}

#define OPS 12

struct ops {
	struct xop op[OPS];
	struct ir ir;
};

static struct xop *add_op(struct ops *s, enum xkind kind, int32_t to)
{
	struct xop *const x = &s->op[s->ir.n_ops++];
	*x = (struct xop){ .kind = kind, .guard = -1, .n_d = to >= 0, .d = { to } };
	s->ir.ops = s->op;
	s->ir.n_regs = 32;
	return x;
}

/* Register @to = the constant at @offset. */
static void handle(struct ops *s, int32_t to, int64_t offset)
{
	struct xop *const x = add_op(s, X_LD, to);
	x->space = SPACE_CONST;
	x->offset = offset;
	x->s[x->n_s++] = (struct xsrc){ .kind = S_CONST };
}

/* Register @to = what the texture of register @of shows at register @at; or @at is put there. */
static void texture(struct ops *s, int32_t to, int32_t of, int32_t at)
{
	struct xop *const x = add_op(s, X_TEXTURE, to);
	x->s[x->n_s++] = (struct xsrc){ .kind = S_REG, .reg = of };
	x->s[x->n_s++] = (struct xsrc){ .kind = S_REG, .reg = at };
}

/* Two at once are waited for once, one that needs what another has fetched after it, and one that
 * is at hand not again (tests/gpu/micro/headers.cu). */
TEST(headers_come_one_after_the_other)
{
	struct ops none = { 0 }, s = { 0 };
	add_op(&none, X_SPECIAL, 1);
	assert_int_equal(headers_waited_for(&none.ir), 0);
	handle(&s, 2, 0x10);
	handle(&s, 3, 0x18);
	texture(&s, 4, 2, 1);
	assert_int_equal(headers_waited_for(&s.ir), 1);
	texture(&s, 5, 3, 1);
	assert_int_equal(headers_waited_for(&s.ir), 1);
	struct ops same = s;
	texture(&same, 6, 2, 4); /* where the first one says, of the same texture */
	handle(&same, 7, 0x18);
	texture(&same, 8, 7, 6); /* ... and of the other, which is named anew */
	same.ir.ops = same.op;
	assert_int_equal(headers_waited_for(&same.ir), 1);
	struct ops other = s;
	handle(&other, 6, 0x20);
	texture(&other, -1, 6, 5); /* put into a third one */
	other.ir.ops = other.op;
	assert_int_equal(headers_waited_for(&other.ir), 2);
}
