/* The roofline as printed. */
#include "../unit.h"
#include "model/perf.h"

#include <math.h>
#include <string.h>

static bool close_to(double got, double want, double rel)
{
	return fabs(got - want) <= rel * fabs(want);
}

/* S-217 to S-219, S-333, S-334, S-336: the book's figures on the A100. */
TEST(book_roofline)
{
	const struct gpu_spec *a = gpu_find("a100");
	assert_true(roof_attainable_gflops(a, 0.25) == 388.75);
	assert_true(close_to(roof_attainable_gflops(a, 0.25) / a->fp32_gflops, 0.02, 0.01));
	assert_true(close_to(gpu_ridge_flop_per_byte(a), 12.54, 1e-3));
	assert_true(close_to(gpu_ridge_flop_per_byte(a) / 0.25, 50, 0.01));
	/* tiles of T: intensity T/4 */
	static const struct {
		double tile, gflops;
	} tiles[] = {
		{ 2, 777.5 }, { 4, 1555 }, { 8, 3110 }, { 16, 6220 }, { 32, 12440 },
	};
	for (unsigned i = 0; i < 5; i++)
		assert_true(roof_attainable_gflops(a, tiles[i].tile / 4) == tiles[i].gflops);
	assert_true(close_to(6220 / a->fp32_gflops, 0.319, 1e-3));
	assert_true(roof_attainable_gflops(a, 50 / 4.0) < a->fp32_gflops);
	assert_true(roof_attainable_gflops(a, 51 / 4.0) == a->fp32_gflops); /* first past the ridge */
	assert_true(roof_attainable_gflops(a, 1e9) == 19500);
	assert_true(roof_attainable_gflops(a, 0) == 0);
	assert_true(roof_attainable_gflops(a, -1) == 0);
	assert_true(roof_attainable_gflops(a, (double)NAN) == 0);
}

/* S-353: three points under the roof and the advice for each. */
TEST(verdicts)
{
	const struct gpu_spec *a = gpu_find("a100");
	assert_int_equal(roof_classify(a, 1, 1300), ROOF_MEMORY_NEAR);
	assert_int_equal(roof_classify(a, 2, 200), ROOF_MEMORY_FAR);
	assert_int_equal(roof_classify(a, 30, 17000), ROOF_COMPUTE_NEAR);
	assert_int_equal(roof_classify(a, 30, 1000), ROOF_COMPUTE_FAR);
	assert_non_null(strstr(roof_verdict_text(ROOF_MEMORY_NEAR), "memory-bound"));
	assert_non_null(strstr(roof_verdict_advice(ROOF_MEMORY_NEAR), "raise the intensity"));
	assert_non_null(strstr(roof_verdict_advice(ROOF_MEMORY_FAR), "improve the access"));
	assert_non_null(strstr(roof_verdict_text(ROOF_COMPUTE_NEAR), "compute-bound"));
	assert_non_null(strstr(roof_verdict_advice(ROOF_COMPUTE_NEAR), "near the limit"));
}
