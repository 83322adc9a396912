/* Texts of relocatable code as one: what each name stands for afterwards. */
#include "ptx_fixture.h"

#include "ptx/join.h"

#include <stdlib.h>

#define TOP ".version 8.7\n.target sm_80\n.address_size 64\n"

static const char user[] =
	TOP ".extern .func (.param .b32 r) scale (.param .b32 x) ;\n"
		".weak .func twice ( .param .b32 x ) ;\n"
		".extern .global .align 4 .b8 table[16];\n"
		".extern .shared .align 16 .b8 smem[];\n"
		".global .align 1 .b8 $str[3] = {97, 98}; // a text of its own; with { a brace\n"
		".file 1 \"a.cu\"\n.file 2 \"both.h\"\n"
		".visible .entry k() {\n.reg .b64 %rd<4>;\n.loc 1 7 3\n.loc 2 9 3, function_name $L_s, "
		"inlined_at 1 8 1\nmov.u64 %rd1, $str;\nmov.u64 %rd2, table;\nret;\n}\n"
		".weak .func twice (.param .b32 x) {\n.loc 1 3 1\nret; }\n"
		".section .debug_str { $L_s: .b8 97 }\n";
static const char provider[] =
	TOP ".visible .global .align 4 .b8 table[16] = {1, 2, 3};\n"
		".extern .shared .align 16 .b8 smem[];\n"
		".global .align 1 .b8 $str[5] = {99, 100, 101, 102};\n"
		".file 1 \"b.cu\"\n"
		".visible .func (.param .b32 r) scale (.param .b32 x) {\n.reg .b64 %rd<4>;\n.loc 1 4 2\n"
		"mov.u64 %rd1, $str;\nret;\n}\n"
		".weak .func twice (.param .b32 x) {\n.loc 1 2 1\nret; ret; }\n";

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;
	for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
		n++;
	return n;
}

TEST(joined)
{
	const char *texts[] = { user, provider };
	struct err err = { 0 };
	char *all = ptx_join(2, texts, &err);
	assert_non_null(all);
	struct ptx_module m = parsed(all);
	unsigned tables = 0, strings = 0, with_body = 0;
	for (unsigned i = 0; i < m.n_vars; i++) {
		tables += !strcmp(m.vars[i].name, "table");
		strings += !strncmp(m.vars[i].name, "$str", 4);
		if (!strcmp(m.vars[i].name, "table"))
			assert_false(m.vars[i].is_extern);
	}
	for (unsigned i = 0; i < m.n_funcs; i++)
		with_body += m.funcs[i].has_body;
	assert_int_equal(tables, 1);
	assert_int_equal(strings, 2);                 /* each keeps its own */
	assert_int_equal(with_body, 3);               /* k, scale, and one of the two twice */
	assert_int_equal(count(all, "ret; ret;"), 0); /* the first one */
	/* scale is this text's own now, as ptxas wants it said */
	assert_int_equal(count(all, ".extern .func"), 0);
	assert_int_equal(count(all, ".visible .func (.param .b32 r) scale"), 2);
	/* lines of b.cu are not those of a.cu */
	assert_int_equal(m.n_files, 3);
	assert_string_equal(m.files[2], "b.cu");
	assert_non_null(strstr(all, ".loc 3 4 2"));
	assert_non_null(strstr(all, "inlined_at 1 8 1"));
	ptx_free(&m);
	free(all);
}

TEST(strong_before_weak)
{
	const char *texts[] = { TOP ".weak .func f () {\nret; ret; }\n",
		                    TOP ".visible .func f () {\nret; }\n" };
	struct err err = { 0 };
	char *all = ptx_join(2, texts, &err);
	assert_non_null(all);
	assert_int_equal(count(all, ".weak"), 0);
	assert_int_equal(count(all, ".visible"), 1);
	free(all);
}

/* Without the sections for debuggers an assembler takes no text that promises them. */
TEST(nothing_is_promised_to_debuggers)
{
	const char *texts[] = { ".version 8.0\n.target sm_90, debug, texmode_independent\n"
		                    ".address_size 64\n.visible .func f () {\nret; }\n"
		                    ".section .debug_abbrev\n{\n.b8 1,2\n}\n",
		                    TOP ".visible .func g () {\nret; }\n" };
	struct err err = { 0 };
	char *all = ptx_join(2, texts, &err);
	assert_non_null(all);
	assert_null(strstr(all, "debug"));
	assert_non_null(strstr(all, ".target sm_90, texmode_independent\n"));
	free(all);
}

TEST(broken)
{
	const char *texts[] = { TOP ".visible .entry k() { ret;" };
	struct err err = { 0 };
	assert_null(ptx_join(1, texts, &err));
	assert_non_null(strstr(err.msg, "ends inside"));
	assert_null(ptx_join(0, NULL, &err));
}

/* What NVIDIA's device runtime has for a grid that waits comes where no text has it, whole. */
TEST(grid_functions)
{
	static const char calls[] =
		TOP ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle (.param .b32 x) ;\n"
			".extern .func (.param .b32 r) cudaMalloc (.param .b64 a, .param .b64 b) ;\n"
			".visible .entry k() { ret; }\n";
	static const char has[] =
		TOP ".visible .func (.param .b64 r) cudaCGGetIntrinsicHandle (.param .b32 x) { ret; }\n";
	const char *texts[] = { calls, has };
	struct err err = { 0 };
	char *all = ptx_join(1, texts, &err);
	assert_non_null(all);
	struct ptx_module m = parsed(all);
	unsigned with_body = 0;
	for (unsigned i = 0; i < m.n_funcs; i++)
		with_body += m.funcs[i].has_body;
	assert_int_equal(with_body, 6); /* the kernel and the five functions */
	assert_int_equal(count(all, ".extern"), 1);
	ptx_free(&m);
	free(all);
	all = ptx_join(2, texts, &err);
	assert_non_null(all);
	assert_null(strstr(all, "cudaCGSynchronize"));
	free(all);
}
