/*
 * Bytes that lanes load and store by a pattern: each third one as of a picture's colours, some
 * twice, backwards, or further than the host picks at once. Whatever way they go, they are the
 * same, and nobody else's byte changes.
 */
#include "emu_fixture.h"

#define THREADS 80 /* at most: two warps and a half, whose bytes are the last */
#define BLOCKS 3
#define STEP 512 /* bytes between blocks */
#define BYTES (BLOCKS * STEP + 4096)

/* Lane i's byte lies at (i & mask) * times + first from the block's on. */
static char *program(int times, unsigned mask, unsigned first, unsigned offset)
{
	return mem_printf(
		PTX_HEAD
		".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 own)\n{\n"
		"\t.reg .b32 %%r<12>;\n\t.reg .b64 %%rd<12>;\n"
		"\tld.param.u64 %%rd1, [in];\n\tld.param.u64 %%rd2, [out];\n\tld.param.u64 %%rd3, [own];\n"
		"\tmov.u32 %%r1, %%tid.x;\n\tmov.u32 %%r2, %%ctaid.x;\n"
		"\tand.b32 %%r3, %%r1, %u;\n\tmul.wide.u32 %%rd4, %%r3, %u;\n"
		"\tmul.wide.u32 %%rd9, %%r2, %u;\n\tadd.s64 %%rd9, %%rd9, %u;\n"
		"\t%s.s64 %%rd4, %%rd9, %%rd4;\n"
		"\tadd.s64 %%rd5, %%rd1, %%rd4;\n\tadd.s64 %%rd6, %%rd2, %%rd4;\n"
		"\tld.global.u8 %%r4, [%%rd5 + %u];\n\tld.global.s8 %%r5, [%%rd5 + %u];\n"
		"\tadd.u32 %%r6, %%r4, %%r1;\n\tst.global.u8 [%%rd6 + %u], %%r6;\n"
		"\tmad.lo.u32 %%r7, %%r2, %u, %%r1;\n\tmul.wide.u32 %%rd7, %%r7, 8;\n"
		"\tadd.s64 %%rd8, %%rd3, %%rd7;\n\tst.global.u32 [%%rd8], %%r4;\n"
		"\tst.global.u32 [%%rd8 + 4], %%r5;\n\tret;\n}\n",
		mask, (unsigned)abs(times), STEP, first, times < 0 ? "sub" : "add", offset, offset, offset,
		THREADS);
}

static void run_ways(int times, unsigned mask, unsigned first, unsigned offset)
{
	uint8_t expected[BYTES];
	uint32_t own[2 * BLOCKS * THREADS];
	struct counts counted = { 0 };
	for (unsigned w = 0; w < ARRAY_LEN(emu_ways); w++) {
		struct emu_case c = { .ptx = program(times, mask, first, offset) };
		emu_launch(&c, "k", (struct dim3u){ BLOCKS, 1, 1 },
		           (struct dim3u){ offset == 1 ? 64 : THREADS, 1, 1 });
		uint8_t *in = emu_buffer(&c, "in", ELEM_U8, BUF_IN, BYTES);
		uint8_t *out = emu_buffer(&c, "out", ELEM_U8, BUF_INOUT, BYTES);
		const uint32_t *words = emu_buffer(&c, "own", ELEM_U32, BUF_OUT, ARRAY_LEN(own));
		uint64_t rng = mask + first;
		for (unsigned i = 0; i < BYTES; i++) {
			in[i] = (uint8_t)(rand_next(&rng) >> 40);
			out[i] = (uint8_t)(rand_next(&rng) >> 40);
		}
		if (!emu_run_way(&c, &emu_ways[w]))
			fail_msg("%s: %s", emu_ways[w].name, c.err.msg);
		if (!w) {
			memcpy(expected, out, sizeof expected);
			memcpy(own, words, sizeof own);
			counted = c.res.counts.total;
		}
		if (memcmp(expected, out, sizeof expected) || memcmp(own, words, sizeof own) ||
		    emu_counts_differ(&counted, &c.res.counts.total))
			fail_msg("%d, %u, %u, %u: %s differs", times, mask, first, offset, emu_ways[w].name);
		emu_case_free(&c);
	}
}

TEST(the_same_bytes_in_every_way)
{
	static const unsigned masks[] = { 31, 15, 7, 0 };
	for (int times = -5; times <= 5; times++)
		for (unsigned m = 0; m < ARRAY_LEN(masks); m++)
			for (unsigned offset = 0; offset < 3; offset++)
				run_ways(times, masks[m], times < 0 ? 200 : 0, offset);
}
