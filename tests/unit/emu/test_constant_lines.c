/*
 * Lines of constants that machine code waits for: what the launch brings, and what lies in memory.
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
