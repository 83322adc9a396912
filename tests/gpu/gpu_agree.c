/*
 * Emulator and GPU on the same launches: outputs and every count that both know, in one table.
 *
 * Some counts must be equal to the last unit; others are of PTX on one side and of the machine code
 * that ptxas made of it on the other, and each such difference is printed with its cause.
 */
#include "gpu_launches.h"

#include "cuda/cuda.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SASS "ptxas: address arithmetic, unrolling and predication change instructions"
#define MERGE "ptxas: neighbouring 32-bit accesses become one of 64 or 128 bits"
#define BRANCH "ptxas: short branches become predicates, loops are unrolled"
#define HFMA2 "ptxas moves constants by HFMA2, which the counter takes for arithmetic"

/* "" = equal on both sides, or the check fails; else why it may differ. */
static const struct row {
	enum metric_id id;
	const char *cause;
} rows[] = {
	{ M_FLOP_FP32, "" },       { M_FLOP_FP64, "" },        { M_FLOP_FP16, HFMA2 },
	{ M_MEM_LD_REQ, "" },      { M_MEM_LD_SEC, "" },       { M_MEM_LD_LINES, "" },
	{ M_MEM_ST_REQ, "" },      { M_MEM_ST_SEC, "" },       { M_MEM_ST_LINES, "" },
	{ M_MEM_LD_EFF, "" },      { M_MEM_ST_EFF, "" },       { M_MEM_ATOM_REQ, "" },
	{ M_MEM_ATOM_SEC, "" },    { M_SH_LD_REQ, MERGE },     { M_SH_LD_WAVE, MERGE },
	{ M_SH_LD_EXCESS, MERGE }, { M_SH_ST_REQ, MERGE },     { M_SH_ST_WAVE, MERGE },
	{ M_SH_ST_EXCESS, MERGE }, { M_SH_ATOM_REQ, "" },      { M_INST_WARP, SASS },
	{ M_INST_THREAD, SASS },   { M_DIV_BRANCHES, BRANCH }, { M_DIV_DIVERGENT, BRANCH },
};
#define ROWS ARRAY_LEN(rows)

struct agreement {
	struct backend *gpu, *emu;
	unsigned launches, stopped, outputs_differ, wrong;
	struct {
		unsigned compared, equal;
		double worst;
		char where[256];
	} metric[ROWS];
};

/* Elements of written buffers that are not bit-equal. */
static size_t differing(const struct instance *i, void *const *other)
{
	size_t n = 0;
	for (unsigned b = 0; b < i->plan.n_buffers; b++) {
		size_t size = elem_size(i->plan.buffers[b].type);
		const char *x = i->after[b], *y = other[b];
		if (i->plan.buffers[b].role != BUF_IN)
			for (size_t e = 0; e < i->plan.buffers[b].count; e++)
				n += memcmp(x + e * size, y + e * size, size) != 0;
	}
	return n;
}

static bool same(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void compare(struct agreement *a, const struct instance *i, const struct metric_set *emu,
                    const struct metric_set *gpu, bool verified, size_t elements)
{
	printf("%-28s %u  %s", i->name, i->point,
	       verified && !elements ? "outputs equal"
	       : verified            ? "verified, rounding differs"
	                             : "wrong");
	unsigned here = 0;
	for (size_t r = 0; r < ROWS; r++) {
		double e = metric_get(emu, rows[r].id), g = metric_get(gpu, rows[r].id);
		if (!isfinite(e) || !isfinite(g))
			continue;
		a->metric[r].compared++;
		if (same(e, g)) {
			a->metric[r].equal++;
			continue;
		}
		double rel = fabs(e - g) / fmax(fmax(fabs(e), fabs(g)), 1);
		if (rel >= a->metric[r].worst) {
			a->metric[r].worst = rel;
			snprintf(a->metric[r].where, sizeof a->metric[r].where, "%s %u: emu %.6g, gpu %.6g",
			         i->name, i->point, e, g);
		}
		if (rows[r].cause[0])
			continue;
		printf("%s %s emu %.17g gpu %.17g",
		       here++ ? "," : "; differs:", metric_catalogue[rows[r].id].key, e, g);
		a->wrong++;
	}
	printf("%s\n", here ? "" : "; must-be-equal counts equal");
	fflush(stdout);
}

static bool agree_one(struct instance *i, void *ctx)
{
	struct agreement *a = ctx;
	static struct run_result gpu, emu;
	struct err err = { 0 };
	struct check_result check;
	if (!instance_run(i, &backend_cuda, a->gpu, &gpu, &err)) {
		put_error("gpu", &err);
		return false;
	}
	instance_check(i, &check);
	void *on_gpu[KERNEL_MAX_BUFFERS];
	for (unsigned b = 0; b < i->plan.n_buffers; b++) {
		on_gpu[b] = mem_alloc(i->bytes[b]);
		memcpy(on_gpu[b], i->after[b], i->bytes[b]);
	}
	bool ok = instance_run(i, &backend_emu, a->emu, &emu, &err);
	if (ok) {
		static struct metric_set counted;
		metrics_clear(&counted, NULL);
		metrics_from_run(&counted, &emu.counts);
		size_t elements = differing(i, on_gpu);
		a->launches++;
		a->outputs_differ += elements > 0;
		compare(a, i, &counted, &gpu.metrics, check.ok, elements);
		run_result_free(&emu);
	} else if (err.code == ERR_FAULT && !check.ok) {
		/* wrong on purpose: the GPU returned nonsense, the emulator names the line */
		printf("%-28s %u  wrong on the GPU; the emulator stops it: %.160s\n", i->name, i->point,
		       err.msg);
		a->stopped++;
		ok = true;
	} else {
		put_error("emu", &err);
	}
	run_result_free(&gpu);
	for (unsigned b = 0; b < i->plan.n_buffers; b++)
		free(on_gpu[b]);
	return ok;
}

int do_agree(void)
{
	static struct agreement a;
	struct err err = { 0 };
	opt.caps = CAP_COUNTERS | CAP_PER_LINE;
	if (!cuda_gpu_spec(cuda_device_wanted(), &opt.gpu, &err) ||
	    !backend_cuda.open(&a.gpu, opt.gpu, &err) || !backend_emu.open(&a.emu, opt.gpu, &err))
		return put_error("gpu", &err);
	unsigned failed = each_launch(agree_one, &a);
	backend_cuda.close(a.gpu);
	backend_emu.close(a.emu);
	printf(
		"\n%u launches on %s, outputs bit-equal in %u; %u more are wrong on purpose and stopped by "
		"the emulator; %u did not run\n\n",
		a.launches, opt.gpu->name, a.launches - a.outputs_differ, a.stopped, failed);
	printf("%-30s %9s %9s  %s\n", "metric", "compared", "equal",
	       "largest difference and its cause");
	for (size_t r = 0; r < ROWS; r++) {
		printf("%-30s %9u %9u", metric_catalogue[rows[r].id].key, a.metric[r].compared,
		       a.metric[r].equal);
		if (a.metric[r].equal < a.metric[r].compared)
			printf("  %.3g %% (%s): %s", 100 * a.metric[r].worst, a.metric[r].where,
			       rows[r].cause[0] ? rows[r].cause : "MUST BE EQUAL");
		printf("\n");
	}
	printf("\n%u counts differ where none may\n", a.wrong);
	return failed || a.wrong ? 1 : 0;
}
