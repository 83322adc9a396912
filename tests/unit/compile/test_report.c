/*
 * The compiler's texts, as NVRTC 13.0 and older ptxas print them: resources per entry,
 * and a log as a message for a person.
 */
#include "compile/compile.h"
#include "compile/diagnose.h"
#include "compile/entry_usage.h"
#include "model/kernel.h"
#include "scratch.h"

#include "base/mem.h"
#include "base/text.h"

static const char ptx[] =
	"// .entry commented(\n"
	".visible .entry k1(\n\t.param .u64 k1_param_0\n)\n.maxntid 16, 16, 2\n{\n}\n"
	".func (.param .b32 r) callee(\n)\n{\n}\n"
	".visible .entry _Z2k2v()\n.reqntid 64\n{\n}\n";

static const char report[] =
	"k.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
	"  \tint x;\n"
	"  \t    ^\n"
	"\n"
	"Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
	"\n"
	"ptxas info    : 0 bytes gmem\n"
	"ptxas info    : Compiling entry function 'k1' for 'sm_90'\n"
	"ptxas info    : Function properties for k1\n"
	"ptxas         .     400 bytes stack frame, 24 bytes spill stores, 36 bytes spill loads\n"
	"ptxas info    : Used 128 registers, used 2 barriers, 400 bytes cumulative stack size, "
	"8192 bytes smem\n"
	"ptxas info    : Compile time = 6.015 ms\n"
	"ptxas info    : Function properties for callee\n"
	"    96 bytes stack frame, 5 bytes spill stores, 5 bytes spill loads\n"
	"ptxas info    : Compiling entry function '_Z2k2v' for 'sm_90'\n"
	"ptxas info    : Function properties for _Z2k2v\n"
	"    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
	"ptxas info    : Used 10 registers, 372 bytes cmem[0]\n";

TEST(reads_each_entry)
{
	struct module m = { .ptx = mem_strdup(ptx) };
	struct err err = { 0 };
	if (!usage_read(report, &m, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(m.n_entries, 2);
	const struct entry_usage *k1 = module_entry(&m, "k1");
	const struct entry_usage *k2 = module_entry(&m, "_Z2k2v");
	assert_int_equal(k1->registers, 128);
	assert_int_equal(k1->barriers, 2);
	assert_int_equal(k1->static_shared_bytes, 8192);
	assert_int_equal(k1->stack_bytes, 400);
	assert_int_equal(k1->spill_store_bytes, 24);
	assert_int_equal(k1->spill_load_bytes, 36);
	assert_int_equal(k1->max_threads, 512);
	assert_int_equal(k2->registers, 10);
	assert_int_equal(k2->static_shared_bytes, 0);
	assert_int_equal(k2->max_threads, 64);
	module_free(&m);
}

TEST(an_entry_without_a_report_is_an_error)
{
	struct module m = { .ptx = mem_strdup(ptx), .compiler = "NVRTC 13.0" };
	struct err err = { 0 };
	assert_false(usage_read("ptxas info    : 0 bytes gmem\n", &m, &err));
	assert_non_null(strstr(err.msg, "'k1'"));
	module_free(&m);
}

TEST(a_broken_cubin_is_not_read_out_of_bounds)
{
	unsigned char image[256];
	for (unsigned seed = 0; seed < 2000; seed++) {
		for (size_t i = 0; i < sizeof image; i++)
			image[i] = (unsigned char)((seed * 2654435761u + i * 40503u) >> 7);
		memcpy(image, "\177ELF\2", 5);
		image[58] = 64; /* section header size */
		image[59] = 0;
		image[60] = (unsigned char)(seed % 4);
		image[61] = 0;
		memset(image + 41, 0, 7); /* section headers start within 256 bytes */
		struct module m = { .ptx = mem_strdup(ptx),
			                .cubin = image,
			                .cubin_len = sizeof image - seed % 100 };
		assert_true(usage_read(report, &m, NULL));
		m.cubin = NULL;
		module_free(&m);
	}
}

TEST(strips_resources_and_keeps_warnings)
{
	char *kept = usage_strip(report);
	assert_string_equal(
		kept, "k.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
			  "  \tint x;\n  \t    ^");
	free(kept);
	kept = usage_strip("");
	assert_string_equal(kept, "");
	free(kept);
}

TEST(errors_come_first_and_carry_their_line)
{
	struct err err = { 0 };
	const char *source = "one\ntwo\nint x;\nfour(4);\n\tfive;\n";
	assert_false(diagnose("k.cu(3): warning #177-D: not used\n  int x;\n      ^\n\n"
	                      "k.cu(4): error: no such thing\n\n"
	                      "k.cu(5): error: neither this\n  \tfive;\n  \t^\n\n"
	                      "2 errors detected in the compilation of \"k.cu\".\n",
	                      "k.cu", source, NULL, &err));
	assert_int_equal(err.code, ERR_COMPILE);
	assert_string_equal(err.msg, "k.cu:4: error: no such thing\n  four(4);\n"
	                             "k.cu:5: error: neither this\n  \tfive;\n  \t^\n"
	                             "k.cu:3: warning #177-D: not used\n  int x;\n      ^");
}

TEST(the_assembler_is_traced_to_the_source)
{
	struct err err = { 0 };
	diagnose(
		"ptxas application ptx input, line 5; error   : Not a name of any known instruction: 'x'\n"
		"ptxas fatal   : Ptx assembly aborted due to errors\n",
		"k.cu", "first\nsecond\nthird\n",
		".version 9.0\n\t.loc\t1 1 3\n\t.loc\t1 2 3\n\t.loc\t2 1 3\nx;\n\t.loc\t1 3 1\n", &err);
	assert_string_equal(err.msg,
	                    "k.cu:2: PTX line 5: error   : Not a name of any known instruction: 'x'\n"
	                    "  second");
}

TEST(too_much_static_shared_memory_is_named)
{
	struct err err = { 0 };
	diagnose("ptxas info    : 0 bytes gmem\n"
	         "ptxas info    : Compiling entry function 'small' for 'sm_80'\n"
	         "ptxas info    : Used 10 registers, 1024 bytes smem, 360 bytes cmem[0]\n"
	         "ptxas info    : Compiling entry function 'big' for 'sm_80'\n"
	         "ptxas info    : Used 10 registers, used 1 barriers, 280000 bytes smem, "
	         "360 bytes cmem[0]\n",
	         "k.cu", "", NULL, &err);
	assert_string_equal(err.msg, "k.cu: entry 'big' declares 280000 bytes of shared memory; "
	                             "at most 49152 can be static (the rest must be extern)");
}

TEST(many_errors_are_counted)
{
	struct err err = { 0 };
	struct text log = { 0 };
	for (int i = 1; i <= 1000; i++)
		text_add(&log, "k.cu(%d): error: mistake number %d\n\n", i, i);
	diagnose(log.s, "k.cu", "", NULL, &err);
	text_free(&log);
	assert_memory_equal(err.msg, "k.cu:1: error: mistake number 1\n", 32);
	assert_non_null(strstr(err.msg, "more messages"));
}

TEST(an_unknown_log_is_shown_as_it_is)
{
	struct err err = { 0 };
	diagnose("something else entirely\n", "k.cu", "", NULL, &err);
	assert_string_equal(err.msg, "k.cu: something else entirely");
	diagnose("ptxas error   : Entry function 'k' uses too much shared data\n", "k.cu", "", NULL,
	         &err);
	assert_string_equal(err.msg, "ptxas error   : Entry function 'k' uses too much shared data");
	diagnose("", "k.cu", "", NULL, &err);
	assert_non_null(strstr(err.msg, "no reason"));
}

TEST(kernel_parameters_become_macros)
{
	static const struct param_desc params[] = {
		{ .name = "block", .kind = PARAM_LAUNCH, .def = 256 },
		{ .name = "tile", .kind = PARAM_COMPILE, .macro = "TILE", .def = 16 },
		{ .name = "BK", .kind = PARAM_COMPILE, .def = 8 },
	};
	const struct kernel_desc k = { .n_params = 3, .params = params };
	const int64_t values[] = { 128, 32, 4 };
	struct compile_macro out[KERNEL_MAX_PARAMS];
	assert_int_equal(kernel_macros(&k, values, out), 2);
	assert_string_equal(out[0].name, "TILE");
	assert_int_equal(out[0].value, 32);
	assert_string_equal(out[1].name, "BK");
	assert_int_equal(out[1].value, 4);
}
