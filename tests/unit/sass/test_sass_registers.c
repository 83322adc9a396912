/*
 * Banks of registers and reuse, by the rule of sass_registers.c, against cycles that an H200
 * measured of every arrangement of three sources (tests/gpu/micro/registers.cu).
 */
#include "../unit.h"
#include "sass/sass.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RECORDED "tests/gpu/h200-2026-11-23/micro/registers.jsonl"
#define MOST_OVER 0.35 /* of a cycle: what a row's ends add (registers_check.py) */

static const struct {
	const char *name;
	enum sass_op op;
	unsigned code, cycles;
} ops[] = { { "FFMA", SASS_FFMA, 0x7223, 1 },
	        { "IMAD", SASS_IMAD, 0x7224, 2 },
	        { "LOP3", SASS_LOP3, 0x7212, 2 } };

static struct sass_operand reg(unsigned number)
{
	return (struct sass_operand){
		.kind = SASS_OPND_REG, .words = 1, .reg = (uint16_t)number, .sel = SASS_MOD_NONE
	};
}

/* Two of one instruction in a row: what the second one takes. */
static struct sass_registers second(unsigned op, const unsigned source[3], unsigned reuse)
{
	const struct sass_operand operands[] = { reg(40), reg(source[0]), reg(source[1]),
		                                     reg(source[2]) };
	struct sass_inst i = { .op = (uint16_t)ops[op].op,
		                   .guard = SASS_PT,
		                   .n_operands = 4,
		                   .n_dsts = 1,
		                   .operands = operands };
	i.control.reuse = (uint8_t)reuse;
	i.code[0] = ops[op].code | 40ull << 16 | (uint64_t)source[0] << 24 | (uint64_t)source[1] << 32;
	i.code[1] = source[2];
	struct sass_inst insts[2] = { i, i };
	const struct sass_func f = { .n_insts = 2, .insts = insts };
	return sass_registers(&f, 1);
}

TEST(conflicts_are_those_of_the_card)
{
	char line[400], path[4096];
	unsigned n = 0, waits = 0;
	const char *root = getenv("TEST_ROOT");
	snprintf(path, sizeof path, "%s/" RECORDED, root ? root : ".");
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		json_t *o = json_loads(line, 0, NULL);
		const char *name = json_string_value(json_object_get(o, "case"));
		unsigned op = 0;
		while (op < 3 && strcmp(ops[op].name, name) != 0)
			op++;
		if (op < 3) {
			const unsigned source[3] = {
				(unsigned)json_integer_value(json_object_get(o, "a")),
				(unsigned)json_integer_value(json_object_get(o, "b")),
				(unsigned)json_integer_value(json_object_get(o, "c")),
			};
			const unsigned reuse = (unsigned)json_integer_value(json_object_get(o, "reuse"));
			const double measured = json_real_value(json_object_get(o, "one_warp"));
			const struct sass_registers r = second(op, source, reuse);
			const double over = measured - ops[op].cycles - r.conflicts;
			if (over < 0 || over > MOST_OVER)
				fail_msg("%s %u %u %u reuse %u: %g cycles, by the rule %u", name, source[0],
				         source[1], source[2], reuse, measured, ops[op].cycles + r.conflicts);
			assert_int_equal(r.reads, 3);
			assert_int_equal(r.kept, __builtin_popcount(reuse));
			waits += r.conflicts > 0;
			n++;
		}
		json_decref(o);
	}
	fclose(f);
	assert_int_equal(n, 1536);
	assert_int_equal(waits, 135);
}

/* Behind a jump nothing is kept, and what another instruction kept is of its own registers. */
TEST(what_is_kept)
{
	const struct sass_operand first[] = { reg(40), reg(2), reg(4), reg(6) };
	const struct sass_operand next[] = { reg(41), reg(2), reg(8), reg(6) };
	struct sass_inst insts[2] = {
		{ .op = SASS_FFMA, .n_operands = 4, .n_dsts = 1, .operands = first },
		{ .op = SASS_FFMA, .n_operands = 4, .n_dsts = 1, .operands = next },
	};
	const struct sass_func f = { .n_insts = 2, .insts = insts };
	insts[0].code[0] = 0x7223ull | 2ull << 24 | 4ull << 32;
	insts[0].code[1] = 6;
	insts[1].code[0] = 0x7223ull | 2ull << 24 | 8ull << 32;
	insts[1].code[1] = 6;
	insts[0].control.reuse = 7;
	assert_int_equal(sass_registers(&f, 1).kept, 2);
	assert_int_equal(sass_registers(&f, 1).conflicts, 0);
	assert_int_equal(sass_registers(&f, 0).conflicts, 2); /* three even registers */
	insts[0].control.reuse = 1;
	assert_int_equal(sass_registers(&f, 1).conflicts, 1); /* R8 and R6 */
	insts[0].op = SASS_BRA;
	assert_int_equal(sass_registers(&f, 1).kept, 0);
}

TEST(sources_that_are_no_registers)
{
	const struct sass_operand constant = { .kind = SASS_OPND_CONST };
	const struct sass_operand operands[] = { reg(40), reg(2), constant, reg(4) };
	const struct sass_operand zeros[] = { reg(40), reg(SASS_RZ), reg(4), reg(6) };
	struct sass_inst i = { .op = SASS_FFMA, .n_operands = 4, .n_dsts = 1, .operands = operands };
	const struct sass_func f = { .n_insts = 1, .insts = &i };
	i.code[0] = 0x7a23ull | 2ull << 24 | 4ull << 32; /* slot 1 has the constant's place */
	i.code[1] = 4;
	assert_int_equal(sass_registers(&f, 0).reads, 2);
	assert_int_equal(sass_registers(&f, 0).conflicts, 1);
	i.operands = zeros;
	i.code[0] = 0x7223ull | (uint64_t)SASS_RZ << 24 | 4ull << 32;
	i.code[1] = 6;
	assert_int_equal(sass_registers(&f, 0).reads, 2);
	i.op = SASS_LDG;
	assert_int_equal(sass_registers(&f, 0).reads, 0);
}

int main(void)
{
	return unit_run(NULL, NULL);
}

/* S-335, S-032, S-127, S-241: rm = rn = 4, C in R0-15, A in R16-19, B in R20-23: a row of B and its
 * column of C differ by multiples of four, so all 16 multiply-adds read a bank twice, on Maxwell
 * (four banks, id % 4; four of them three times) and with today's two banks (eight of them). */
TEST(s_335_register_banks)
{
	unsigned twice = 0, thrice = 0;
	for (unsigned i = 0; i < 4; i++)
		for (unsigned j = 0; j < 4; j++) {
			const unsigned source[3] = { 16 + i, 20 + j, 4 * i + j };
			const struct sass_registers r = second(0, source, 0);
			assert_int_equal(r.reads, 3);
			twice += r.conflicts >= 1;
			thrice += r.conflicts == 2;
			if (!i && j < 2) /* FFMA R0, R16, R20, R0 and FFMA R1, R16, R21, R1 */
				assert_int_equal(r.conflicts, 2 - j);
		}
	assert_int_equal(twice, 16);
	assert_int_equal(thrice, 8);
}
