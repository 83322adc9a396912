/*
 * The fault matrix of the GPU back end, row by row: each thing that can be missing or refused costs
 * what it must and no more, and says why and what to do.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "fake_run.h"

#include "base/text.h"

/* --- the fault matrix: before a run --- */

#define ALL (CAP_TIME | CAP_STATIC | CAP_COUNTERS | CAP_TIMELINE | CAP_PER_LINE)
#define CUPTI_CAPS (CAP_COUNTERS | CAP_TIMELINE | CAP_PER_LINE)
#define COUNT_CAPS (CAP_COUNTERS | CAP_PER_LINE)

static const struct {
	const char *name, *variable, *value;
	unsigned lost;               /* capabilities */
	const char *reason, *remedy; /* parts of them */
} rows[] = {
	{ "nothing wrong", "FAKE_NVIDIA", "", 0, "", "" },
	{ "no driver", "PMPP_LIBCUDA", "/nowhere/libcuda.so.1", ALL, "no NVIDIA driver", "nvidia-smi" },
	{ "stub driver", "FAKE_NVIDIA", "cuInit=34", ALL, "stub", "LD_LIBRARY_PATH" },
	{ "driver and module differ", "FAKE_NVIDIA", "cuInit=803", ALL, "differ in version", "reboot" },
	{ "no device", "FAKE_NVIDIA", "cuInit=100", ALL, "no CUDA device", "CUDA_VISIBLE_DEVICES" },
	{ "device count 0", "FAKE_DEVICES", "0", ALL, "no CUDA device", "CUDA_VISIBLE_DEVICES" },
	{ "device taken", "FAKE_NVIDIA", "cuDevicePrimaryCtxRetain=46", ALL, "another process",
	  "PMPP_CUDA_DEVICE" },
	{ "device lost", "FAKE_NVIDIA", "cuDevicePrimaryCtxRetain=999", ALL, "no longer answers",
	  "xid" },
	{ "no memory for a context", "FAKE_NVIDIA", "cuDevicePrimaryCtxRetain=2", ALL,
	  "not enough free memory", "nvidia-smi" },
	{ "no CUPTI", "PMPP_LIBCUPTI", "/nowhere/libcupti.so", CUPTI_CAPS,
	  "CUPTI is not on this machine", "CUDA_HOME" },
	{ "CUPTI without its functions", "PMPP_LIBCUPTI", "libm.so.6", CUPTI_CAPS, "lacks",
	  "CUDA_HOME" },
	{ "old CUPTI", "FAKE_CUPTI", "18", CUPTI_CAPS, "lacks functions", "13.0" },
	{ "no libnvperf", "FAKE_NVIDIA", "cuptiProfilerInitialize=15", CUPTI_CAPS, "libnvperf_host.so",
	  "reinstall CUPTI" },
	{ "driver older than CUPTI", "FAKE_NVIDIA", "cuptiProfilerInitialize=14", CUPTI_CAPS,
	  "older than this program's CUDA", "580" },
	{ "error 35", "FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=35", COUNT_CAPS,
	  "reserved for administrators", "NVreg_RestrictProfilingToAdminUsers=0" },
	{ "error 35 in a container", "FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=35",
	  COUNT_CAPS, "error 35", "--cap-add=SYS_ADMIN" },
	{ "counters busy", "FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=26", COUNT_CAPS,
	  "another profiler", "dcgmi profile --pause" },
	{ "second subscriber", "FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=39", COUNT_CAPS,
	  "another CUDA tool", "without ncu" },
	{ "chip newer than CUPTI", "FAKE_NVIDIA", "cuptiProfilerHostInitialize=46", CAP_COUNTERS,
	  "does not know this chip", "newer CUDA toolkit" },
	{ "old GPU", "FAKE_UNSUPPORTED", "1", COUNT_CAPS, "too old for the counters", "--backend emu" },
	{ "vGPU", "FAKE_UNSUPPORTED", "2", COUNT_CAPS, "virtual GPU", "enable_profiling" },
	{ "confidential computing", "FAKE_UNSUPPORTED", "3", COUNT_CAPS, "confidential",
	  "--backend emu" },
	{ "mining card", "FAKE_UNSUPPORTED", "4", COUNT_CAPS, "mining", "--backend emu" },
	{ "WSL", "FAKE_UNSUPPORTED", "5", COUNT_CAPS, "WSL", "Control Panel" },
	{ "MIG", "FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=43", COUNT_CAPS, "MIG",
	  "without MIG" },
};

TEST_WITH(each_missing_piece_costs_only_what_it_must, fake_fresh, NULL)
{
	unsigned wrong = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct backend_info info;
		struct err err = { 0 };
		fake_fresh(NULL);
		setenv(rows[i].variable, rows[i].value, 1);
		bool ok = backend_cuda.probe(&info, &err);
		bool right = info.caps == (ALL & ~rows[i].lost) && ok == !(rows[i].lost & CAP_TIME);
		for (unsigned c = 0; c < 5; c++) {
			if (rows[i].lost & (1u << c))
				right = right && strstr(info.missing[c].reason, rows[i].reason) &&
				        strstr(info.missing[c].remedy, rows[i].remedy);
			else
				right = right && !info.missing[c].reason[0];
		}
		if (!ok)
			right = right && strstr(err.msg, rows[i].reason) && strstr(err.remedy, rows[i].remedy);
		for (unsigned c = 0; c < 5 && i;
		     c++) /* what, why, and something to do: each of them once */
			if (rows[i].lost & (1u << c))
				right = right && info.missing[c].remedy[0] &&
				        !strstr(info.missing[c].reason, ") (") &&
				        strchr(info.missing[c].reason, '(');
		if (!right) {
			print_message("row '%s': caps %#x of %#x, err '%s' / '%s'\n", rows[i].name, info.caps,
			              ALL & ~rows[i].lost, err.msg, err.remedy);
			for (unsigned c = 0; c < 5; c++)
				print_message("  %u: '%s' / '%s'\n", c, info.missing[c].reason,
				              info.missing[c].remedy);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

TEST_WITH(another_tools_injection_is_named, fake_fresh, NULL)
{
	struct backend_info info;
	setenv("FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=7", 1);
	setenv("CUDA_INJECTION64_PATH", "/opt/nsight/libtool.so", 1);
	assert_true(backend_cuda.probe(&info, NULL));
	assert_int_equal(info.caps, ALL & ~COUNT_CAPS);
	assert_non_null(strstr(info.missing[2].reason, "CUDA_INJECTION64_PATH is set"));
	assert_non_null(strstr(info.missing[2].remedy, "compute-sanitizer"));
}

/* --- the fault matrix: in a run --- */

/* Counters are refused in the run itself: the rest of it stands. */
TEST_WITH(a_refused_counter_leaves_the_rest, fake_fresh, NULL)
{
	static const struct {
		const char *what;
		const char *reason;
	} cases[] = {
		{ "cuptiRangeProfilerEnable=35", "reserved for administrators" },
		{ "cuptiRangeProfilerStart=26", "another profiler" },
		{ "cuptiProfilerHostInitialize=46", "does not know this chip" },
		{ "cuptiRangeProfilerDecodeData=999", "reported an error" },
	};
	static struct fake_run f;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct backend *be;
		fake_fresh(NULL);
		setenv("FAKE_NVIDIA", cases[i].what, 1);
		assert_true(backend_cuda.open(&be, NULL, NULL));
		for (int round = 0; round < 2; round++) { /* and again in the same worker */
			fake_prepare(&f, "fake_vecadd");
			if (!fake_go(&f, be, NULL))
				fail_msg("%s: %s", cases[i].what, f.err.msg);
			assert_true(f.c[10] == 10.5f);
			assert_non_null(strstr(f.res.missing[2], cases[i].reason));
			assert_int_equal(f.res.metrics.v[M_MEM_LD_SEC].origin, ORIGIN_NONE);
			assert_non_null(strstr(f.res.metrics.v[M_MEM_LD_SEC].reason, cases[i].reason));
			assert_int_equal(f.res.metrics.v[M_TIME_KERNEL].origin, ORIGIN_MEASURED);
			assert_int_equal(f.res.metrics.v[M_LAUNCH_REGISTERS].origin, ORIGIN_MEASURED);
			assert_true(f.res.n_spans > 0);
			fake_done(&f);
		}
		backend_cuda.close(be);
	}
}

TEST_WITH(a_number_that_is_none_is_not_shown, fake_fresh, NULL)
{
	static struct fake_run f;
	struct backend *be;
	setenv("FAKE_NAN", "dram__bytes_read", 1);
	setenv("FAKE_ABSENT", "op_ffma", 1);
	fake_begin(&f, &be);
	assert_int_equal(f.res.metrics.v[M_DRAM_READ].origin, ORIGIN_NONE);
	assert_non_null(strstr(f.res.metrics.v[M_DRAM_READ].reason, "no number"));
	assert_int_equal(f.res.metrics.v[M_FLOP_FP32].origin, ORIGIN_NONE);
	assert_non_null(strstr(f.res.metrics.v[M_FLOP_FP32].reason, "no such counter"));
	assert_int_equal(f.res.metrics.v[M_FLOP_FP64].origin, ORIGIN_MEASURED);
	assert_int_equal(f.res.metrics.v[M_DRAM_WRITE].origin, ORIGIN_MEASURED);
	fake_done(&f);
	backend_cuda.close(be);
}

/* One failing run: its code, words of message and remedy; then a good run in the same back end. */
static void fails_then_recovers(const char *faults, const char *entry, enum err_code code,
                                const char *message, const char *remedy)
{
	static struct fake_run f;
	struct backend *be;
	fake_fresh(NULL);
	if (faults)
		setenv("FAKE_NVIDIA", faults, 1);
	fake_prepare(&f, entry);
	f.req.timeout_s = SHORT_S;
	assert_true(backend_cuda.open(&be, NULL, NULL));
	assert_false(fake_go(&f, be, NULL));
	if (f.err.code != code || !strstr(f.err.msg, message) || !strstr(f.err.remedy, remedy))
		fail_msg("%s %s: %s: '%s' / '%s'", faults ? faults : "", entry, err_code_name(f.err.code),
		         f.err.msg, f.err.remedy);
	unsetenv("FAKE_NVIDIA");
	if (faults) {
		/* what was wrong with the machine is mended: only a worker of its own sees that */
		backend_cuda.close(be);
		fake_fresh(NULL);
		assert_true(backend_cuda.open(&be, NULL, NULL));
	}
	fake_prepare(&f, "fake_vecadd");
	if (!fake_go(&f, be, NULL))
		fail_msg("after %s %s: %s", faults ? faults : "", entry, f.err.msg);
	assert_true(f.c[10] == 10.5f);
	fake_done(&f);
	backend_cuda.close(be);
}

TEST_WITH(a_failed_run_says_why_and_the_next_works, fake_fresh, NULL)
{
	fails_then_recovers(NULL, "fake_fault", ERR_FAULT, "did something illegal", "--backend emu");
	fails_then_recovers(NULL, "fake_hang", ERR_TIMEOUT, "running fake_hang", "--timeout");
	fails_then_recovers(NULL, "fake_nothing", ERR_INTERNAL, "cuModuleGetFunction", "");
	fails_then_recovers("cuMemAlloc_v2=2", "fake_vecadd", ERR_UNAVAILABLE, "1 GiB are free",
	                    "smaller problem");
	fails_then_recovers("cuLaunchKernel=701", "fake_vecadd", ERR_USAGE, "refused this launch",
	                    "smaller block");
	fails_then_recovers("cuStreamSynchronize=719", "fake_vecadd", ERR_FAULT, "illegal", "emu");
	fails_then_recovers("cuModuleLoadData=209,cuModuleLoadDataEx=218", "fake_vecadd",
	                    ERR_UNAVAILABLE, "ptxas fatal: fake", "compile for this GPU");
	fails_then_recovers("cuInit=100", "fake_vecadd", ERR_UNAVAILABLE, "no CUDA device",
	                    "nvidia-smi");
	fails_then_recovers("cuptiRangeProfilerStart=crash", "fake_vecadd", ERR_INTERNAL,
	                    "signal 11, Segmentation fault) during cuptiRangeProfilerStart",
	                    "run again");
	fails_then_recovers("cuptiRangeProfilerStop=exit", "fake_vecadd", ERR_INTERNAL,
	                    "exit status 7) during cuptiRangeProfilerStop", "run again");
	fails_then_recovers("cuptiActivityFlushAll=hang", "fake_vecadd", ERR_TIMEOUT,
	                    "no sign of life for", "");
	fails_then_recovers("cuInit=hang", "fake_vecadd", ERR_TIMEOUT, "while cuInit", "");
}

/* CUPTI kills about one run in a hundred on an H200: another worker makes up for it, once. */
TEST_WITH(a_worker_that_dies_once_costs_nothing, fake_fresh, NULL)
{
	static struct fake_run f;
	struct backend *be;
	char mark[] = "/tmp/pmpp-mark-XXXXXX", faults[64];
	const int fd = mkstemp(mark);
	assert_true(fd >= 0);
	close(fd);
	snprintf(faults, sizeof faults, "cuptiRangeProfilerStart=once:%s", mark);
	setenv("FAKE_NVIDIA", faults, 1);
	fake_prepare(&f, "fake_vecadd");
	assert_true(backend_cuda.open(&be, NULL, NULL));
	if (!fake_go(&f, be, NULL))
		fail_msg("%s", f.err.msg);
	assert_int_equal(access(mark, F_OK), -1);
	assert_true(f.c[10] == 10.5f);
	assert_int_equal(f.res.metrics.v[M_DRAM_READ].origin, ORIGIN_MEASURED);
	unsetenv("FAKE_NVIDIA");
	fake_done(&f);
	backend_cuda.close(be);
}

TEST_WITH(an_old_driver_is_named, fake_fresh, NULL)
{
	static struct fake_run f;
	struct backend *be;
	setenv("FAKE_DRIVER", "12020", 1);
	setenv("FAKE_NVIDIA", "cuModuleLoadData=222,cuModuleLoadDataEx=222", 1);
	fake_prepare(&f, "fake_vecadd");
	assert_true(backend_cuda.open(&be, NULL, NULL));
	assert_false(fake_go(&f, be, NULL));
	assert_int_equal(f.err.code, ERR_UNAVAILABLE);
	assert_non_null(strstr(f.err.msg, "CUDA 12.2"));
	assert_non_null(strstr(f.err.remedy, "580"));
	backend_cuda.close(be);
}

/* S-436: where no code of the GPU's architecture was compiled in, the driver compiles the PTX, and
 * the facts say so. */
TEST_WITH(ptx_stands_in_for_a_foreign_cubin, fake_fresh, NULL)
{
	static struct fake_run f;
	struct backend *be;
	setenv("FAKE_NVIDIA", "cuModuleLoadData=209", 1);
	fake_begin(&f, &be);
	assert_true(f.res.loaded.jit);
	assert_true(f.c[10] == 10.5f);
	assert_false(f.res.timing.l2_flushed); /* the flushing kernel did not load either: said so */
	assert_non_null(strstr(f.res.missing[4], "no source lines"));
	fake_done(&f);
	backend_cuda.close(be);
}

int main(int argc, char **argv)
{
	return fake_main(argc, argv);
}
