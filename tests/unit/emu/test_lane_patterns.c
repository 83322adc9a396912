/*
 * Numbers made of a part that all lanes share and one of the lane's own, as programs with blocks of
 * one dimension make rows and columns: every way to run gives the same, and counts the same.
 */
#include "emu_fixture.h"

/* x = (block * 3) << 4 | tid & 15 by bfi, y = block << 3 | tid >> 4 by or; *out += y * 1000 + x */
static const char parts[] = PTX_HEAD
	".visible .entry k(.param .u64 out)\n{\n\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<4>;\n"
	"\tld.param.u64 %rd1, [out];\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n"
	"\tand.b32 %r3, %r1, 15;\n\tshr.u32 %r4, %r1, 4;\n\tmul.lo.u32 %r5, %r2, 3;\n"
	"\tbfi.b32 %r6, %r5, %r3, 4, 28;\n\tshl.b32 %r7, %r2, 3;\n\tor.b32 %r8, %r7, %r4;\n"
	"\tbfi.b32 %r8, %r8, %r8, 31, 1;\n\tand.b32 %r8, %r8, 0x7fffffff;\n"
	"\tmad.lo.u32 %r9, %r8, 1000, %r6;\n\tshl.b32 %r10, %r2, 7;\n\tadd.u32 %r10, %r10, %r1;\n"
	"\tmul.wide.u32 %rd2, %r10, 4;\n\tadd.u64 %rd3, %rd1, %rd2;\n"
	"\tst.global.u32 [%rd3], %r9;\n\tret;\n}\n";

TEST(shared_and_own_parts)
{
	struct counts first = { 0 };
	for (unsigned w = 0; w < ARRAY_LEN(emu_ways); w++) {
		struct emu_case c = { .ptx = mem_strdup(parts) };
		emu_launch(&c, "k", (struct dim3u){ 5, 1, 1 }, (struct dim3u){ 128, 1, 1 });
		const uint32_t *out = emu_buffer(&c, "out", ELEM_U32, BUF_OUT, 5 * 128);
		assert_true(emu_run_way(&c, &emu_ways[w]));
		for (uint32_t i = 0; i < 5 * 128; i++) {
			const uint32_t block = i / 128, tid = i % 128;
			const uint32_t x = block * 3 << 4 | (tid & 15), y = block << 3 | tid >> 4;
			assert_int_equal(out[i], y * 1000 + x);
		}
		if (!w)
			first = c.res.counts.total;
		assert_null(emu_counts_differ(&first, &c.res.counts.total));
		emu_case_free(&c);
	}
}

/* An or whose parts overlap in some block is no sum. */
TEST(overlapping_parts)
{
	static const char overlap[] = PTX_HEAD
		".visible .entry k(.param .u64 out)\n{\n\t.reg .b32 %r<6>;\n\t.reg .b64 %rd<4>;\n"
		"\tld.param.u64 %rd1, [out];\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n"
		"\tshl.b32 %r3, %r2, 4;\n\tor.b32 %r4, %r3, %r1;\n\tshl.b32 %r5, %r2, 7;\n"
		"\tadd.u32 %r5, %r5, %r1;\n\tmul.wide.u32 %rd2, %r5, 4;\n\tadd.u64 %rd3, %rd1, %rd2;\n"
		"\tst.global.u32 [%rd3], %r4;\n\tret;\n}\n";
	for (unsigned w = 0; w < ARRAY_LEN(emu_ways); w++) {
		struct emu_case c = { .ptx = mem_strdup(overlap) };
		emu_launch(&c, "k", (struct dim3u){ 5, 1, 1 }, (struct dim3u){ 128, 1, 1 });
		const uint32_t *out = emu_buffer(&c, "out", ELEM_U32, BUF_OUT, 5 * 128);
		assert_true(emu_run_way(&c, &emu_ways[w]));
		for (uint32_t i = 0; i < 5 * 128; i++)
			assert_int_equal(out[i], (i / 128) << 4 | i % 128);
		emu_case_free(&c);
	}
}
