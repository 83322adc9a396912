/*
 * Sums of products with loads from shared memory between them, as compilers mix them: whatever is
 * done in one go (codegen/fuse_chains.c) gives the same bits and counts as one operation at a time.
 *
 * A program is a row of random loads (a row of words, the same by half warps, one word of each half
 * warp, of all lanes, four words), FMAs, mostly on a register that one has just written, and now
 * and then another operation. PMPP_RANDOM=first:count runs other seeds; a failure prints its
 * program.
 */
#include "product_program.h"

#define N_F 12

struct gen {
	struct text t;
	uint64_t rng;
	unsigned last; /* register that an FMA wrote last */
	unsigned ones; /* registers %g that hold one word for all lanes */
};

static unsigned pick(struct gen *g, unsigned n)
{
	return (unsigned)(rand_next(&g->rng) >> 33) % n;
}

static void load(struct gen *g)
{
	static const char *const address[] = { "%r2", "%r3", "%r4" };
	const unsigned kind = pick(g, 6), at = 4 * pick(g, 100);
	if (kind < 3)
		text_add(&g->t, "\tld.shared.f32 %%f%u, [%s + %u];\n", pick(g, N_F), address[kind], at);
	else if (kind < 5)
		text_add(&g->t, "\tld.shared.f32 %%g%u, [%%r1 + %u];\n", g->ones++, at);
	else
		text_add(&g->t, "\tld.shared.v4.f32 {%%f0, %%f1, %%f2, %%f3}, [%%r5 + %u];\n",
		         16 * pick(g, 8));
}

static void multiply_add(struct gen *g)
{
	const unsigned c = pick(g, 5) ? g->last : pick(g, N_F), d = pick(g, 3) ? c : pick(g, N_F);
	text_add(&g->t, "\tfma.rn.f32 %%f%u, %%f%u, ", d, pick(g, N_F));
	if (pick(g, 8) == 0)
		text_add(&g->t, "0f3F000000");
	else if (pick(g, 2) && g->ones)
		text_add(&g->t, "%%g%u", g->ones - 1 - pick(g, g->ones < 3 ? g->ones : 3));
	else
		text_add(&g->t, "%%f%u", pick(g, N_F));
	text_add(&g->t, ", %%f%u;\n", c);
	g->last = d;
}

static void other(struct gen *g)
{
	unsigned to;
	switch (pick(g, 4)) {
	case 0:
		text_add(&g->t, "\tadd.f32 %%f%u, %%f%u, 0f3E800000;\n", pick(g, N_F), pick(g, N_F));
		break;
	case 1: text_add(&g->t, "\tmov.f32 %%f%u, 0f3F400000;\n", pick(g, N_F)); break;
	case 2:
		to = 1 + pick(g, 4);
		text_add(&g->t, "\tadd.u32 %%r%u, %%r%u, 16;\n", to, to);
		break;
	default: text_add(&g->t, "\tst.shared.f32 [%%r6], %%f%u;\n", pick(g, N_F)); break;
	}
}

static void make_program(struct gen *g)
{
	unsigned all[N_F];
	char *floats = mem_printf("%%f<%u>, %%g<80>", N_F);
	product_begin(&g->t, floats, 12);
	free(floats);
	for (unsigned f = 0; f < N_F; f++) {
		all[f] = f;
		text_add(&g->t, "\tld.shared.f32 %%f%u, [%%r2 + %u];\n", f, 128 * f);
	}
	for (unsigned n = 0, end = 20 + pick(g, 60); n < end; n++) {
		const unsigned kind = pick(g, 20);
		if (kind < 9)
			load(g);
		else if (kind < 18)
			multiply_add(g);
		else
			other(g);
	}
	product_end(&g->t, all, N_F, N_F);
}

static void run_seed(uint64_t seed)
{
	struct gen g = { .rng = seed * 977 + 1 };
	make_program(&g);
	run_product(&g.t, seed, N_F);
	text_free(&g.t);
}

TEST(same_bits_and_counts)
{
	run_seeds(120, run_seed);
}

/* The words of some blocks lie outside: that is the same fault as with one load at a time. The
 * first and the last block, which are looked at more closely, are none of them. */
TEST(an_address_outside_is_a_fault)
{
	for (unsigned mask = 3; mask <= 7; mask += 4) /* block 1 reads from byte 128 or 640 on */
		for (unsigned w = 0; w < ARRAY_LEN(emu_ways); w++) {
			struct emu_case c = {
				.ptx = mem_printf(
					PTX_HEAD
					".visible .entry k(.param .u64 out)\n{\n\t.reg .b32 %%r<6>;\n"
					"\t.reg .f32 %%f<9>;\n"
					"\t.reg .b64 %%rd<4>;\n\t.shared .align 16 .b8 s[1024];\n"
					"\tld.param.u64 %%rd1, [out];\n\tmov.u32 %%r1, %%tid.x;\n"
					"\tmov.u32 %%r2, %%ctaid.x;\n\tmov.u32 %%r3, s;\n"
					"\tmad.lo.u32 %%r4, %%r1, 4, %%r3;\n\tmov.f32 %%f0, 0f3F800000;\n"
					"\tst.shared.f32 [%%r4], %%f0;\n\tst.shared.f32 [%%r4 + 128], %%f0;\n"
					"\tst.shared.f32 [%%r4 + 256], %%f0;\n\tst.shared.f32 [%%r4 + 384], %%f0;\n"
					"\tst.shared.f32 [%%r4 + 512], %%f0;\n\tst.shared.f32 [%%r4 + 640], %%f0;\n"
					"\tst.shared.f32 [%%r4 + 768], %%f0;\n\tst.shared.f32 [%%r4 + 896], %%f0;\n"
					"\tbar.sync 0;\n\tmul.lo.u32 %%r2, %%r2, 5;\n\tand.b32 %%r2, %%r2, %u;\n"
					"\tmad.lo.u32 %%r5, %%r2, 128, %%r4;\n\tld.shared.f32 %%f1, [%%r5];\n"
					"\tld.shared.f32 %%f2, [%%r5 + 128];\n\tld.shared.f32 %%f3, [%%r5 + 256];\n"
					"\tld.shared.f32 %%f4, [%%r5 + 384];\n\tfma.rn.f32 %%f8, %%f1, %%f0, %%f0;\n"
					"\tfma.rn.f32 %%f8, %%f2, %%f0, %%f8;\n\tfma.rn.f32 %%f8, %%f3, %%f0, %%f8;\n"
					"\tfma.rn.f32 %%f8, %%f4, %%f0, %%f8;\n\tmul.wide.u32 %%rd2, %%r1, 4;\n"
					"\tadd.u64 %%rd3, %%rd1, %%rd2;\n\tst.global.f32 [%%rd3], %%f8;\n\tret;\n}\n",
					mask)
			};
			emu_launch(&c, "k", (struct dim3u){ 8, 1, 1 }, (struct dim3u){ 32, 1, 1 });
			const float *out = emu_buffer(&c, "out", ELEM_F32, BUF_OUT, 32);
			const bool ok = emu_run_way(&c, &emu_ways[w]);
			if (ok != (mask == 3))
				fail_msg("%s: %s", emu_ways[w].name, ok ? "no fault" : c.err.msg);
			if (ok)
				assert_true(out[31] == 5);
			else
				assert_non_null(strstr(c.err.msg, "load of 4 bytes out of bounds"));
			emu_case_free(&c);
		}
}
