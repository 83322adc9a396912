/*
 * What a real GPU says, one JSON object per line: used by tests/gpu/check-gpu.sh on such a machine.
 *
 *	gpu_check info                   driver, capabilities, the live sheet
 *	gpu_check run  [options]         every kernel x variant x point: verified, all metrics
 *	gpu_check gemm                   cuBLAS times
 *	gpu_check names                  the counters of GH100's panels, with commas, as ncu takes them
 *	gpu_check sass                   names of CUPTI's per-instruction metrics on this chip
 *	gpu_check faults                 a faulting and an endless kernel, and a run after each
 *
 * options: --points N (1..3), --caps MASK, --only TEXT (part of kernel/variant),
 * --skip TEXT, --stalls, --warm, --repeat N, --timeout SECONDS
 * Links kernels, compiler and the cuda back end only; compares with the kernels' CPU references.
 */
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_counters.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cuda_worker.h"
#include "base/asset.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KERNEL(name) extern const struct kernel_desc kernel_##name;
#include "kernels.def"
#undef KERNEL
static const struct kernel_desc *const kernels[] = {
#define KERNEL(name) &kernel_##name,
#include "kernels.def"
#undef KERNEL
};

static struct {
	unsigned points, caps, repeat;
	const char *only, *skip;
	bool stalls, warm;
	double timeout_s;
	int cc_major, cc_minor;
	struct gpu_spec gpu;
} opt = { .points = 1, .timeout_s = 30 };

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void put_text(const char *key, const char *s)
{
	printf(",\"%s\":\"", key);
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < ' ')
			putchar(' ');
		else
			putchar(*s);
	putchar('"');
}

static void put_num(const char *key, double v)
{
	if (isfinite(v))
		printf(",\"%s\":%.17g", key, v);
	else
		printf(",\"%s\":null", key);
}

static int report(const char *what, const struct err *err)
{
	printf("{\"%s\":false", what);
	put_text("code", err_code_name(err->code));
	put_text("error", err->msg);
	put_text("remedy", err->remedy);
	printf("}\n");
	fflush(stdout);
	return 1;
}

/* --- points -------------------------------------------------------------------------------------- */

/* 0: defaults. 1: sizes of the problem one step down, not a multiple of anything. 2: the block one
 * step down (and up, where down is refused). */
static void point(const struct kernel_desc *k, unsigned variant, unsigned n, int64_t *params)
{
	kernel_defaults(k, params);
	for (unsigned p = 0; n && p < k->n_params; p++) {
		const struct param_desc *d = &k->params[p];
		if (!kernel_param_used(k, variant, p) || d->kind != PARAM_LAUNCH)
			continue;
		bool block = !strncmp(d->name, "block", 5) && strcmp(d->name, "blocks");
		bool size = !strcmp(d->name, "N") || !strcmp(d->name, "M") || !strcmp(d->name, "K") ||
		            !strcmp(d->name, "W") || !strcmp(d->name, "H");
		if (n == 1 && size) {
			int64_t odd = params[p] / 2 + (params[p] / 2 > 64 ? 7 : 0);
			struct err err;
			if (kernel_param_legal(k, p, odd, &err))
				params[p] = odd;
			else
				params[p] = kernel_param_step(k, p, params[p], -1);
		}
		if (n == 2 && block)
			params[p] = kernel_param_step(k, p, params[p], -1);
	}
	struct launch_plan plan;
	struct err err;
	if (n && !k->plan(variant, params, &plan, &err)) {
		kernel_defaults(k, params);
		for (unsigned p = 0; p < k->n_params; p++)
			if (kernel_param_used(k, variant, p) && k->params[p].kind == PARAM_LAUNCH) {
				int64_t was = params[p];
				for (int way = -1; way <= 1; way += 2) {
					params[p] = kernel_param_step(k, p, was, way);
					if (params[p] != was && k->plan(variant, params, &plan, &err))
						return;
				}
				params[p] = was;
			}
	}
}

/* --- one run ------------------------------------------------------------------------------------- */

static bool compile(const struct kernel_desc *k, const int64_t *params, struct module *m,
                    struct err *err)
{
	char path[128], file[128];
	snprintf(path, sizeof path, "kernels/%s.cu", k->name);
	snprintf(file, sizeof file, "%s.cu", k->name);
	const struct asset *a = asset_find(path);
	struct compile_macro macros[KERNEL_MAX_PARAMS];
	unsigned n = 0;
	for (unsigned p = 0; p < k->n_params; p++)
		if (k->params[p].kind == PARAM_COMPILE)
			macros[n++] = (struct compile_macro){
				.name = k->params[p].macro ? k->params[p].macro : k->params[p].name,
				.value = params[p],
			};
	const struct compile_request req = {
		.file = file, .source = a ? a->data : "", .n_macros = n, .macros = macros,
		.cc_major = opt.cc_major, .cc_minor = opt.cc_minor,
	};
	return compile_module(&req, m, err);
}

static void put_result(const struct kernel_desc *k, unsigned variant, unsigned n,
                       const int64_t *params, const struct launch_plan *plan,
                       const struct check_result *check, const struct run_result *r, double wall_s)
{
	printf("{\"kernel\":\"%s\",\"variant\":\"%s\",\"point\":%u", k->name, k->variants[variant].name, n);
	put_text("entry", plan->entry);
	printf(",\"params\":{");
	for (unsigned p = 0, first = 1; p < k->n_params; p++)
		if (kernel_param_used(k, variant, p)) {
			printf("%s\"%s\":%lld", first ? "" : ",", k->params[p].name, (long long)params[p]);
			first = 0;
		}
	printf("},\"verified\":%s,\"errors\":%zu", check->ok ? "true" : "false", check->errors);
	put_num("max_rel_error", check->max_rel_error);
	put_num("wall_s", wall_s);
	put_num("counters_s", r->counters_s);
	printf(",\"passes\":%u,\"spans\":%u,\"lines\":%u", r->counter_passes, r->n_spans,
	       r->counts.n_lines);
	printf(",\"time\":{\"n\":%u", r->timing.n);
	put_num("median_ns", r->timing.median_ns);
	put_num("min_ns", r->timing.min_ns);
	put_num("max_ns", r->timing.max_ns);
	put_num("q1_ns", r->timing.q1_ns);
	put_num("q3_ns", r->timing.q3_ns);
	put_num("event_ns", r->timing.event_ns);
	put_num("sm_mhz", r->timing.sm_mhz);
	put_num("memory_mhz", r->timing.memory_mhz);
	printf(",\"l2_flushed\":%s,\"from_activity\":%s}", r->timing.l2_flushed ? "true" : "false",
	       r->timing.from_activity ? "true" : "false");
	printf(",\"loaded\":{\"registers\":%u,\"static_shared\":%u,\"local\":%u,\"max_threads\":%u,"
	       "\"blocks_per_sm\":%u,\"jit\":%s}", r->loaded.registers, r->loaded.static_shared_bytes,
	       r->loaded.local_bytes, r->loaded.max_threads, r->loaded.blocks_per_sm,
	       r->loaded.jit ? "true" : "false");
	printf(",\"metrics\":{");
	for (unsigned i = 0, first = 1; i < METRIC_COUNT; i++)
		if (r->metrics.v[i].origin == ORIGIN_MEASURED) {
			printf("%s\"%s\":%.17g", first ? "" : ",", metric_catalogue[i].key, r->metrics.v[i].num);
			first = 0;
		}
	printf("},\"none\":{");
	for (unsigned i = 0, first = 1; i < METRIC_COUNT; i++)
		if (r->metrics.v[i].origin == ORIGIN_NONE && metric_catalogue[i].cupti[0]) {
			printf("%s\"%s\":\"%s\"", first ? "" : ",", metric_catalogue[i].key,
			       r->metrics.v[i].reason ? r->metrics.v[i].reason : "");
			first = 0;
		}
	printf("},\"stalls\":{");
	for (unsigned i = 0; i < r->n_stalls; i++)
		printf("%s\"%s\":%.6g", i ? "," : "", r->stalls[i].reason, r->stalls[i].warps);
	printf("},\"per_line\":[");
	for (unsigned i = 0; i < r->counts.n_lines; i++) {
		const struct line_counts *l = &r->counts.lines[i];
		printf("%s{\"line\":%u", i ? "," : "", l->line);
#define X(field, about) \
		if (l->c.field) \
			printf(",\"" #field "\":%llu", (unsigned long long)l->c.field);
		COUNT_FIELDS(X)
#undef X
		printf("}");
	}
	printf("]");
	for (unsigned c = 0; c < 5; c++)
		if (r->missing[c][0]) {
			char key[16];
			snprintf(key, sizeof key, "missing%u", c);
			put_text(key, r->missing[c]);
		}
	put_text("note", r->note);
	printf("}\n");
	fflush(stdout);
}

static bool run_one(struct backend *be, const struct kernel_desc *k, unsigned variant, unsigned n)
{
	int64_t params[KERNEL_MAX_PARAMS];
	struct launch_plan plan;
	struct module m = { 0 };
	struct err err = { 0 };
	point(k, variant, n, params);
	if (!k->plan(variant, params, &plan, &err) || !compile(k, params, &m, &err)) {
		err_prefix(&err, "%s/%s point %u: ", k->name, k->variants[variant].name, n);
		report("run", &err);
		return false;
	}
	struct run_request req = {
		.module = &m, .plan = &plan, .caps = opt.caps, .repeat = opt.repeat, .warm_l2 = opt.warm,
		.stalls = opt.stalls, .timeout_s = opt.timeout_s,
	};
	char file[128];
	snprintf(file, sizeof file, "%s.cu", k->name);
	req.source_file = file;
	void *before[KERNEL_MAX_BUFFERS], *after[KERNEL_MAX_BUFFERS];
	for (unsigned b = 0; b < plan.n_buffers; b++) {
		const struct buffer_plan *bp = &plan.buffers[b];
		size_t bytes = bp->count * elem_size(bp->type);
		before[b] = mem_alloc(bytes);
		after[b] = mem_alloc(bytes);
		if (bp->role == BUF_OUT && !bp->partial)
			memset(before[b], 0xff, bytes); /* NaN, -1: an unwritten element is seen */
		else
			k->fill(&plan, params, b, 1, before[b]);
		memcpy(after[b], before[b], bytes);
		req.buffers[b] = (struct run_buffer){ .data = after[b], .bytes = bytes };
	}
	static struct run_result res;
	double begin = seconds();
	bool ok = backend_cuda.run(be, &req, NULL, &res, &err);
	double wall = seconds() - begin;
	if (ok) {
		struct check_result check = { 0 };
		k->check(variant, &plan, params, before, after, &check);
		ok = check.ok;
		put_result(k, variant, n, params, &plan, &check, &res, wall);
		run_result_free(&res);
	} else {
		err_prefix(&err, "%s/%s point %u: ", k->name, k->variants[variant].name, n);
		report("run", &err);
	}
	for (unsigned b = 0; b < plan.n_buffers; b++) {
		free(before[b]);
		free(after[b]);
	}
	module_free(&m);
	return ok;
}

/* Ground truth of the device's architecture, without which nothing can be compiled. */
static bool find_gpu(struct err *err)
{
	if (!cuda_gpu_spec(cuda_device_wanted(), &opt.gpu, err))
		return false;
	opt.cc_major = opt.gpu.cc_major;
	opt.cc_minor = opt.gpu.cc_minor;
	return true;
}

static int do_run(void)
{
	struct backend *be;
	struct err err = { 0 };
	unsigned failed = 0;
	if (!find_gpu(&err) || !backend_cuda.open(&be, &opt.gpu, &err))
		return report("gpu", &err);
	for (size_t i = 0; i < ARRAY_LEN(kernels); i++)
		for (unsigned v = 0; v < kernels[i]->n_variants; v++) {
			char name[128];
			snprintf(name, sizeof name, "%s/%s", kernels[i]->name, kernels[i]->variants[v].name);
			for (unsigned n = 0; (!opt.only || strstr(name, opt.only)) &&
			                     (!opt.skip || !strstr(name, opt.skip)) && n < opt.points; n++)
				failed += !run_one(be, kernels[i], v, n);
		}
	backend_cuda.close(be);
	return failed ? 1 : 0;
}

static int do_info(void)
{
	struct backend_info info;
	struct cuda_info ci;
	struct err err = { 0 };
	double begin = seconds();
	bool ok = backend_cuda.probe(&info, &err);
	printf("{\"probe\":%s", ok ? "true" : "false");
	put_num("wall_s", seconds() - begin);
	put_text("title", info.title);
	printf(",\"caps\":%u,\"n_devices\":%u", info.caps, info.n_devices);
	for (unsigned c = 0; c < 5; c++)
		if (info.missing[c].reason[0]) {
			char key[16];
			snprintf(key, sizeof key, "reason%u", c);
			put_text(key, info.missing[c].reason);
			snprintf(key, sizeof key, "remedy%u", c);
			put_text(key, info.missing[c].remedy);
		}
	if (cuda_probe(cuda_device_wanted(), &ci, &err)) {
		put_text("chip", ci.chip);
		put_text("cupti", ci.cupti_path);
	}
	printf("}\n");
	if (!find_gpu(&err))
		return report("sheet", &err);
	printf("{\"sheet\":\"%s\"", opt.gpu.id);
	put_text("name", opt.gpu.name);
#define INT(field) put_num(#field, opt.gpu.field);
#define X(type, field, least, most, about) put_num(#field, (double)opt.gpu.field);
	GPU_FIGURES(X)
#undef X
#undef INT
	printf("}\n");
	return ok ? 0 : 1;
}

static int do_gemm(void)
{
	static const unsigned sizes[] = { 256, 512, 1024, 2048, 4096, 8192 };
	int status = 0;
	for (int mode = 0; mode < GEMM_MODE_COUNT; mode++)
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			struct run_timing t;
			struct err err = { 0 };
			unsigned n = sizes[i];
			if (!cuda_gemm_time(cuda_device_wanted(), (enum cuda_gemm_mode)mode, n, n, n, NULL, &t,
			                    &err)) {
				status = report("gemm", &err);
				continue;
			}
			printf("{\"gemm\":\"%s\",\"n\":%u", cuda_gemm_name((enum cuda_gemm_mode)mode), n);
			put_num("median_ns", t.median_ns);
			put_num("event_ns", t.event_ns);
			put_num("gflops", 2.0 * n * n * n / t.median_ns);
			printf(",\"launches\":%u,\"from_activity\":%s}\n", t.n, t.from_activity ? "true" : "false");
		}
	return status;
}

static int do_names(void)
{
	static struct counter_plan p;
	char bad[160];
	if (!counters_plan("GH100", opt.stalls, &p, bad)) {
		fprintf(stderr, "%s\n", bad);
		return 1;
	}
	for (unsigned i = 0; i < p.n; i++)
		printf("%s%s", i ? "," : "", p.names[i]);
	printf("\n");
	return 0;
}

/* In this very process: it is a test that may crash, and nothing else runs in it. */
static int do_sass(void)
{
	static struct cuda_fns cu;
	static struct cupti_fns cupti;
	struct fault why = { 0 };
	CUdevice dev;
	CUcontext ctx;
	if (!dl_cuda(&cu, NULL, 0, &why) || !dl_cupti(&cupti, NULL, 0, &why) || cu.Init(0) ||
	    cu.DeviceGet(&dev, 0) || cu.PrimaryCtxRetain(&ctx, dev) || cu.CtxSetCurrent(ctx)) {
		printf("{\"sass\":false");
		put_text("error", why.detail);
		printf("}\n");
		return 1;
	}
	char path[512];
	void *h = cuda_dlopen("cupti", (const char *const[]){ "13", NULL }, path, sizeof path, NULL);
	__typeof__(cuptiSassMetricsGetNumOfMetrics) *count;
	__typeof__(cuptiSassMetricsGetMetrics) *list;
	extern void *dlsym(void *, const char *);
	*(void **)&count = dlsym(h, "cuptiSassMetricsGetNumOfMetrics");
	*(void **)&list = dlsym(h, "cuptiSassMetricsGetMetrics");
	CUpti_Profiler_Initialize_Params init = {
		.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE };
	cupti.ProfilerInitialize(&init);
	CUpti_Device_GetChipName_Params chip = {
		.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE };
	cupti.DeviceGetChipName(&chip);
	CUpti_SassMetrics_GetNumOfMetrics_Params n = {
		.structSize = CUpti_SassMetrics_GetNumOfMetrics_Params_STRUCT_SIZE,
		.pChipName = chip.pChipName };
	if (!count || !list || count(&n))
		return 1;
	CUpti_SassMetrics_MetricDetails *d = mem_calloc(n.numOfMetrics, sizeof *d);
	CUpti_SassMetrics_GetMetrics_Params g = {
		.structSize = CUpti_SassMetrics_GetMetrics_Params_STRUCT_SIZE,
		.pChipName = chip.pChipName, .numOfMetrics = n.numOfMetrics, .pMetricsList = d };
	if (list(&g))
		return 1;
	for (size_t i = 0; i < n.numOfMetrics; i++) {
		printf("{\"sass\":\"%s\"", d[i].pMetricName);
		put_text("about", d[i].pMetricDescription ? d[i].pMetricDescription : "");
		printf("}\n");
	}
	free(d);
	return 0;
}

/* --- faults -------------------------------------------------------------------------------------- */

static const char fault_source[] =
	"extern \"C\" __global__ void wild(int *x, int n) { x[((long long)n << 32) + threadIdx.x] = 1; }\n"
	"extern \"C\" __global__ void endless(volatile int *x, int n) { while (x[0] != 12345) x[1] = n; }\n"
	"extern \"C\" __global__ void trap(int *x, int n) { if (n) asm(\"trap;\"); x[0] = n; }\n"
	"extern \"C\" __global__ void fine(int *x, int n) { x[threadIdx.x] += n; }\n";

static int do_faults(void)
{
	struct err err = { 0 };
	struct backend *be;
	struct module m = { 0 };
	if (!find_gpu(&err) || !backend_cuda.open(&be, &opt.gpu, &err))
		return report("gpu", &err);
	const struct compile_request cr = { .file = "faults.cu", .source = fault_source,
		                            .cc_major = opt.cc_major, .cc_minor = opt.cc_minor };
	if (!compile_module(&cr, &m, &err))
		return report("compile", &err);
	static const char *const entries[] = { "fine", "wild", "fine", "trap", "fine", "endless", "fine" };
	static const enum err_code codes[] = { ERR_NONE, ERR_FAULT, ERR_NONE, ERR_FAULT, ERR_NONE,
		                               ERR_TIMEOUT, ERR_NONE };
	int status = 0;
	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		int x[32] = { 0 };
		struct launch_plan plan = { .entry = entries[i], .grid = { 1, 1, 1 }, .block = { 32, 1, 1 },
			                    .n_buffers = 1, .n_args = 2 };
		plan.buffers[0] = (struct buffer_plan){ .name = "x", .type = ELEM_I32, .role = BUF_INOUT,
			                                .count = 32 };
		plan.args[0] = (struct kernel_arg){ .kind = ARG_BUFFER };
		plan.args[1] = (struct kernel_arg){ .kind = ARG_I32, .i32 = 5 };
		struct run_request req = { .module = &m, .plan = &plan, .timeout_s = 3,
			                   .source_file = "faults.cu", .caps = opt.caps };
		req.buffers[0] = (struct run_buffer){ .data = x, .bytes = sizeof x };
		static struct run_result res;
		err_clear(&err);
		double begin = seconds();
		bool ok = backend_cuda.run(be, &req, NULL, &res, &err);
		bool right = err.code == codes[i] && (!ok || x[31] == 5);
		printf("{\"fault\":\"%s\",\"right\":%s", entries[i], right ? "true" : "false");
		put_num("wall_s", seconds() - begin);
		put_text("code", err_code_name(err.code));
		put_text("message", err.msg);
		printf("}\n");
		fflush(stdout);
		status |= !right;
		if (ok)
			run_result_free(&res);
	}
	backend_cuda.close(be);
	module_free(&m);
	return status;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], CUDA_WORKER_OPTION))
		return cuda_worker_main(atoi(argv[2]));
	for (int i = 2; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "0";
		if (!strcmp(argv[i], "--stalls"))
			opt.stalls = true;
		else if (!strcmp(argv[i], "--warm"))
			opt.warm = true;
		else if (!strcmp(argv[i], "--points"))
			opt.points = (unsigned)atoi(value), i++;
		else if (!strcmp(argv[i], "--caps"))
			opt.caps = (unsigned)atoi(value), i++;
		else if (!strcmp(argv[i], "--repeat"))
			opt.repeat = (unsigned)atoi(value), i++;
		else if (!strcmp(argv[i], "--only"))
			opt.only = value, i++;
		else if (!strcmp(argv[i], "--timeout"))
			opt.timeout_s = atof(value), i++;
		else if (!strcmp(argv[i], "--skip"))
			opt.skip = value, i++;
	}
	const char *verb = argc > 1 ? argv[1] : "";
	if (!strcmp(verb, "info"))
		return do_info();
	if (!strcmp(verb, "run"))
		return do_run();
	if (!strcmp(verb, "gemm"))
		return do_gemm();
	if (!strcmp(verb, "names"))
		return do_names();
	if (!strcmp(verb, "sass"))
		return do_sass();
	if (!strcmp(verb, "faults"))
		return do_faults();
	fprintf(stderr, "gpu_check info | run | gemm | sass | faults\n");
	return 2;
}
