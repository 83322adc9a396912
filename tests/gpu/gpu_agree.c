/*
 * Emulator and GPU on the same launches: outputs and every count that both know, in one table.
 *
 * The emulator's counts of the machine code must be the card's, all of them. Its counts of PTX
 * are beside them: some are the card's, too, the others differ by what ptxas made of the PTX, and
 * each such difference is printed with its cause.
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
#define MATRIX "ptxas merges the loads of a fragment"

/* Why counts of PTX may differ from the card's. */
static const struct row {
	enum metric_id id;
	const char *cause;
} rows[] = {
	{ M_FLOP_FP32, "" },       { M_FLOP_FP64, "" },        { M_FLOP_FP16, HFMA2 },
	{ M_MEM_LD_REQ, MATRIX },  { M_MEM_LD_SEC, "" },       { M_MEM_LD_LINES, "" },
	{ M_MEM_ST_REQ, "" },      { M_MEM_ST_SEC, "" },       { M_MEM_ST_LINES, "" },
	{ M_MEM_LD_EFF, "" },      { M_MEM_ST_EFF, "" },       { M_MEM_ATOM_REQ, "" },
	{ M_MEM_ATOM_SEC, "" },    { M_MEM_LOCAL_REQ, SASS },  { M_SH_LD_REQ, MERGE },
	{ M_SH_LD_WAVE, MERGE },   { M_SH_LD_EXCESS, MERGE },  { M_SH_LDM_REQ, MERGE },
	{ M_SH_LDM_WAVE, MERGE },  { M_SH_ST_REQ, MERGE },     { M_SH_ST_WAVE, MERGE },
	{ M_SH_ST_EXCESS, MERGE }, { M_SH_ATOM_REQ, "" },      { M_INST_WARP, SASS },
	{ M_INST_THREAD, SASS },   { M_DIV_BRANCHES, BRANCH }, { M_DIV_DIVERGENT, BRANCH },
};
#define ROWS ARRAY_LEN(rows)

enum { OF_CODE, OF_PTX, N_LEVELS };
static const struct {
	const char *title;
	enum run_level level;
} levels[N_LEVELS] = {
	[OF_CODE] = { "machine code", RUN_LEVEL_SASS },
	[OF_PTX] = { "PTX", RUN_LEVEL_PTX },
};

struct agreement {
	struct backend *gpu, *emu;
	unsigned launches, stopped, outputs_differ, wrong;
	struct {
		unsigned compared, equal;
		double worst;
		char where[256];
	} metric[N_LEVELS][ROWS];
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

/* Notes one count; true where it differs and may not. */
static bool differs(struct agreement *a, const struct instance *i, unsigned level, size_t r,
                    double e, double g)
{
	if (!isfinite(e) || !isfinite(g))
		return false;
	a->metric[level][r].compared++;
	if (same(e, g)) {
		a->metric[level][r].equal++;
		return false;
	}
	const double rel = fabs(e - g) / fmax(fmax(fabs(e), fabs(g)), 1);
	if (rel >= a->metric[level][r].worst) {
		a->metric[level][r].worst = rel;
		snprintf(a->metric[level][r].where, sizeof a->metric[level][r].where,
		         "%s %u: emu %.6g, gpu %.6g", i->name, i->point, e, g);
	}
	return level == OF_CODE || !rows[r].cause[0];
}

/* @res: what the emulator made of it at that level. */
static void compare(struct agreement *a, const struct instance *i, unsigned level,
                    const struct run_result *res, const struct metric_set *gpu)
{
	static struct metric_set emu;
	metrics_clear(&emu, NULL);
	metrics_from_run(&emu, &res->counts);
	for (size_t r = 0; r < ROWS; r++) {
		const double e = metric_get(&emu, rows[r].id), g = metric_get(gpu, rows[r].id);
		if (differs(a, i, level, r, e, g)) {
			printf("; differs (%s): %s emu %.17g gpu %.17g", levels[level].title,
			       metric_catalogue[rows[r].id].key, e, g);
			a->wrong++;
		}
	}
}

/* Runs it in the emulator at both levels; @gpu and @on_gpu: what the card counted and wrote. */
static bool emulate(struct agreement *a, struct instance *i, const struct metric_set *gpu,
                    void *const *on_gpu, bool verified, struct err *err)
{
	printf("%-28s %u  ", i->name, i->point);
	const unsigned before = a->wrong;
	size_t elements = 0;
	for (unsigned level = 0; level < N_LEVELS; level++) {
		static struct run_result res;
		opt.level = levels[level].level;
		if (!instance_run(i, &backend_emu, a->emu, &res, err))
			return false;
		if (!level)
			printf("%s", res.level);
		compare(a, i, level, &res, gpu);
		elements += differing(i, on_gpu);
		run_result_free(&res);
	}
	a->launches++;
	a->outputs_differ += elements > 0;
	printf("%s; %s\n", a->wrong > before ? "" : "; counts equal",
	       !verified  ? "wrong"
	       : elements ? "verified, rounding differs"
	                  : "outputs equal");
	fflush(stdout);
	return true;
}

static bool agree_one(struct instance *i, void *ctx)
{
	struct agreement *a = ctx;
	static struct run_result gpu;
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
	bool ok = emulate(a, i, &gpu.metrics, on_gpu, check.ok, &err);
	if (!ok && err.code == ERR_FAULT && !check.ok) {
		/* wrong on purpose: the GPU returned nonsense, the emulator names the line */
		printf("wrong on the GPU; the emulator stops it: %.160s\n", err.msg);
		a->stopped++;
		ok = true;
	} else if (!ok) {
		printf("\n");
		put_error("emu", &err);
	}
	run_result_free(&gpu);
	for (unsigned b = 0; b < i->plan.n_buffers; b++)
		free(on_gpu[b]);
	return ok;
}

static void put_table(const struct agreement *a, unsigned level)
{
	printf("%-30s %9s %9s  %s\n", levels[level].title, "compared", "equal",
	       "largest difference and its cause");
	unsigned compared = 0, equal = 0;
	for (size_t r = 0; r < ROWS; r++) {
		compared += a->metric[level][r].compared;
		equal += a->metric[level][r].equal;
		printf("%-30s %9u %9u", metric_catalogue[rows[r].id].key, a->metric[level][r].compared,
		       a->metric[level][r].equal);
		if (a->metric[level][r].equal < a->metric[level][r].compared)
			printf("  %.3g %% (%s): %s", 100 * a->metric[level][r].worst, a->metric[level][r].where,
			       level == OF_PTX && rows[r].cause[0] ? rows[r].cause : "MUST BE EQUAL");
		printf("\n");
	}
	printf("%-30s %9u %9u\n\n", "all", compared, equal);
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
	for (unsigned level = 0; level < N_LEVELS; level++)
		put_table(&a, level);
	printf("%u counts differ where none may\n", a.wrong);
	return failed || a.wrong ? 1 : 0;
}
