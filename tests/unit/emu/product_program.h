/* Random programs of products: each gives the same bits and counts in every way of running it. */
#ifndef PMPP_TEST_PRODUCT_PROGRAM_H
#define PMPP_TEST_PRODUCT_PROGRAM_H

#include "emu_fixture.h"

struct product_program {
	const char *ptx; /* of kernel k, which leaves floats in "out" */
	uint64_t seed;
	unsigned blocks, threads;
	size_t n_out;
	void (*input)(struct emu_case *c, const struct product_program *p);
};

/* A failure prints the program. */
static inline void run_in_all_ways(const struct product_program *p)
{
	const unsigned long long seed = p->seed;
	struct counts first = { 0 };
	float *expected = mem_calloc(p->n_out, sizeof *expected);
	for (unsigned w = 0; w < ARRAY_LEN(emu_ways); w++) {
		struct emu_case c = { .ptx = mem_strdup(p->ptx) };
		emu_launch(&c, "k", (struct dim3u){ p->blocks, 1, 1 }, (struct dim3u){ p->threads, 1, 1 });
		p->input(&c, p);
		const float *out = emu_buffer(&c, "out", ELEM_F32, BUF_OUT, p->n_out);
		if (!emu_run_way(&c, &emu_ways[w]))
			fail_msg("seed %llu, %s: %s\n%s", seed, emu_ways[w].name, c.err.msg, p->ptx);
		if (!w) {
			memcpy(expected, out, p->n_out * sizeof *out);
			first = c.res.counts.total;
		}
		if (!emu_same_floats(expected, out, p->n_out) ||
		    emu_counts_differ(&first, &c.res.counts.total))
			fail_msg("seed %llu: %s differs from %s\n%s", seed, emu_ways[w].name, emu_ways[0].name,
			         p->ptx);
		emu_case_free(&c);
	}
	free(expected);
}

/* Seeds from 1 on, or those of PMPP_RANDOM=first:count. */
static inline void run_seeds(unsigned long long count, void (*run)(uint64_t seed))
{
	unsigned long long first = 1;
	const char *asked = getenv("PMPP_RANDOM");
	if (asked)
		(void)sscanf(asked, "%llu:%llu", &first, &count);
	for (unsigned long long i = 0; i < count; i++)
		run(first + i);
}

/* --- of products in shared memory --- */

#define PRODUCT_WORDS 1024
#define PRODUCT_THREADS 80 /* two warps and a half */
#define PRODUCT_BLOCKS 4   /* the first and the last are looked at more closely */

/* Words between -1 and 1. */
static inline void product_input(struct emu_case *c, const struct product_program *p)
{
	float *in = emu_buffer(c, "in", ELEM_F32, BUF_IN, PRODUCT_WORDS + PRODUCT_THREADS);
	uint64_t rng = p->seed;
	for (unsigned i = 0; i < PRODUCT_WORDS + PRODUCT_THREADS; i++)
		in[i] = (float)(rand_next(&rng) >> 40) / (float)(1 << 23) - 1;
}

/* Shared memory is filled, and addresses made: %r1 for all lanes, a multiple of 16 that nobody
 * knows before the launch; %r2 + 4 tid, %r3 by half warps, %r4 one for each half warp, %r6 the
 * thread's own word. @floats: declares them; @r5: four words by half warps (12), or for each lane
 * (7). */
static inline void product_begin(struct text *t, const char *floats, unsigned r5)
{
	text_add(t,
	         PTX_HEAD
	         ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
	         "\t.reg .b32 %%r<16>;\n\t.reg .f32 %s;\n\t.reg .b64 %%rd<8>;\n"
	         "\t.reg .pred %%p<2>;\n\t.shared .align 16 .b8 s[%u];\n"
	         "\tld.param.u64 %%rd1, [in];\n\tld.param.u64 %%rd2, [out];\n"
	         "\tmov.u32 %%r7, %%tid.x;\n\tmov.u32 %%r8, %%ctaid.x;\n\tmov.u32 %%r9, %%r7;\n"
	         "FILL:\n\tmul.wide.u32 %%rd3, %%r9, 4;\n\tadd.u64 %%rd3, %%rd1, %%rd3;\n"
	         "\tld.global.f32 %%f0, [%%rd3];\n\tshl.b32 %%r10, %%r9, 2;\n"
	         "\tst.shared.f32 [%%r10], %%f0;\n\tadd.u32 %%r9, %%r9, %u;\n"
	         "\tsetp.lt.u32 %%p1, %%r9, %u;\n\t@%%p1 bra FILL;\n\tbar.sync 0;\n",
	         floats, 4 * PRODUCT_WORDS, PRODUCT_THREADS, PRODUCT_WORDS);
	text_add(t,
	         "\tmov.u32 %%r14, s;\n\tmad.lo.u32 %%r1, %%r8, 32, %%r14;\n"
	         "\tmad.lo.u32 %%r2, %%r7, 4, %%r1;\n"
	         "\tand.b32 %%r11, %%r7, 15;\n\tmad.lo.u32 %%r3, %%r11, 4, %%r1;\n"
	         "\tshr.u32 %%r12, %%r7, 4;\n\tmad.lo.u32 %%r4, %%r12, 4, %%r1;\n"
	         "\tmad.lo.u32 %%r5, %%r%u, 16, %%r1;\n\tshl.b32 %%r6, %%r7, 2;\n"
	         "\tadd.u32 %%r6, %%r6, 3600;\n",
	         r5);
}

/* Each thread's registers %f@reg[] go to its @most words of "out". */
static inline void product_end(struct text *t, const unsigned *reg, unsigned n, unsigned most)
{
	text_add(t,
	         "\tmad.lo.u32 %%r13, %%r8, %u, %%r7;\n\tmul.wide.u32 %%rd4, %%r13, %u;\n"
	         "\tadd.u64 %%rd5, %%rd2, %%rd4;\n",
	         PRODUCT_THREADS, 4 * most);
	for (unsigned k = 0; k < n; k++)
		text_add(t, "\tst.global.f32 [%%rd5 + %u], %%f%u;\n", 4 * k, reg[k]);
	text_add(t, "\tret;\n}\n");
}

static inline void run_product(const struct text *t, uint64_t seed, unsigned most)
{
	run_in_all_ways(&(struct product_program){
		.ptx = t->s,
		.seed = seed,
		.blocks = PRODUCT_BLOCKS,
		.threads = PRODUCT_THREADS,
		.n_out = (size_t)PRODUCT_BLOCKS * PRODUCT_THREADS * most,
		.input = product_input,
	});
}

#endif
