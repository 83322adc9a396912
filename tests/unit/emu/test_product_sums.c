/*
 * Sums of products with loads from shared memory between them, as compilers mix them: whatever is
 * done in one go (codegen/fuse_chains.c) gives the same bits and counts as one operation at a time.
 *
 * A program is a row of random loads (a row of words, the same by half warps, one word of each half
 * warp, of all lanes, four words), FMAs, mostly on a register that one has just written, and now
 * and then another operation. PMPP_RANDOM=first:count runs other seeds; a failure prints its
 * program.
 */
#include "emu_fixture.h"

#define N_F 12
#define WORDS 1024
#define THREADS 80 /* two warps and a half */
#define BLOCKS 4   /* the first and the last are looked at more closely */

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

/* Addresses: %r1 for all lanes, %r2 + 4 tid, %r3 by half warps, %r4 one for each half warp. */
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

/* %r1 is a multiple of 16 that nobody knows before the launch; %r6 is the thread's own word. */
static void make_program(struct gen *g)
{
	text_add(&g->t,
	         PTX_HEAD
	         ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
	         "\t.reg .b32 %%r<16>;\n\t.reg .f32 %%f<%u>, %%g<80>;\n\t.reg .b64 %%rd<8>;\n"
	         "\t.reg .pred %%p<2>;\n\t.shared .align 16 .b8 s[%u];\n"
	         "\tld.param.u64 %%rd1, [in];\n\tld.param.u64 %%rd2, [out];\n"
	         "\tmov.u32 %%r7, %%tid.x;\n\tmov.u32 %%r8, %%ctaid.x;\n\tmov.u32 %%r9, %%r7;\n"
	         "FILL:\n\tmul.wide.u32 %%rd3, %%r9, 4;\n\tadd.u64 %%rd3, %%rd1, %%rd3;\n"
	         "\tld.global.f32 %%f0, [%%rd3];\n\tshl.b32 %%r10, %%r9, 2;\n"
	         "\tst.shared.f32 [%%r10], %%f0;\n\tadd.u32 %%r9, %%r9, %u;\n"
	         "\tsetp.lt.u32 %%p1, %%r9, %u;\n\t@%%p1 bra FILL;\n\tbar.sync 0;\n",
	         N_F, 4 * WORDS, THREADS, WORDS);
	text_add(&g->t, "\tmov.u32 %%r14, s;\n\tmad.lo.u32 %%r1, %%r8, 32, %%r14;\n"
	                "\tmad.lo.u32 %%r2, %%r7, 4, %%r1;\n"
	                "\tand.b32 %%r11, %%r7, 15;\n\tmad.lo.u32 %%r3, %%r11, 4, %%r1;\n"
	                "\tshr.u32 %%r12, %%r7, 4;\n\tmad.lo.u32 %%r4, %%r12, 4, %%r1;\n"
	                "\tmad.lo.u32 %%r5, %%r12, 16, %%r1;\n\tshl.b32 %%r6, %%r7, 2;\n"
	                "\tadd.u32 %%r6, %%r6, 3600;\n");
	for (unsigned f = 0; f < N_F; f++)
		text_add(&g->t, "\tld.shared.f32 %%f%u, [%%r2 + %u];\n", f, 128 * f);
	for (unsigned n = 0, end = 20 + pick(g, 60); n < end; n++) {
		const unsigned kind = pick(g, 20);
		if (kind < 9)
			load(g);
		else if (kind < 18)
			multiply_add(g);
		else
			other(g);
	}
	text_add(&g->t,
	         "\tmad.lo.u32 %%r13, %%r8, %u, %%r7;\n\tmul.wide.u32 %%rd4, %%r13, %u;\n"
	         "\tadd.u64 %%rd5, %%rd2, %%rd4;\n",
	         THREADS, 4 * N_F);
	for (unsigned f = 0; f < N_F; f++)
		text_add(&g->t, "\tst.global.f32 [%%rd5 + %u], %%f%u;\n", 4 * f, f);
	text_add(&g->t, "\tret;\n}\n");
}

static void run_seed(uint64_t seed)
{
	const size_t n = (size_t)BLOCKS * THREADS * N_F;
	struct gen g = { .rng = seed * 977 + 1 };
	struct counts first = { 0 };
	float *expected = mem_calloc(n, sizeof *expected);
	make_program(&g);
	for (unsigned w = 0; w < ARRAY_LEN(emu_ways); w++) {
		struct emu_case c = { .ptx = mem_strdup(g.t.s) };
		emu_launch(&c, "k", (struct dim3u){ BLOCKS, 1, 1 }, (struct dim3u){ THREADS, 1, 1 });
		float *in = emu_buffer(&c, "in", ELEM_F32, BUF_IN, WORDS + THREADS);
		const float *out = emu_buffer(&c, "out", ELEM_F32, BUF_OUT, n);
		uint64_t rng = seed;
		for (unsigned i = 0; i < WORDS + THREADS; i++)
			in[i] = (float)(rand_next(&rng) >> 40) / (float)(1 << 23) - 1;
		if (!emu_run_way(&c, &emu_ways[w]))
			fail_msg("seed %llu, %s: %s\n%s", (unsigned long long)seed, emu_ways[w].name, c.err.msg,
			         g.t.s);
		if (!w) {
			memcpy(expected, out, n * sizeof *out);
			first = c.res.counts.total;
		}
		if (!emu_same_floats(expected, out, n) || emu_counts_differ(&first, &c.res.counts.total))
			fail_msg("seed %llu: %s differs from %s\n%s", (unsigned long long)seed,
			         emu_ways[w].name, emu_ways[0].name, g.t.s);
		emu_case_free(&c);
	}
	free(expected);
	text_free(&g.t);
}

TEST(same_bits_and_counts)
{
	unsigned long long seed = 1, count = 120;
	const char *asked = getenv("PMPP_RANDOM");
	if (asked)
		(void)sscanf(asked, "%llu:%llu", &seed, &count);
	for (unsigned long long i = 0; i < count; i++)
		run_seed(seed + i);
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
