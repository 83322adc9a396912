/* Registers, parameters, variables: sizes, offsets, initial values. PTX ISA 5. */
#include "ptx_fixture.h"

static struct ptx_module m;

static int teardown(void **state)
{
	(void)state;
	ptx_free(&m);
	return 0;
}

static void module(const char *text)
{
	ptx_free(&m);
	m = parsed(text);
}

/* The variable of that name that @func owns (-1: the module). */
static const struct ptx_var *var(const char *name, int func)
{
	for (unsigned i = 0; i < m.n_vars; i++)
		if (strcmp(m.vars[i].name, name) == 0 && m.vars[i].func == func)
			return &m.vars[i];
	fail_msg("no variable %s of function %d", name, func);
	return NULL;
}

TEST(head)
{
	module(".version 8.7\n.target sm_120a, debug\n.address_size 64\n"
	       ".visible .entry k() .maxntid 32, 4 .minnctapersm 3 .maxnreg 64 .pragma \"nounroll\"; "
	       "{ ret; }\n"
	       ".weak .entry n() .reqntid 8, 2, 2 { }\n.file 2 \"b.h\"\n.file 1 \"a.cu\", 5, 17\n"
	       ".section .debug_str { L: .b8 1,2,3 \n .b64 L }\n");
	assert_int_equal(m.version_major, 8);
	assert_int_equal(m.version_minor, 7);
	assert_string_equal(m.target, "sm_120a");
	assert_int_equal(m.n_files, 2);
	assert_string_equal(m.files[0], "a.cu");
	assert_string_equal(m.files[1], "b.h");
	const struct ptx_func *k = ptx_entry(&m, "k");
	assert_int_equal(k->maxntid[0], 32);
	assert_int_equal(k->maxntid[1], 4);
	assert_int_equal(k->maxntid[2], 1);
	assert_int_equal(k->minnctapersm, 3);
	assert_int_equal(k->maxnreg, 64);
	assert_int_equal(ptx_entry(&m, "n")->maxntid[1], 2);
	assert_null(ptx_entry(&m, "other"));
}

TEST(registers)
{
	module(KERNEL(".reg .pred %p<3>; .reg.b16 lo, hi; .reg .f32 %f<12>; .reg .b64 %SP; "
	              "mov.f32 %f11, %f10; ret;"));
	const struct ptx_func *f = kernel(&m);
	assert_int_equal(f->n_regs, 3 + 2 + 12 + 1);
	assert_string_equal(f->regs[2].name, "%p2");
	assert_int_equal(f->regs[2].type, PTX_PRED);
	assert_string_equal(f->regs[4].name, "hi");
	assert_int_equal(f->regs[4].type, PTX_B16);
	assert_string_equal(f->regs[16].name, "%f11");
	assert_int_equal(f->insts[0].opnd[0].reg, 16);
	assert_int_equal(f->insts[0].opnd[1].reg, 15);
	refused(KERNEL(".reg .b32 %r<3>;\nmov.u32 %r3, 1;"), ERR_PARSE, "6:9: '%r3' is not declared");
	refused(KERNEL(".reg .b32 %r<3>;\nmov.u32 %r01, 1;"), ERR_PARSE, "6:9: '%r01' is not declared");
	refused(KERNEL(".reg .b32 a; .reg .b32 a;"), ERR_PARSE, "5:24: 'a' is declared twice");
	refused(KERNEL(".reg .b32 %r<9999999>;"), ERR_PARSE,
	        "5:14: a number of registers is too large");
}

TEST(parameters)
{
	module(
		HEAD
		".entry k(.param .u8 a, .param .align 16 .b8 b[20], .param .u64 .ptr .global .align 8 c,\n"
		".param .f32 d) { .reg .b32 %r<2>; ld.param.u32 %r1, [b+4]; ret; }");
	const struct ptx_func *f = kernel(&m);
	assert_int_equal(f->n_params, 4);
	assert_int_equal(f->params[0].size, 1);
	assert_int_equal(f->params[1].offset, 16);
	assert_int_equal(f->params[1].size, 20);
	assert_int_equal(f->params[1].align, 16);
	assert_int_equal(f->params[2].offset, 40);
	assert_int_equal(f->params[3].offset, 48);
	assert_int_equal(f->param_bytes, 52);
	assert_int_equal(f->insts[0].opnd[1].symbol, -2);
	assert_int_equal(f->insts[0].opnd[1].i64, 4);
	assert_int_equal(f->static_shared_bytes, 0);
}

TEST(local_variables)
{
	module(KERNEL(
		".local .align 16 .b8 __local_depot0[40];\n.local .align 8 .f64 d;\n.reg .b64 %rd<2>;\n"
		"mov.u64 %rd1, __local_depot0;"));
	const struct ptx_func *f = kernel(&m);
	assert_int_equal(f->local_bytes, 48);
	assert_int_equal(var("__local_depot0", 0)->size, 40);
	assert_int_equal(var("d", 0)->offset, 40);
	assert_int_equal(var("d", 0)->space, SPACE_LOCAL);
}

/* Offsets of statics as ptxas 13.0 reports their total: declared order, then the module's. */
TEST(shared_of_one_entry)
{
	module(HEAD
	       ".shared .align 4 .b8 common[28];\n.extern .shared .align 16 .b8 dyn[];\n"
	       ".shared .b32 unused;\n"
	       ".entry k() { .reg .b32 %r<9>;\n"
	       ".shared .align 1 .b8 a[5];\n.shared .align 4 .b8 b[36];\n.shared .align 8 .b8 c[24];\n"
	       ".shared .align 2 .b8 d[6];\n"
	       "mov.u32 %r1, a; mov.u32 %r1, b; mov.u32 %r1, c; st.shared.u16 [d+2], %r1;\n"
	       "mov.u32 %r1, common; ld.shared.u32 %r1, [dyn+4]; ret; }");
	const struct ptx_func *f = kernel(&m);
	assert_int_equal(var("a", 0)->offset, 0);
	assert_int_equal(var("b", 0)->offset, 8);
	assert_int_equal(var("c", 0)->offset, 48);
	assert_int_equal(var("d", 0)->offset, 72);
	assert_int_equal(var("common", -1)->offset, 80);
	assert_int_equal(f->static_shared_bytes, 108);
	assert_int_equal(f->dynamic_shared_offset, 112); /* 112 is what ptxas 13.0 says */
	assert_int_equal(var("dyn", -1)->offset, 112);
	assert_int_equal(var("dyn", -1)->size, 0);
	assert_true(var("dyn", -1)->is_extern);
}

TEST(shared_of_several_entries)
{
	module(HEAD
	       ".extern .shared .align 16 .b8 dyn[];\n.shared .align 4 .b32 common;\n"
	       ".entry k1() { .reg .b32 %r<9>; .shared .align 4 .b8 a[40]; st.shared.u32 [a], %r1;\n"
	       "st.shared.u32 [common], %r1; st.shared.u32 [dyn], %r1; ret; }\n"
	       ".entry k2() { .reg .b32 %r<9>; st.shared.u32 [dyn], %r1; "
	       "st.shared.u32 [common], %r1; ret; }\n"
	       ".entry k3() { .reg .b32 %r<9>; mov.u32 %r1, 0; ret; }\n");
	const struct ptx_func *k1 = ptx_entry(&m, "k1"), *k2 = ptx_entry(&m, "k2");
	assert_int_equal(k1->static_shared_bytes, 44);
	assert_int_equal(k1->dynamic_shared_offset, 48);
	assert_int_equal(k2->static_shared_bytes, 4);
	assert_int_equal(k2->dynamic_shared_offset, 16);
	assert_int_equal(ptx_entry(&m, "k3")->static_shared_bytes, 0);
	assert_int_equal(ptx_entry(&m, "k3")->dynamic_shared_offset, 0);
	/* each entry's operands lead to a variable with that entry's offset */
	assert_int_equal(m.vars[k1->insts[1].opnd[0].symbol].offset, 40);
	assert_int_equal(m.vars[k1->insts[2].opnd[0].symbol].offset, 48);
	assert_int_equal(m.vars[k2->insts[0].opnd[0].symbol].offset, 16);
	assert_int_equal(m.vars[k2->insts[1].opnd[0].symbol].offset, 0);
	assert_string_equal(m.vars[k2->insts[1].opnd[0].symbol].name, "common");
	assert_int_equal(m.vars[k2->insts[1].opnd[0].symbol].size, 4);
}

/* What a called function uses lies at one place for every entry that may call it. */
TEST(shared_of_called_functions)
{
	module(
		HEAD
		".extern .shared .align 8 .b8 dyn[];\n.shared .align 4 .b32 both;\n"
		".func leaf() { .reg .b32 %r<2>; .shared .align 8 .b8 own[12]; st.shared.u32 [own], %r1;\n"
		"st.shared.u32 [both], %r1; st.shared.u32 [dyn], %r1; ret; }\n"
		".func middle() { call leaf; ret; }\n"
		".entry k1() { .reg .b32 %r<2>; .shared .align 4 .b8 a[40]; st.shared.u32 [a], %r1; "
		"call middle; ret; }\n"
		".entry k2() { call leaf; ret; }\n"
		".entry k3() { .reg .b32 %r<2>; st.shared.u32 [both], %r1; ret; }\n");
	assert_int_equal(var("both", -1)->offset, 40);
	assert_int_equal(var("own", 0)->offset, 48);
	assert_int_equal(ptx_entry(&m, "k1")->static_shared_bytes, 60);
	assert_int_equal(ptx_entry(&m, "k2")->static_shared_bytes, 60);
	assert_int_equal(ptx_entry(&m, "k1")->dynamic_shared_offset, 64);
	assert_int_equal(ptx_entry(&m, "k2")->dynamic_shared_offset, 64);
	assert_int_equal(var("dyn", -1)->offset, 64);
	const struct ptx_func *k3 = ptx_entry(&m, "k3"); /* calls nothing: a copy of its own at 0 */
	assert_int_equal(k3->static_shared_bytes, 4);
	assert_int_equal(m.vars[k3->insts[0].opnd[0].symbol].offset, 0);
}

TEST(initial_values)
{
	module(
		HEAD
		".global .align 1 .b8 str[6] = {104, 105, 0x21};\n"
		".const .align 4 .u32 list[3] = {1, -2};\n.global .f32 x = 0f3F800000;\n"
		".global .align 8 .f64 y[2] = {0d4000000000000000, -0.5};\n.visible .global .s16 z = -3;\n"
		".global .align 4 .s32 rows[2][3] = {{1, 2}, {3}};\n.global .u16 open[] = {7, 8, 9};\n"
		".global .v2 .f32 pair = {0f3F800000, 0f40000000};\n.extern .global .b32 elsewhere;\n"
		".global .b32 plain[4], more;\n.global .u8 grid[][2] = {{1, 2}, {3}};");
	static const uint8_t str[6] = "hi!";
	static const int32_t list[3] = { 1, -2, 0 }, rows[6] = { 1, 2, 3, 0, 0, 0 }; /* as ptxas does */
	static const double y[2] = { 2, -0.5 };
	static const float pair[2] = { 1, 2 };
	static const uint16_t open[3] = { 7, 8, 9 };
	static const uint8_t grid[4] = { 1, 2, 3, 0 };
	const float x = 1;
	const int16_t z = -3;
	assert_memory_equal(var("str", -1)->init, str, sizeof str);
	assert_memory_equal(var("list", -1)->init, list, sizeof list);
	assert_int_equal(var("list", -1)->space, SPACE_CONST);
	assert_memory_equal(var("x", -1)->init, &x, sizeof x);
	assert_memory_equal(var("y", -1)->init, y, sizeof y);
	assert_memory_equal(var("z", -1)->init, &z, sizeof z);
	assert_memory_equal(var("rows", -1)->init, rows, sizeof rows);
	assert_int_equal(var("open", -1)->size, 6);
	assert_memory_equal(var("open", -1)->init, open, sizeof open);
	assert_int_equal(var("pair", -1)->size, 8);
	assert_int_equal(var("pair", -1)->align, 8);
	assert_memory_equal(var("pair", -1)->init, pair, sizeof pair);
	assert_int_equal(var("grid", -1)->size, 4);
	assert_memory_equal(var("grid", -1)->init, grid, sizeof grid);
	assert_true(var("elsewhere", -1)->is_extern);
	assert_null(var("plain", -1)->init);
	assert_int_equal(var("plain", -1)->size, 16);
	assert_int_equal(var("more", -1)->size, 4);
	/* one after the other, aligned: str 0..6, x 8..12, y 16..32 */
	assert_int_equal(var("str", -1)->offset, 0);
	assert_int_equal(var("list", -1)->offset, 0);
	assert_int_equal(m.const_bytes, 12);
	assert_int_equal(var("x", -1)->offset, 8);
	assert_int_equal(var("y", -1)->offset, 16);
	assert_true(m.global_bytes >= 32);
}

TEST(addresses_in_initial_values)
{
	module(HEAD ".func f() { ret; }\n.global .align 1 .b8 str[4] = {1};\n"
	            ".global .align 8 .u64 p[4] = {7, generic(str)+2, str, generic(str)-1};\n"
	            ".global .u64 fp = f;\n");
	const struct ptx_var *p = var("p", -1);
	assert_int_equal(p->n_relocs, 3);
	assert_int_equal(p->relocs[0].offset, 8);
	assert_int_equal(p->relocs[0].bytes, 8);
	assert_int_equal(p->relocs[0].addend, 2);
	assert_true(p->relocs[0].generic);
	assert_string_equal(m.vars[p->relocs[0].symbol].name, "str");
	assert_false(p->relocs[1].generic);
	assert_int_equal(p->relocs[2].addend, -1);
	assert_int_equal(((const uint64_t *)p->init)[0], 7);
	assert_int_equal(((const uint64_t *)p->init)[1], 0);
	assert_true(var("fp", -1)->relocs[0].is_func);
	assert_int_equal(var("fp", -1)->relocs[0].symbol, 0);
}

TEST(refuses_bad_variables)
{
	refused(HEAD ".global .b8 a[2] = {1, 2, 3};", ERR_PARSE,
	        "4:27: more values than 'a' has elements");
	refused(HEAD ".global .b8 a[2] = {1, 2;", ERR_PARSE,
	        "4:25: expected '}' after the initial values");
	refused(HEAD ".global .f32 x = 1;", ERR_PARSE,
	        "4:18: 'x' of type .f32 needs floating-point values");
	refused(HEAD ".global .u32 x = 1.0;", ERR_PARSE, "4:18: 'x' of type .u32 needs integer values");
	refused(HEAD ".global .u8 x[2] = {{1}, {2}};", ERR_PARSE, "4:21: more braces than 'x' has");
	refused(HEAD ".global .u8 y; .global .u8 x = 0xf(y);", ERR_PARSE, "4:32: a mask of an address");
	refused(HEAD ".global .align 3 .b32 x;", ERR_PARSE, "4:16: an alignment is a power of two");
	refused(HEAD ".global .b32 x[];", ERR_PARSE, "4:14: 'x' has no size");
	refused(HEAD ".global .pred x;", ERR_PARSE, "4:9: predicates live in registers only");
	refused(HEAD ".global .b64 x[2000000000000];", ERR_PARSE,
	        "4:16: a number of elements is too large");
	refused(HEAD ".global .b64 x[1000000000][1000000000];", ERR_UNSUPPORTED,
	        "4:14: array too large");
	refused(HEAD ".global .b8 x[100000000] = {1};", ERR_UNSUPPORTED,
	        "4:13: more than 64 MiB of initial");
	refused(HEAD ".shared .b32 x = 1;", ERR_PARSE, "4:18: only .global and .const variables have");
	refused(HEAD ".global .u64 x = y;", ERR_PARSE, "4:18: 'y' is no variable or function");
	refused(HEAD ".global .b32 x; .global .b32 x;", ERR_PARSE, "4:30: 'x' is declared twice");
	refused(HEAD ".global .b32 x[2][2] = {{1, 2, 3}};", ERR_PARSE,
	        "4:34: more values than a row of 'x'");
}

int main(void)
{
	return unit_run(NULL, teardown);
}
