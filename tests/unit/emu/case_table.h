/*
 * A table of a case file as a module: the body, wrapped once for every way in which a back end may
 * meet its operands. All ways must give the same bits.
 *
 *	lanes     full warps, 32 different rows at a time
 *	masked    the same, the even lanes on one side of a branch and the odd ones on the other
 *	uniform   one row per block, the same in all lanes
 *	constant  every row spelled out with immediate operands
 *
 * Cells are 8 bytes wide, columns one after the other.
 */
#ifndef PMPP_TEST_CASE_TABLE_H
#define PMPP_TEST_CASE_TABLE_H

#include "case_file.h"

#define CASE_FORMS(X)     \
	X(LANES, "lanes")     \
	X(MASKED, "masked")   \
	X(UNIFORM, "uniform") \
	X(CONSTANT, "constant")
enum case_form {
#define X(id, name) FORM_##id,
	CASE_FORMS(X)
#undef X
		FORM_COUNT
};
static const char *const case_form_names[FORM_COUNT] = {
#define X(id, name) name,
	CASE_FORMS(X)
#undef X
};

struct case_shape {
	uint32_t rows; /* padded to whole warps: the row of cell i is i mod n_rows */
	uint32_t grid, block;
	uint32_t cells; /* of one output column */
};

/* The first block may run with all checks, the others fast: both have to see every row. */
static inline struct case_shape case_shape(const struct ptx_case *c, enum case_form f)
{
	struct case_shape s = { .rows = (c->n_rows + 31) / 32 * 32 };
	s.block = f == FORM_LANES || f == FORM_MASKED ? s.rows : 32;
	s.grid = f == FORM_UNIFORM ? 2 * c->n_rows + 1 : 3;
	s.cells = s.grid * s.block * (f == FORM_CONSTANT ? c->n_rows : 1);
	return s;
}

/* The row that output cell @i of a column belongs to. */
static inline unsigned case_row_of(const struct ptx_case *c, enum case_form f, uint32_t i)
{
	const struct case_shape s = case_shape(c, f);
	if (f == FORM_UNIFORM || f == FORM_CONSTANT)
		return i / 32 % c->n_rows;
	return i % s.rows % c->n_rows;
}

static inline unsigned case_reg_bits(enum case_type t)
{
	return case_types[t].bytes < 2 ? 16 : 8 * case_types[t].bytes;
}

/* Declares the columns, fills the inputs (immediates of @row, or loads when @row < 0), the body,
 * and stores the outputs at %x1 + @at. */
static inline void case_scope(const struct ptx_case *c, const struct case_shape *s, int row,
                              uint32_t at, struct text *t)
{
	uint32_t column = 0;
	text_add(t, "\t{\n");
	for (unsigned i = 0; i < c->n_columns; i++) {
		const struct case_column *k = &c->columns[i];
		const bool pred = k->type == CT_PRED;
		if (pred)
			text_add(t, "\t.reg .pred %s; .reg .b32 %s_w;\n", k->name, k->name);
		else
			text_add(t, "\t.reg .b%u %s;\n", case_reg_bits(k->type), k->name);
	}
	for (unsigned i = 0; i < c->n_columns && !c->columns[i].out; i++, column++) {
		const struct case_column *k = &c->columns[i];
		const unsigned bytes = case_types[k->type].bytes;
		const char *w = k->type == CT_PRED ? "_w" : "";
		if (row >= 0) {
			uint64_t bits = c->rows[row][i].bits;
			if (k->type == CT_S8 && (bits & 0x80))
				bits |= 0xff00;
			text_add(t, "\tmov.b%u %s%s, 0x%" PRIx64 ";\n", case_reg_bits(k->type), k->name, w,
			         bits);
		} else {
			text_add(t, "\tld.global.%s %s%s, [%%x0+%u];\n",
			         bytes == 1   ? case_types[k->type].name
			         : bytes == 2 ? "b16"
			         : bytes == 4 ? "b32"
			                      : "b64",
			         k->name, w, column * s->rows * 8);
		}
		if (k->type == CT_PRED)
			text_add(t, "\tsetp.ne.u32 %s, %s_w, 0;\n", k->name, k->name);
	}
	const char *body = c->text;
	while (*body) { /* the file without its comment lines */
		const size_t len = strcspn(body, "\n");
		if (strncmp(body, "//", 2) && len)
			text_add(t, "%.*s\n", (int)len, body);
		body += len;
		body += *body == '\n';
	}
	column = 0;
	for (unsigned i = 0; i < c->n_columns; i++) {
		const struct case_column *k = &c->columns[i];
		const unsigned bytes = case_types[k->type].bytes;
		if (!k->out)
			continue;
		if (k->type == CT_PRED)
			text_add(t, "\tselp.b32 %s_w, 1, 0, %s;\n", k->name, k->name);
		text_add(t, "\tst.global.%s [%%x1+%u], %s%s;\n",
		         bytes == 1   ? "u8"
		         : bytes == 2 ? "b16"
		         : bytes == 4 ? "b32"
		                      : "b64",
		         column++ * s->cells * 8 + at, k->name, k->type == CT_PRED ? "_w" : "");
	}
	text_add(t, "\t}\n");
}

static inline void case_wrap_form(const struct ptx_case *c, enum case_form f, struct text *t)
{
	const struct case_shape s = case_shape(c, f);
	const uint32_t per_block = s.block * (f == FORM_CONSTANT ? c->n_rows : 1);
	text_add(t,
	         ".visible .entry %s(.param .u64 p_in, .param .u64 p_out)\n{\n"
	         "\t.reg .b32 %%t<5>;\n\t.reg .b64 %%x<4>;\n\t.reg .pred %%odd;\n"
	         "\tld.param.u64 %%x0, [p_in];\n\tld.param.u64 %%x1, [p_out];\n"
	         "\tcvta.to.global.u64 %%x0, %%x0;\n\tcvta.to.global.u64 %%x1, %%x1;\n"
	         "\tmov.u32 %%t0, %%tid.x;\n\tmov.u32 %%t1, %%ctaid.x;\n"
	         "\tmad.lo.u32 %%t2, %%t1, %u, %%t0;\n\tmul.wide.u32 %%x2, %%t2, 8;\n"
	         "\tadd.u64 %%x1, %%x1, %%x2;\n",
	         case_form_names[f], per_block);
	if (f == FORM_UNIFORM)
		text_add(t, "\trem.u32 %%t3, %%t1, %u;\n", c->n_rows);
	else
		text_add(t, "\tmov.u32 %%t3, %%t0;\n");
	text_add(t, "\tmul.wide.u32 %%x3, %%t3, 8;\n\tadd.u64 %%x0, %%x0, %%x3;\n");
	if (f == FORM_MASKED) {
		text_add(t, "\tand.b32 %%t4, %%t0, 1;\n\tsetp.eq.u32 %%odd, %%t4, 1;\n"
		            "\t@%%odd bra $ODD;\n");
		case_scope(c, &s, -1, 0, t);
		text_add(t, "\tbra $JOIN;\n$ODD:\n");
		case_scope(c, &s, -1, 0, t);
		text_add(t, "$JOIN:\n");
	} else if (f == FORM_CONSTANT) {
		for (unsigned r = 0; r < c->n_rows; r++)
			case_scope(c, &s, (int)r, r * 32 * 8, t);
	} else {
		case_scope(c, &s, -1, 0, t);
	}
	text_add(t, "\tret;\n}\n");
}

static inline void case_wrap(const struct ptx_case *c, struct text *t)
{
	text_add(t, ".version %s\n.target %s\n.address_size 64\n", c->version, c->target);
	for (unsigned f = 0; f < FORM_COUNT; f++)
		case_wrap_form(c, (enum case_form)f, t);
}

#endif
