/*
 * Counter names and pass counts: the expressions of metric.def, and every chip that CUPTI's host
 * half knows, which needs no GPU. Skipped, and said so, where there is no CUPTI.
 */
#include "../unit.h"
#include "cuda/cupti_host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PASSES 2        /* all panels: one of executed instructions, one of the units */
#define MAX_PASSES_STALLS 8 /* with stall reasons */

/* CUPTI opens libnvperf_host with RTLD_DEEPBIND, which sanitizers refuse. */
#define SANITIZED (UNIT_ASAN || UNIT_TSAN)

static bool open_cupti(struct cupti_fns *cupti)
{
	struct cuda_fault why = { 0 };
	if (SANITIZED || dl_cupti(cupti, NULL, 0, &why)) {
		if (SANITIZED)
			print_message("skipped: CUPTI cannot be loaded under this sanitizer\n");
		return !SANITIZED;
	}
	print_message("skipped: %s\n", fault_reason(why.id));
	return false;
}

static int counter_of(const struct counter_plan *p, const char *name)
{
	for (unsigned i = 0; i < p->n; i++)
		if (!strcmp(p->names[i], name))
			return (int)i;
	return -1;
}

TEST(expressions_are_read)
{
	static struct counter_plan p;
	char bad[160] = "";
	assert_true(counters_plan("GH100", false, &p, bad));
	assert_string_equal(bad, "");
	assert_int_equal(p.metric[M_FLOP_FP32].n, 3);
	double v[COUNTERS_MAX];
	for (unsigned i = 0; i < COUNTERS_MAX; i++)
		v[i] = 0;
	v[counter_of(&p, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum")] = 10;
	v[counter_of(&p, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum")] = 200;
	v[counter_of(&p, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum")] = 3000;
	assert_true(counters_metric(&p, M_FLOP_FP32, v) == 10 + 200 + 2 * 3000);
	v[counter_of(&p, "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum")] = 7;
	assert_true(counters_metric(&p, M_FLOP_FP16, v) == 28);
	/* a quotient of sums: 100 (a + b) / (32 c) */
	assert_int_equal(p.metric[M_MEM_LD_EFF].below, 2);
	v[counter_of(&p, "smsp__sass_data_bytes_mem_global_op_ld.sum")] = 96;
	v[counter_of(&p, "smsp__sass_data_bytes_mem_global_op_ldgsts.sum")] = 32;
	v[counter_of(&p, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum")] = 8;
	assert_true(counters_metric(&p, M_MEM_LD_EFF, v) == 50);
	v[counter_of(&p, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum")] = 0;
	assert_true(counters_metric(&p, M_MEM_LD_EFF, v) == 0);
	/* time never comes from a profiled replay */
	assert_int_equal(p.metric[M_TIME_KERNEL].n, 0);
	assert_true(isnan(counters_metric(&p, M_TIME_KERNEL, v)));
	assert_int_equal(counter_of(&p, "gpu__time_duration.sum"), -1);
}

TEST(stalls_follow_the_panels)
{
	static struct counter_plan p, with;
	char bad[160];
	assert_true(counters_plan("GH100", false, &p, bad));
	assert_true(counters_plan("GH100", true, &with, bad));
	assert_int_equal(p.n_stalls, 0);
	assert_int_equal(with.first_stall, p.n);
	assert_int_equal(with.n, p.n + with.n_stalls);
	assert_true(with.n_stalls >= 16);
	for (unsigned i = with.first_stall; i < with.n; i++)
		assert_non_null(strstr(with.names[i], stall_name(counters_stall(&with, i))));
	assert_null(stall_name(with.n_stalls));
}

TEST(a_dropped_counter_takes_its_metrics_along)
{
	static struct counter_plan p;
	char bad[160];
	assert_true(counters_plan("GH100", true, &p, bad));
	double v[COUNTERS_MAX];
	for (unsigned i = 0; i < p.n; i++)
		v[i] = i + 1;
	double before = counters_metric(&p, M_DRAM_READ, v);
	unsigned n = p.n, stalls = p.n_stalls;
	int gone = counter_of(&p, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum");
	assert_true(gone >= 0);
	assert_true(counters_drop(&p, (unsigned)gone));
	memmove(&v[gone], &v[gone + 1], (n - (unsigned)gone - 1) * sizeof *v);
	assert_int_equal(p.n, n - 1);
	assert_int_equal(p.n_stalls, stalls);
	assert_true(isnan(counters_metric(&p, M_FLOP_FP32, v)));
	assert_true(counters_metric(&p, M_DRAM_READ, v) == before);
	assert_true(counters_drop(&p, p.first_stall));
	assert_int_equal(p.n_stalls, stalls - 1);
	assert_false(counters_drop(&p, 10000));
	assert_int_equal(p.n, n - 2);
}

/* Chips before Ampere have no asynchronous copy: what they lack of it counts as nothing. */
TEST(an_optional_counter_leaves_the_metric)
{
	static struct counter_plan p;
	char bad[160];
	double v[COUNTERS_MAX];
	assert_true(counters_plan("TU102", false, &p, bad));
	for (int i; (i = counter_of(&p, "smsp__sass_inst_executed_op_ldgsts.sum")) >= 0;)
		assert_false(counters_drop(&p, (unsigned)i));
	assert_int_equal(p.metric[M_MEM_LD_REQ].n, 1);
	assert_false(counters_drop(
		&p, (unsigned)counter_of(&p, "smsp__sass_data_bytes_mem_global_op_ldgsts.sum")));
	assert_false(counters_drop(
		&p,
		(unsigned)counter_of(&p, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum")));
	assert_int_equal(p.metric[M_MEM_LD_EFF].n, 2);
	assert_int_equal(p.metric[M_MEM_LD_EFF].below, 1);
	for (unsigned i = 0; i < p.n; i++)
		v[i] = 0;
	v[counter_of(&p, "smsp__sass_inst_executed_op_global_ld.sum")] = 12;
	v[counter_of(&p, "smsp__sass_data_bytes_mem_global_op_ld.sum")] = 64;
	v[counter_of(&p, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum")] = 4;
	assert_true(counters_metric(&p, M_MEM_LD_REQ, v) == 12);
	assert_true(counters_metric(&p, M_MEM_LD_EFF, v) == 50);
}

/* Names and passes on all chips: a name that NVIDIA renames is found here, not on the person's GPU.
 */
TEST(every_chip_has_the_panels)
{
	struct cupti_fns cupti;
	struct cuda_fault why = { 0 };
	size_t n = 0;
	const char *const *chips = NULL;
	if (!open_cupti(&cupti))
		skip();
	assert_true(host_chips(&cupti, &n, &chips, &why));
	assert_true(n >= 20);
	bool hopper = false;
	unsigned wrong = 0;
	for (size_t i = 0; i < n; i++)
		for (int stalls = 0; stalls < 2; stalls++) {
			struct cupti_host *h = calloc(1, sizeof *h);
			assert_non_null(h);
			if (!strcmp(chips[i], "GV11B")) { /* listed, but served by no range profiler */
				assert_false(host_open(h, &cupti, chips[i], stalls ? HOST_STALLS : 0, NULL, &why));
				free(h);
				continue;
			}
			assert_true(host_open(h, &cupti, chips[i], stalls ? HOST_STALLS : 0, NULL, &why));

			unsigned most = stalls ? MAX_PASSES_STALLS : MAX_PASSES;
			if (h->passes < 1 || h->passes > most || h->dropped) {
				print_message("%s%s: %u passes, %u counters absent (%s)\n", chips[i],
				              stalls ? " with stalls" : "", h->passes, h->dropped,
				              h->first_dropped);
				wrong++;
			}
			hopper = hopper || (!strcmp(chips[i], "GH100") && h->plan.n_stalls >= 16);
			host_close(h);
			free(h);
		}
	assert_int_equal(wrong, 0);
	assert_true(hopper);
}

TEST(an_unknown_chip_is_refused)
{
	struct cupti_fns cupti;
	struct cuda_fault why = { 0 };
	if (!open_cupti(&cupti))
		skip();
	struct cupti_host *h = calloc(1, sizeof *h);
	assert_non_null(h);
	assert_false(host_open(h, &cupti, "GX999", 0, NULL, &why));
	assert_int_equal(why.id, FAULT_CHIP_UNKNOWN);
	assert_non_null(strstr(why.detail, "46"));
	free(h);
}
