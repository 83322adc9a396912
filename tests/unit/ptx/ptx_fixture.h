/* Shared by the PTX tests: one kernel's body in a module around it, instructions by index. */
#ifndef PTX_FIXTURE_H
#define PTX_FIXTURE_H

#include "../unit.h"
#include "base/text.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three lines before the body's first line, which is line 5 of the text. */
#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
#define KERNEL(body) \
	HEAD ".visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1) {\n" body "\n}\n"
/* Registers that most bodies need, on one line. */
#define REGS                                                                 \
	".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<9>; .reg .f32 %f<9>; " \
	".reg .b64 %rd<9>; .reg .f64 %fd<5>;\n"

static inline struct ptx_module parsed(const char *text)
{
	struct ptx_module m;
	struct err err = { 0 };
	if (!ptx_parse(text, "test.ptx", &m, &err))
		fail_msg("%s\n%s", err.msg, err.remedy);
	return m;
}

/* The only entry of the module. */
static inline struct ptx_func *kernel(const struct ptx_module *m)
{
	for (unsigned i = 0; i < m->n_funcs; i++)
		if (m->funcs[i].is_entry)
			return &m->funcs[i];
	fail_msg("no entry");
	return NULL;
}

/* What a function of @m refuses first, as an error of the text; false = nothing. */
static inline bool first_refusal(const struct ptx_module *m, struct err *err)
{
	for (unsigned i = 0; i < m->n_funcs; i++)
		if (m->funcs[i].n_refusals) {
			const struct ptx_refusal *r = m->funcs[i].refusals;
			err_set(err, ERR_UNSUPPORTED, "test.ptx:%u:%u: %s\n", r->ptx_line, r->column, r->why);
			err_remedy(err, "%s", r->remedy);
			return true;
		}
	return false;
}

/* The text, or a function of it, is refused with @code, and its message begins "test.ptx:" @begins.
 */
static inline void refused(const char *text, enum err_code code, const char *begins)
{
	struct ptx_module m;
	struct err err = { 0 };
	char expected[256];
	if (ptx_parse(text, "test.ptx", &m, &err)) {
		const bool noted = first_refusal(&m, &err);
		ptx_free(&m);
		if (!noted)
			fail_msg("accepted, but expected: %s", begins);
	}
	snprintf(expected, sizeof expected, "test.ptx:%s", begins);
	if (strncmp(err.msg, expected, strlen(expected)) != 0)
		fail_msg("got:      %s\nexpected: %s", err.msg, expected);
	assert_int_equal(err.code, code);
	assert_null(m.funcs);
	assert_null(m.vars);
}

/* Register @name of @f by index. */
static inline int reg_of(const struct ptx_func *f, const char *name)
{
	for (unsigned i = 0; i < f->n_regs; i++)
		if (strcmp(f->regs[i].name, name) == 0)
			return (int)i;
	fail_msg("no register %s", name);
	return -1;
}

#define assert_reg(func, operand, expected)                              \
	do {                                                                 \
		assert_int_equal((operand).kind, OPND_REG);                      \
		assert_string_equal((func)->regs[(operand).reg].name, expected); \
	} while (0)
#define assert_imm(operand, value)                  \
	do {                                            \
		assert_int_equal((operand).kind, OPND_INT); \
		assert_int_equal((operand).i64, value);     \
	} while (0)

#endif
