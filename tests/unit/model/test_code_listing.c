/* Loops, dependencies and counts of a listing. */
#include "../unit.h"
#include "base/text.h"
#include "model/code_listing.h"

/* 0 LDG, 1 outer begins, 2..3 inner, 4 back to the outer one, 5 EXIT */
static struct code_inst insts[] = {
	{ .offset = 0x00, .text = "@!P0 LDG.E R2, [R4]", .write_bar = 2, .read_bar = CODE_NO_BARRIER },
	{ .offset = 0x10, .text = "MOV R3, RZ", .write_bar = CODE_NO_BARRIER },
	{ .offset = 0x20,
	  .text = "FADD R3, R3, R2",
	  .wait = 4,
	  .write_bar = CODE_NO_BARRIER,
	  .n_sources = 3,
	  .sources = { { 0 }, { 1 }, { 2 } } },
	{ .offset = 0x30, .text = "@P1 BRA 0x20", .target = 3, .write_bar = CODE_NO_BARRIER },
	{ .offset = 0x40, .text = "@P2 BRA 0x10", .target = 2, .write_bar = CODE_NO_BARRIER },
	{ .offset = 0x50, .text = "EXIT", .write_bar = CODE_NO_BARRIER },
};
static const struct code_listing listing = { .n = ARRAY_LEN(insts), .insts = insts };
static struct code_count of[] = {
	{ .offset = 0x00, .warps = 1 },  { .offset = 0x10, .warps = 10 },
	{ .offset = 0x20, .warps = 90 }, { .offset = 0x30, .warps = 90 },
	{ .offset = 0x40, .warps = 10 },
};
static const struct run_counts counts = { .n_code = ARRAY_LEN(of), .code = of };

TEST(an_instruction_is_found_by_its_offset)
{
	assert_int_equal(code_listing_at(&listing, 0x30), 3);
	assert_int_equal(code_listing_at(&listing, 0x38), -1);
	assert_int_equal(code_listing_at(&listing, 0x60), -1);
	assert_int_equal(code_listing_count(&listing, &counts, 2)->warps, 90);
	assert_null(code_listing_count(&listing, &counts, 5)); /* nobody counted it */
}

TEST(loops_are_found_outer_before_inner)
{
	struct code_loop loops[CODE_MAX_LOOPS], hot;
	assert_int_equal(code_listing_loops(&listing, &counts, loops), 2);
	assert_int_equal(loops[0].first, 1);
	assert_int_equal(loops[0].last, 4);
	assert_int_equal(loops[0].warps, 200);
	assert_int_equal(loops[1].first, 2);
	assert_int_equal(loops[1].last, 3);
	assert_true(code_listing_hot_loop(&listing, &counts, &hot));
	assert_int_equal(hot.first, 2); /* the inner one, although more ran in the outer */
	assert_int_equal(hot.warps, 180);
	const struct run_counts none = { .n_code = 0 };
	assert_false(code_listing_hot_loop(&listing, &none, &hot));
}

TEST(what_an_instruction_waits_for)
{
	unsigned from, to;
	char opcode[16];
	assert_true(code_inst_reads(&insts[2], 0));
	assert_false(code_inst_reads(&insts[2], 3));
	assert_int_equal(code_inst_waits(&insts[2], &insts[0]), 2);
	assert_int_equal(code_inst_waits(&insts[2], &insts[1]), CODE_NO_BARRIER);
	assert_int_equal(code_inst_waits(&insts[1], &insts[0]), CODE_NO_BARRIER);
	code_listing_span(&listing, 2, false, &from, &to);
	assert_int_equal(from, 0);
	assert_int_equal(to, 2);
	code_listing_span(&listing, 0, true, &from, &to);
	assert_int_equal(from, 0);
	assert_int_equal(to, 2);
	code_inst_opcode(&insts[0], opcode, sizeof opcode);
	assert_string_equal(opcode, "LDG.E");
}

int main(void)
{
	return unit_run(NULL, NULL);
}
