/* Wavefronts of 128-bit shared loads by lanes and units, as an H200 counted them
 * (tests/gpu/h200-2026-11-23/micro/wide_loads.jsonl). */
#include "emu/count/probe.h"
#include "emu_fixture.h"

/* Lane l reads unit l / a % b * c + l / d % e * f of 16 bytes. */
struct row {
	uint32_t mask;
	unsigned a, b, c, d, e, f, wavefronts;
};

TEST(lanes_that_are_off_free_the_lower_half)
{
	static const struct row rows[] = {
		{ 0xffffffff, 1, 8, 1, 1, 1, 0, 4 },  { 0x7fffffff, 1, 8, 1, 1, 1, 0, 3 },
		{ 0xfffffffe, 1, 8, 1, 1, 1, 0, 4 },  { 0x8000ffff, 1, 8, 1, 1, 1, 0, 3 },
		{ 0x0000ffff, 1, 8, 1, 1, 1, 0, 1 },  { 0xffff0000, 1, 8, 1, 1, 1, 0, 2 },
		{ 0x0f0f0000, 1, 8, 1, 1, 1, 0, 2 },  { 0x01ff01ff, 1, 8, 1, 1, 1, 0, 3 },
		{ 0x0f0f0f0f, 1, 4, 2, 1, 1, 0, 3 },  { 0xf0f0f0f0, 1, 4, 2, 1, 1, 0, 4 },
		{ 0x00ffffff, 1, 4, 1, 8, 4, 4, 2 },  { 0x0000ffff, 1, 4, 1, 8, 4, 8, 2 },
		{ 0x0000ffff, 1, 32, 1, 1, 1, 0, 2 }, { 0x0000f00f, 1, 32, 1, 1, 1, 0, 1 },
		{ 0xffffffff, 2, 16, 1, 1, 1, 0, 2 }, { 0x55555555, 1, 8, 1, 1, 1, 0, 2 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *r = &rows[i];
		uint64_t address[32];
		for (unsigned l = 0; l < 32; l++)
			address[l] = 16 * (l / r->a % r->b * r->c + l / r->d % r->e * r->f);
		const struct shared_probe load = probe_shared(address, r->mask, 16, LAYOUT_ANY, false);
		const struct shared_probe store = probe_shared(address, r->mask, 16, LAYOUT_ANY, true);
		if (load.wavefronts != r->wavefronts)
			fail_msg("row %zu: %u wavefronts, the card took %u", i, load.wavefronts, r->wavefronts);
		assert_true(store.wavefronts >= load.wavefronts);
	}
}

/* All lanes ask for the same 16 bytes: one wavefront for each half of the warp, whoever counts. */
TEST(one_place_for_all_takes_two_wavefronts)
{
	for (size_t i = 0; i < ARRAY_LEN(emu_ways); i++) {
		struct emu_case c = { 0 };
		c.ptx = mem_strdup(PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n"
		                            ".shared .align 16 .b8 t[64];\n"
		                            ".reg .b64 %d<3>; .reg .b32 %r<6>;\n"
		                            "ld.param.u64 %d1, [p]; mov.u32 %r5, %ctaid.x;\n"
		                            "shl.b32 %r5, %r5, 4; mov.u32 %r4, t; add.u32 %r5, %r4, %r5;\n"
		                            "ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%r5];\n"
		                            "st.global.u32 [%d1], %r0;\nret;\n}\n");
		emu_buffer(&c, "out", ELEM_U32, BUF_OUT, 1);
		emu_launch(&c, "k", (struct dim3u){ 3, 1, 1 }, (struct dim3u){ 64, 1, 1 });
		if (!emu_run_way(&c, &emu_ways[i]))
			fail_msg("%s: %s", emu_ways[i].name, c.err.msg);
		assert_int_equal(c.res.counts.total.shared_ld_requests, 6);
		assert_int_equal(c.res.counts.total.shared_ld_wavefronts, 12);
		emu_case_free(&c);
	}
}
