/*
 * Blocks that look at what the blocks before them have left, one after the other, as a scan in one
 * pass does: all of them begin at once, and each look takes its time, whatever runs them.
 */
#include "emu_fixture.h"

#define BLOCKS 64
#define STATE "state"
#define LOOKS "looks"

/* Blocks of one thread each, with a state of @words and what they saw. */
static void launch_blocks(struct emu_case *c, size_t words)
{
	emu_buffer(c, STATE, ELEM_U32, BUF_INOUT, words);
	emu_buffer(c, LOOKS, ELEM_U32, BUF_INOUT, BLOCKS);
	emu_launch(c, "k", (struct dim3u){ BLOCKS, 1, 1 }, (struct dim3u){ 1, 1, 1 });
}

/* State 1: a block's own part is there; 2: that of all before it, too. */
static struct emu_case looking_back(const char *load)
{
	struct emu_case c = { 0 };
	static const char form[] = PTX_HEAD
		".visible .entry k(.param .u64 state, .param .u64 looks)\n{\n"
		".reg .pred %%p<4>;\n.reg .b32 %%r<8>;\n.reg .b64 %%d<8>;\n"
		"ld.param.u64 %%d1, [state];\ncvta.to.global.u64 %%d1, %%d1;\n"
		"ld.param.u64 %%d2, [looks];\ncvta.to.global.u64 %%d2, %%d2;\n"
		"mov.u32 %%r1, %%ctaid.x;\nmul.wide.u32 %%d3, %%r1, 4;\nadd.s64 %%d4, %%d1, %%d3;\n"
		"add.s64 %%d5, %%d2, %%d3;\nmov.u32 %%r3, 0;\n"
		"st.volatile.global.u32 [%%d4], 1;\nmov.u32 %%r2, %%r1;\n"
		"before:\nsetp.eq.u32 %%p1, %%r2, 0;\n@%%p1 bra done;\n"
		"again:\nadd.u32 %%r3, %%r3, 1;\n"
		"sub.u32 %%r5, %%r2, 1;\nmul.wide.u32 %%d6, %%r5, 4;\nadd.s64 %%d6, %%d1, %%d6;\n"
		"%s.global.u32 %%r4, [%%d6];\n"
		"setp.eq.u32 %%p2, %%r4, 0;\n@%%p2 bra again;\n"
		"setp.eq.u32 %%p3, %%r4, 2;\n@%%p3 bra done;\n"
		"sub.u32 %%r2, %%r2, 1;\nbra before;\n"
		"done:\nst.volatile.global.u32 [%%d4], 2;\nst.global.u32 [%%d5], %%r3;\nret;\n}\n";
	c.ptx = mem_alloc(sizeof form + 32);
	snprintf(c.ptx, sizeof form + 32, form, load);
	launch_blocks(&c, BLOCKS);
	return c;
}

TEST(each_look_takes_a_turn)
{
	uint32_t first[BLOCKS];
	for (unsigned turn = 0; turn < 6; turn++) {
		struct emu_case c = looking_back("ld.volatile");
		const struct emu_way *way = &emu_ways[turn % ARRAY_LEN(emu_ways)];
		if (!emu_run_way(&c, way))
			fail_msg("%s: %s", way->name, c.err.msg);
		const uint32_t *looks = c.buffers[1].data;
		if (turn == 0)
			memcpy(first, looks, sizeof first);
		for (unsigned b = 0; b < BLOCKS; b++)
			if (looks[b] != first[b])
				fail_msg("%s: block %u looks %u times, not %u", way->name, b, looks[b], first[b]);
		emu_case_free(&c);
	}
	/* block 1 finds all that it needs; later ones pass blocks that are not done yet */
	assert_int_equal(first[0], 0);
	assert_int_equal(first[1], 1);
	assert_in_range(first[BLOCKS - 1], 5, BLOCKS / 2);
	for (unsigned b = 2; b < BLOCKS; b++)
		assert_true(first[b] >= first[b - 1]);
}

/* What is not looked for again where nobody has written it yet makes no launch wait. */
TEST(a_loop_over_memory_is_no_wait)
{
	struct emu_case c = { 0 };
	c.ptx = mem_strdup(PTX_HEAD ".visible .entry k(.param .u64 state, .param .u64 looks)\n{\n"
	                            ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n"
	                            "ld.param.u64 %d1, [state];\ncvta.to.global.u64 %d1, %d1;\n"
	                            "mov.u32 %r2, 0;\n"
	                            "next:\nld.volatile.global.u32 %r4, [%d1];\nadd.s64 %d1, %d1, 4;\n"
	                            "setp.eq.u32 %p2, %r4, 77;\n@%p2 bra found;\n"
	                            "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 64;\n@%p1 bra next;\n"
	                            "found:\nret;\n}\n");
	launch_blocks(&c, BLOCKS);
	emu_must_run(&c);
	assert_false(c.res.counts.spins);
	emu_case_free(&c);
	struct emu_case waits = looking_back("ld.volatile");
	emu_must_run(&waits);
	assert_true(waits.res.counts.spins);
	emu_case_free(&waits);
	struct emu_case plain = looking_back("ld");
	emu_must_run(&plain);
	assert_false(plain.res.counts.spins);
	emu_case_free(&plain);
}

/* The first block waits for the last one's flag, by a load like any other. */
TEST(a_plain_flag_is_waited_for)
{
	static const char text[] =
		PTX_HEAD ".visible .entry k(.param .u64 state, .param .u64 looks)\n{\n"
				 ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n"
				 "ld.param.u64 %d1, [state];\ncvta.to.global.u64 %d1, %d1;\n"
				 "ld.param.u64 %d2, [looks];\ncvta.to.global.u64 %d2, %d2;\n"
				 "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra again;\n"
				 "setp.ne.u32 %p2, %r1, 63;\n@%p2 bra done;\n"
				 "st.global.u32 [%d2], 5;\nmembar.gl;\nst.global.u32 [%d1], 1;\nbra done;\n"
				 "again:\nmembar.gl;\nld.global.u32 %r4, [%d1];\n"
				 "setp.eq.u32 %p3, %r4, 0;\n@%p3 bra again;\n"
				 "ld.global.u32 %r5, [%d2];\nst.global.u32 [%d2+4], %r5;\n"
				 "done:\nret;\n}\n";
	for (unsigned i = 0; i < ARRAY_LEN(emu_ways); i++) {
		struct emu_case c = { 0 };
		c.ptx = mem_strdup(text);
		launch_blocks(&c, BLOCKS);
		if (!emu_run_way(&c, &emu_ways[i]))
			fail_msg("%s: %s", emu_ways[i].name, c.err.msg);
		const uint32_t *looks = c.buffers[1].data;
		assert_int_equal(looks[1], 5);
		assert_true(c.res.counts.spins);
		emu_case_free(&c);
	}
}

/* A walk along memory up to what a word says, as code that keeps nothing in registers has it. */
TEST(a_walk_up_to_a_limit_is_no_wait)
{
	struct emu_case c = { 0 };
	c.ptx = mem_strdup(PTX_HEAD ".visible .entry k(.param .u64 state, .param .u64 looks)\n{\n"
	                            ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n"
	                            "ld.param.u64 %d1, [state];\ncvta.to.global.u64 %d1, %d1;\n"
	                            "ld.param.u64 %d2, [looks];\ncvta.to.global.u64 %d2, %d2;\n"
	                            "mov.u32 %r2, 0;\nmov.u32 %r6, 0;\n"
	                            "next:\nld.global.u32 %r4, [%d1];\nadd.u32 %r6, %r6, %r4;\n"
	                            "add.s64 %d1, %d1, 4;\nadd.u32 %r2, %r2, 1;\n"
	                            "ld.global.u32 %r5, [%d2];\nsetp.lt.u32 %p1, %r2, %r5;\n"
	                            "@%p1 bra next;\n"
	                            "ret;\n}\n");
	launch_blocks(&c, BLOCKS);
	emu_must_run(&c);
	assert_false(c.res.counts.spins);
	emu_case_free(&c);
}

/* The first block waits for all others, one after the other, by plain loads. */
TEST(plain_flags_are_waited_for_in_turn)
{
	struct emu_case c = { 0 };
	c.ptx = mem_strdup(PTX_HEAD
	                   ".visible .entry k(.param .u64 state, .param .u64 looks)\n{\n"
	                   ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n"
	                   "ld.param.u64 %d1, [state];\ncvta.to.global.u64 %d1, %d1;\n"
	                   "ld.param.u64 %d2, [looks];\ncvta.to.global.u64 %d2, %d2;\n"
	                   "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %d3, %r1, 4;\nadd.s64 %d4, %d1, %d3;\n"
	                   "setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, 1;\n@%p1 bra again;\n"
	                   "st.global.u32 [%d4], 1;\nbra done;\n"
	                   "again:\nmembar.gl;\nmul.wide.u32 %d5, %r2, 4;\nadd.s64 %d6, %d1, %d5;\n"
	                   "ld.global.u32 %r4, [%d6];\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra again;\n"
	                   "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 64;\n@%p3 bra again;\n"
	                   "st.global.u32 [%d2], %r2;\n"
	                   "done:\nret;\n}\n");
	launch_blocks(&c, BLOCKS);
	emu_must_run(&c);
	assert_true(c.res.counts.spins);
	assert_int_equal(((uint32_t *)c.buffers[1].data)[0], BLOCKS);
	emu_case_free(&c);
}

/*
 * A block goes through its two words again and again until both are set; a word is set once the
 * next one is, which the next block owns. The loop that asks is not the innermost one: that one
 * never comes to a word twice.
 */
TEST(a_list_is_gone_through_until_all_of_it_is_done)
{
	struct emu_case c = { 0 };
	c.ptx = mem_strdup(PTX_HEAD
	                   ".visible .entry k(.param .u64 state, .param .u64 looks)\n{\n"
	                   ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
	                   "ld.param.u64 %d1, [state];\ncvta.to.global.u64 %d1, %d1;\n"
	                   "ld.param.u64 %d2, [looks];\ncvta.to.global.u64 %d2, %d2;\n"
	                   "mov.u32 %r1, %ctaid.x;\n"
	                   "again:\nmov.u32 %r2, %r1;\nmov.u32 %r3, 0;\n"
	                   "word:\nmul.wide.u32 %d3, %r2, 4;\nadd.s64 %d4, %d1, %d3;\n"
	                   "ld.volatile.global.u32 %r4, [%d4];\nsetp.ne.u32 %p1, %r4, 0;\n"
	                   "@%p1 bra next;\n"
	                   "setp.eq.u32 %p2, %r2, 127;\n@%p2 bra set;\n"
	                   "ld.volatile.global.u32 %r5, [%d4+4];\nsetp.ne.u32 %p3, %r5, 0;\n"
	                   "@%p3 bra set;\nmov.u32 %r3, 1;\nbra next;\n"
	                   "set:\nst.volatile.global.u32 [%d4], 1;\n"
	                   "next:\nadd.u32 %r2, %r2, 64;\nsetp.lt.u32 %p4, %r2, 128;\n@%p4 bra word;\n"
	                   "setp.ne.u32 %p5, %r3, 0;\n@%p5 bra again;\n"
	                   "ret;\n}\n");
	launch_blocks(&c, 2 * BLOCKS);
	emu_must_run(&c);
	for (unsigned i = 0; i < 2 * BLOCKS; i++)
		assert_int_equal(((uint32_t *)c.buffers[0].data)[i], 1);
	emu_case_free(&c);
}

/*
 * Which word a block looks at is chosen so often that not all ways around its loop can be gone
 * through: whether it comes to the same word again is not told, and blocks take turns.
 */
TEST(a_loop_of_too_many_ways_takes_turns)
{
	struct text t = { 0 };
	struct emu_case c = { 0 };
	text_add(&t, "%s",
	         PTX_HEAD ".visible .entry k(.param .u64 state, .param .u64 looks)\n{\n"
	                  ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
	                  "ld.param.u64 %d1, [state];\ncvta.to.global.u64 %d1, %d1;\n"
	                  "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %d3, %r1, 4;\n"
	                  "add.s64 %d4, %d1, %d3;\nmov.u64 %d5, %d4;\n"
	                  "setp.eq.u32 %p2, %r1, 63;\n@%p2 bra set;\nagain:\n");
	for (unsigned i = 0; i < 24; i++)
		text_add(&t, "%s",
		         "setp.gt.u64 %p3, %d5, %d4;\nadd.s64 %d6, %d5, 4;\n"
		         "selp.b64 %d5, %d6, %d5, %p3;\n");
	text_add(&t, "%s",
	         "ld.volatile.global.u32 %r4, [%d5+4];\nsetp.eq.u32 %p1, %r4, 0;\n"
	         "@%p1 bra again;\n"
	         "set:\nst.volatile.global.u32 [%d4], 1;\nret;\n}\n");
	c.ptx = t.s;
	launch_blocks(&c, BLOCKS);
	emu_must_run(&c);
	for (unsigned i = 0; i < BLOCKS; i++)
		assert_int_equal(((uint32_t *)c.buffers[0].data)[i], 1);
	emu_case_free(&c);
}

/* Each block counts its turns in one word, and nobody reads what it held. */
TEST(a_counter_is_no_wait)
{
	struct emu_case c = { 0 };
	c.ptx = mem_strdup(PTX_HEAD ".visible .entry k(.param .u64 state, .param .u64 looks)\n{\n"
	                            ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n"
	                            "ld.param.u64 %d1, [state];\ncvta.to.global.u64 %d1, %d1;\n"
	                            "mov.u32 %r2, 0;\n"
	                            "next:\natom.global.add.u32 %r4, [%d1], 1;\nadd.u32 %r2, %r2, 1;\n"
	                            "setp.lt.u32 %p1, %r2, 5;\n@%p1 bra next;\n"
	                            "ret;\n}\n");
	launch_blocks(&c, BLOCKS);
	emu_must_run(&c);
	assert_false(c.res.counts.spins);
	assert_int_equal(((uint32_t *)c.buffers[0].data)[0], 5 * BLOCKS);
	emu_case_free(&c);
}
