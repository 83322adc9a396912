/*
 * Comparisons of lanes in a row with a scalar, as of `if (i < n)`: warps on one side, on the other,
 * across it, and rows that wrap around; either source the row, every relation.
 */
#include "emu_fixture.h"

enum { BLOCKS = 5, LANES = 32 };

static const struct relation {
	const char *name;
	bool sign, less, same, more; /* what it holds for */
} relations[] = {
	{ "lt.s32", true, true, false, false },  { "le.s32", true, true, true, false },
	{ "gt.s32", true, false, false, true },  { "ge.s32", true, false, true, true },
	{ "lt.u32", false, true, false, false }, { "le.u32", false, true, true, false },
	{ "gt.u32", false, false, false, true }, { "ge.u32", false, false, true, true },
	{ "eq.u32", false, false, true, false }, { "ne.u32", false, true, false, true },
};

static bool holds(const struct relation *r, uint32_t a, uint32_t b)
{
	const bool less = r->sign ? (int32_t)a < (int32_t)b : a < b;
	return a == b ? r->same : less ? r->less : r->more;
}

/* Block c's lane l compares @each * c + l with @with: 1 if it holds; @swapped: the other way round.
 */
static void one(const struct relation *r, uint32_t each, uint32_t with, bool swapped,
                const struct emu_way *way)
{
	struct emu_case c = { 0 };
	c.ptx = mem_printf(PTX_HEAD ".visible .entry k(.param .u64 q)\n{\n"
	                            ".reg .pred %%p<2>; .reg .b64 %%d<4>; .reg .b32 %%r<9>;\n"
	                            "ld.param.u64 %%d0, [q]; mov.u32 %%r1, %%tid.x;\n"
	                            "mov.u32 %%r2, %%ctaid.x; mov.u32 %%r6, %u;\n"
	                            "mad.lo.u32 %%r3, %%r2, %u, %%r1;\n"
	                            "mad.lo.u32 %%r4, %%r2, 32, %%r1; mul.wide.u32 %%d1, %%r4, 4;\n"
	                            "add.s64 %%d2, %%d0, %%d1; setp.%s %%p1, %s;\n"
	                            "selp.u32 %%r5, 1, 0, %%p1; st.global.u32 [%%d2], %%r5;\nret;\n}\n",
	                   with, each, r->name, swapped ? "%r6, %r3" : "%r3, %r6");
	const uint32_t *out = emu_buffer(&c, "out", ELEM_U32, BUF_INOUT, BLOCKS * LANES);
	emu_launch(&c, "k", (struct dim3u){ BLOCKS, 1, 1 }, (struct dim3u){ LANES, 1, 1 });
	if (!emu_run_way(&c, way))
		fail_msg("%s: %s", way->name, c.err.msg);
	for (uint32_t i = 0; i < BLOCKS * LANES; i++) {
		const uint32_t a = each * (i / LANES) + i % LANES;
		if (out[i] != (uint32_t)(swapped ? holds(r, with, a) : holds(r, a, with)))
			fail_msg("%s: %s, %s: %u against %u", way->name, r->name, swapped ? "swapped" : "plain",
			         a, with);
	}
	emu_case_free(&c);
}

TEST(rows_are_compared_with_scalars)
{
	static const uint32_t each[] = { 32, 0x1ffffffc, 0x3ffffff0, 0xfffffff0 };
	static const uint32_t with[] = { 0, 40, 31, 96, 0x7fffffff, 0x80000000, 0xfffffff8 };
	for (size_t w = 0; w < ARRAY_LEN(emu_ways); w++)
		for (size_t r = 0; r < ARRAY_LEN(relations); r++)
			for (size_t i = 0; i < ARRAY_LEN(each) * ARRAY_LEN(with); i++)
				one(&relations[r], each[i % ARRAY_LEN(each)], with[i / ARRAY_LEN(each)],
				    (i + r) % 2, &emu_ways[w]);
}
