/*
 * Launches that nobody looks at: values come out as in the reference, wherever the lanes' elements
 * lie, and memory that nothing wrote is told as ever.
 */
#include "emu_fixture.h"

enum { LANES = 32, ROOM = 4096 };

/* Lane l moves the element at p + places[l] to q + places[l]; addresses are known at run time. */
static void write_code(struct emu_case *c, const char *type, const char *reg)
{
	c->ptx = mem_printf(
		PTX_HEAD ".visible .entry k(.param .u64 p, .param .u64 q, .param .u64 t)\n{\n"
				 ".reg .b64 %%d<9>; .reg .b32 %%r<9>; .reg .b16 %%h<5>; .reg .b64 %%w<2>;\n"
				 "ld.param.u64 %%d0, [p]; ld.param.u64 %%d1, [q]; ld.param.u64 %%d2, [t];\n"
				 "mov.u32 %%r1, %%tid.x; mul.wide.u32 %%d3, %%r1, 4; add.s64 %%d3, %%d2, %%d3;\n"
				 "ld.global.u32 %%r2, [%%d3]; cvt.u64.u32 %%d4, %%r2;\n"
				 "add.s64 %%d5, %%d0, %%d4; add.s64 %%d6, %%d1, %%d4;\n"
				 "ld.global.%s %s, [%%d5];\nst.global.%s [%%d6], %s;\nret;\n}\n",
		type, reg, type, reg);
}

static bool run_uncounted(struct emu_case *c, const struct emu_way *way)
{
	setenv("PMPP_EMU_UNCOUNTED", "1", 1);
	const bool ok = emu_run_way(c, way);
	unsetenv("PMPP_EMU_UNCOUNTED");
	return ok;
}

static unsigned place_of(unsigned lane, unsigned bytes, unsigned form)
{
	switch (form) {
	case 0: return (lane + 3) * bytes;                       /* a row */
	case 1: return (lane * 7 % LANES) * bytes;               /* anywhere */
	case 2: return (lane == 31 ? 0 : lane + 1) * bytes;      /* a row but for its end */
	case 3: return (lane + (lane > 15 ? 128 : 0)) * bytes;   /* two rows */
	case 4: return (lane % 8 + (3 - lane / 8) * 60) * bytes; /* rows of 8, the last one first */
	case 5: return (lane % 8 + lane / 8 * 4) * bytes;        /* ... each half over the one before */
	default: return (lane + (lane > 11 ? 100 : 0)) * bytes;  /* two rows, not of whole eights */
	}
}

static void one_form(const char *type, const char *reg, unsigned bytes, unsigned form,
                     unsigned lanes)
{
	for (size_t way = 1; way < ARRAY_LEN(emu_ways); way++) {
		struct emu_case c = { 0 };
		write_code(&c, type, reg);
		uint8_t *in = emu_buffer(&c, "in", ELEM_U8, BUF_IN, ROOM);
		uint8_t *out = emu_buffer(&c, "out", ELEM_U8, BUF_INOUT, ROOM);
		uint32_t *places = emu_buffer(&c, "places", ELEM_U32, BUF_IN, LANES);
		uint8_t *want = mem_zalloc(ROOM);
		for (unsigned i = 0; i < ROOM; i++)
			in[i] = (uint8_t)(i * 37 + i / 256 + 1);
		for (unsigned l = 0; l < LANES; l++)
			places[l] = l;
		for (unsigned l = 0; l < lanes; l++) {
			places[l] = place_of(l, bytes, form);
			memcpy(want + places[l], in + places[l], bytes);
		}
		/* the same by every block: later ones know where the first went */
		emu_launch(&c, "k", (struct dim3u){ 3, 1, 1 }, (struct dim3u){ lanes, 1, 1 });
		if (!run_uncounted(&c, &emu_ways[way]))
			fail_msg("%s: %s", emu_ways[way].name, c.err.msg);
		if (memcmp(want, out, ROOM) != 0)
			fail_msg("%s, %s, form %u, %u lanes: values", emu_ways[way].name, type, form, lanes);
		free(want);
		emu_case_free(&c);
	}
}

TEST(lanes_are_moved_wherever_they_lie)
{
	for (unsigned few = 0; few < 2; few++)
		for (unsigned form = 0; form < 7; form++) {
			const unsigned lanes = few ? 5 : LANES;
			one_form("u8", "%r6", 1, form, lanes);
			one_form("v2.u8", "{%h1, %h2}", 2, form, lanes);
			one_form("v4.u8", "{%h1, %h2, %h3, %h4}", 4, form, lanes);
			one_form("u16", "%h1", 2, form, lanes);
			one_form("v2.u16", "{%h1, %h2}", 4, form, lanes);
			one_form("u32", "%r6", 4, form, lanes);
			one_form("b64", "%w1", 8, form, lanes);
		}
}

/* Lane l of @lanes stores byte 5 l + 3 of 256 that it counted up from -7 in @space, with its sign.
 */
static void one_space(const char *space, unsigned lanes)
{
	struct emu_case c = { 0 };
	c.ptx = mem_printf(
		PTX_HEAD ".visible .entry k(.param .u64 q)\n{\n.reg .pred %%p<2>; .reg .b64 %%d<9>;\n"
				 ".reg .b32 %%r<9>; .%s .align 8 .b8 mine[256];\n"
				 "ld.param.u64 %%d0, [q]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, 0;\n"
				 "mov.u64 %%d1, mine;\n"
				 "LOOP: cvt.u64.u32 %%d2, %%r2; add.s64 %%d2, %%d2, %%d1; sub.s32 %%r3, %%r2, 7;\n"
				 "st.%s.u8 [%%d2], %%r3; add.s32 %%r2, %%r2, 1;\n"
				 "setp.lt.u32 %%p1, %%r2, 256; @%%p1 bra LOOP;\n"
				 "bar.sync 0; mad.lo.u32 %%r4, %%r1, 5, 3; cvt.u64.u32 %%d3, %%r4;\n"
				 "add.s64 %%d3, %%d3, %%d1; ld.%s.s8 %%r5, [%%d3];\n"
				 "mul.wide.u32 %%d4, %%r1, 4; add.s64 %%d4, %%d4, %%d0;\n"
				 "st.global.u32 [%%d4], %%r5;\nret;\n}\n",
		space, space, space);
	const int32_t *out = emu_buffer(&c, "out", ELEM_I32, BUF_INOUT, LANES);
	emu_launch(&c, "k", (struct dim3u){ 1, 1, 1 }, (struct dim3u){ lanes, 1, 1 });
	if (!run_uncounted(&c, &emu_ways[ARRAY_LEN(emu_ways) - 1]))
		fail_msg("%s: %s", space, c.err.msg);
	for (unsigned l = 0; l < lanes; l++)
		assert_int_equal(out[l], (int8_t)(5 * l + 3 - 7));
	emu_case_free(&c);
}

TEST(bytes_of_a_few_lanes_keep_their_signs)
{
	for (unsigned few = 0; few < 2; few++) {
		one_space("local", few ? 7 : LANES);
		one_space("shared", few ? 7 : LANES);
	}
}

/* Lane l loads the element l of @type, by an address known at run time, and stores it as a word. */
static void one_row(const char *type, unsigned bytes, unsigned lanes)
{
	for (size_t way = 1; way < ARRAY_LEN(emu_ways); way++) {
		struct emu_case c = { 0 };
		c.ptx = mem_printf(
			PTX_HEAD
			".visible .entry k(.param .u64 p, .param .u64 q, .param .u64 t)\n{\n"
			".reg .b64 %%d<9>; .reg .b32 %%r<9>;\n"
			"ld.param.u64 %%d0, [p]; ld.param.u64 %%d1, [q]; ld.param.u64 %%d2, [t];\n"
			"mov.u32 %%r1, %%tid.x; mul.wide.u32 %%d3, %%r1, 4; add.s64 %%d4, %%d2, %%d3;\n"
			"ld.global.u32 %%r2, [%%d4]; mul.wide.u32 %%d5, %%r2, %u;\n"
			"add.s64 %%d5, %%d5, %%d0; ld.global.%s %%r3, [%%d5];\n"
			"add.s64 %%d6, %%d1, %%d3; st.global.u32 [%%d6], %%r3;\nret;\n}\n",
			bytes, type);
		int8_t *in = emu_buffer(&c, "in", ELEM_U8, BUF_IN, LANES * 2);
		const int32_t *out = emu_buffer(&c, "out", ELEM_I32, BUF_INOUT, LANES);
		uint32_t *places = emu_buffer(&c, "places", ELEM_U32, BUF_IN, LANES);
		for (unsigned i = 0; i < LANES * 2; i++)
			in[i] = (int8_t)(7 * i - 100);
		for (unsigned l = 0; l < LANES; l++)
			places[l] = l;
		emu_launch(&c, "k", (struct dim3u){ 3, 1, 1 }, (struct dim3u){ lanes, 1, 1 });
		if (!run_uncounted(&c, &emu_ways[way]))
			fail_msg("%s: %s", emu_ways[way].name, c.err.msg);
		for (unsigned l = 0; l < lanes; l++) {
			int16_t half;
			memcpy(&half, in + 2 * l, sizeof half);
			const int32_t value = bytes == 1 ? in[l] : half;
			const int32_t bits = bytes == 1 ? 0xff : 0xffff;
			assert_int_equal(out[l], type[0] == 's' ? value : value & bits);
		}
		emu_case_free(&c);
	}
}

TEST(rows_of_bytes_and_halves_keep_their_signs)
{
	for (unsigned few = 0; few < 2; few++) {
		one_row("u8", 1, few ? 7 : LANES);
		one_row("s8", 1, few ? 7 : LANES);
		one_row("u16", 2, few ? 7 : LANES);
		one_row("s16", 2, few ? 7 : LANES);
	}
}

/* Each lane counts k + lane up in word k of its own memory, by an address that all lanes share; the
 * odd lanes then add the eight words at @t to what they find in word 5, pairs and quads at a time.
 */
TEST(lanes_share_an_address_in_part_of_a_warp)
{
	for (size_t way = 1; way < ARRAY_LEN(emu_ways); way++) {
		struct emu_case c = { 0 };
		c.ptx = mem_strdup(
			PTX_HEAD ".visible .entry k(.param .u64 q, .param .u64 t)\n{\n.reg .pred %p<3>;\n"
					 ".reg .b64 %d<9>; .reg .b32 %r<19>; .local .align 16 .b8 mine[64];\n"
					 "ld.param.u64 %d0, [q]; ld.param.u64 %d1, [t]; mov.u32 %r1, %tid.x;\n"
					 "mov.u32 %r2, 0; mov.u64 %d2, mine; and.b32 %r3, %r1, 1;\n"
					 "setp.eq.u32 %p2, %r3, 0;\n"
					 "LOOP: mul.wide.u32 %d3, %r2, 4; add.s64 %d3, %d3, %d2;\n"
					 "add.u32 %r4, %r1, %r2; st.local.u32 [%d3], %r4; add.u32 %r2, %r2, 1;\n"
					 "setp.lt.u32 %p1, %r2, 16; @%p1 bra LOOP;\n"
					 "mov.u32 %r5, 0; @%p2 bra END;\n"
					 "ld.local.v2.u32 {%r6, %r5}, [mine+16];\n"
					 "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d1];\n"
					 "ld.global.v2.u32 {%r10, %r11}, [%d1+16]; ld.global.u64 %d5, [%d1+24];\n"
					 "cvt.u32.u64 %r12, %d5; shr.u64 %d5, %d5, 32; cvt.u32.u64 %r13, %d5;\n"
					 "add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; add.u32 %r5, %r5, %r8;\n"
					 "add.u32 %r5, %r5, %r9; add.u32 %r5, %r5, %r10; add.u32 %r5, %r5, %r11;\n"
					 "add.u32 %r5, %r5, %r12; add.u32 %r5, %r5, %r13;\n"
					 "END: mul.wide.u32 %d4, %r1, 4; add.s64 %d4, %d4, %d0;\n"
					 "st.global.u32 [%d4], %r5;\nret;\n}\n");
		const uint32_t *out = emu_buffer(&c, "out", ELEM_U32, BUF_INOUT, LANES);
		uint32_t *add = emu_buffer(&c, "add", ELEM_U32, BUF_IN, 8);
		for (unsigned i = 0; i < 8; i++)
			add[i] = 1000u << i;
		emu_launch(&c, "k", (struct dim3u){ 3, 1, 1 }, (struct dim3u){ LANES, 1, 1 });
		if (!run_uncounted(&c, &emu_ways[way]))
			fail_msg("%s: %s", emu_ways[way].name, c.err.msg);
		for (unsigned l = 0; l < LANES; l++)
			assert_int_equal(out[l], l % 2 ? l + 5 + 255 * 1000 : 0);
		emu_case_free(&c);
	}
}

/* Lane l writes word 7 l mod 32 of memory without values, but for one lane; then reads word l. */
static bool writes_all_but(struct emu_case *c, unsigned left_out)
{
	c->ptx = mem_printf(PTX_HEAD ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
	                             ".reg .pred %%p<2>; .reg .b64 %%d<9>; .reg .b32 %%r<9>;\n"
	                             "ld.param.u64 %%d0, [p]; ld.param.u64 %%d1, [q];\n"
	                             "mov.u32 %%r1, %%tid.x; mul.lo.u32 %%r2, %%r1, 7;\n"
	                             "and.b32 %%r2, %%r2, 31; mul.wide.u32 %%d2, %%r2, 4;\n"
	                             "add.s64 %%d3, %%d0, %%d2; mul.wide.u32 %%d4, %%r1, 4;\n"
	                             "add.s64 %%d5, %%d0, %%d4; add.s64 %%d6, %%d1, %%d4;\n"
	                             "setp.ne.u32 %%p1, %%r1, %u; @%%p1 st.global.u32 [%%d3], %%r2;\n"
	                             "bar.sync 0; ld.global.u32 %%r3, [%%d5];\n"
	                             "st.global.u32 [%%d6], %%r3;\nret;\n}\n",
	                    left_out);
	emu_buffer(c, "fresh", ELEM_U32, BUF_OUT, LANES);
	emu_buffer(c, "copy", ELEM_U32, BUF_INOUT, LANES);
	emu_launch(c, "k", (struct dim3u){ 1, 1, 1 }, (struct dim3u){ LANES, 1, 1 });
	return run_uncounted(c, &emu_ways[ARRAY_LEN(emu_ways) - 1]);
}

static bool told(const struct emu_case *c)
{
	return run_findings_with(&c->res.found, "never written") != NULL;
}

TEST(words_have_values_once_they_are_written)
{
	struct emu_case all = { 0 }, hole = { 0 };
	assert_true(writes_all_but(&all, 99));
	assert_false(told(&all));
	const uint32_t *copy = all.buffers[1].data;
	for (unsigned l = 0; l < LANES; l++)
		assert_int_equal(copy[l], l);
	emu_case_free(&all);
	assert_true(writes_all_but(&hole, 5));
	assert_true(told(&hole));
	emu_case_free(&hole);
}

/* Blocks of 20 threads copy the words of their own number; the last ones end with the buffers,
 * where a row of 32 would not. */
TEST(a_part_of_a_warp_moves_a_part_of_a_row)
{
	enum { BLOCKS = 9, THREADS = 20 };
	for (size_t way = 1; way < ARRAY_LEN(emu_ways); way++) {
		struct emu_case c = { 0 };
		c.ptx =
			mem_strdup(PTX_HEAD ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
		                        ".reg .b64 %d<6>; .reg .b32 %r<6>;\n"
		                        "ld.param.u64 %d0, [p]; ld.param.u64 %d1, [q];\n"
		                        "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
		                        "mad.lo.u32 %r3, %r2, 20, %r1; mul.wide.u32 %d2, %r3, 4;\n"
		                        "add.s64 %d3, %d0, %d2; add.s64 %d4, %d1, %d2;\n"
		                        "ld.global.u32 %r4, [%d3]; st.global.u32 [%d4], %r4;\nret;\n}\n");
		uint32_t *in = emu_buffer(&c, "in", ELEM_U32, BUF_IN, BLOCKS * THREADS);
		const uint32_t *out = emu_buffer(&c, "out", ELEM_U32, BUF_INOUT, BLOCKS * THREADS);
		for (unsigned i = 0; i < BLOCKS * THREADS; i++)
			in[i] = 3 * i + 1;
		emu_launch(&c, "k", (struct dim3u){ BLOCKS, 1, 1 }, (struct dim3u){ THREADS, 1, 1 });
		if (!run_uncounted(&c, &emu_ways[way]))
			fail_msg("%s: %s", emu_ways[way].name, c.err.msg);
		for (unsigned i = 0; i < BLOCKS * THREADS; i++)
			assert_int_equal(out[i], 3 * i + 1);
		emu_case_free(&c);
	}
}
