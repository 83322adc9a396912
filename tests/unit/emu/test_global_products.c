/*
 * Sums of products of global memory in loops, as the inner loop of a product of matrices is once it
 * is unrolled: whatever is done in one go (codegen/fuse_dots.c) gives the same bits and counts as
 * one operation at a time.
 *
 * A program is a loop of random loads (rows of words by addresses that move on by a stride, words
 * of each half warp by one address), FMAs on one sum, mostly, and now and then another operation.
 * In some programs rows come by turns from two buffers, or lie askew. PMPP_RANDOM=first:count runs
 * other seeds; a failure prints its program.
 */
#include "product_program.h"

#define N_F 8
#define LEFT (N_F + 1) /* words that a thread leaves */
#define WORDS 4096
#define THREADS 80      /* two warps and a half */
#define BLOCKS 4        /* the first and the last are looked at more closely */
#define MANY_BLOCKS 600 /* not all lines are followed */
#define TRIPS 9

struct gen {
	struct text t;
	uint64_t rng;
	unsigned row;    /* the register %a whose address the next row has */
	unsigned stride; /* of rows, bytes */
	unsigned products;
};

static unsigned pick(struct gen *g, unsigned n)
{
	return (unsigned)(rand_next(&g->rng) >> 33) % n;
}

/* The address moves on, in place or in another register. */
static void move_on(struct gen *g)
{
	const unsigned to = pick(g, 3) ? (g->row + 1) % 4 : g->row;
	if (pick(g, 2))
		text_add(&g->t, "\tadd.s64 %%a%u, %%a%u, %%rd9;\n", to, g->row);
	else
		text_add(&g->t, "\tadd.s64 %%a%u, %%rd9, %%a%u;\n", to, g->row);
	g->row = to;
}

/* Words have registers of their own, which are scalars where all lanes read one. */
static void load_word(struct gen *g, unsigned to, unsigned at)
{
	text_add(&g->t, "\tld.global.f32 %%g%u, [%%rd8 + %u];\n", to, at);
}

static void multiply_add(struct gen *g, unsigned sum, unsigned row, unsigned word)
{
	const bool swap = pick(g, 2);
	text_add(&g->t, "\tfma.rn.f32 %%f%u, %%%c%u, %%%c%u, %%f%u;\n", sum, swap ? 'g' : 'f',
	         swap ? word : row, swap ? 'f' : 'g', swap ? row : word, sum);
}

static void product(struct gen *g)
{
	const unsigned v = pick(g, 6), s = pick(g, 3), word = 4 * pick(g, 8);
	const unsigned sum = pick(g, 12) ? 7 : 6, first = pick(g, 2);
	if (first)
		load_word(g, s, word);
	text_add(&g->t, "\tld.global.f32 %%f%u, [%%a%u + %u];\n", v, g->row,
	         pick(g, 4) ? 0 : g->stride * pick(g, 2));
	if (!first)
		load_word(g, s, word);
	multiply_add(g, sum, pick(g, 12) ? v : pick(g, 6), pick(g, 12) ? s : pick(g, 3));
}

/* A product as a compiler writes it. */
static void plain_product(struct gen *g)
{
	const unsigned v = pick(g, 3), s = pick(g, 3);
	text_add(&g->t, "\tld.global.f32 %%f%u, [%%a%u];\n", v, g->row);
	load_word(g, s, 4 * g->products++);
	multiply_add(g, 7, v, s);
}

static void other(struct gen *g)
{
	switch (pick(g, 7)) {
	case 0: text_add(&g->t, "\tadd.f32 %%f6, %%f%u, 0f3E800000;\n", pick(g, 7)); break;
	case 1: text_add(&g->t, "\tmov.f32 %%f%u, 0f3F400000;\n", pick(g, 6)); break;
	case 2: text_add(&g->t, "\tadd.u32 %%r9, %%r9, 3;\n"); break;
	case 4:
	case 5: text_add(&g->t, "\tadd.s64 %%rd11, %%rd11, %%a%u;\n", g->row); break;
	case 3: text_add(&g->t, "\tadd.s64 %%rd8, %%rd8, 4;\n"); break;
	default: text_add(&g->t, "\tst.global.f32 [%%rd6], %%f%u;\n", pick(g, N_F)); break;
	}
}

/* In front of the loop. Where rows and words begin: words by warps, or by half warps; rows of 32 or
 * of 16 words. */
static void begin(struct gen *g)
{
	static const unsigned strides[] = { 128, 256, 512, 64, 132 };
	const bool halves = pick(g, 2), wide = pick(g, 2);
	g->stride = strides[pick(g, ARRAY_LEN(strides))];
	text_add(&g->t,
	         PTX_HEAD
	         ".visible .entry k(.param .u64 in, .param .u64 in2, .param .u64 out)\n{\n"
	         "\t.reg .b32 %%r<16>;\n\t.reg .f32 %%f<%u>, %%g<3>;\n\t.reg .b64 %%rd<12>, %%a<4>;\n"
	         "\t.reg .pred %%p<3>;\n"
	         "\tld.param.u64 %%rd1, [in];\n\tld.param.u64 %%rd2, [in2];\n"
	         "\tld.param.u64 %%rd3, [out];\n"
	         "\tmov.u32 %%r1, %%tid.x;\n\tmov.u32 %%r2, %%ctaid.x;\n\tmov.u32 %%r9, 0;\n"
	         "\tmov.u64 %%rd11, 0;\n"
	         "\tmad.lo.u32 %%r3, %%r2, %u, %%r1;\n\tmul.wide.u32 %%rd5, %%r3, %u;\n"
	         "\tadd.s64 %%rd6, %%rd3, %%rd5;\n",
	         N_F, THREADS, 4 * LEFT);
	text_add(&g->t, "\tand.b32 %%r4, %%r1, %u;\n\tmad.lo.u32 %%r4, %%r2, %u, %%r4;\n",
	         wide ? 31 : 15, pick(g, 4) ? 32 : 9);
	text_add(&g->t, "\tmul.wide.u32 %%rd7, %%r4, 4;\n");
	text_add(&g->t, "\tadd.s64 %%a0, %%rd1, %%rd7;\n\tmov.u64 %%a1, %%a0;\n");
	text_add(&g->t, "\tmov.u64 %%a2, %%a0;\n\tmov.u64 %%a3, %%a0;\n");
	text_add(&g->t, "\tshr.u32 %%r5, %%r1, %u;\n\tmul.wide.u32 %%rd8, %%r5, %u;\n", halves ? 4 : 5,
	         pick(g, 2) ? 64 : 4 + 4 * pick(g, 40));
	text_add(&g->t, "\tadd.s64 %%rd8, %%rd1, %%rd8;\n");
	text_add(&g->t, "\tmov.u64 %%rd9, %u;\n", g->stride);
	for (unsigned f = 0; f < N_F; f++)
		text_add(&g->t, "\tld.global.f32 %%f%u, [%%a0 + %u];\n", f, 128 * f);
	for (unsigned k = 0; k < 3; k++)
		load_word(g, k, 4 * k);
	text_add(&g->t, "\tmov.u32 %%r8, 0;\n\tsub.s64 %%rd10, %%rd2, %%rd1;\n");
}

/* Rows come from the other buffer: every second time, by turns. */
static void go_to_other(struct gen *g)
{
	text_add(&g->t, "\tadd.s64 %%a0, %%a%u, %%rd10;\n\tneg.s64 %%rd10, %%rd10;\n", g->row);
	g->row = 0;
}

/* Leaves %f from @first on; those in front of it nobody needs any more. */
static void end(struct gen *g, unsigned first)
{
	text_add(&g->t, "\tmov.u64 %%a0, %%a%u;\n", g->row);
	text_add(&g->t, "\tadd.u32 %%r8, %%r8, 1;\n\tsetp.lt.u32 %%p1, %%r8, %u;\n\t@%%p1 bra LOOP;\n",
	         TRIPS);
	for (unsigned f = first; f < N_F; f++)
		text_add(&g->t, "\tst.global.f32 [%%rd6 + %u], %%f%u;\n", 4 * f, f);
	text_add(&g->t,
	         "\tsub.s64 %%rd11, %%rd11, %%rd1;\n\tcvt.u32.u64 %%r10, %%rd11;\n"
	         "\tadd.u32 %%r9, %%r9, %%r10;\n\tcvt.rn.f32.u32 %%f0, %%r9;\n"
	         "\tst.global.f32 [%%rd6 + %u], %%f0;\n\tret;\n}\n",
	         4 * N_F);
}

static void make_program(struct gen *g)
{
	const bool plain = pick(g, 2), two = pick(g, 3) == 0;
	begin(g);
	text_add(&g->t, "LOOP:\n");
	const unsigned n = 4 + pick(g, 16);
	for (unsigned k = 0; k < n; k++) {
		if (plain)
			plain_product(g);
		else
			product(g);
		if (pick(g, 3))
			move_on(g);
		if (pick(g, plain ? 9 : 6) == 0)
			other(g);
	}
	if (plain && pick(g, 2))
		text_add(&g->t, "\tmov.f32 %%f%u, 0f3F600000;\n", pick(g, 3));
	text_add(&g->t, "\tadd.s64 %%rd8, %%rd8, 16;\n");
	if (two)
		go_to_other(g);
	end(g, pick(g, 4) ? 6 : 0);
}

static float *input(struct emu_case *c, const char *name, uint64_t rng, unsigned blocks)
{
	const size_t n = (size_t)TRIPS * 40 * 520 / 4 + WORDS + 32 * (size_t)blocks;
	float *in = emu_buffer(c, name, ELEM_F32, BUF_IN, n);
	for (size_t i = 0; i < n; i++)
		in[i] = (float)(rand_next(&rng) >> 40) / (float)(1 << 23) - 1;
	return in;
}

static void inputs(struct emu_case *c, const struct product_program *p)
{
	input(c, "in", p->seed, p->blocks);
	input(c, "in2", p->seed + 1, p->blocks);
}

static void run_ways(const struct gen *g, uint64_t seed, unsigned blocks)
{
	run_in_all_ways(&(struct product_program){
		.ptx = g->t.s,
		.seed = seed,
		.blocks = blocks,
		.threads = THREADS,
		.n_out = (size_t)blocks * THREADS * LEFT,
		.input = inputs,
	});
}

static void run_seed(uint64_t seed)
{
	struct gen g = { .rng = seed * 977 + 1 };
	make_program(&g);
	run_ways(&g, seed, seed < 12 ? MANY_BLOCKS : BLOCKS);
	text_free(&g.t);
}

TEST(same_bits_and_counts)
{
	run_seeds(150, run_seed);
}

/* What a load was written to is written again in the same window: by an operation that comes before
 * the sum, and that copies of loads and FMAs must not undo where an address does not fit. */
TEST(what_is_written_again_stays)
{
	struct gen g = { .rng = 1 };
	begin(&g);
	text_add(&g.t, "LOOP:\n");
	for (unsigned k = 0; k < 4; k++)
		text_add(&g.t,
		         "\tld.global.f32 %%f0, [%%a0 + %u];\n\tld.global.f32 %%g0, [%%rd8 + %u];\n"
		         "\tfma.rn.f32 %%f7, %%f0, %%g0, %%f7;\n",
		         512 * k, 4 * k);
	text_add(&g.t, "\tadd.f32 %%f0, %%f2, %%f4;\n");
	go_to_other(&g);
	end(&g, 0);
	run_ways(&g, 1, BLOCKS);
	text_free(&g.t);
}

/* Words go down in memory, and at last below their buffer, of whole warps only. */
TEST(a_word_below_is_a_fault)
{
	for (unsigned w = 0; w < ARRAY_LEN(emu_ways); w++) {
		struct gen g = { .rng = 1 };
		begin(&g);
		/* block 0 is looked at more closely: there is no fault in it */
		text_add(&g.t, "\tmul.wide.u32 %%rd0, %%r2, 256;\n\tsub.s64 %%rd8, %%rd8, %%rd0;\nLOOP:\n");
		for (unsigned k = 0; k < 4; k++)
			text_add(&g.t,
			         "\tld.global.f32 %%f0, [%%a0 + %u];\n\tld.global.f32 %%g0, [%%rd8 + %u];\n"
			         "\tfma.rn.f32 %%f7, %%f0, %%g0, %%f7;\n",
			         512 * k, 256 + 4 * k);
		text_add(&g.t, "\tadd.s64 %%rd8, %%rd8, -32;\n\tadd.s64 %%a0, %%a0, %%rd9;\n");
		end(&g, 6);
		struct emu_case c = { .ptx = mem_strdup(g.t.s) };
		emu_launch(&c, "k", (struct dim3u){ BLOCKS, 1, 1 }, (struct dim3u){ 64, 1, 1 });
		input(&c, "in", 1, BLOCKS);
		input(&c, "in2", 2, BLOCKS);
		emu_buffer(&c, "out", ELEM_F32, BUF_OUT, (size_t)BLOCKS * THREADS * LEFT);
		assert_false(emu_run_way(&c, &emu_ways[w]));
		assert_non_null(strstr(c.err.msg, "load of 4 bytes out of bounds"));
		emu_case_free(&c);
		text_free(&g.t);
	}
}
