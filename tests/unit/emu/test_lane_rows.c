/* Elements of which 32, 16, 8 or fewer lanes read and write one behind the other, at any place in a
 * line: the handlers for rows give the values and the counts of the reference, lines for the caches
 * among them. */
#include "emu_fixture.h"

enum { LANES = 32, BLOCKS = 7, ROOM = 1 << 15 };

struct element {
	const char *type, *reg;
	unsigned bytes;
};

/* Lane l of block b moves the element at shift + (l % row) * bytes + (l / row) * pitch + b * 4096.
 */
static void write_code(struct emu_case *c, const struct element *e, unsigned pitch)
{
	const unsigned bits = 8 * e->bytes;
	c->ptx = mem_printf(PTX_HEAD
	                    ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 s)\n{\n"
	                    ".reg .b64 %%d<9>; .reg .b32 %%r<9>; .reg .b16 %%h<2>;\n"
	                    "ld.param.u64 %%d0, [p]; ld.param.u64 %%d1, [q]; ld.param.u32 %%r0, [s];\n"
	                    "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%tid.y; mov.u32 %%r3, %%ctaid.x;\n"
	                    "mad.lo.u32 %%r4, %%r1, %u, %%r0; mad.lo.u32 %%r5, %%r2, %u, %%r4;\n"
	                    "mad.lo.u32 %%r7, %%r3, 4096, %%r5; cvt.u64.u32 %%d2, %%r7;\n"
	                    "add.s64 %%d3, %%d0, %%d2; add.s64 %%d4, %%d1, %%d2;\n"
	                    "ld.global.%s %s, [%%d3];\nst.global.b%u [%%d4], %s;\nret;\n}\n",
	                    e->bytes, pitch, e->type, e->reg, bits, e->reg);
}

static void one_shape(const struct element *e, unsigned row, unsigned pitch, unsigned shift)
{
	struct counts first = { 0 };
	double sectors = 0, read = 0;
	for (size_t way = 0; way < ARRAY_LEN(emu_ways); way++) {
		struct emu_case c = { 0 };
		write_code(&c, e, pitch);
		uint8_t *in = emu_buffer(&c, "in", ELEM_U8, BUF_IN, ROOM);
		uint8_t *out = emu_buffer(&c, "out", ELEM_U8, BUF_INOUT, ROOM);
		c.plan.args[c.plan.n_args++] =
			(struct kernel_arg){ .kind = ARG_I32, .i32 = (int32_t)shift };
		uint8_t *want = mem_zalloc(ROOM);
		for (unsigned i = 0; i < ROOM; i++)
			in[i] = (uint8_t)(i * 37 + i / 256);
		for (unsigned i = 0; i < BLOCKS * LANES; i++) {
			const unsigned l = i % LANES;
			const unsigned at = shift + l % row * e->bytes + l / row * pitch + i / LANES * 4096;
			memcpy(want + at, in + at, e->bytes);
		}
		emu_launch(&c, "k", (struct dim3u){ BLOCKS, 1, 1 }, (struct dim3u){ row, LANES / row, 1 });
		if (!emu_run_way(&c, &emu_ways[way]))
			fail_msg("%s: %s", emu_ways[way].name, c.err.msg);
		const struct run_counts *n = &c.res.counts;
		const char *differs = way ? emu_counts_differ(&first, &n->total) : NULL;
		if (way && (n->l2_sectors != sectors || n->dram_read_bytes != read))
			differs = "lines";
		if (differs || memcmp(want, out, ROOM) != 0)
			fail_msg("%s, %s: rows of %u, %u apart, from %u: %s", emu_ways[way].name, e->type, row,
			         pitch, shift, differs ? differs : "values");
		if (!way) {
			first = n->total;
			sectors = n->l2_sectors;
			read = n->dram_read_bytes;
			assert_true(sectors > 0 && read > 0);
		}
		free(want);
		emu_case_free(&c);
	}
}

TEST(rows_are_moved_and_counted_as_lanes_are)
{
	static const struct element elements[] = { { "u8", "%r6", 1 },
		                                       { "s8", "%r6", 1 },
		                                       { "u16", "%h1", 2 },
		                                       { "s16", "%h1", 2 },
		                                       { "b64", "%d5", 8 } };
	static const unsigned rows[] = { 32, 16, 8, 4 };
	for (size_t i = 0; i < ARRAY_LEN(elements); i++)
		for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
			const struct element *e = &elements[i];
			for (unsigned shift = 0; shift < 128; shift += 40) {
				one_shape(e, rows[k], 128, shift);
				one_shape(e, rows[k], 312, shift);
			}
		}
}
