/*
 * Worked examples of tiling, matrix multiplication and its figures (checklist 3.3 and 4.C).
 * What a kernel of the program does is run; what the sources argue about is counted element by
 * element.
 */
#include "seeds.h"

/* S-223: data grows with N^2, work with N^3: the intensity doubles with N. */
TEST(s_223_intensity_grows_with_n)
{
	double before = 0;

	for (int64_t n = 64; n <= 4096; n *= 2) {
		char words[80];
		snprintf(words, sizeof words, "M=%" PRId64 " N=%" PRId64 " K=%" PRId64, n, n, n);
		const struct kernel_cost c = cost_words("sgemm", "naive", words);
		const double intensity = c.flop / c.min_bytes;
		assert_true(near_to(intensity, (double)n / 6, 1e-12));
		assert_true(before == 0 || near_to(intensity, 2 * before, 1e-12));
		before = intensity;
	}
}

/* With values of 2 bytes a product reads half as much for the same operations, and the roof of what
 * computes them is higher: both as the program has them. */
TEST(s_405_half_precision)
{
	const struct gpu_spec *a = gpu_find("a100");
	static const char size[] = "M=256 N=256 K=256";
	const struct launch_plan single = plan_words("sgemm", "naive", size);
	const struct launch_plan half = plan_words("hgemm", "wmma", size);
	const struct kernel_cost one = cost_words("sgemm", "naive", size);
	const struct kernel_cost other = cost_words("hgemm", "wmma", size);

	assert_true(one.flop == other.flop);
	for (unsigned b = 0; b < 2; b++)
		assert_int_equal(single.buffers[b].count * elem_size(single.buffers[b].type),
		                 2 * half.buffers[b].count * elem_size(half.buffers[b].type));
	assert_true(roof_peak_gflops(a, &one) == 19500 && roof_peak_gflops(a, &other) == 312000);
	assert_true(one.book_flop / one.book_bytes == 0.25); /* of which 2-byte values make 0.5 */
	assert_true(roof_attainable_gflops(a, 0.5) == 2 * roof_attainable_gflops(a, 0.25));
}

/* Does thread (ty, tx) of block (by, bx) load an element of A (B) that exists, in @phase? Tiles of
 * 2, matrices of 3, as sgemm/tiled indexes them. */
static bool loads_a(unsigned by, unsigned ty, unsigned tx, unsigned phase)
{
	return by * 2 + ty < 3 && phase * 2 + tx < 3;
}
static bool loads_b(unsigned bx, unsigned ty, unsigned tx, unsigned phase)
{
	return phase * 2 + ty < 3 && bx * 2 + tx < 3;
}

/* Which lanes of block (0,0) load an element on the line with @tag, and which one, in phase 0. */
static uint32_t loaded(const struct run_record *r, const char *tag, unsigned element[4])
{
	const struct access_sample *a = lanes_of(r, tag, false);
	for (unsigned lane = 0; lane < 4; lane++)
		element[lane] = a->mask >> lane & 1 ? (unsigned)a->offset[lane] / 4 : 99;
	return a->mask;
}

/* As the kernel does it. One row and one column lie inside a tile of 2, as in block (1,1) of the
 * source's 3 x 3: thread (0,1) loads the row's second element (its M[2,1]), thread (1,0) none of
 * the first matrix, but the column's second (its N[1,2]), and thread (1,1) nothing. */
TEST(s_385_reader_at_the_edge)
{
	struct run_record *r = run_words("sgemm", "tiled", "M=1 N=1 K=3 TILE=2");
	unsigned element[4];

	assert_int_equal(r->verify, VERIFY_OK);
	assert_int_equal(loaded(r, "load-A", element), 1 << 0 | 1 << 1);
	assert_int_equal(element[1], 1); /* lane 1: thread (0,1) */
	assert_int_equal(loaded(r, "load-B", element), 1 << 0 | 1 << 2);
	assert_int_equal(element[2], 1); /* lane 2: thread (1,0) */
	record_free(r);
}

/* Who reads past the edge, in which phase. And the kernel is right for it. */
TEST(s_337_three_by_three)
{
	/* block (0,0), phase 1: (0,1) and (1,1) miss A, (1,0) and (1,1) miss B */
	assert_true(!loads_a(0, 0, 1, 1) && !loads_a(0, 1, 1, 1));
	assert_true(loads_a(0, 0, 0, 1) && loads_a(0, 1, 0, 1));
	assert_true(!loads_b(0, 1, 0, 1) && !loads_b(0, 1, 1, 1));
	assert_true(loads_b(0, 0, 0, 1) && loads_b(0, 0, 1, 1));
	/* block (1,1), phase 0: A by (1,0) and (1,1), B by (0,1) and (1,1) */
	assert_true(!loads_a(1, 1, 0, 0) && !loads_a(1, 1, 1, 0));
	assert_true(!loads_b(1, 0, 1, 0) && !loads_b(1, 1, 1, 0));
	/* A[2,1] is row 2 = 1 * 2 + 0, column 1 = 0 * 2 + 1: thread (0,1), not (1,0) */
	assert_true(loads_a(1, 0, 1, 0) && !loads_a(1, 1, 0, 0));
	/* thread (1,0) does load B[1,2]: row 1 = 0 * 2 + 1, column 2 = 1 * 2 + 0 */
	assert_true(loads_b(1, 1, 0, 0));
	/* thread (1,1) of block (1,1) never loads anything that exists */
	for (unsigned p = 0; p < 2; p++)
		assert_true(!loads_a(1, 1, 1, p) && !loads_b(1, 1, 1, p));
	/* missing elements are asked for in every phase, in phase 0 also by blocks (0,1) and (1,0) */
	for (unsigned p = 0; p < 2; p++) {
		unsigned missing = 0;
		for (unsigned t = 0; t < 16; t++)
			missing += !loads_a(t >> 3, t >> 1 & 1, t & 1, p) ||
			           !loads_b(t >> 2 & 1, t >> 1 & 1, t & 1, p);
		assert_true(missing > 0);
	}
	assert_true(!loads_b(1, 0, 1, 0) && !loads_a(1, 1, 0, 0));

	struct run_record *r = run_words("sgemm", "tiled", "M=3 N=3 K=3 TILE=2");
	assert_int_equal(r->verify, VERIFY_OK);
	/* 18 of 32 loads of each matrix exist: 9 per column of blocks */
	unsigned a = 0, b = 0;
	for (unsigned t = 0; t < 32; t++) {
		a += loads_a(t >> 4, t >> 1 & 1, t & 1, t >> 3 & 1);
		b += loads_b(t >> 4, t >> 1 & 1, t & 1, t >> 3 & 1);
	}
	assert_int_equal(a, 18);
	assert_int_equal(b, 18);
	assert_int_equal(r->run.counts.total.ld_bytes, 4 * (a + b));
	record_free(r);
	/* and the variant without guards refuses the size */
	const struct kernel_desc *k = the_kernel("sgemm");
	int64_t params[KERNEL_MAX_PARAMS];
	struct launch_plan plan = { 0 };
	struct err err = { 0 };
	settings(k, "M=3 N=3 K=3 TILE=2", params);
	assert_false(k->plan(the_variant(k, "tiled_exact"), params, &plan, &err));
}

/* How often the recorded loads of block (0,0) read each element of A (0) and B (1). */
static void elements_read(const struct run_record *r, unsigned read[2][16])
{
	memset(read, 0, 2 * sizeof *read);
	for (unsigned i = 0; i < r->run.counts.n_accesses; i++) {
		const struct access_sample *a = &r->run.counts.accesses[i];
		for (unsigned lane = 0; lane < 32 && !a->shared && !a->store; lane++)
			if (a->mask >> lane & 1) {
				assert_true(a->buffer < 2 && a->offset[lane] < 64);
				read[a->buffer][a->offset[lane] / 4]++;
			}
	}
}

/* S-339: 4 x 4 with tiles of 2: eight reads per thread become four, and block (0,0), which asked
 * for every element twice, asks for each once. */
TEST(s_338_four_by_four)
{
	struct run_record *r = run_words("sgemm", "naive", "M=4 N=4 K=4 block_x=2 block_y=2");
	const struct counts naive = r->run.counts.total;
	unsigned read[2][16];
	elements_read(r, read);
	for (unsigned e = 0; e < 16; e++) { /* two rows of A, two columns of B, each element twice */
		assert_int_equal(read[0][e], e / 4 < 2 ? 2 : 0);
		assert_int_equal(read[1][e], e % 4 < 2 ? 2 : 0);
	}
	record_free(r);
	r = run_words("sgemm", "tiled_exact", "M=4 N=4 K=4 TILE=2");
	const struct counts tiled = r->run.counts.total;
	elements_read(r, read);
	for (unsigned e = 0; e < 16;
	     e++) { /* of a loop, the first phase is recorded: its tiles, once */
		assert_int_equal(read[0][e], e / 4 < 2 && e % 4 < 2 ? 1 : 0);
		assert_int_equal(read[1][e], e / 4 < 2 && e % 4 < 2 ? 1 : 0);
	}
	record_free(r);

	/* four blocks of one warp with four lanes */
	assert_int_equal(naive.ld_requests, 4 * 8);
	assert_int_equal(tiled.ld_requests, 4 * 4);
}

/* S-226, S-341: reads of A fall from N^3 to N^3 / T; at 1024 and 32 that is 33,554,432. */
TEST(s_340_reads_fall_by_the_tile)
{
	static const unsigned tiles[] = { 16, 32 };

	assert_int_equal(1024LL * 1024 * 1024 / 32, 33554432);
	for (unsigned i = 0; i < ARRAY_LEN(tiles); i++) {
		char words[64];
		snprintf(words, sizeof words, "M=128 N=128 K=128 TILE=%u", tiles[i]);
		struct run_record *r = run_words("sgemm", "tiled_exact", words);
		/* full warps: 32 elements per request */
		assert_int_equal(of_tag(r, "load-A").ld_requests * 32, 128 * 128 * 128 / tiles[i]);
		record_free(r);
	}
	const struct gpu_spec *a = gpu_find("a100");
	assert_true(roof_attainable_gflops(a, 32 / 4.0) > roof_attainable_gflops(a, 0.25));
}

/* S-407: + tx for A and + ty for B: lanes are neighbours in both loads. */
TEST(s_407_both_tiles_are_coalesced)
{
	struct run_record *r = run_words("sgemm", "tiled", "M=128 N=128 K=128 TILE=32");
	const struct access_sample *a = lanes_of(r, "load-A", false), *b = lanes_of(r, "load-B", false);

	for (unsigned i = 1; i < 32; i++) {
		assert_int_equal(a->offset[i], a->offset[0] + 4 * i);
		assert_int_equal(b->offset[i], b->offset[0] + 4 * i);
	}
	assert_int_equal(r->run.counts.total.divergent_branches, 0);
	record_free(r);
}

/* An `if` in every load costs the warps at the edges alone. 100 x 100 in tiles of 32, whose rows
 * are warps: of 4 blocks a row, 4 phases and 100 rows, a warp of A is cut short in the last phase
 * only (4 of 32 lanes), one of B in the last column of blocks. */
TEST(s_410_guards_cost_at_the_edges)
{
	static const char *const tags[] = { "load-A", "load-B" };
	const unsigned warps = 4 * 4 * 100, cut = 4 * 100;
	struct run_record *r = run_words("sgemm", "tiled", "M=100 N=100 K=100 TILE=32");

	assert_int_equal(r->verify, VERIFY_OK);
	for (unsigned i = 0; i < ARRAY_LEN(tags); i++) {
		const struct counts c = of_tag(r, tags[i]);
		assert_int_equal(c.ld_requests, warps);
		assert_int_equal(128 * c.ld_requests - c.ld_bytes, cut * 28 * 4);
	}
	assert_true(r->run.counts.total.divergent_branches <= 2 * cut + 100);
	record_free(r);
	r = run_words("sgemm", "tiled", "M=96 N=96 K=96 TILE=32"); /* no edge, no cost */
	assert_int_equal(r->run.counts.total.ld_bytes, 128 * r->run.counts.total.ld_requests);
	assert_int_equal(r->run.counts.total.divergent_branches, 0);
	record_free(r);
}

/* S-228, S-344: shared reads fall to (1/rm + 1/rn) / 2. S-227: global reads to half of
 * (1/bm + 1/bn). */
TEST(s_344_traffic_of_the_ladder)
{
	static const struct {
		const char *words;
		unsigned bm, bn, tm, tn;
	} rows[] = {
		{ "BM=128 BN=128 TM=8 TN=8", 128, 128, 8, 8 },
		{ "BM=64 BN=64 TM=4 TN=4", 64, 64, 4, 4 },
		{ "BM=128 BN=64 TM=8 TN=4", 128, 64, 8, 4 },
	};
	const uint64_t fmas = 256 * 256 * 32 / 32; /* of whole warps */

	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		char words[96];
		snprintf(words, sizeof words, "M=256 N=256 K=32 %s", rows[i].words);
		struct run_record *r = run_words("sgemm_fast", "block_tile", words);
		const struct counts block = r->run.counts.total;
		record_free(r);
		r = run_words("sgemm_fast", "thread_tile", words);
		const struct counts thread = r->run.counts.total;
		record_free(r);
		assert_int_equal(block.ld_requests, fmas / rows[i].bm + fmas / rows[i].bn);
		assert_int_equal(thread.ld_requests, block.ld_requests);
		assert_int_equal(block.shared_ld_requests, 2 * fmas);
		assert_int_equal(thread.shared_ld_requests, fmas / rows[i].tm + fmas / rows[i].tn);
	}
}

/* S-231, S-347: threads = (BN/TN)(BM/TM); 256 x 64 outputs are 128 x 128. */
TEST(s_347_threads_of_a_tile)
{
	struct launch_plan p = plan_words("sgemm_fast", "conflict_free", "M=2048 N=2048 K=2048");

	assert_int_equal(p.block.x, 256);
	assert_int_equal(p.block.x * 8 * 8, 128 * 128);
	assert_int_equal(p.block.x / 32, 8);
	assert_int_equal(p.grid.x * p.grid.y, 16 * 16);
	p = plan_words("sgemm_fast", "thread_tile", "M=1000 N=130 K=8 BM=64 BN=32 TM=4 TN=2");
	assert_int_equal(p.block.x, 64 / 4 * 32 / 2);
	assert_int_equal(p.grid.x, 5);
	assert_int_equal(p.grid.y, 16);
}

/* S-033: K / BK big steps, one barrier each; half the depth, twice the steps. */
TEST(s_345_big_steps)
{
	static const unsigned depths[] = { 8, 4 };

	for (unsigned i = 0; i < ARRAY_LEN(depths); i++) {
		char words[64];
		snprintf(words, sizeof words, "M=128 N=128 K=256 BK=%u", depths[i]);
		struct run_record *r = run_words("sgemm_fast", "double_buffer", words);
		assert_int_equal(r->run.counts.total.barriers, 8 * 256 / depths[i]);
		record_free(r);
	}
	assert_true(2048 / 8 == 256 && 2048 / 4 == 512);
}

/* S-024: 16 x 16 threads and a tile of 32: the second block starts at column 32. */
TEST(s_346_tile_larger_than_block)
{
	struct run_record *r = run_words("sgemm", "wide_tile", "M=64 N=64 K=64 TILE=32 BLOCK=16");
	const struct counts a = of_tag(r, "load-A"), c = of_tag(r, "store");

	assert_int_equal(r->plan.block.x * r->plan.block.y, 256);
	assert_int_equal(r->plan.grid.x, 64 / 32);
	/* 8 warps, 4 blocks, 2 phases: 4 loads each; 2 x 2 stores each */
	assert_int_equal(a.ld_requests, 8 * 4 * 2 * 4);
	assert_int_equal(c.st_requests, 8 * 4 * 2 * 2);
	assert_int_equal(1 * 32 + 1, 33);
	record_free(r);
}

/* S-253: one thread with ROWS x COLS outputs of a 7 x 7 product reads what they need once, and, as
 * the source counts, the old values of C: 15 reads for one output, 32 for 2 x 2, 39 for a column of
 * four. */
TEST(s_349_thread_tiles_of_seven)
{
	static const char source[] =
		"extern \"C\" __global__ void tile(const float *A, const float *B, float *C)\n"
		"{\n"
		"	float c[ROWS][COLS];\n"
		"	for (int i = 0; i < ROWS; i++)\n"
		"		for (int j = 0; j < COLS; j++) c[i][j] = C[i * 7 + j];\n"
		"	for (int k = 0; k < 7; k++) {\n"
		"		float a[ROWS], b[COLS];\n"
		"		for (int i = 0; i < ROWS; i++) a[i] = A[i * 7 + k];\n"
		"		for (int j = 0; j < COLS; j++) b[j] = B[k * 7 + j];\n"
		"		for (int i = 0; i < ROWS; i++)\n"
		"			for (int j = 0; j < COLS; j++) c[i][j] += a[i] * b[j];\n"
		"	}\n"
		"	for (int i = 0; i < ROWS; i++)\n"
		"		for (int j = 0; j < COLS; j++) C[i * 7 + j] = c[i][j];\n"
		"}\n";
	static const struct {
		unsigned rows, cols, reads;
	} cases[] = { { 1, 1, 15 }, { 2, 2, 32 }, { 4, 1, 39 } };

	for (unsigned t = 0; t < ARRAY_LEN(cases); t++) {
		char text[1000];
		float a[49], b[49], c[49];
		for (unsigned i = 0; i < 49; i++) {
			a[i] = (float)i;
			b[i] = (float)(i % 5);
			c[i] = 1;
		}
		const struct user_buffer buffers[] = { { ELEM_F32, BUF_IN, 49, a },
			                                   { ELEM_F32, BUF_IN, 49, b },
			                                   { ELEM_F32, BUF_INOUT, 49, c } };
		const struct dim3u one = { 1, 1, 1 };
		struct run_counts n = { 0 };
		snprintf(text, sizeof text, "#define ROWS %u\n#define COLS %u\n%s", cases[t].rows,
		         cases[t].cols, source);
		run_source(text, "tile", one, one, 3, buffers, &n);
		assert_int_equal(n.total.ld_requests, cases[t].reads);
		assert_int_equal(n.total.st_requests, cases[t].rows * cases[t].cols);
		float want = 1;
		for (unsigned k = 0; k < 7; k++)
			want += a[k] * b[7 * k];
		assert_true(c[0] == want);
		run_counts_free(&n);
	}
}

static double closed_form(double i, double j, double k)
{
	return k * (k - 1) * (2 * k - 1) / 6 + (i - j) * k * (k - 1) / 2 - k * i * j;
}

/* S-041, S-240: A[i,j] = i + j, B[i,j] = i - j: the kernel, a plain sum and the closed form
 * agree. */
TEST(s_352_closed_form)
{
	static const unsigned depths[] = { 4, 7, 64 };
	const struct kernel_desc *k = the_kernel("sgemm");

	assert_true(closed_form(0, 0, 4) == 14);
	assert_true(closed_form(3, 5, 7) == -56);
	assert_true(closed_form(2, 1, 64) == 87232);
	assert_true(closed_form(0, 0, 1024) == 357389824); /* past 2^24: float32 cannot be exact */
	for (unsigned d = 0; d < ARRAY_LEN(depths); d++) {
		const unsigned depth = depths[d], n = 6;
		struct launched l;
		struct err err = { 0 };
		int64_t params[KERNEL_MAX_PARAMS];
		char words[64];
		snprintf(words, sizeof words, "M=%u N=%u K=%u", n, n, depth);
		settings(k, words, params);
		assert_true(prepare(k, the_variant(k, "tiled"), params, &l, &err));
		float *a = l.after[0], *b = l.after[1];
		for (unsigned i = 0; i < n; i++)
			for (unsigned p = 0; p < depth; p++)
				a[i * depth + p] = (float)(i + p);
		for (unsigned p = 0; p < depth; p++)
			for (unsigned j = 0; j < n; j++)
				b[p * n + j] = (float)p - (float)j;
		if (!launch(k, the_variant(k, "tiled"), &l, &err))
			fail_msg("%s", err.msg);
		const float *c = l.after[2];
		for (unsigned i = 0; i < n; i++)
			for (unsigned j = 0; j < n; j++)
				assert_true((double)c[i * n + j] == closed_form(i, j, depth));
		launched_free(&l);
	}
}

/* S-034: the first listing fetches a tile of B in rounds into registers, which it numbers by A's
 * rows of a round instead of B's. With a depth of 8 there is one round and no harm; with 16 the
 * second round overwrites the first, half of the tile is lost. Run as it stands, and mended. */
TEST(s_395_index_of_the_first_listing)
{
	static const char source[] =
		"extern \"C\" __global__ void fetch(const float *B, float *out)\n"
		"{\n"
		"	const int a_rows = 256 / (BK / 4), b_rows = 256 / (128 / 4);\n"
		"	const int row = threadIdx.x / 32, col = threadIdx.x % 32 * 4;\n"
		"	float held[16];\n"
		"	for (int i = 0; i < 16; i++) held[i] = -1;\n"
		"	for (int i = 0; i < BK; i += b_rows)\n"
		"		for (int q = 0; q < 4; q++)\n"
		"			held[i / ROWS * 4 + q] = B[(row + i) * 128 + col + q];\n"
		"	for (int i = 0; i < BK; i += b_rows)\n"
		"		for (int q = 0; q < 4; q++)\n"
		"			out[(row + i) * 128 + col + q] = held[i / ROWS * 4 + q];\n"
		"}\n";
	static const struct {
		unsigned depth;
		const char *rows;
		unsigned wrong;
	} cases[] = { { 8, "a_rows", 0 }, { 16, "a_rows", 1024 }, { 16, "b_rows", 0 } };
	static float b[16 * 128], out[16 * 128];

	for (unsigned t = 0; t < ARRAY_LEN(cases); t++) {
		const unsigned n = cases[t].depth * 128;
		const struct user_buffer buffers[] = { { ELEM_F32, BUF_IN, n, b },
			                                   { ELEM_F32, BUF_OUT, n, out } };
		struct run_counts c = { 0 };
		char text[1000];
		unsigned wrong = 0;
		for (unsigned i = 0; i < n; i++)
			b[i] = (float)i;
		snprintf(text, sizeof text, "#define BK %u\n#define ROWS %s\n%s", cases[t].depth,
		         cases[t].rows, source);
		run_source(text, "fetch", (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 256, 1, 1 }, 2,
		           buffers, &c);
		for (unsigned i = 0; i < n; i++)
			wrong += out[i] != b[i];
		assert_int_equal(wrong, cases[t].wrong);
		run_counts_free(&c);
	}
}

/* S-022, S-028: 3 x 5 by 5 x 7 and other sizes that no tile divides, against the CPU reference. */
TEST(s_364_rectangles)
{
	static const char *const words[] = {
		"M=3 N=7 K=5",
		"M=1 N=1 K=1",
		"M=17 N=33 K=70",
		"M=100 N=3 K=41",
	};
	for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
		struct run_record *r = run_words("sgemm", "tiled", words[i]);
		assert_int_equal(r->verify, VERIFY_OK);
		record_free(r);
		r = run_words("sgemm", "naive", words[i]);
		assert_int_equal(r->verify, VERIFY_OK);
		record_free(r);
	}
}
