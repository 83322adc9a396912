/*
 * Outer products as register tiles compute them, several steps in a row: sums that are done
 * together (codegen/fuse_tiles.c) give the same bits and counts as one operation at a time.
 *
 * A program multiplies up to five factors by up to nine at each of its steps. Factors are rows of
 * words, the same by half warps, one word of each half warp or of all lanes, or parts of four words
 * of each lane. Some products are missing, some have their factors the other way round; sums stay
 * in a register, or go on in new ones; now and then something else comes between.
 * PMPP_RANDOM=first:count runs other seeds; a failure prints its program.
 */
#include "product_program.h"

#define MOST_A 5
#define MOST_B 9
#define MOST_STEPS 6
#define REGS 1000

enum kind { ROW, HALF_ROWS, HALF_WORDS, WORD, FOUR, KINDS };

struct gen {
	struct text t;
	uint64_t rng;
	unsigned n_a, n_b, steps;
	enum kind kind[MOST_A + MOST_B];
	unsigned factor[MOST_A + MOST_B]; /* registers of the step */
	unsigned sum[MOST_A * MOST_B];
	unsigned regs;
	bool renames, reuses; /* sums go on in new registers; each step has the registers of the last */
	bool mixes;           /* what is written is now and then another's */
	unsigned first_factor;
};

static unsigned pick(struct gen *g, unsigned n)
{
	return (unsigned)(rand_next(&g->rng) >> 33) % n;
}

/* Addresses: %r1 for all lanes, %r2 + 4 tid, %r3 by half warps, %r4 one for each half warp, %r5
 * four words for each lane. */
static void load_factors(struct gen *g)
{
	const unsigned n = g->n_a + g->n_b;
	if (g->reuses && g->first_factor)
		g->regs = g->first_factor;
	g->first_factor = g->regs;
	for (unsigned i = 0; i < n; i++) {
		static const unsigned address[] = { 2, 3, 4, 1 };
		if (g->kind[i] == FOUR) {
			text_add(&g->t, "\tld.shared.v4.f32 {%%f%u, %%f%u, %%f%u, %%f%u}, [%%r5 + %u];\n",
			         g->regs, g->regs + 1, g->regs + 2, g->regs + 3, 16 * pick(g, 64));
			for (unsigned k = 0; k < 4 && i + k < n; k++)
				g->factor[i + k] = g->regs + k;
			g->regs += 4;
			i += 3;
			continue;
		}
		text_add(&g->t, "\tld.shared.f32 %%f%u, [%%r%u + %u];\n", g->regs, address[g->kind[i]],
		         4 * pick(g, 600));
		g->factor[i] = g->regs++;
	}
}

static void multiply_add(struct gen *g, unsigned a, unsigned b)
{
	unsigned *sum = &g->sum[a * g->n_b + b];
	const unsigned x = g->factor[a], y = g->factor[g->n_a + b];
	const bool shared = g->mixes && pick(g, 15) == 0; /* begins with what another begins with */
	const unsigned from = shared ? g->sum[pick(g, g->n_a * g->n_b)] : *sum;
	const bool swapped = pick(g, 40) == 0;
	if (pick(g, 60) == 0)
		return;
	if (g->mixes && pick(g, 30) == 0) /* a sum goes on, too, as another one */
		sum = &g->sum[pick(g, g->n_a * g->n_b)];
	if (g->mixes && pick(g, 25) == 0) /* in the place of a factor */
		sum = &g->factor[pick(g, g->n_a + g->n_b)];
	if (g->renames && pick(g, 8))
		*sum = g->regs++;
	text_add(&g->t, "\tfma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", *sum, swapped ? y : x,
	         swapped ? x : y, from);
}

static void something_else(struct gen *g)
{
	const unsigned n = g->n_a + g->n_b;
	switch (pick(g, 5)) {
	case 0:
		text_add(&g->t, "\tadd.f32 %%f%u, %%f%u, 0f3E800000;\n", g->factor[pick(g, n)],
		         g->factor[pick(g, n)]);
		break;
	case 1: text_add(&g->t, "\tmov.f32 %%f%u, 0f3F400000;\n", g->factor[pick(g, n)]); break;
	case 2: text_add(&g->t, "\tadd.u32 %%r%u, %%r%u, 16;\n", 1 + pick(g, 4), 1 + pick(g, 4)); break;
	case 3:
		text_add(&g->t, "\tst.shared.f32 [%%r6], %%f%u;\n", g->sum[pick(g, g->n_a * g->n_b)]);
		break;
	default:
		text_add(&g->t, "\tmul.f32 %%f%u, %%f%u, 0f3F400000;\n", g->factor[pick(g, n)],
		         g->sum[pick(g, g->n_a * g->n_b)]);
	}
}

static void step(struct gen *g, unsigned order)
{
	if (g->mixes && pick(g, 2))
		g->kind[pick(g, g->n_a + g->n_b)] = (enum kind)pick(g, KINDS);
	load_factors(g);
	for (unsigned i = 0; i < g->n_a * g->n_b; i++) {
		unsigned a = i / g->n_b, b = i % g->n_b;
		if (order == 1)
			a = i % g->n_a, b = i / g->n_a;
		if (order == 2 && a % 2)
			b = g->n_b - 1 - b;
		multiply_add(g, a, b);
		if (pick(g, 150) == 0)
			something_else(g);
	}
}

static void make_product(struct gen *g)
{
	const unsigned order = pick(g, 3), style = pick(g, 4);
	g->n_a = 1 + pick(g, MOST_A);
	g->n_b = 1 + pick(g, MOST_B);
	g->steps = 1 + pick(g, MOST_STEPS);
	g->renames = pick(g, 2);
	g->mixes = pick(g, 3) == 0;
	g->reuses = !g->renames && pick(g, 3) == 0;
	for (unsigned i = 0; i < g->n_a + g->n_b; i++) {
		const bool a = i < g->n_a;
		g->kind[i] = style == 0   ? (enum kind)pick(g, KINDS)
		             : style == 1 ? (a ? HALF_WORDS : FOUR)
		             : style == 2 ? (a ? ROW : WORD)
		                          : (a ? FOUR : HALF_ROWS);
	}
	for (unsigned k = 0; k < g->n_a * g->n_b; k++) {
		g->sum[k] = g->regs++;
		text_add(&g->t, "\tld.shared.f32 %%f%u, [%%r2 + %u];\n", g->sum[k], 4 * pick(g, 500));
	}
	for (unsigned k = 0; k < g->steps; k++)
		step(g, order);
}

static void run_seed(uint64_t seed)
{
	struct gen g = { .rng = seed * 977 + 1 };
	char *floats = mem_printf("%%f<%u>", REGS);
	product_begin(&g.t, floats, 7);
	make_product(&g);
	product_end(&g.t, g.sum, g.n_a * g.n_b, MOST_A * MOST_B);
	assert_true(g.regs < REGS);
	run_product(&g.t, seed, MOST_A * MOST_B);
	text_free(&g.t);
	free(floats);
}

TEST(same_bits_and_counts)
{
	run_seeds(400, run_seed);
}
