/* A kernel's listing for panels: its instructions, their PTX and lines, and what each depends on.
 */
#include "sass_fixture.h"
#include "sass/code_of.h"

static struct code_listing *listing_of(const char *kernel, const char *entry)
{
	const struct kernel_desc *k = kernel_find(kernel);
	int64_t params[KERNEL_MAX_PARAMS];
	struct compile_macro macros[KERNEL_MAX_PARAMS];
	char file[64];
	struct sass_module sass;
	struct module m;
	struct err err = { 0 };
	kernel_defaults(k, params);
	const struct compile_request req = {
		.file = kernel_file(k, file, sizeof file),
		.source = kernel_source(k),
		.n_macros = kernel_macros(k, params, macros),
		.macros = macros,
		.cc_major = 9,
	};
	sass_of_kernel(k, 90, &sass);
	if (!compile_module(&req, &m, &err))
		fail_msg("%s", err.msg);
	struct code_listing *c = sass_code_of(&sass, sass_func(&sass, entry), m.ptx, file);
	module_free(&m);
	sass_free(&sass);
	return c;
}

/* The first instruction of that opcode. */
static unsigned find(const struct code_listing *c, const char *opcode)
{
	char name[40];
	for (unsigned i = 0; i < c->n; i++) {
		code_inst_opcode(&c->insts[i], name, sizeof name);
		if (!strcmp(name, opcode))
			return i;
	}
	fail_msg("no %s", opcode);
	return 0;
}

static const struct code_ptx *ptx_of(const struct code_listing *c, unsigned i)
{
	for (unsigned k = 0; k < c->n_ptx; k++)
		if (c->ptx[k].number == c->insts[i].ptx_line)
			return &c->ptx[k];
	return NULL;
}

static bool here(void)
{
	const char *why = no_sass();
	if (!why)
		return true;
	print_message("%s\n", why);
	skip();
	return false;
}

TEST(a_sum_waits_for_its_two_loads)
{
	char opcode[40];
	if (!here())
		return;
	struct code_listing *c = listing_of("vec_add", "vec_add_v3_per_element");
	assert_memory_equal(c->title, "sm_90 machine code, ptxas 13.", 29);
	const unsigned add = find(c, "FADD"), store = find(c, "STG.E");
	assert_int_equal(c->insts[add].n_sources, 2);
	for (unsigned k = 0; k < 2; k++) {
		const struct code_inst *load = &c->insts[c->insts[add].sources[k].index];
		code_inst_opcode(load, opcode, sizeof opcode);
		assert_string_equal(opcode, "LDG.E");
		assert_int_not_equal(code_inst_waits(&c->insts[add], load), CODE_NO_BARRIER);
	}
	assert_true(code_inst_reads(&c->insts[store], add));
	assert_false(code_inst_reads(&c->insts[add], store));
	/* the line that is tagged "add", and the PTX that the instruction was made of */
	char line[200];
	assert_true(
		source_line(kernel_source(kernel_find("vec_add")), c->insts[add].line, line, sizeof line));
	assert_non_null(strstr(line, "//@ add"));
	assert_memory_equal(ptx_of(c, add)->text, "add.f32 ", 8);
	assert_memory_equal(ptx_of(c, store)->text, "st.global.f32 ", 14);
	assert_int_equal(ptx_of(c, add)->line, c->insts[add].line);
	code_listing_free(c);
}

/* In a loop a value comes from the pass before: from an instruction that stands behind. */
TEST(values_come_round_a_loop)
{
	if (!here())
		return;
	struct code_listing *c = listing_of("sgemm", "sgemm_v3_tiled");
	unsigned behind = 0, spilled = 0;
	for (unsigned i = 0; i < c->n; i++) {
		for (unsigned k = 0; k < c->insts[i].n_sources; k++)
			behind += c->insts[i].sources[k].index >= i;
		spilled += c->insts[i].spill;
	}
	assert_true(behind > 0);
	assert_int_equal(spilled, 0);
	code_listing_free(c);
}

int main(void)
{
	return unit_run(use_build_cache, NULL);
}
