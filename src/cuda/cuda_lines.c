/*
 * Counts per source line: CUPTI's SASS metrics of one patched launch, each instruction traced back
 * to its line through the cubin's line table (-lineinfo).
 *
 * The launch is instrumented: it is never timed. Names are CUPTI's own for SASS metrics, without a
 * rollup. The set of metrics is configured once and kept: on an H200, CUPTI 13.0 answers a second
 * configuration of a process with "out of memory", whatever was unset before; and one made before
 * the range profiler was first enabled yields no records once it is, so counters come first.
 */
#include "cuda/cuda_work.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum line_metric {
#define LINE_METRIC(id, name) LINE_##id,
#include "cuda/cuda_lines.def"
#undef LINE_METRIC
	LINE_METRICS
};

static const char *const names[LINE_METRICS] = {
#define LINE_METRIC(id, name) [LINE_##id] = name,
#include "cuda/cuda_lines.def"
#undef LINE_METRIC
};

struct wanted {
	unsigned n;
	CUpti_SassMetrics_Config config[LINE_METRICS];
	enum line_metric metric[LINE_METRICS];
};

static bool choose_metrics(struct gpu_worker *w, struct wanted *want, struct cuda_fault *why)
{
	for (unsigned i = 0; i < LINE_METRICS; i++) {
		CUpti_SassMetrics_GetProperties_Params p = {
			.structSize = CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE,
			.pChipName = w->chip,
			.pMetricName = names[i],
		};
		if (w->cupti.SassGetProperties(&p) != CUPTI_SUCCESS)
			continue;
		want->config[want->n] = (CUpti_SassMetrics_Config){
			.metricId = p.metric.metricId,
			.outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU,
		};
		want->metric[want->n++] = (enum line_metric)i;
	}
	return want->n > 0 || fault_set(why, FAULT_COUNTER_ABSENT, "%s has no SASS metrics", w->chip);
}

/* The kernel's own file only: an inlined header's lines would be shown beside the wrong text. */
static uint32_t line_of(struct gpu_worker *w, const struct cuda_job *j, const char *function,
                        uint32_t pc)
{
	CUpti_GetSassToSourceCorrelationParams p = {
		.size = CUpti_GetSassToSourceCorrelationParamsSize,
		.cubin = j->cubin,
		.cubinSize = j->cubin_len,
		.functionName = function,
		.pcOffset = pc,
	};
	if (w->cupti.SassToSource(&p) != CUPTI_SUCCESS)
		return 0;
	const char *slash = p.fileName ? strrchr(p.fileName, '/') : NULL;
	const char *base = slash ? slash + 1 : p.fileName;
	uint32_t line =
		base && (!j->source_file[0] || !strcmp(base, j->source_file)) ? p.lineNumber : 0;
	free(p.fileName);
	free(p.dirName);
	return line;
}

static struct counts *counts_of_line(struct cuda_report *r, uint32_t line)
{
	const unsigned lo = counts_line_place(r->run.counts.lines, r->run.counts.n_lines, line);
	if (lo < r->run.counts.n_lines && r->run.counts.lines[lo].line == line)
		return &r->run.counts.lines[lo].c;
	r->run.counts.lines =
		mem_realloc(r->run.counts.lines, r->run.counts.n_lines + 1, sizeof *r->run.counts.lines);
	memmove(&r->run.counts.lines[lo + 1], &r->run.counts.lines[lo],
	        (r->run.counts.n_lines - lo) * sizeof *r->run.counts.lines);
	r->run.counts.n_lines++;
	r->run.counts.lines[lo] = (struct line_counts){ .line = line };
	return &r->run.counts.lines[lo].c;
}

/* One value of one instruction. */
struct sample {
	const char *function;
	uint32_t index, pc; /* function's number in its module; offset in it */
	enum line_metric metric;
	uint64_t value;
};

static int by_place(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (x->pc > y->pc) - (x->pc < y->pc);
}

/*
 * Sectors, tags and wavefronts come without the direction; the instruction's own kind gives it. An
 * asynchronous copy (LDGSTS) is a global load and a shared store.
 * Bytes are CUPTI's "ideal" sectors times 32: what the accesses would move if perfectly placed.
 */
static void add_instruction(struct counts *c, const uint64_t v[LINE_METRICS])
{
	c->warp_executed += v[LINE_WARP];
	c->thread_executed += v[LINE_THREAD];
	c->branches += v[LINE_UNIFORM] + v[LINE_DIVERGENT];
	c->divergent_branches += v[LINE_DIVERGENT];
	c->local_requests += v[LINE_LOCAL];
	uint64_t ideal =
		v[LINE_SECTORS_IDEAL] < v[LINE_SECTORS] ? v[LINE_SECTORS_IDEAL] : v[LINE_SECTORS];
	if (v[LINE_GLOBAL_LD] + v[LINE_ASYNC]) {
		c->ld_requests += v[LINE_GLOBAL_LD] + v[LINE_ASYNC];
		c->ld_sectors += v[LINE_SECTORS];
		c->ld_lines += v[LINE_TAGS];
		c->ld_bytes += ideal * 32;
	} else if (v[LINE_GLOBAL_ST]) {
		c->st_requests += v[LINE_GLOBAL_ST];
		c->st_sectors += v[LINE_SECTORS];
		c->st_lines += v[LINE_TAGS];
		c->st_bytes += ideal * 32;
	} else {
		c->atom_requests += v[LINE_GLOBAL_ATOM] + v[LINE_GLOBAL_RED];
		c->atom_sectors += v[LINE_SECTORS];
	}
	const uint64_t stores = v[LINE_SHARED_ST] + v[LINE_MATRIX_ST] + v[LINE_ASYNC];
	if (v[LINE_SHARED_LD] + v[LINE_MATRIX_LD]) {
		c->shared_ld_requests += v[LINE_SHARED_LD] + v[LINE_MATRIX_LD];
		c->shared_ld_wavefronts += v[LINE_WAVES];
		c->shared_ld_ideal += v[LINE_WAVES_IDEAL];
		c->shared_ldm_requests += v[LINE_MATRIX_LD];
		c->shared_ldm_wavefronts += v[LINE_MATRIX_LD] ? v[LINE_WAVES] : 0;
	} else if (stores) {
		c->shared_st_requests += stores;
		c->shared_st_wavefronts += v[LINE_WAVES];
		c->shared_st_ideal += v[LINE_WAVES_IDEAL];
	} else {
		c->shared_atom_requests += v[LINE_SHARED_ATOM];
	}
}

static void add_samples(struct gpu_worker *w, const struct cuda_job *j, struct sample *s, size_t n,
                        struct cuda_report *r)
{
	qsort(s, n, sizeof *s, by_place);
	for (size_t i = 0; i < n;) {
		uint64_t v[LINE_METRICS] = { 0 };
		size_t at = i;
		for (; i < n && !by_place(&s[at], &s[i]); i++)
			v[s[i].metric] += s[i].value;
		add_instruction(counts_of_line(r, line_of(w, j, s[at].function, s[at].pc)), v);
	}
}

static bool collect_samples(struct gpu_worker *w, const struct cuda_job *j,
                            const struct wanted *want, struct cuda_report *r,
                            struct cuda_fault *why)
{
	CUpti_SassMetricsGetDataProperties_Params d = {
		.structSize = CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE,
		.ctx = w->ctx,
	};
	if (!cupti_ok(&w->cupti, w->cupti.SassGetDataProperties(&d),
	              "cuptiSassMetricsGetDataProperties", why))
		return false;
	size_t n = d.numOfPatchedInstructionRecords, k = d.numOfInstances, got = 0;
	if (!n || !k || n > (1u << 22) || k > 4096)
		return fault_set(why, FAULT_OTHER, "%zu SASS records of %zu values", n, k);
	CUpti_SassMetrics_Data *data = mem_calloc(n, sizeof *data);
	CUpti_SassMetrics_InstanceValue *values = mem_calloc(n * k, sizeof *values);
	struct sample *samples = mem_calloc(n * k, sizeof *samples);
	for (size_t i = 0; i < n; i++) {
		data[i].structSize = sizeof *data;
		data[i].pInstanceValues = values + i * k;
	}
	CUpti_SassMetricsFlushData_Params f = {
		.structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE,
		.ctx = w->ctx,
		.numOfPatchedInstructionRecords = n,
		.numOfInstances = k,
		.pMetricsData = data,
	};
	bool ok = cupti_ok(&w->cupti, w->cupti.SassFlush(&f), "cuptiSassMetricsFlushData", why);
	for (size_t i = 0; ok && i < n * k; i++)
		for (unsigned m = 0; m < want->n; m++)
			if (values[i].metricId == want->config[m].metricId && data[i / k].functionName)
				samples[got++] = (struct sample){
					.function = data[i / k].functionName,
					.index = data[i / k].functionIndex,
					.pc = data[i / k].pcOffset,
					.metric = want->metric[m],
					.value = values[i].value,
				};
	add_samples(w, j, samples, got, r);
	free(samples);
	free(values);
	free(data);
	return ok;
}

static bool configure_once(struct gpu_worker *w, struct wanted *want, struct cuda_fault *why)
{
	if (w->lines_configured)
		return true;
	CUpti_SassMetricsSetConfig_Params config = {
		.structSize = CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE,
		.numOfMetricConfig = want->n,
		.pConfigs = want->config,
		.deviceIndex = w->device,
	};
	work_step(w, "cuptiSassMetricsSetConfig");
	w->lines_configured =
		cupti_ok(&w->cupti, w->cupti.SassSetConfig(&config), "cuptiSassMetricsSetConfig", why);
	return w->lines_configured;
}

bool lines_measure(struct gpu_worker *w, const struct gpu_launch *l, struct cuda_report *r,
                   struct cuda_fault *why)
{
	const struct cuda_job *j = l->job;
	if (!work_cupti(w, why))
		return false;
	if (!w->cupti.SassGetProperties || !w->cupti.SassSetConfig || !w->cupti.SassEnable ||
	    !w->cupti.SassDisable || !w->cupti.SassGetDataProperties || !w->cupti.SassFlush ||
	    !w->cupti.SassToSource)
		return fault_set(why, FAULT_CUPTI_OLD, "no SASS metrics in %s", w->cupti_path);
	if (r->run.loaded.jit || !j->cubin)
		return fault_set(why, FAULT_NO_LINES, "compiled by the driver from PTX");
	struct wanted want = { 0 };
	if (!choose_metrics(w, &want, why) || !launch_restore(w, l, why) ||
	    !configure_once(w, &want, why))
		return false;
	CUpti_SassMetricsEnable_Params enable = {
		.structSize = CUpti_SassMetricsEnable_Params_STRUCT_SIZE,
		.ctx = w->ctx,
		.enableLazyPatching = 1,
	};
	work_step(w, "counting %s by instruction", j->entry);
	bool ok = cupti_ok(&w->cupti, w->cupti.SassEnable(&enable), "cuptiSassMetricsEnable", why);
	if (ok) {
		ok = launch_on(w, l, l->buffers, w->stream, why) &&
		     cu_ok(w, w->cu.StreamSynchronize(w->stream), "cuStreamSynchronize", why);
		if (w->poisoned)
			return false;
		ok = ok && collect_samples(w, j, &want, r, why);
		CUpti_SassMetricsDisable_Params disable = {
			.structSize = CUpti_SassMetricsDisable_Params_STRUCT_SIZE,
			.ctx = w->ctx,
		};
		w->cupti.SassDisable(&disable);
	}
	return ok;
}
