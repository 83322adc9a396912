/* What is told of a fault does not depend on which thread ran which block. */
#include "emu_fixture.h"

/* The first block counts a while; every other one reads what nobody has written. */
static const char unwritten_ptx[] =
	PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n"
			 ".reg .b64 %d<4>; .reg .b32 %r<6>; .reg .pred %p<3>;\n"
			 "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 8;\n"
			 "setp.eq.u32 %p1, %r1, 0; @%p1 bra $END; mov.u32 %r4, 0;\n"
			 "$LOOP: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 20000; @%p2 bra $LOOP;\n"
			 "add.s64 %d3, %d1, %d2; ld.global.u32 %r2, [%d3+4]; add.u32 %r3, %r2, %r4;\n"
			 "st.global.u32 [%d3], %r3;\n$END: ret;\n}\n";

TEST(the_first_block_is_told_of)
{
	enum { BLOCKS = 3000 };
	struct emu_case c = { .ptx = mem_strdup(unwritten_ptx) };
	const struct emu_way two = { "2 threads", "", false, 2 };
	uint32_t *out = emu_buffer(&c, "out", ELEM_U32, BUF_OUT, 2 * BLOCKS);
	emu_launch(&c, "k", (struct dim3u){ BLOCKS, 1, 1 }, (struct dim3u){ 1, 1, 1 });
	for (unsigned turn = 0; turn < 6; turn++) {
		memset(out, 0, 2 * BLOCKS * sizeof *out);
		if (!emu_run_way(&c, &two))
			fail_msg("%s", c.err.msg);
		assert_int_equal(c.res.found.n, 1);
		assert_int_equal(c.res.found.finding[0].times, BLOCKS - 1);
		if (!strstr(c.res.found.finding[0].text, "block (1,0,0)"))
			fail_msg("turn %u: %s", turn, c.res.found.finding[0].text);
	}
	emu_case_free(&c);
}

/* Many races take no room of what else is wrong. */
TEST(races_leave_room_for_the_rest)
{
	enum { RACES = 40, END = 16 };
	struct emu_case c = { .check_races = true };
	char stores[RACES * 64] = "";
	for (unsigned i = 0, at = 0; i < RACES; i++)
		at += (unsigned)snprintf(stores + at, sizeof stores - at,
		                         "st.shared.u32 [s+%u], %%r1;\n.loc 1 %u 0\n", 4 * i, 11 + i);
	c.ptx =
		mem_printf(PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n"
	                        ".shared .align 4 .b8 s[%u]; .reg .b64 %%d<4>; .reg .b32 %%r<6>;\n"
	                        "ld.param.u64 %%d1, [p]; mov.u32 %%r1, %%tid.x;\n.loc 1 10 0\n"
	                        "%sld.global.u32 %%r2, [%%d1]; st.global.u32 [%%d1+4], %%r2;\nret;\n}\n"
	                        ".file 1 \"many.cu\"\n",
	               4 * RACES, stores);
	emu_buffer(&c, "out", ELEM_U32, BUF_OUT, END);
	emu_launch(&c, "k", (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 64, 1, 1 });
	emu_must_run(&c);
	assert_non_null(run_findings_with(&c.res.found, "race"));
	assert_non_null(run_findings_with(&c.res.found, "never written"));
	assert_true(c.res.found.lost > 0);
	emu_case_free(&c);
}
