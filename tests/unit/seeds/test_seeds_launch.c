/*
 * Worked examples of launch arithmetic, warps and divergence (checklist 3.1, 3.2 and 4.A), by the
 * kernels of the program where one exists, else by a small kernel that says where it is.
 */
#include "seeds.h"

/* Every thread says who it is: lane, the linear id of its warp's lane 0, and its coordinates. */
static const char where_source[] =
	"extern \"C\" __global__ void where(unsigned *out)\n"
	"{\n"
	"	unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
	"	unsigned threads = blockDim.x * blockDim.y * blockDim.z, lane;\n"
	"	asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n"
	"	unsigned first = __shfl_sync(0xffffffffu, t, 0);\n"
	"	unsigned *mine = out + 3 * (blockIdx.x * threads + t);\n"
	"	mine[0] = lane;\n"
	"	mine[1] = first;\n"
	"	mine[2] = threadIdx.z * 10000 + threadIdx.y * 100 + threadIdx.x;\n"
	"}\n";

#define MOST_THREADS 1024

static void where(struct dim3u grid, struct dim3u block, unsigned out[3 * MOST_THREADS])
{
	const size_t n = 3u * grid.x * block.x * block.y * block.z;
	struct run_counts counts = { 0 };

	assert_true(n <= 3 * MOST_THREADS);
	run_source(where_source, "where", grid, block, 1,
	           &(struct user_buffer){ ELEM_U32, BUF_OUT, n, out }, &counts);
	run_counts_free(&counts);
}

/* S-200, S-201: three blocks of 256 cover 0 ... 767 in order. */
TEST(s_300_index_ranges)
{
	static const char source[] = "extern \"C\" __global__ void index(unsigned *out)\n"
								 "{ out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x; }\n";
	unsigned block[768];
	struct run_counts counts = { 0 };
	const struct launch_plan plan = plan_words("vec_add", "per_element", "N=768 block=256");

	assert_int_equal(plan.grid.x, 3);
	run_source(source, "index", plan.grid, plan.block, 1,
	           &(struct user_buffer){ ELEM_U32, BUF_OUT, 768, block }, &counts);
	for (unsigned i = 0; i < 768; i++)
		assert_int_equal(block[i], i < 256 ? 0 : i < 512 ? 1 : 2);
	run_counts_free(&counts);
}

/* S-203, S-204, S-205, S-208: x varies fastest; warp = TID / 32, lane = TID % 32, by (z, y, x). */
TEST(s_310_three_dimensional_block)
{
	static unsigned out[3 * MOST_THREADS];

	where((struct dim3u){ 1, 1, 1 }, (struct dim3u){ 4, 8, 2 }, out);
	for (unsigned t = 0; t < 64; t++) {
		assert_int_equal(out[3 * t], t % 32);
		assert_int_equal(out[3 * t + 1], t / 32 * 32);
		assert_int_equal(out[3 * t + 2], t / 32 * 10000 + t % 32 / 4 * 100 + t % 4);
	}
	assert_int_equal(out[3 * 31 + 2], 703);   /* warp 0 ends with T(0,7,3) */
	assert_int_equal(out[3 * 32 + 2], 10000); /* warp 1 begins with T(1,0,0) */
	assert_int_equal(out[3 * 63 + 2], 10703);
}

/* S-384: the source's shapes have 4,096 and 8,192 threads. What it says of warp 0 holds for a legal
 * block of the same width. S-388, S-389: a warp is 32 threads, and threads, not warps, come in
 * 32. */
TEST(s_311_blocks_that_cannot_be)
{
	static const struct dim3u illegal[] = { { 16, 16, 16 }, { 32, 16, 16 }, { 64, 8, 8 } };
	static const struct dim3u legal[] = { { 16, 16, 4 }, { 32, 8, 4 }, { 64, 4, 4 } };
	static unsigned out[3 * MOST_THREADS];
	struct err err = { 0 };

	for (unsigned i = 0; i < ARRAY_LEN(illegal); i++) {
		const struct launch_plan p = { .entry = "k", .grid = { 1, 1, 1 }, .block = illegal[i] };
		assert_false(kernel_launch_legal(&p, &err));
		assert_non_null(strstr(err.msg, "1024"));
	}
	for (unsigned i = 0; i < ARRAY_LEN(legal); i++) {
		where((struct dim3u){ 1, 1, 1 }, legal[i], out);
		for (unsigned t = 0; t < 1024; t++)
			assert_int_equal(out[3 * t + 1], t / 32 * 32);
	}
	/* 16 wide: warp 0 is (0,0,0)-(0,0,15) and (0,1,0)-(0,1,15) */
	where((struct dim3u){ 1, 1, 1 }, legal[0], out);
	assert_int_equal(out[3 * 15 + 2], 15);
	assert_int_equal(out[3 * 16 + 2], 100);
	assert_int_equal(out[3 * 31 + 2], 115);
	assert_int_equal(gpu_find("rtx4060ti")->warp_size, 32);
	/* a kernel that asks reads threads, the same in a block of one warp and in one of three */
	static const char source[] = "extern \"C\" __global__ void width(unsigned *out)\n"
								 "{ out[threadIdx.x] = warpSize; }\n";
	for (unsigned warps = 1; warps <= 3; warps += 2) {
		unsigned width[96] = { 0 };
		struct run_counts counts = { 0 };
		run_source(source, "width", (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 32 * warps, 1, 1 },
		           1, &(struct user_buffer){ ELEM_U32, BUF_OUT, 32 * warps, width }, &counts);
		for (unsigned t = 0; t < 32 * warps; t++)
			assert_int_equal(width[t], 32);
		assert_int_equal(counts.total.st_requests, warps);
		run_counts_free(&counts);
	}
	/* any number of warps is legal, none of 1 to 31 a multiple of 32; of 33 the block is too large
	 */
	for (unsigned warps = 1; warps <= 33; warps++) {
		const struct launch_plan p = { .entry = "k",
			                           .grid = { 1, 1, 1 },
			                           .block = { 32 * warps, 1, 1 } };
		assert_true(kernel_launch_legal(&p, &err) == (warps <= 32));
	}
}

/* S-121: at most 1,024 threads in any shape. S-122: the grid's limits. */
TEST(s_312_legal_blocks)
{
	static const struct {
		struct dim3u grid, block;
		bool legal;
	} rows[] = {
		{ { 1, 1, 1 }, { 512, 1, 1 }, true },
		{ { 1, 1, 1 }, { 8, 16, 4 }, true },
		{ { 1, 1, 1 }, { 32, 16, 2 }, true },
		{ { 1, 1, 1 }, { 32, 32, 2 }, false },
		{ { 1, 1, 1 }, { 1025, 1, 1 }, false },
		{ { 0x7fffffff, 1, 1 }, { 32, 1, 1 }, true },
		{ { 0x80000000u, 1, 1 }, { 32, 1, 1 }, false },
		{ { 1, 65535, 65535 }, { 32, 1, 1 }, true },
		{ { 1, 65536, 1 }, { 32, 1, 1 }, false },
		{ { 1, 1, 65536 }, { 32, 1, 1 }, false },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };
		const struct launch_plan p = { .entry = "k", .grid = rows[i].grid, .block = rows[i].block };
		assert_true(kernel_launch_legal(&p, &err) == rows[i].legal);
	}
}

/* 48 threads are two warps; the second is padded with 16 lanes that do nothing. */
TEST(s_309_padded_warp)
{
	struct run_record *r = run_words("vec_add", "per_element", "N=48 block=48");
	const struct counts add = of_tag(r, "add");

	assert_int_equal(r->verify, VERIFY_OK);
	assert_int_equal(add.st_requests, 2);
	assert_int_equal(32 * add.st_requests - add.flop32, 16);
	assert_int_equal(r->run.counts.total.divergent_branches, 0);
	record_free(r);
}

/* S-386: 80 divergent warps are printed; 5 warps of the corner block lie wholly outside. */
TEST(s_305_image_regions)
{
	static const struct {
		unsigned w, h, inside, right, below, corner, split, all;
	} rows[] = {
		{ 200, 150, 864, 72, 96, 8, 75, 1040 },
		{ 1000, 750, 62 * 46 * 8, 46 * 8, 62 * 8, 8, 375, 23688 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		const unsigned w = rows[i].w, h = rows[i].h;
		const unsigned gx = (w + 15) / 16, gy = (h + 15) / 16;
		unsigned inside = 0, right = 0, below = 0, corner = 0, split = 0;
		/* thread by thread: a warp is two rows of 16 */
		for (unsigned b = 0; b < gx * gy; b++) {
			const bool last_x = b % gx == gx - 1, last_y = b / gx == gy - 1;
			for (unsigned warp = 0; warp < 8; warp++) {
				unsigned valid = 0;
				for (unsigned lane = 0; lane < 32; lane++) {
					const unsigned x = b % gx * 16 + lane % 16;
					const unsigned y = b / gx * 16 + warp * 2 + lane / 16;
					valid += x < w && y < h;
				}
				split += valid > 0 && valid < 32;
				if (last_x)
					*(last_y ? &corner : &right) += 1;
				else
					*(last_y ? &below : &inside) += 1;
			}
		}
		assert_int_equal(inside, rows[i].inside);
		assert_int_equal(right, rows[i].right);
		assert_int_equal(below, rows[i].below);
		assert_int_equal(corner, rows[i].corner);
		assert_int_equal(gx * gy * 8, rows[i].all);
		assert_int_equal(split, rows[i].split);

		char words[64];
		snprintf(words, sizeof words, "W=%u H=%u block_x=16 block_y=16", w, h);
		struct run_record *r = run_words("rgb_to_gray", "interleaved", words);
		assert_int_equal(r->verify, VERIFY_OK);
		assert_int_equal(r->plan.grid.x * r->plan.grid.y, gx * gy);
		assert_int_equal(of_tag(r, "guard").divergent_branches, split);
		record_free(r);
	}
	assert_true(75.0 / 1040 < 0.08 && 80.0 / 1040 < 0.08 && 375.0 / 23688 < 0.02);
	assert_int_equal(72 + 8, 80); /* the book's count: right band and corner, all of them */
}

/* S-016: 3 x 3 patches have 9 pixels inside, 6 at an edge, 4 in a corner. Bright points 3 apart
 * light every patch exactly once, so that 255 / output tells the patch's size. */
TEST(s_306_blur_patches)
{
	static const char *const names[] = { "naive", "tiled" };
	const struct kernel_desc *k = the_kernel("blur");

	for (unsigned v = 0; v < ARRAY_LEN(names); v++) {
		struct launched l;
		struct err err = { 0 };
		int64_t params[KERNEL_MAX_PARAMS];
		unsigned nine = 0, six = 0, four = 0;

		settings(k, "W=8 H=6 RADIUS=1", params);
		assert_true(prepare(k, the_variant(k, names[v]), params, &l, &err));
		unsigned char *in = l.after[0];
		for (unsigned i = 0; i < 48; i++)
			in[i] = i % 8 % 3 == 1 && i / 8 % 3 == 1 ? 255 : 0;
		if (!launch(k, the_variant(k, names[v]), &l, &err))
			fail_msg("%s", err.msg);
		const unsigned char *out = l.after[1];
		for (unsigned i = 0; i < 48; i++) {
			nine += out[i] == 255 / 9;
			six += out[i] == 255 / 6;
			four += out[i] == 255 / 4;
		}
		assert_int_equal(nine, 24);
		assert_int_equal(six, 20);
		assert_int_equal(four, 4);
		launched_free(&l);
	}
}

/* S-254, S-015: L = 0.21 r + 0.72 g + 0.07 b, rounded down. */
TEST(s_254_luminance)
{
	static const unsigned char rgb[] = {
		255, 0, 0, 0, 255, 0, 0, 0, 255, 100, 100, 100, 10, 20, 30
	};
	static const unsigned char want[] = { 53, 183, 17, 100, 18 };
	const struct kernel_desc *k = the_kernel("rgb_to_gray");
	struct launched l;
	struct err err = { 0 };
	int64_t params[KERNEL_MAX_PARAMS];

	settings(k, "W=5 H=1", params);
	assert_true(prepare(k, 0, params, &l, &err));
	memcpy(l.before[0], rgb, sizeof rgb);
	memcpy(l.after[0], rgb, sizeof rgb);
	if (!launch(k, 0, &l, &err))
		fail_msg("%s", err.msg);
	assert_true(checked(k, 0, &l).ok);
	const unsigned char *gray = l.after[1];
	for (unsigned i = 0; i < 5; i++)
		if (gray[i] != want[i] && !(i == 3 && gray[i] == 99)) /* 100 or just below, in float32 */
			fail_msg("pixel %u: %u, want %u", i, gray[i], want[i]);
	launched_free(&l);
}

/* 16 blocks of 2 x 2 over 7 x 7: 64 threads, 49 with an element. Element 9 is column 2, row 1. */
TEST(s_314_seven_by_seven)
{
	struct run_record *r = run_words("transpose", "naive", "W=7 H=7 block_x=2 block_y=2");
	const uint32_t blocks = r->plan.grid.x * r->plan.grid.y;

	assert_int_equal(r->verify, VERIFY_OK);
	assert_int_equal(blocks, 16);
	assert_int_equal(4 * blocks, 64);
	assert_int_equal(r->run.counts.total.st_bytes, 4 * 49); /* one warp per block: no byte twice */
	assert_int_equal(64 - r->run.counts.total.st_bytes / 4, 15);
	const unsigned x = 0 + 1 * 2, y = 1 + 0 * 2; /* thread (0, 1) of block (1, 0) */
	assert_int_equal(y * 7 + x, 9);
	assert_int_not_equal(x * 7 + y, 9); /* the source's naming of x and y does not give 9 */
	record_free(r);
}

/* The block's four elements are two pairs, seven apart; a block 32 wide is one run. */
TEST(s_315_elements_of_a_block)
{
	static const uint64_t want[] = { 0, 1, 7, 8 };
	struct run_record *r = run_words("transpose", "naive", "W=7 H=7 block_x=2 block_y=2");
	const struct access_sample *a = lanes_of(r, "load", false);

	assert_int_equal(a->mask, 0xf);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(a->offset[i], 4 * want[i]);
	record_free(r);
	r = run_words("transpose", "naive", "W=64 H=64 block_x=32 block_y=2");
	a = lanes_of(r, "load", false);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(a->offset[i], 4 * i);
	record_free(r);
}

/* The one warp that splits weighs less and less. */
TEST(s_317_share_falls_with_size)
{
	static const unsigned sizes[] = { 100, 1003, 100003 };
	double before = 1;

	for (unsigned i = 0; i < ARRAY_LEN(sizes); i++) {
		char words[64];
		snprintf(words, sizeof words, "N=%u block=64", sizes[i]);
		struct run_record *r = run_words("vec_add", "per_element", words);
		const double warps = 2.0 * r->plan.grid.x;
		const double share = (double)r->run.counts.total.divergent_branches / warps;
		assert_int_equal(r->run.counts.total.divergent_branches, 1);
		assert_true(share < before);
		before = share;
		record_free(r);
	}
}

/* S-214, S-331, S-390: 64 blocks, 2 per SM, 34 SMs: 0.94 waves. What counts is a whole number. */
TEST(s_331_waves)
{
	static const struct {
		unsigned grid;
		double waves, efficiency;
	} rows[] = {
		{ 64, 0.94, 0.94 }, { 68, 1, 1 },
		{ 75, 1.1, 0.55 },  { 102, 1.5, 0.75 }, /* three blocks for each SM, but no whole wave */
		{ 136, 2, 1 },
	};
	const struct gpu_spec *g = gpu_find("rtx4060ti");
	const struct occ_input in = { .block_threads = 256,
		                          .regs_per_thread = 94,
		                          .static_shared_bytes = 8192 };
	struct occ_result occ;

	assert_true(occ_compute(g, &in, &occ, NULL));
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct metric_set m;
		metrics_clear(&m, "not run");
		occ_metrics(&m, g, &occ, rows[i].grid);
		const double waves = metric_get(&m, M_LAUNCH_WAVES);
		assert_true(fabs(waves - rows[i].waves) < 0.005);
		assert_true(fabs(waves / ceil(waves) - rows[i].efficiency) < 0.005);
	}
}

/* S-007, S-215: 34 SMs x 4 blocks x 256 threads. S-202: any grid covers the data. */
TEST(s_332_grid_choice)
{
	const struct gpu_spec *g = gpu_find("rtx4060ti");
	const struct launch_plan p = plan_words("vec_add", "grid_stride", "N=1000000 blocks=136");

	assert_int_equal(g->sm_count * 4, 136);
	assert_int_equal(p.grid.x * p.block.x, 34816);
	assert_int_equal(p.grid.x / g->sm_count, 4);
	struct run_record *r = run_words("vec_add", "grid_stride", "N=1003 block=64 blocks=2");
	assert_int_equal(r->verify, VERIFY_OK); /* stride 128: eight rounds, the last one short */
	assert_int_equal(of_tag(r, "add").flop32, 1003);
	record_free(r);
}

/* Blocks start in any order, none waits for another: every ticket is drawn once. Two at a time on a
 * small device, hundreds on a large one: only the number of waves differs. */
TEST(s_057_block_scheduling)
{
	struct run_record *r = run_words("latency", "ticket", "blocks=16 block=32 work=16");
	struct metric_set m;
	struct gpu_spec small = *gpu_find("a100"), large = small;
	const struct occ_input in = { .block_threads = 1024 };
	struct occ_result occ;

	assert_int_equal(r->verify, VERIFY_OK);
	assert_true(metric(r, "launch.waves") < 0.01);
	small.sm_count = 1, large.sm_count = 2;
	assert_true(occ_compute(&small, &in, &occ, NULL));
	assert_int_equal(occ.blocks_per_sm, 2);
	metrics_clear(&m, "not run");
	occ_metrics(&m, &small, &occ, 8);
	assert_true(metric_get(&m, M_LAUNCH_WAVES) == 4); /* two blocks at a time */
	occ_metrics(&m, &large, &occ, 8);
	assert_true(metric_get(&m, M_LAUNCH_WAVES) == 2); /* four */
	record_free(r);
}

/* S-209, S-210, S-403: more registers per thread, fewer resident warps, never more. */
TEST(s_403_registers_cost_residency)
{
	unsigned before = 65;

	for (unsigned regs = 16; regs <= 255; regs++) {
		const struct occ_input in = { .block_threads = 256, .regs_per_thread = regs };
		struct occ_result occ;
		assert_true(occ_compute(gpu_find("a100"), &in, &occ, NULL));
		assert_true(occ.warps_per_sm <= before);
		assert_int_equal(occ.warps_per_sm, occ.blocks_per_sm * 8);
		assert_true(near_to(occ.pct, 100.0 * occ.warps_per_sm / 64, 1e-9));
		before = occ.warps_per_sm;
	}
	assert_int_equal(before, 8); /* 255 registers: one block */
}
