/*
 * What a real GPU says, one JSON object per line: used by tests/gpu/check-gpu.sh on such a machine.
 *
 *	gpu_check info                   driver, capabilities, the live sheet
 *	gpu_check run  [options]         every kernel x variant x point: verified, all metrics
 *	gpu_check random --seed N --count N   random legal launches, timed: what models are held against
 *	gpu_check draw --seed N --count N     the same launches as a list, without a GPU
 *	gpu_check agree [options]        emulator and GPU on the same launches: one table, with causes
 *	gpu_check ncu JSONL CSV          our counters (run --caps 4) beside Nsight Compute's
 *	gpu_check gemm                   cuBLAS times
 *	gpu_check names                  the counters of GH100's panels, with commas, as ncu takes them
 *	gpu_check sass                   names of CUPTI's per-instruction metrics on this chip
 *	gpu_check passes                 where the time of a collection of counters goes
 *	gpu_check cases [--only TEXT,..] every file of tests/ptx, as the emulator is tested with it
 *	gpu_check faults                 a faulting and an endless kernel, and a run after each
 *
 * options: --points N (1..3), --first N, --caps MASK, --only TEXT,.. (parts of kernel/variant),
 * --skip TEXT,.., --stalls, --warm, --repeat N, --timeout SECONDS
 * Results are compared with the kernels' CPU references.
 */
#include "gpu_launches.h"

#include "cuda/cuda.h"
#include "cuda/cuda_counters.h"
#include "cuda/cuda_dl.h"
#include "cuda/cuda_worker.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_result(const struct instance *i, const struct check_result *check,
                       const struct run_result *r, double wall_s)
{
	const struct kernel_desc *k = i->kernel;
	const unsigned variant = i->variant, n = i->point;
	const int64_t *params = i->params;
	printf("{\"kernel\":\"%s\",\"variant\":\"%s\",\"point\":%u", k->name, k->variants[variant].name,
	       n);
	put_text("entry", i->plan.entry);
	printf(",\"params\":{");
	for (unsigned p = 0, first = 1; p < k->n_params; p++)
		if (kernel_param_used(k, variant, p)) {
			printf("%s\"%s\":%lld", first ? "" : ",", k->params[p].name, (long long)params[p]);
			first = 0;
		}
	printf("},\"input_seed\":%llu", (unsigned long long)i->input_seed);
	if (launch_family_file(k))
		put_text("file", launch_family_file(k));
	if (opt.count)
		printf(",\"random\":%u", opt.seed);
	printf(",\"verified\":%s,\"errors\":%zu", check->ok ? "true" : "false", check->errors);
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
	       "\"blocks_per_sm\":%u,\"jit\":%s}",
	       r->loaded.registers, r->loaded.static_shared_bytes, r->loaded.local_bytes,
	       r->loaded.max_threads, r->loaded.blocks_per_sm, r->loaded.jit ? "true" : "false");
	printf(",\"metrics\":{");
	for (unsigned m = 0, first = 1; m < METRIC_COUNT; m++)
		if (r->metrics.v[m].origin == ORIGIN_MEASURED) {
			printf("%s\"%s\":%.17g", first ? "" : ",", metric_catalogue[m].key,
			       r->metrics.v[m].num);
			first = 0;
		}
	printf("},\"none\":{");
	for (unsigned m = 0, first = 1; m < METRIC_COUNT; m++)
		if (r->metrics.v[m].origin == ORIGIN_NONE && metric_catalogue[m].cupti[0]) {
			printf("%s\"%s\":\"%s\"", first ? "" : ",", metric_catalogue[m].key,
			       r->metrics.v[m].reason ? r->metrics.v[m].reason : "");
			first = 0;
		}
	printf("},\"stalls\":{");
	for (unsigned s = 0; s < r->n_stalls; s++)
		printf("%s\"%s\":%.6g", s ? "," : "", r->stalls[s].reason, r->stalls[s].warps);
	printf("},\"per_line\":[");
	for (unsigned j = 0; j < r->counts.n_lines; j++) {
		const struct line_counts *l = &r->counts.lines[j];
		printf("%s{\"line\":%u", j ? "," : "", l->line);
#define X(field, ...) \
	if (l->c.field)   \
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

static bool run_one(struct instance *i, void *be)
{
	static struct run_result res;
	struct err err = { 0 };
	struct check_result check;
	double begin = seconds();
	if (!instance_run(i, &backend_cuda, be, &res, &err)) {
		put_error("run", &err);
		return false;
	}
	double wall = seconds() - begin;
	instance_check(i, &check);
	put_result(i, &check, &res, wall);
	run_result_free(&res);
	return check.ok;
}

/* Ground truth of the device's architecture, without which nothing can be compiled. */
static bool find_gpu(struct err *err)
{
	return cuda_gpu_spec(cuda_device_wanted(), &opt.gpu, err);
}

bool gpu_check_open(struct backend **be, struct err *err)
{
	return find_gpu(err) && backend_cuda.open(be, opt.gpu, err);
}

static int do_run(void)
{
	struct backend *be;
	struct err err = { 0 };
	if (!gpu_check_open(&be, &err))
		return put_error("gpu", &err);
	const unsigned failed = opt.count ? each_random(run_one, be) : each_launch(run_one, be);
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
		return put_error("sheet", &err);
	printf("{\"sheet\":\"%s\"", opt.gpu->id);
	put_text("name", opt.gpu->name);
#define INT(field) put_num(#field, opt.gpu->field);
#define X(type, field, least, most, about) put_num(#field, (double)opt.gpu->field);
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
				status = put_error("gemm", &err);
				continue;
			}
			printf("{\"gemm\":\"%s\",\"n\":%u", cuda_gemm_name((enum cuda_gemm_mode)mode), n);
			put_num("median_ns", t.median_ns);
			put_num("event_ns", t.event_ns);
			put_num("gflops", 2.0 * n * n * n / t.median_ns);
			printf(",\"launches\":%u,\"from_activity\":%s}\n", t.n,
			       t.from_activity ? "true" : "false");
		}
	return status;
}

/* In this very process: it is a test that may crash, and nothing else runs in it. */
static int do_sass(void)
{
	static struct cuda_fns cu;
	static struct cupti_fns cupti;
	struct cuda_fault why = { 0 };
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
	CUpti_Profiler_Initialize_Params init = { .structSize =
		                                          CUpti_Profiler_Initialize_Params_STRUCT_SIZE };
	cupti.ProfilerInitialize(&init);
	CUpti_Device_GetChipName_Params chip = { .structSize =
		                                         CUpti_Device_GetChipName_Params_STRUCT_SIZE };
	cupti.DeviceGetChipName(&chip);
	CUpti_SassMetrics_GetNumOfMetrics_Params n = {
		.structSize = CUpti_SassMetrics_GetNumOfMetrics_Params_STRUCT_SIZE,
		.pChipName = chip.pChipName
	};
	if (!count || !list || count(&n))
		return 1;
	CUpti_SassMetrics_MetricDetails *d = mem_calloc(n.numOfMetrics, sizeof *d);
	CUpti_SassMetrics_GetMetrics_Params g = { .structSize =
		                                          CUpti_SassMetrics_GetMetrics_Params_STRUCT_SIZE,
		                                      .pChipName = chip.pChipName,
		                                      .numOfMetrics = n.numOfMetrics,
		                                      .pMetricsList = d };
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

/* --- faults --- */

static const char fault_source[] =
	"extern \"C\" __global__ void wild(int *x, int n) {\n"
	"	x[((long long)n << 32) + threadIdx.x] = 1; }\n"
	"extern \"C\" __global__ void endless(volatile int *x, int n) {\n"
	"	while (x[0] != 12345) x[1] = n; }\n"
	"extern \"C\" __global__ void trap(int *x, int n) { if (n) asm(\"trap;\"); x[0] = n; }\n"
	"extern \"C\" __global__ void fine(int *x, int n) { x[threadIdx.x] += n; }\n";

static int do_faults(void)
{
	struct err err = { 0 };
	struct backend *be;
	struct module m = { 0 };
	if (!gpu_check_open(&be, &err))
		return put_error("gpu", &err);
	const struct compile_request cr = { .file = "faults.cu",
		                                .source = fault_source,
		                                .cc_major = opt.gpu->cc_major,
		                                .cc_minor = opt.gpu->cc_minor };
	if (!compile_module(&cr, &m, &err))
		return put_error("compile", &err);
	static const char *const entries[] = {
		"fine", "wild", "fine", "trap", "fine", "endless", "fine"
	};
	static const enum err_code codes[] = { ERR_NONE, ERR_FAULT,   ERR_NONE, ERR_FAULT,
		                                   ERR_NONE, ERR_TIMEOUT, ERR_NONE };
	int status = 0;
	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		int x[32] = { 0 };
		struct launch_plan plan = { .entry = entries[i],
			                        .grid = { 1, 1, 1 },
			                        .block = { 32, 1, 1 },
			                        .n_buffers = 1,
			                        .n_args = 2 };
		plan.buffers[0] =
			(struct buffer_plan){ .name = "x", .type = ELEM_I32, .role = BUF_INOUT, .count = 32 };
		plan.args[0] = (struct kernel_arg){ .kind = ARG_BUFFER };
		plan.args[1] = (struct kernel_arg){ .kind = ARG_I32, .i32 = 5 };
		struct run_request req = { .module = &m,
			                       .plan = &plan,
			                       .timeout_s = 3,
			                       .source_file = "faults.cu",
			                       .caps = opt.caps };
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

/* Options behind the verb; unknown words are the verb's own. */
static void read_options(int argc, char **argv)
{
	static const struct {
		const char *name;
		bool *flag;
		unsigned *number;
		const char **word;
	} rows[] = {
		{ "--stalls", .flag = &opt.stalls },   { "--warm", .flag = &opt.warm },
		{ "--points", .number = &opt.points }, { "--first", .number = &opt.first },
		{ "--caps", .number = &opt.caps },     { "--repeat", .number = &opt.repeat },
		{ "--only", .word = &opt.only },       { "--skip", .word = &opt.skip },
		{ "--seed", .number = &opt.seed },     { "--count", .number = &opt.count },
	};
	for (int i = 2; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "0";
		for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
			if (strcmp(argv[i], rows[r].name))
				continue;
			if (rows[r].flag)
				*rows[r].flag = true;
			else if (rows[r].number)
				*rows[r].number = (unsigned)strtoul(value, NULL, 10);
			else
				*rows[r].word = value;
		}
		if (!strcmp(argv[i], "--timeout"))
			opt.timeout_s = strtod(value, NULL);
	}
}

static int run_random(void)
{
	opt.count = opt.count ? opt.count : 240;
	return do_run();
}

static int passes(int argc, char **argv)
{
	struct err err = { 0 };
	if (argc == 4)
		return do_passes(argv[2], argv[3]);
	return find_gpu(&err) ? do_passes(NULL, NULL) : put_error("gpu", &err);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], CUDA_WORKER_OPTION))
		return cuda_worker_main(atoi(argv[2]));
	static const struct {
		const char *name;
		int (*run)(void);
	} verbs[] = {
		{ "info", do_info },     { "run", do_run },     { "gemm", do_gemm },
		{ "agree", do_agree },   { "names", do_names }, { "sass", do_sass },
		{ "faults", do_faults }, { "draw", do_draw },   { "random", run_random },
		{ "cases", do_cases },
	};
	const char *verb = argc > 1 ? argv[1] : "";
	read_options(argc, argv);
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (!strcmp(verb, verbs[i].name))
			return verbs[i].run();
	if (!strcmp(verb, "ncu") && argc == 4)
		return do_ncu(argv[2], argv[3]);
	if (!strcmp(verb, "passes"))
		return passes(argc, argv);
	fprintf(stderr, "gpu_check info | run | random | draw | agree | ncu | gemm | names | sass | "
	                "passes | faults | cases\n");
	return 2;
}
