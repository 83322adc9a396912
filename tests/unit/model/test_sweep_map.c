/* The map of a sweep: what its axes are, which points run first, what a record says of one. */
#include "../unit.h"
#include "model/sweep_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N, BLOCK, TILE, STREAMS, ONE, PARAMS };
static const int64_t blocks[] = { 32, 64, 128, 256, 512, INT64_MIN };
static const int64_t tiles[] = { 8, 16, 32, INT64_MIN };
static const struct param_desc params[PARAMS] = {
	[N] = { .name = "N", .title = "n", .def = 1024, .min = 1, .max = 1 << 20 },
	[BLOCK] = { .name = "block",
	            .title = "threads",
	            .role = PARAM_BLOCK,
	            .def = 128,
	            .min = 1,
	            .max = 1024,
	            .steps = blocks },
	[TILE] = { .name = "TILE",
	           .title = "tile",
	           .kind = PARAM_COMPILE,
	           .def = 16,
	           .min = 8,
	           .max = 32,
	           .choices = tiles,
	           .variants = 2 },
	[STREAMS] = { .name = "streams",
	              .title = "s",
	              .kind = PARAM_STREAM,
	              .def = 1,
	              .min = 1,
	              .max = 8 },
	[ONE] = { .name = "one", .title = "one", .def = 1, .min = 1, .max = 1 },
};
static const struct variant_desc variants[] = { { .name = "plain" }, { .name = "tiled" } };

static bool plan(unsigned variant, const int64_t *v, struct launch_plan *p, struct err *err)
{
	(void)variant;
	(void)p;
	return v[BLOCK] < 512 || err_set(err, ERR_USAGE, "block %d is too large", (int)v[BLOCK]);
}

static const struct kernel_desc kernel = { .name = "k",
	                                       .n_params = PARAMS,
	                                       .params = params,
	                                       .n_variants = 2,
	                                       .variants = variants,
	                                       .plan = plan };
static const struct gpu_spec gpu = { .id = "g" };

static struct selection selected(unsigned variant)
{
	struct selection sel = { .kernel = &kernel, .variant = variant, .gpu = &gpu, .backend = "emu" };
	kernel_defaults(&kernel, sel.params);
	return sel;
}

TEST(axes_are_knobs_first)
{
	struct selection sel = selected(1);
	struct sweep_map *m = sweep_map_new(&sel, 0);
	assert_int_equal(m->pairs, 3); /* block, TILE, N; streams and one are no axis */
	assert_int_equal(m->param[SWEEP_ACROSS], BLOCK);
	assert_int_equal(m->param[SWEEP_DOWN], TILE);
	assert_int_equal(m->n[SWEEP_ACROSS], 5);
	assert_int_equal(m->n[SWEEP_DOWN], 3);
	assert_int_equal(m->value[SWEEP_ACROSS][0], 32);
	assert_int_equal(m->value[SWEEP_ACROSS][4], 512);
	assert_int_equal(m->point[4].state, SWEEP_REFUSED);
	assert_string_equal(m->point[4].why, "block 512 is too large");
	free(m);
	/* the others, and the first once more */
	static const unsigned pairs[][2] = { { BLOCK, TILE }, { BLOCK, N }, { TILE, N } };
	for (unsigned i = 0; i < 4; i++) {
		m = sweep_map_new(&sel, i);
		assert_int_equal(m->param[SWEEP_ACROSS], pairs[i % 3][0]);
		assert_int_equal(m->param[SWEEP_DOWN], pairs[i % 3][1]);
		free(m);
	}
	m = sweep_map_new(&sel, 2); /* of a size only what lies around it */
	assert_int_equal(m->n[SWEEP_DOWN], 5);
	assert_int_equal(m->value[SWEEP_DOWN][0], 256);
	assert_int_equal(m->value[SWEEP_DOWN][4], 4096);
	free(m);
}

/* A value that is none of the steps stands among them. */
TEST(typed_value_is_on_its_axis)
{
	struct selection sel = selected(0);
	sel.params[BLOCK] = 100;
	struct sweep_map *m = sweep_map_new(&sel, 0);
	assert_int_equal(m->n[SWEEP_ACROSS], 6);
	assert_int_equal(m->value[SWEEP_ACROSS][1], 64);
	assert_int_equal(m->value[SWEEP_ACROSS][2], 100);
	assert_int_equal(m->value[SWEEP_ACROSS][3], 128);
	const int at = sweep_map_find(m, &sel);
	assert_true(at >= 0);
	const struct selection same = sweep_map_selection(m, (unsigned)at);
	assert_true(selection_equal(&same, &sel));
	/* other values of the axes are the same map, others elsewhere are not */
	sel.params[BLOCK] = 256;
	assert_true(sweep_map_fits(m, &sel));
	sel.seed = 7;
	assert_false(sweep_map_fits(m, &sel));
	free(m);
}

static void put(struct sweep_map *m, unsigned i, double time_ns, unsigned spill)
{
	struct run_record r = { .sel = sweep_map_selection(m, i), .cost = { .flop = 1000 } };
	r.spill_bytes = spill;
	metrics_clear(&r.metrics, "test");
	metric_num(&r.metrics, M_TIME_KERNEL, ORIGIN_MODELLED, time_ns);
	assert_true(sweep_map_put(m, &r));
}

TEST(nearest_runs_first_and_the_best_is_found)
{
	const struct selection sel = selected(1);
	struct sweep_map *m = sweep_map_new(&sel, 0); /* 5 blocks across, the last refused */
	assert_int_equal(sweep_map_best(m), -1);
	assert_int_equal(sweep_map_due(m, 7), 7);
	put(m, 7, 100, 0);
	const int next = sweep_map_due(m, 7);
	assert_true(next == 2 || next == 6 || next == 8 || next == 12);
	put(m, 6, 50, 0);
	put(m, 8, 10, 4096); /* its time lacks what it spills */
	assert_int_equal(sweep_map_best(m), 6);
	assert_float_equal(m->point[6].rate, 20, 1e-9);
	assert_true(sweep_point_too_short(&m->point[8]));
	assert_int_equal(sweep_map_ran(m), 3);
	for (int due = sweep_map_due(m, 0); due >= 0; due = sweep_map_due(m, 0))
		put(m, (unsigned)due, 400, 0);
	assert_int_equal(sweep_map_ran(m), 12);
	struct run_record other = { .sel = selected(0) };
	assert_false(sweep_map_put(m, &other));
	free(m);
}

/* A variant with nothing to turn. */
TEST(no_axis)
{
	static const struct kernel_desc fixed = {
		.name = "f", .n_params = 1, .params = params + ONE, .n_variants = 1, .variants = variants
	};
	const struct selection sel = { .kernel = &fixed, .params = { 1 }, .gpu = &gpu };
	struct sweep_map *m = sweep_map_new(&sel, 5);
	assert_int_equal(m->pairs, 0);
	assert_int_equal(sweep_map_points(m), 0);
	assert_int_equal(sweep_map_due(m, 3), -1);
	free(m);
}
