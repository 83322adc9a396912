/*
 * Numbers of 64 bits in machine code, whose halves are added and shifted one by one: carries of
 * sums that change nothing, and signs that come down over more than a word. And the lesser and the
 * greater of two numbers, one instruction with a switch.
 */
#include "sass_run.h"

#define N 32
#define BUFFERS 8

static const char source[] =
	"extern \"C\" __global__ void wide(const long long *a, const long long *b, const int *by,\n"
	"                                long long *sum, long long *down, float *low, float *high,\n"
	"                                unsigned *carry)\n"
	"{\n"
	"	int i = threadIdx.x;\n"
	"	sum[i] = a[i] + b[i];\n"
	"	down[i] = a[i] >> by[i];\n"
	"	low[i] = fminf((float)by[i], 20);\n"
	"	high[i] = fmaxf((float)by[i], 20);\n"
	"	unsigned words, rest;\n"
	"	asm(\"add.cc.u32 %0, %2, %3; addc.u32 %1, 0, 0;\"\n"
	"	    : \"=r\"(words), \"=r\"(rest) : \"r\"((unsigned)a[i]), \"r\"((unsigned)b[i]));\n"
	"	carry[i] = words * 2 + rest;\n"
	"}\n";

/* As machine code of an sm_90, in one warp. */
static void run_wide(void *const data[BUFFERS], const size_t bytes[BUFFERS])
{
	struct built b = { .file = "wide.cu" };
	struct text listing = { 0 };
	struct err err = { 0 };
	const struct compile_request req = {
		.file = b.file, .source = source, .cc_major = 9, .cc_minor = 0
	};
	if (!compile_module(&req, &b.module, &err) ||
	    !ptx_parse(b.module.ptx, req.file, &b.ptx, &err) ||
	    !disassemble(b.module.cubin, b.module.cubin_len, NULL, &listing, &err) ||
	    !sass_read(&b.sass, b.module.cubin, b.module.cubin_len, listing.s, listing.len, &err))
		fail_msg("%s", err.msg);
	text_free(&listing);

	struct launch_plan plan = { .entry = "wide",
		                        .grid = { 1, 1, 1 },
		                        .block = { N, 1, 1 },
		                        .n_buffers = BUFFERS,
		                        .n_args = BUFFERS };
	struct run_request run = {
		.module = &b.module, .plan = &plan, .source_file = b.file, .threads = 1, .timeout_s = 60
	};
	for (unsigned i = 0; i < BUFFERS; i++) {
		plan.buffers[i] = (struct buffer_plan){
			.name = "own", .type = ELEM_U32, .role = i < 3 ? BUF_IN : BUF_OUT, .count = bytes[i] / 4
		};
		plan.args[i] = (struct kernel_arg){ .kind = ARG_BUFFER, .buffer = i };
		run.buffers[i] = (struct run_buffer){ .data = data[i], .bytes = bytes[i] };
	}
	struct emu_launch l = { .sass = &b.sass };
	struct run_result res = { 0 };
	if (!emu_launch_prepare(&l, &run, NULL, sheet_of(90), &b.ptx, &err) ||
	    !emu_launch_run(&l, &err))
		fail_msg("%s", err.msg);
	emu_launch_results(&l, &res);
	emu_launch_free(&l);
	run_result_free(&res);
	built_free(&b);
}

TEST(carries_and_signs)
{
	static const int64_t values[] = { 0,         1,           -1,
		                              INT64_MIN, INT64_MAX,   0xffffffffLL,
		                              1LL << 32, -(1LL << 32) };
	int64_t a[N], b[N], sum[N] = { 0 }, down[N] = { 0 };
	int32_t by[N];
	float low[N], high[N];
	uint32_t carry[N] = { 0 };

	for (unsigned i = 0; i < N; i++) {
		a[i] = values[i % 8];
		b[i] = i < 8 ? 0 : i < 16 ? 1LL << 32 : values[i * 5 % 8]; /* low words of 0 first */
		by[i] = (int32_t)(i * 13 % 64);
	}
	void *const data[] = { a, b, by, sum, down, low, high, carry };
	const size_t bytes[] = { sizeof a,    sizeof b,   sizeof by,   sizeof sum,
		                     sizeof down, sizeof low, sizeof high, sizeof carry };
	run_wide(data, bytes);
	for (unsigned i = 0; i < N; i++) {
		assert_true(sum[i] == (int64_t)((uint64_t)a[i] + (uint64_t)b[i]));
		const int64_t ones = a[i] < 0 && by[i] ? (int64_t)(UINT64_MAX << (64 - by[i])) : 0;
		assert_true(down[i] == ((int64_t)((uint64_t)a[i] >> by[i]) | ones));
		const uint64_t words = (uint64_t)(uint32_t)a[i] + (uint32_t)b[i];
		assert_int_equal(carry[i], (uint32_t)(words * 2 + (words >> 32)));
		assert_true(low[i] == (float)(by[i] < 20 ? by[i] : 20));
		assert_true(high[i] == (float)(by[i] > 20 ? by[i] : 20));
	}
}
