/* Inputs that device memory holds from the run before are not copied again: those of the same name,
 * at the same place, that no launch may write. */
#include "emu/memory/memory.h"
#include "emu_fixture.h"

static struct arena one_region(struct arena_spare *spare, uint64_t size, bool read_only)
{
	struct arena a = { 0 };
	struct err err = { 0 };
	const unsigned i = arena_add(&a, "x", size, 512);
	a.region[i].read_only = read_only;
	if (!arena_map(&a, spare, &err))
		fail_msg("%s", err.msg);
	return a;
}

TEST(only_what_has_a_name_and_is_read_only_stays)
{
	struct arena_spare spare = { 0 };
	struct arena a = one_region(&spare, 5000, true);
	assert_false(arena_holds(&a, 0, 7));
	a.region[0].contents = 7;
	arena_free(&a, &spare);
	a = one_region(&spare, 5000, true);
	assert_true(arena_holds(&a, 0, 7));
	assert_false(arena_holds(&a, 0, 8));
	arena_free(&a, &spare); /* nobody named it this time */
	a = one_region(&spare, 5000, true);
	assert_false(arena_holds(&a, 0, 7) || arena_holds(&a, 0, 0));
	a.region[0].contents = 7;
	arena_free(&a, &spare);
	a = one_region(&spare, 4999, false); /* another size, and it may be written */
	assert_false(arena_holds(&a, 0, 7));
	a.region[0].contents = 7;
	arena_free(&a, &spare);
	a = one_region(&spare, 4999, true);
	assert_false(arena_holds(&a, 0, 7));
	arena_free(&a, &spare);
	arena_spare_free(&spare);
}

static const char copy_ptx[] = PTX_HEAD
	".visible .entry k(.param .u64 p, .param .u64 q)\n{\n.reg .b64 %d<4>; .reg .b32 %r<3>;\n"
	"ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; mov.u32 %r1, %tid.x;\n"
	"mul.wide.u32 %d3, %r1, 4; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;\n"
	"ld.global.u32 %r2, [%d1]; st.global.u32 [%d2], %r2;\nret;\n}\n";

TEST(a_name_says_that_nothing_has_changed)
{
	struct emu_case c = { .ptx = mem_strdup(copy_ptx) };
	uint32_t *in = emu_buffer(&c, "in", ELEM_U32, BUF_IN, 64);
	const uint32_t *out = emu_buffer(&c, "out", ELEM_U32, BUF_OUT, 64);
	static const struct {
		uint64_t contents;
		uint32_t value, seen;
	} run[] = { { 5, 1, 1 }, { 5, 2, 1 }, { 6, 3, 3 }, { 0, 4, 4 }, { 6, 5, 5 }, { 6, 6, 5 } };
	emu_launch(&c, "k", (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 64, 1, 1 });
	for (size_t i = 0; i < ARRAY_LEN(run); i++) {
		for (unsigned k = 0; k < 64; k++)
			in[k] = 100 * run[i].value + k;
		c.buffers[0].contents = run[i].contents;
		emu_must_run(&c);
		for (unsigned k = 0; k < 64; k++)
			assert_int_equal(out[k], 100 * run[i].seen + k);
	}
	emu_case_free(&c);
}
