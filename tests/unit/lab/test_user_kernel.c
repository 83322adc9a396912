/* A person's own file: what is read of its text, and how launches are written. */
#include "../unit.h"
#include "base/mem.h"
#include "base/text.h"
#include "userkernel/user_source.h"
#include "userkernel/user_words.h"

#include <stdlib.h>
#include <string.h>

/* --- source --- */

static const char file[] =
	"// __global__ void no(int a) { }\n" /* 1 */
	"#include <cstdio>\n"
	"#include <stdint.h>\n"
	"#include <cuda_fp16.h>\n"
	"/* __global__ void neither() { } */ const char *s = \"__global__ void nor() {\";\n" /* 5 */
	"#define CHECK(x) \\\n\tdo { x; } while (0)\n"
	"constexpr int TILE = 16;\n"
	"struct pair { float a, b; };\n"
	"static int host_only(FILE *f) { return f ? '{' : 1'000; }\n" /* 10 */
	"__device__ float twice(float v) { return 2 * v; }\n"
	"__global__ void declared(int n);\n"
	"__global__ void __launch_bounds__(256, 2)\n"
	"one(int n, const float *__restrict__ x, float* y, unsigned long long big = 3)\n"
	"{ if (n) { y[0] = twice(x[0]); } }\n" /* 15 */
	"extern \"C\" __global__ void two(const float4 *q, pair p, double d[], half h) {}\n"
	"template <typename T>\n__global__ void three(T *t) { }\n"
	"namespace inner {\n__global__ void four() { }\n}\n" /* 19-21 */
	"extern \"C\" {\n__global__ void five(void) { }\n}\n"
	"std::vector<int> v = { 1, 2 };\n"
	"int main() { one<<<1, 2>>>(1, 0, 0); }\n";

static bool device_line(const struct user_source *s, unsigned line, const char *has)
{
	const char *p = s->device;
	while (--line)
		p = strchr(p, '\n') + 1;
	char *copy = mem_strndup(p, strcspn(p, "\n"));
	const bool found = *has ? strstr(copy, has) != NULL : strspn(copy, " \t") == strlen(copy);
	if (!found)
		print_message("line is '%s'\n", copy);
	free(copy);
	return found;
}

/* main() may come from a macro of the file; what only speaks of it is no program. */
TEST(finds_main)
{
	static const struct {
		const char *text;
		bool program;
	} cases[] = {
		{ "int main()\n{\n}\n", true },
		{ "int main(int argc, char **argv);\n", false },
		{ "void f() { main(); }\n", false },
		{ "#define TEST_MAIN(name) int main()\nTEST_MAIN(x)\n{\n}\n", true },
		{ "#  define ALL(list) \\\n\tint \\\n\tmain(void) { return run(list); }\nALL(all)\n",
		  true },
		{ "#define TEST_MAIN(name) int main()\nvoid f() { }\n", false },
		{ "#define MAIN 1\nint MAINLY(int x) { return main_of(x); }\n", false },
		{ "#define A int mainly(\nA int x) { }\n", false },
		{ "// #define M int main()\n", false },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (user_source_has_main(cases[i].text) != cases[i].program)
			fail_msg("%s", cases[i].text);
}

TEST(finds_kernels)
{
	struct user_source s;
	user_source_scan(file, &s);
	static const struct {
		const char *name;
		unsigned line, params;
		bool able;
	} want[] = {
		{ "one", 14, 4, true },  { "two", 16, 4, true },  { "three", 18, 1, false },
		{ "four", 20, 0, true }, { "five", 23, 0, true },
	};
	assert_int_equal(s.n_kernels, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_string_equal(s.kernels[i].name, want[i].name);
		assert_int_equal(s.kernels[i].line, want[i].line);
		assert_int_equal(s.kernels[i].n_params, want[i].params);
		assert_int_equal(!s.kernels[i].why_not[0], want[i].able);
	}
	assert_string_equal(s.shown, file);
	assert_null(user_source_find(&s, "no"));
	assert_ptr_equal(user_source_find(&s, "four"), &s.kernels[3]);
	char text[200];
	user_signature(&s.kernels[0], text, sizeof text);
	assert_string_equal(
		text, "one(int n, const float *__restrict__ x, float* y, unsigned long long big)");
	user_source_free(&s);
}

TEST(knows_types)
{
	struct user_source s;
	user_source_scan(file, &s);
	const struct user_param *a = s.kernels[0].params, *b = s.kernels[1].params;
	assert_true(a[0].known && a[0].kind == ARG_I32 && !a[0].pointer);
	assert_true(a[1].known && a[1].pointer && a[1].is_const && a[1].elem == ELEM_F32);
	assert_true(a[2].known && a[2].pointer && !a[2].is_const);
	assert_true(a[3].known && a[3].kind == ARG_I64);
	assert_true(b[0].known && b[0].elem == ELEM_F32 && b[0].lanes == 4);
	assert_false(b[1].known); /* a structure: only the compiler knows its size */
	assert_true(b[2].known && b[2].pointer && b[2].elem == ELEM_F64);
	assert_string_equal(b[2].name, "d");
	assert_true(b[3].known && !b[3].pointer && b[3].elem == ELEM_F16 && b[3].bytes == 2);
	user_source_free(&s);
}

TEST(keeps_device_code)
{
	struct user_source s;
	user_source_scan(file, &s);
	unsigned lines = 0, was = 0;
	for (const char *p = s.device; *p; p++)
		lines += *p == '\n';
	for (const char *p = file; *p; p++)
		was += *p == '\n';
	assert_int_equal(lines, was);
	assert_true(device_line(&s, 2, ""));
	assert_true(device_line(&s, 3, "uint64_t"));
	assert_true(device_line(&s, 4, "cuda_fp16"));
	assert_true(device_line(&s, 8, "TILE"));
	assert_true(device_line(&s, 9, "pair"));
	assert_true(device_line(&s, 10, ""));
	assert_true(device_line(&s, 11, "twice"));
	assert_true(device_line(&s, 12, "extern \"C\" __global__ void declared"));
	assert_true(device_line(&s, 13, "extern \"C\" __global__"));
	assert_true(device_line(&s, 16, "extern \"C\" __global__"));
	assert_null(strstr(s.device, "extern \"C\" extern"));
	assert_true(device_line(&s, 17, "template"));
	assert_true(device_line(&s, 20, "extern \"C\" __global__ void four"));
	assert_true(device_line(&s, 25, ""));
	assert_true(device_line(&s, 26, ""));
	user_source_free(&s);
}

/* Whatever the text: no kernel out of nothing, no read behind the end, lines kept. */
TEST(survives_any_text)
{
	static const char *const bits[] = {
		"__global__", " void f(",     "int a", ")",  "{",          "}", ";",  "\"",        "'",
		"/*",         "*/",           "//",    "\n", "#include <", ">", "\\", "template<", "[",
		"]",          "extern \"C\"", ",",     "(",  "="
	};
	uint64_t rng = 5;
	for (unsigned round = 0; round < 20000; round++) {
		struct text t = { 0 };
		struct user_source s;
		unsigned lines = 0;
		for (unsigned i = 0; i < 1 + round % 30; i++)
			text_add(&t, "%s", bits[rand_next(&rng) % ARRAY_LEN(bits)]);
		user_source_scan(t.s, &s);
		for (const char *p = s.device; *p; p++)
			lines += *p == '\n';
		for (const char *p = t.s; *p; p++)
			lines -= *p == '\n';
		assert_int_equal(lines, 0);
		user_source_free(&s);
		text_free(&t);
	}
}

/* --- words --- */

static bool find(const void *ctx, const char *name, int64_t *value)
{
	(void)ctx;
	*value = !strcmp(name, "n") ? 1000 : 16;
	return !strcmp(name, "n") || !strcmp(name, "block_x");
}
static const struct user_names names = { find, NULL, "n, block_x" };

TEST(evaluates)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = {
		{ "7", 7 },
		{ "2k", 2048 },
		{ "n", 1000 },
		{ "n/block_x", 63 },
		{ "n / 10", 100 },
		{ "2+3*4", 14 },
		{ "(2+3)*4", 20 },
		{ "-3", -3 },
		{ "10-2-3", 5 },
		{ "n%16", 8 },
		{ " ( n ) ", 1000 },
		{ "-7/2", -3 },
		{ "1M*1M", (int64_t)1 << 40 },
	};
	static const struct unit_case wrong[] = {
		{ "", "missing" },           { "n+", "missing" },    { "(n", "')'" },
		{ "n n", "not understood" }, { "m", "no name 'm'" }, { "1/0", "division" },
		{ "1G*1G*1G", "too large" }, { "12x", "no whole" },  { "n/(3-3)", "division" },
		{ "$", "missing" },
	};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct err err = { 0 };
		int64_t v = 0;
		if (!user_evaluate(good[i].text, "size", &names, &v, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(v, good[i].value);
	}
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct err err = { 0 };
		int64_t v;
		assert_false(user_evaluate(wrong[i].given, "size", &names, &v, &err));
		if (err.code != ERR_USAGE || strncmp(err.msg, "size: ", 6) ||
		    !strstr(err.msg, wrong[i].want))
			fail_msg("'%s': %s", wrong[i].given, err.msg);
	}
	char deep[400];
	memset(deep, '(', 399);
	deep[399] = '\0';
	int64_t v;
	assert_false(user_evaluate(deep, "size", &names, &v, NULL));
}

TEST(reads_buffers)
{
	struct user_buffer b;
	struct err err = { 0 };
	assert_true(user_read_buffer("x", "f32[n]:rand", &b, &err));
	assert_true(b.typed && b.type == ELEM_F32 && b.init == INIT_RAND && !b.below[0]);
	assert_string_equal(b.count, "n");
	assert_true(user_read_buffer("x", "[M,N]:rand(n+1)", &b, &err));
	assert_false(b.typed);
	assert_string_equal(b.count, "M");
	assert_string_equal(b.cols, "N");
	assert_string_equal(b.below, "n+1");
	assert_true(user_read_buffer("x", "i32[4]", &b, &err) && b.init == INIT_DEFAULT);
	assert_true(user_read_buffer("x", "u8[4]:zero", &b, &err) && b.init == INIT_VALUE &&
	            b.value == 0);
	assert_true(user_read_buffer("x", "f64[4]:-2.5", &b, &err) && b.value == -2.5);
	assert_true(user_read_buffer("x", "f64[4]:out", &b, &err) && b.init == INIT_OUT);
	static const char *const wrong[] = { "f31[4]",     "f32[4",         "f32[4]x",  "f32[4]:",
		                                 "f32[4]:rnd", "f32[4]:rand()", "f32[4]:1x" };
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		err_clear(&err);
		if (user_read_buffer("x", wrong[i], &b, &err) || err.code != ERR_USAGE)
			fail_msg("'%s' was taken", wrong[i]);
		assert_non_null(strstr(err.msg, "'x'"));
	}
}

TEST(fills)
{
	float f[1000], again[1000];
	int32_t w[1000];
	uint16_t h[8];
	struct user_buffer b = { .init = INIT_RAND };
	user_fill(&b, ELEM_F32, 1000, 0, 7, f);
	user_fill(&b, ELEM_F32, 1000, 0, 7, again);
	assert_memory_equal(f, again, sizeof f);
	user_fill(&b, ELEM_I32, 1000, 10, 7, w);
	double sum = 0;
	for (int i = 0; i < 1000; i++) {
		assert_true(f[i] >= -1 && f[i] < 1);
		assert_true(w[i] >= 0 && w[i] < 10);
		sum += w[i];
	}
	assert_true(sum > 4000 && sum < 5000);
	b = (struct user_buffer){ .init = INIT_IOTA };
	user_fill(&b, ELEM_F16, 8, 0, 1, h);
	static const uint16_t halves[] = { 0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700 };
	assert_memory_equal(h, halves, sizeof h);
	b = (struct user_buffer){ .init = INIT_VALUE, .value = -1 };
	user_fill(&b, ELEM_I32, 1000, 0, 1, w);
	assert_int_equal(w[999], -1);
}
