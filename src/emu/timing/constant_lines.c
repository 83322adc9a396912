/* Counts the lines of constants that a kernel waits for; see timing.h. */
#include "emu/timing/timing.h"

#include "base/mem.h"

#include <stdlib.h>

/* What comes to an SM together. A warp waits the longest for the first word of it. */
#define LINE_BYTES 256
#define BANKS 32 /* numbers of banks; what the launch brings is in bank 0 */

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* The stack pointer, which every kernel loads first, and most never use. */
static bool is_stack_pointer(const struct sass_inst *i)
{
	return i->n_dsts == 1 && i->operands[0].kind == SASS_OPND_REG && i->operands[0].reg == 1;
}

static bool at_a_place(const struct sass_operand *c)
{
	return c->kind == SASS_OPND_CONST && (c->reg == SASS_NO_REG || c->reg == SASS_RZ) &&
	       c->ureg == SASS_NO_REG && c->value >= 0;
}

static struct constant_lines lines_of_code(const struct sass_func *f)
{
	size_t n = 0, cap = 0;
	uint64_t *line = NULL;
	struct constant_lines lines = { 0 };
	for (unsigned k = 0; k < f->n_insts; k++) {
		const struct sass_inst *i = &f->insts[k];
		for (unsigned o = i->n_dsts; o < i->n_operands; o++) {
			const struct sass_operand *c = &i->operands[o];
			if (!at_a_place(c) || is_stack_pointer(i))
				continue;
			MEM_ROOM(line, n, cap, 16);
			line[n++] = (uint64_t)c->value / LINE_BYTES * BANKS + c->bank % BANKS;
		}
	}
	if (n)
		qsort(line, n, sizeof *line, by_value);
	for (size_t i = 0; i < n; i++) {
		const bool another = i == 0 || line[i] != line[i - 1], of_launch = line[i] % BANKS == 0;
		lines.of_launch += another && of_launch;
		lines.of_memory += another && !of_launch;
	}
	free(line);
	return lines;
}

static struct constant_lines lines_of_ptx(const struct ir *ir)
{
	struct constant_lines lines = { .of_launch = 2 }; /* parameters; sizes */
	for (uint32_t o = 0; o < ir->n_ops; o++)
		if (ir->ops[o].kind == X_LD && ir->ops[o].space == SPACE_CONST)
			lines.of_memory = 1;
	return lines;
}

struct constant_lines constant_lines(const struct ir *ir, const struct sass_func *code)
{
	return code ? lines_of_code(code) : lines_of_ptx(ir);
}
