/*
 * The first warp is followed step by step, for a while only; then it goes on as all others do,
 * whichever of its lanes are active: the same values and counts, and the path says that it was cut.
 */
#include "emu_fixture.h"

/*
 * Lane i turns 2000 + 37 (i % 5) times. What a register holds is the same in all lanes, or grows
 * with the lane, or neither; lanes leave one by one, the first one first, and wait for each other
 * twice a turn.
 */
static const char loop[] = PTX_HEAD
	".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
	".reg .b32 %r<16>; .reg .b64 %a<6>; .reg .pred %p<4>;\n"
	"ld.param.u64 %a0, [out]; ld.param.u32 %r0, [n];\n"
	"mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
	"mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %a1, %r4, 4; add.u64 %a2, %a0, %a1;\n"
	"rem.u32 %r5, %r1, 5; mad.lo.u32 %r5, %r5, 37, 2000;\n"
	"mov.u32 %r6, 0; mov.u32 %r7, %r1; mov.u32 %r8, %r4; mov.u32 %r9, 0; mov.u64 %a3, %a2;\n"
	"AGAIN:\nadd.u32 %r6, %r6, %r0; add.u32 %r7, %r7, 3; xor.b32 %r10, %r8, %r7;\n"
	"and.b32 %r11, %r10, 3; setp.eq.u32 %p1, %r11, 0; @%p1 bra OTHER;\n"
	"mad.lo.u32 %r8, %r8, 5, %r6; add.u64 %a3, %a3, 4;\nbra.uni JOIN;\n"
	"OTHER:\nadd.u32 %r8, %r8, %r7; add.u64 %a3, %a3, 8;\nJOIN:\n"
	"add.u32 %r9, %r9, 1; setp.ge.u32 %p2, %r9, %r5; @%p2 exit;\n"
	"sub.u64 %a4, %a3, %a2; cvt.u32.u64 %r12, %a4; add.u32 %r12, %r12, %r8;\n"
	"st.global.u32 [%a2], %r12; bra.uni AGAIN;\n}\n";

static void same_in_all_ways(unsigned blocks, unsigned threads)
{
	uint32_t first[256];
	struct counts counts = { 0 };
	const unsigned all = blocks * threads;
	for (unsigned w = 0; w < ARRAY_LEN(emu_ways); w++) {
		struct emu_case c = { .ptx = mem_strdup(loop) };
		emu_launch(&c, "k", (struct dim3u){ blocks, 1, 1 }, (struct dim3u){ threads, 1, 1 });
		const uint32_t *out = emu_buffer(&c, "out", ELEM_U32, BUF_OUT, all);
		emu_arg(&c, 7);
		if (!emu_run_way(&c, &emu_ways[w]))
			fail_msg("%s", c.err.msg);
		assert_true(c.res.counts.steps_cut);
		uint64_t followed = 0;
		for (unsigned i = 0; i < c.res.counts.n_steps; i++)
			followed += c.res.counts.steps[i].instructions;
		assert_in_range(followed, 1, TRACE_MAX_INSTRUCTIONS);
		if (!w) {
			memcpy(first, out, all * sizeof *out);
			counts = c.res.counts.total;
		}
		const char *differs = emu_counts_differ(&counts, &c.res.counts.total);
		if (differs)
			fail_msg("%u x %u, %s: %s", blocks, threads, emu_ways[w].name, differs);
		for (unsigned i = 0; i < all; i++)
			if (first[i] != out[i])
				fail_msg("%u x %u, %s: thread %u: %08x, not %08x", blocks, threads,
				         emu_ways[w].name, i, out[i], first[i]);
		emu_case_free(&c);
	}
}

TEST(one_thread)
{
	same_in_all_ways(1, 1);
}

TEST(part_of_a_warp)
{
	same_in_all_ways(2, 21);
}

TEST(whole_warps)
{
	same_in_all_ways(2, 64);
}
