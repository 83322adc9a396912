/*
 * The tables of matrix multiplication that the sources print (checklist 4.C): launches and rates.
 */
#include "seeds.h"

/* S-391: three columns of the table are the same problem, the third is another. */
TEST(s_350_outputs_of_the_table)
{
	/* the kernels of the four columns, launched for 2^27 outputs (the third for 2^20): the grids
	 * and blocks printed */
	static const struct {
		const char *kernel, *variant, *words;
		unsigned grid, block;
	} columns[] = {
		{ "sgemm", "naive", "M=8192 N=16384 K=64 block_x=32 block_y=8", 524288, 256 },
		{ "sgemm", "tiled", "M=8192 N=16384 K=64 TILE=32", 131072, 1024 },
		{ "sgemm_fast", "thread_tile", "M=1024 N=1024 K=64 BM=128 BN=128 BK=8 TM=8 TN=8", 64, 256 },
		{ "sgemm_fast", "thread_tile", "M=8192 N=16384 K=64 BM=64 BN=64 BK=8 TM=4 TN=4", 32768,
		  256 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(columns); i++) {
		const struct launch_plan p =
			plan_words(columns[i].kernel, columns[i].variant, columns[i].words);
		assert_int_equal(p.grid.x * p.grid.y, columns[i].grid);
		assert_int_equal(p.block.x * p.block.y, columns[i].block);
	}
	/* as 2^27 outputs it would be 8,192 blocks: 120 waves of 68 */
	const struct occ_input in = { .block_threads = 256,
		                          .regs_per_thread = 94,
		                          .static_shared_bytes = 8192 };
	struct occ_result occ;
	struct metric_set m;
	metrics_clear(&m, "not run");
	assert_true(occ_compute(gpu_find("rtx4060ti"), &in, &occ, NULL));
	occ_metrics(&m, gpu_find("rtx4060ti"), &occ, (1 << 27) / (128 * 128));
	assert_true(floor(metric_get(&m, M_LAUNCH_WAVES)) == 120);
	assert_true(fabs((556.38 - 411.00) / 556.38 - 0.261) < 0.001);
}

/* S-232: every printed row is 2 N^3 / t, to the digits printed; speed-ups are ratios of times. */
TEST(s_351_rates_of_the_tables)
{
	static const struct {
		double n, base_ms, base, opt_ms, opt, times;
	} rows[] = {
		{ 256, 345.411, 0.0971435, 111.605, 0.300653, 3.09493 },
		{ 256, 351.052, 0.0955825, 109.557, 0.306273, 3.20428 },
		{ 256, 0.09632, 348.364, 0.037184, 902.389, 2.59036 },
		{ 512, 110.758, 2.42362, 147.708, 1.81734, 0.749846 },
		{ 512, 114.746, 2.3394, 149.876, 1.79105, 0.765605 },
		{ 512, 0.393088, 682.889, 0.065152, 4120.14, 6.0334 },
		{ 1024, 139.605, 15.3826, 117.257, 18.3143, 1.19058 },
		{ 1024, 144.139, 14.8987, 115.737, 18.5549, 1.2454 },
		{ 1024, 3.01709, 711.774, 0.318656, 6739.19, 9.46817 },
		{ 2048, 370.425, 46.3788, 143.227, 119.949, 2.58629 },
		{ 2048, 354.345, 48.4834, 164.651, 104.341, 2.15209 },
		{ 2048, 23.9839, 716.307, 2.21741, 7747.73, 10.8162 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		char words[64];
		snprintf(words, sizeof words, "M=%.0f N=%.0f K=%.0f", rows[i].n, rows[i].n, rows[i].n);
		const double flop = cost_words("sgemm", "naive", words).flop;
		assert_true(flop == 2 * rows[i].n * rows[i].n * rows[i].n);
		assert_true(near_to(flop / rows[i].base_ms / 1e6, rows[i].base, 1e-5));
		assert_true(near_to(flop / rows[i].opt_ms / 1e6, rows[i].opt, 1e-5));
		assert_true(near_to(rows[i].base_ms / rows[i].opt_ms, rows[i].times, 1e-5));
	}
}
