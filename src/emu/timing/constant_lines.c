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

/* --- what textures and surfaces are --- */

/* Of a register, on the way through the code from its first to its last operation. */
struct content {
	uint64_t value; /* equal = the same value */
	uint8_t waits;  /* for headers, one after the other, until it is there */
};

static uint64_t joined(uint64_t a, uint64_t b)
{
	return (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu ^ a >> 29;
}

/* What the @i-th result of @x is: of the same operation on the same values, the same. */
static uint64_t value_of(const struct content *reg, const struct xop *x, uint32_t number,
                         unsigned i)
{
	const bool pure = x->kind == X_OP || (x->kind == X_LD && x->space == SPACE_CONST);
	uint64_t v = joined((uint64_t)x->kind << 32 | x->op, i);
	if (!pure || x->guard >= 0)
		return joined(v, number);
	v = joined(v, (uint64_t)x->offset);
	for (unsigned k = 0; k < x->n_s; k++)
		v = joined(v, x->s[k].kind == S_REG ? reg[x->s[k].reg].value : ~x->s[k].value);
	return v;
}

static uint8_t waits_of(const struct content *reg, const struct xop *x)
{
	uint8_t waits = 0;
	for (unsigned i = 0; i < x->n_s; i++)
		if (x->s[i].kind == S_REG && reg[x->s[i].reg].waits > waits)
			waits = reg[x->s[i].reg].waits;
	return waits;
}

#define MOST_HEADERS 16
struct headers {
	unsigned n;
	uint64_t value[MOST_HEADERS];
};

/* False: it was waited for before, and is at hand. */
static bool is_new_header(struct headers *h, uint64_t value)
{
	for (unsigned i = 0; i < h->n; i++)
		if (h->value[i] == value)
			return false;
	if (h->n == MOST_HEADERS)
		return false;
	h->value[h->n++] = value;
	return true;
}

unsigned headers_waited_for(const struct ir *ir)
{
	struct content *reg = mem_calloc(ir->n_regs + 1, sizeof *reg);
	struct headers headers = { 0 };
	unsigned most = 0;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		uint64_t values[X_MAX_VEC];
		uint8_t waits = waits_of(reg, x);
		if (x->kind == X_TEXTURE) {
			const struct xsrc *of = &x->s[0];
			waits += is_new_header(&headers, of->kind == S_REG ? reg[of->reg].value : ~of->value);
			most = waits > most ? waits : most;
		}
		for (unsigned i = 0; i < x->n_d; i++)
			values[i] = value_of(reg, x, o, i);
		for (unsigned i = 0; i < x->n_d; i++)
			if (x->d[i] >= 0)
				reg[x->d[i]] = (struct content){ values[i], waits };
	}
	free(reg);
	return most;
}

struct constant_lines constant_lines(const struct ir *ir, const struct sass_func *code)
{
	return code ? lines_of_code(code) : lines_of_ptx(ir);
}
