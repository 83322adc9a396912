/* A ladder with every kind of rung; one whose rungs were recorded elsewhere; a map with every kind
 * of point. */
#include "fixture.h"

static const struct variant_desc climb_variants[] = {
	{ .name = "naive",
	  .entry = "v0",
	  .title = "one thread per element",
	  .idea = "every operand comes from global memory" },
	{ .name = "tiled",
	  .entry = "v1",
	  .title = "shared-memory tiles",
	  .idea = "a block loads each tile once into shared memory and reads it TILE times" },
	{ .name = "racy", .entry = "v2", .title = "no barrier", .wrong = true },
	{ .name = "tensor_cores_of_a_later_chip",
	  .entry = "v3",
	  .title = "tensor cores",
	  .idea = "fragments of a whole warp" },
	{ .name = "thread_tile",
	  .entry = "v4",
	  .title = "thread tiles",
	  .idea = "a thread keeps TM by TN results in registers" },
	{ .name = "warp_tile", .entry = "v5", .title = "warp tiles", .idea = "bands of warps" },
	{ .name = "deep", .entry = "v6", .title = "deeper pipeline", .idea = "more loads in flight" },
};
static const struct kernel_desc fixture_climb = {
	.name = "climb",
	.title = "a ladder",
	.section = "PMPP 6.4",
	.n_params = 4,
	.params = fixture_sgemm_params,
	.n_variants = ARRAY_LEN(climb_variants),
	.variants = climb_variants,
};

static void fixture_rung(struct ladder *l, unsigned i, double time_ns, enum origin basis,
                         enum perf_resource holds, double loads)
{
	struct run_record r = { .sel = ladder_selection(l, i),
		                    .cost = { .flop = 2147483648.0, .min_bytes = 12582912 } };
	r.perf.bottleneck = holds;
	metrics_clear(&r.metrics, "not part of this run");
	metric_num(&r.metrics, M_TIME_KERNEL,
	           basis == ORIGIN_MEASURED ? ORIGIN_MEASURED : ORIGIN_MODELLED, time_ns);
	metric_num(&r.metrics, M_INST_WARP, basis, loads * 9);
	metric_num(&r.metrics, M_MEM_LD_REQ, basis, loads);
	ladder_put(l, &r);
}

struct session *fixture_ladder(void)
{
	struct session *s = fixture_session(&fixture_climb, 4);
	s->view = "ladder";
	s->cursor.row = 1;
	s->state = RUN_DONE;
	struct ladder *l = s->ladder = ladder_new(&s->sel);
	fixture_rung(l, 0, 1743210, ORIGIN_SAMPLED, PERF_LSU, 67108864);
	fixture_rung(l, 1, 580000, ORIGIN_COUNTED, PERF_SHARED, 4194304);
	snprintf(l->rungs[2].why, sizeof l->rungs[2].why,
	         "climb.cu: tensor_cores_of_a_later_chip needs compute capability 9.0");
	fixture_rung(l, 3, 161000, ORIGIN_MEASURED, PERF_FP32, 1048576);
	l->running = 4;
	l->library_ns = 118000;
	snprintf(l->library_name, sizeof l->library_name, "cuBLAS FP32");
	ladder_compare(l);
	return s;
}

/* A ladder whose rungs were recorded elsewhere, all but one. */
struct session *fixture_ladder_reference(void)
{
	struct session *s = fixture_ladder();
	struct ladder *l = s->ladder;
	snprintf(l->reference_machine, sizeof l->reference_machine, "NVIDIA H200");
	l->rungs[0].reference_ns = 905000;
	snprintf(l->rungs[1].book, sizeof l->rungs[1].book, "411 ms: duration (S-350, rtx4060ti)");
	l->rungs[1].reference_ns = 301500;
	l->rungs[4].reference_ns = 98700;
	l->library_ns = 0;
	l->reference_library_ns = 71200;
	snprintf(l->reference_library_name, sizeof l->reference_library_name, "cuBLAS FP32");
	ladder_compare(l);
	return s;
}

/* Tile width across, rows of A down: points of every level, one that runs, refused and failed ones,
 * one whose registers spill. */
struct session *fixture_map(void)
{
	struct session *s = fixture_session(&fixture_sgemm, 1);
	s->view = "sweep";
	s->state = RUN_DONE;
	struct sweep_map *m = s->map = sweep_map_new(&s->sel, 0);
	const unsigned n = sweep_map_points(m);
	for (unsigned i = 0; i < n; i++) {
		if (i == n - 1 || i == n / 2)
			continue;
		struct run_record r = { .sel = sweep_map_selection(m, i),
			                    .cost = { .flop = 2147483648.0, .min_bytes = 12582912 } };
		r.occ.pct = 25.0 * (1 + i % 4);
		r.occ_in.regs_per_thread = 32 + 8 * i;
		r.spill_bytes = i == 2 ? 512 : 0;
		metrics_clear(&r.metrics, "not part of this run");
		metric_num(&r.metrics, M_TIME_KERNEL, ORIGIN_MODELLED, 300000.0 * (1 + i % 7) + 1000.0 * i);
		metric_num(&r.metrics, M_INST_WARP, i % 2 ? ORIGIN_COUNTED : ORIGIN_SAMPLED, 1e6);
		metric_text(&r.metrics, M_TIME_BOTTLENECK, ORIGIN_MODELLED, "shared memory");
		sweep_map_put(m, &r);
	}
	m->running = (int)n - 1;
	m->point[n / 2].state = SWEEP_FAILED;
	snprintf(m->point[n / 2].why, sizeof m->point[0].why, "block 0, thread 3: no memory there");
	m->point[1].state = SWEEP_REFUSED;
	snprintf(m->point[1].why, sizeof m->point[0].why,
	         "1024 threads with 96 registers each do not fit");
	s->cursor.row = 3;
	return s;
}
