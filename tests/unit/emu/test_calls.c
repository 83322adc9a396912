/* Calls through pointers: of functions that call on through pointers, and of others, by lanes of
 * one warp: each finds its registers again. */
#include "emu_fixture.h"

enum { LANES = 96 };

/* clang-format off */
#define CALL(index, x, y) \
	"mad.wide.u32 %d1, " index ", 8, %d0; ld.global.u64 %d2, [%d1];\n" \
	"{ .param .b32 a; .param .b32 b; st.param.b32 [a], " x ";\n" \
	"way: .callprototype (.param .b32 _) _ (.param .b32 _);\n" \
	"call (b), %d2, (a), way; ld.param.b32 " y ", [b]; }\n"
#define REGISTERS ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
static const char code[] = PTX_HEAD
	".func (.param .b32 r) leaf(.param .b32 x);\n.func (.param .b32 r) node(.param .b32 x);\n"
	".visible .global .align 8 .u64 way_of[2] = { leaf, node };\n"
	/* x + 1 */
	".func (.param .b32 r) leaf(.param .b32 x)\n{\n" REGISTERS
	"ld.param.b32 %r1, [x]; add.s32 %r1, %r1, 1; st.param.b32 [r], %r1; ret;\n}\n"
	/* 5 where x = 0; else 3 * y + x: y of x - 1 by node, of a multiple of 7 by leaf */
	".func (.param .b32 r) node(.param .b32 x)\n{\n" REGISTERS
	"ld.param.b32 %r1, [x]; mov.b32 %r5, 5; setp.eq.s32 %p1, %r1, 0; @%p1 bra DONE;\n"
	"sub.s32 %r2, %r1, 1; rem.s32 %r3, %r2, 7; setp.ne.s32 %p2, %r3, 0;\n"
	"selp.b32 %r4, 1, 0, %p2;\n"
	"mov.u64 %d0, way_of;\n" CALL("%r4", "%r2", "%r6")
	"mad.lo.s32 %r5, %r6, 3, %r1;\nDONE: st.param.b32 [r], %r5; ret;\n}\n"
	/* out[i] = 100 * what leaf (i even) or node gives of i % 11, and i more */
	".visible .entry k(.param .u64 q)\n{\n" REGISTERS
	"ld.param.u64 %d3, [q]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; rem.u32 %r3, %r1, 11;\n"
	"mov.u64 %d0, way_of;\n" CALL("%r2", "%r3", "%r4")
	"mad.lo.s32 %r5, %r4, 100, %r1; mad.wide.u32 %d4, %r1, 4, %d3;\n"
	"st.global.u32 [%d4], %r5;\nret;\n}\n";
/* clang-format on */

static int leaf(int x)
{
	return x + 1;
}

static int node(int x)
{
	return x == 0 ? 5 : 3 * ((x - 1) % 7 ? node(x - 1) : leaf(x - 1)) + x;
}

TEST(who_calls_through_a_pointer_finds_its_registers_again)
{
	for (size_t way = 0; way < ARRAY_LEN(emu_ways); way++) {
		struct emu_case c = { 0 };
		c.ptx = mem_printf("%s", code);
		const int32_t *out = emu_buffer(&c, "out", ELEM_I32, BUF_INOUT, LANES);
		emu_launch(&c, "k", (struct dim3u){ 1, 1, 1 }, (struct dim3u){ LANES, 1, 1 });
		if (!emu_run_way(&c, &emu_ways[way]))
			fail_msg("%s: %s", emu_ways[way].name, c.err.msg);
		for (int i = 0; i < LANES; i++)
			if (out[i] != 100 * (i & 1 ? node(i % 11) : leaf(i % 11)) + i)
				fail_msg("%s: lane %d has %d", emu_ways[way].name, i, out[i]);
		emu_case_free(&c);
	}
}
