/* What L2 has to do: looks at words that need no change, and sectors that are stored in part. */
#include "time_fixture.h"

#include "timemodel/constants.h"

/* Lines that those look at who find nothing to change take their time. */
TEST(looks_take_time)
{
	double ns[2];
	for (unsigned i = 0; i < 2; i++) {
		struct run r = { .plan = { .block = { 32, 1, 1 }, .grid = { 64, 1, 1 } } };
		r.counts.atomics = (struct atomic_load){
			.swaps = 4, .look_lines = i ? 5000 : 0, .swap_candidates = 64, .settles = true
		};
		finish(&r, "h200", 16, 0);
		ns[i] = r.p.kernel_ns;
	}
	assert_true(ns[1] - ns[0] > 0.9 * 5000 * timing.look_line_ns);
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

/* Lines that all SMs want lie among few of L2's slices by chance, the more unevenly the fewer they
 * are (tests/gpu/micro/wanted.cu); a warp that waits for them once does nothing else meanwhile. */
TEST(few_lines_are_wanted_by_all)
{
	double ns[3];
	for (unsigned i = 0; i < 3; i++) {
		struct run r = { .plan = { .block = { 128, 1, 1 }, .grid = { 132, 1, 1 } } };
		r.counts.l2_sectors = r.counts.l2_requests = r.counts.l2_load_requests = 1 << 16;
		r.counts.l2_load_lines = i ? 256 : 1e9;
		r.counts.load_rounds = i == 2 ? 1e6 : 1;
		finish(&r, "h200", 16, 0);
		ns[i] = r.p.kernel_ns;
	}
	const struct gpu_spec *g = gpu_find("h200");
	const double all = timing.l2_request_sectors * 32 / g->l2_gbs * (65536 - 256);
	assert_true(fabs(ns[1] - ns[0] - all * 6.4 * 48 / 256) < 0.02 * all);
	assert_true(ns[2] > ns[0] && ns[2] < ns[1]);
}
