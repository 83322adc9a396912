/* What L2 has to do: loops of compare-and-swap that settle, and sectors that are stored in part. */
#include "time_fixture.h"

#include "timemodel/constants.h"

/* A maximum settles in rounds: half of those who want it give up in each. */
TEST(maxima_settle)
{
	double ns[2];
	for (unsigned i = 0; i < 2; i++) {
		struct run r = { .plan = { .block = { 32, 1, 1 }, .grid = { 64, 1, 1 } } };
		r.counts.atomics = (struct atomic_load){
			.swaps = 4,
			.unit_swaps = 4,
			.word_swaps = 4,
			.unit_share = 1,
			.word_share = i ? 1 : 1 / 64.0,
			.swap_candidates = 64,
			.settles = true,
			.contest = { .passes = 1 },
		};
		finish(&r, "h200", 16, 0);
		ns[i] = r.p.kernel_ns;
	}
	/* one word that 64 lanes want, or 64 words */
	assert_true(fabs(ns[1] - ns[0] - 6 * timing.swap_round_trip_ns) < 1e-6);
}

/* Where it is known who looks at a word first, those try, and the lines that they look at take
 * their time. */
TEST(looks_take_time)
{
	double ns[3];
	for (unsigned i = 0; i < 3; i++) {
		struct run r = { .plan = { .block = { 32, 1, 1 }, .grid = { 64, 1, 1 } } };
		r.counts.atomics = (struct atomic_load){ .swaps = 4,
			                                     .look_tries = i == 1 ? 1000 : 100,
			                                     .look_lines = i == 2 ? 5000 : 0,
			                                     .swap_candidates = 64,
			                                     .settles = true,
			                                     .contest = { .passes = 1 } };
		finish(&r, "h200", 16, 0);
		ns[i] = r.p.kernel_ns;
	}
	const double pass = timing.swap_first_tries * timing.atomic_pass_ns;
	assert_true(fabs(ns[1] - ns[0] - 900 * pass) < 1e-6);
	assert_true(ns[2] - ns[0] > 0.9 * 5000 * timing.look_line_ns);
}

/* Of sectors that stores fill in part, L2 takes those parts only. */
TEST(stored_parts_of_sectors)
{
	double ns[2];
	for (unsigned part = 0; part < 2; part++) {
		struct run r = { .plan = { .block = { 256, 1, 1 }, .grid = { 4096, 1, 1 } } };
		r.counts.total.st_lines = r.counts.total.st_requests = 1 << 18;
		r.counts.total.st_sectors = 1 << 22;
		r.counts.total.st_bytes = (1u << 27) / (part ? 4 : 1);
		r.counts.l2_sectors = r.counts.l2_written_sectors = 1 << 22;
		r.counts.l2_requests = 1 << 18;
		finish(&r, "h200", 16, 0);
		ns[part] = r.p.resource_ns[PERF_L2];
	}
	assert_true(fabs(ns[0] / ns[1] - 4) < 1e-6);
}
