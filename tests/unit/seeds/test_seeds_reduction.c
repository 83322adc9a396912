/*
 * Worked examples of the reduction chapter (checklist 3.5 and 4.E): the book's sums, a thread by
 * thread count, and the emulator agree.
 */
#include "seeds.h"

struct round {
	unsigned active, warps, divergent, lines;
};

/* Thread by thread: @stride doubling (owner 2t) or halving (owner t). Lines: two loads and a store
 * of 128-byte lines by each warp that has an active lane. */
static unsigned rounds_of(bool convergent, unsigned n, struct round *out)
{
	const unsigned threads = n / 2;
	unsigned rounds = 0;

	for (unsigned s = convergent ? threads : 1; convergent ? s >= 1 : s <= threads;
	     s = convergent ? s / 2 : s * 2, rounds++) {
		struct round *r = &out[rounds];
		*r = (struct round){ 0 };
		for (unsigned w = 0; w < threads; w += 32) {
			unsigned active = 0, own = 0, other = 0;
			uint64_t own_seen[64] = { 0 }, other_seen[64] = { 0 };
			const unsigned lanes = threads - w < 32 ? threads - w : 32;
			for (unsigned t = w; t < w + lanes; t++) {
				if (convergent ? t >= s : t % s)
					continue;
				const unsigned i = convergent ? t : 2 * t;
				const unsigned a = i / 32, b = (i + s) / 32; /* 128-byte lines */
				active++;
				own += !(own_seen[a / 64] >> a % 64 & 1);
				other += !(other_seen[b / 64] >> b % 64 & 1);
				own_seen[a / 64] |= (uint64_t)1 << a % 64;
				other_seen[b / 64] |= (uint64_t)1 << b % 64;
			}
			r->active += active;
			r->warps += active > 0;
			r->divergent += active > 0 && active < lanes;
			r->lines += 2 * own + other;
		}
	}
	return rounds;
}

/* S-371, S-372, S-373: the table round by round, N = 256. */
TEST(s_375_rounds)
{
	static const struct round simple[] = {
		{ 128, 4, 0, 24 }, { 64, 4, 4, 24 }, { 32, 4, 4, 24 }, { 16, 4, 4, 24 },
		{ 8, 4, 4, 24 },   { 4, 4, 4, 12 },  { 2, 2, 2, 6 },   { 1, 1, 1, 3 },
	};
	static const struct round convergent[] = {
		{ 128, 4, 0, 12 }, { 64, 2, 0, 6 }, { 32, 1, 0, 3 }, { 16, 1, 1, 3 },
		{ 8, 1, 1, 3 },    { 4, 1, 1, 3 },  { 2, 1, 1, 3 },  { 1, 1, 1, 3 },
	};
	struct round got[16];

	assert_int_equal(rounds_of(false, 256, got), 8);
	/* the sixth round has one lane left in each of four warps: two loads of lines 0 apart */
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(got[i].active, simple[i].active);
		assert_int_equal(got[i].warps, simple[i].warps);
		assert_int_equal(got[i].divergent, simple[i].divergent);
		assert_int_equal(got[i].lines, simple[i].lines);
	}
	assert_int_equal(rounds_of(true, 256, got), 8);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(got[i].active, convergent[i].active);
		assert_int_equal(got[i].warps, convergent[i].warps);
		assert_int_equal(got[i].divergent, convergent[i].divergent);
		assert_int_equal(got[i].lines, convergent[i].lines);
	}
}

/* 1 + 1/2 + 1/4 + ... of @warps, down to one warp: the book's N/64 + N/64 * 1/2 + ... + 1. */
static unsigned halves(unsigned warps)
{
	return warps > 1 ? warps + halves(warps / 2) : 1;
}

/* S-246, S-247, S-248, S-249, S-370, S-376, S-381: the book's formulas, its 5 put right to 6. */
TEST(s_371_formulas)
{
	static const unsigned sizes[] = { 128, 256, 512, 1024, 2048 };

	for (unsigned i = 0; i < ARRAY_LEN(sizes); i++) {
		const unsigned n = sizes[i], w = n / 64; /* warps of n / 2 threads */
		struct round got[16];
		unsigned slots = 0, useful = 0, requests = 0;
		unsigned rounds = rounds_of(false, n, got);
		for (unsigned r = 0; r < rounds; r++) {
			slots += 32 * got[r].warps;
			useful += got[r].active;
			requests += got[r].lines;
		}
		/* six rounds with every warp, then half as many each: w*6 + w/2 + ... + 1 */
		assert_int_equal(slots, 32 * (5 * w + halves(w)));
		assert_int_equal(slots, 32 * (w * 6 + (w > 1 ? halves(w / 2) : 0)));
		assert_int_not_equal(slots, 32 * (w * 5 + (w > 1 ? halves(w / 2) : 0)));
		assert_int_equal(useful, w * (32 + 16 + 8 + 4 + 2 + 1) + (w > 1 ? w - 1 : 0));
		assert_int_equal(useful, n - 1);
		assert_int_equal(requests, 3 * (w * 5 * 2 + halves(w)));
		const unsigned simple_requests = requests;

		rounds = rounds_of(true, n, got);
		slots = requests = 0;
		for (unsigned r = 0; r < rounds; r++) {
			slots += 32 * got[r].warps;
			requests += got[r].lines;
		}
		assert_int_equal(slots, 32 * (halves(w) + 5));
		assert_int_equal(requests, 3 * (halves(w) + 5));
		if (n == 256) {
			assert_int_equal(slots, 384);
			assert_true(simple_requests == 141 && requests == 36);
			assert_true(fabs(141.0 / 36 - 3.9) < 0.05);
		}
		if (n == 1024)
			assert_true(slots == 1152 && simple_requests == 573 && requests == 108);
		if (n == 2048)
			assert_true(slots == 2176 && simple_requests == 1149 && requests == 204);
	}
	assert_int_equal(32 * (4 * 6 + 2 + 1), 864);
	assert_int_equal(32 * (4 * 5 + 2 + 1), 736); /* as printed */
	assert_true(fabs(255.0 / 864 - 0.295) < 0.0005);
	assert_true(fabs(255.0 / 384 - 0.664) < 0.0005);
}

/* S-245: N - 1 operations in log2 N rounds. 8 elements: 4, 2, 1. */
TEST(s_369_trees)
{
	static const struct {
		unsigned n, rounds;
		double parallelism;
	} rows[] = {
		{ 8, 3, 7.0 / 3 },
		{ 1024, 10, 102.3 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		char words[64];
		snprintf(words, sizeof words, "N=%u block=%u", rows[i].n, rows[i].n / 2);
		struct run_record *r = run_words("reduction", "convergent", words);
		const struct counts add = of_tag(r, "add");
		const unsigned warps = (rows[i].n / 2 + 31) / 32;
		assert_int_equal(r->verify, VERIFY_OK);
		assert_int_equal(add.flop32, rows[i].n - 1);
		assert_int_equal(r->run.counts.total.barriers, warps * rows[i].rounds);
		assert_true(near_to((double)add.flop32 / rows[i].rounds, rows[i].parallelism, 1e-9));
		record_free(r);
	}
	struct round got[16];
	assert_int_equal(rounds_of(true, 8, got), 3);
	assert_true(got[0].active == 4 && got[1].active == 2 && got[2].active == 1);
	assert_int_equal(rounds_of(true, 1024, got), 10);
	assert_int_equal(got[0].active, 512); /* S-370: the peak */
}

/* S-372: rounds that diverge: 7 of 8 before and 5 after for 256, 9 of 10 and 5 for 1024; ten are
 * printed. */
TEST(s_372_divergent_rounds)
{
	static const struct {
		unsigned n, simple, convergent;
	} rows[] = { { 256, 7, 5 }, { 1024, 9, 5 } };

	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		for (unsigned c = 0; c < 2; c++) {
			struct round got[16];
			const unsigned rounds = rounds_of(c, rows[i].n, got);
			unsigned divergent = 0;
			for (unsigned r = 0; r < rounds; r++)
				divergent += got[r].divergent > 0;
			assert_int_equal(divergent, c ? rows[i].convergent : rows[i].simple);
		}
	}
}

/* S-046: sum, product, minimum, maximum, at a length that no block divides. */
TEST(s_046_operators)
{
	static const char *const variants[] = { "segmented", "coarsened", "shuffle" };
	static const char *const operators[] = { "sum", "product", "min", "max" };

	for (unsigned v = 0; v < ARRAY_LEN(variants); v++)
		for (unsigned o = 0; o < ARRAY_LEN(operators); o++) {
			char words[64];
			snprintf(words, sizeof words, "N=1003 block=64 OP=%s", operators[o]);
			struct run_record *r = run_words("reduction", variants[v], words);
			assert_int_equal(r->verify, VERIFY_OK);
			record_free(r);
		}
}

/* S-377: 2 blocks of 8 threads over 32 elements: 8 steps; one block, coarsened by 2: 6 (and one,
 * for our loop adds its first element to 0). */
TEST(s_377_coarsening_figure)
{
	struct run_record *r = run_words("reduction", "segmented", "N=32 block=8");
	const struct counts first = of_tag(r, "first-add");
	struct counts tree = of_tag(r, "add");

	assert_int_equal(r->plan.grid.x, 2);
	assert_int_equal(r->run.counts.total.fp32_inst, 8);
	assert_int_equal(first.fp32_inst, 2);
	assert_int_equal(tree.fp32_inst, 6);
	record_free(r);
	r = run_words("reduction", "coarsened", "N=32 block=8 COARSE=2");
	tree = of_tag(r, "add");
	assert_int_equal(r->plan.grid.x, 1);
	assert_int_equal(tree.fp32_inst, 3);
	assert_int_equal(r->run.counts.total.fp32_inst - 1, 6);
	record_free(r);
}

/* N / 2 threads; blocks of 1,024: N / 2048 of them. */
TEST(s_378_blocks)
{
	assert_int_equal(plan_words("reduction", "segmented", "N=1M block=1024").grid.x,
	                 (1 << 20) / 2048);
	assert_int_equal(plan_words("reduction", "segmented", "N=1M block=1024").grid.x * 1024,
	                 (1 << 20) / 2);
}
