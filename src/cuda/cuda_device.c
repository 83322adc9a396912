/*
 * The driver, the chosen device, CUPTI and NVML: opened once, asked for facts.
 *
 * Only attributes that CUDA 13 still has are queried; what no query gives (lanes, latencies) comes
 * from the sheet of the nearest known GPU and says so. Runs no kernel.
 */
#include "cuda/cuda_work.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Errors after which every call in this process fails: CUDA driver API, "sticky". */
static bool sticky(CUresult r)
{
	return (r >= CUDA_ERROR_ILLEGAL_ADDRESS && r <= CUDA_ERROR_LAUNCH_FAILED &&
	        r != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) ||
	       r == CUDA_ERROR_UNKNOWN || r == CUDA_ERROR_ECC_UNCORRECTABLE ||
	       r == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

bool cu_ok(struct work *w, CUresult r, const char *what, struct fault *why)
{
	if (r == CUDA_SUCCESS)
		return true;
	if (sticky(r))
		w->poisoned = true;
	const char *name = NULL;
	if (w->cu.GetErrorName(r, &name) != CUDA_SUCCESS || !name)
		name = "unknown error";
	return fault_set(why, fault_of_cuda((int)r), "%s: %d %s", what, (int)r, name);
}

bool work_driver(struct work *w, struct fault *why)
{
	if (w->cu_ready)
		return true;
	work_step(w, "opening libcuda");
	if (!dl_cuda(&w->cu, NULL, 0, why))
		return false;
	work_step(w, "cuInit");
	w->cu.DriverGetVersion(&w->driver_cuda);
	if (!cu_ok(w, w->cu.Init(0), "cuInit", why))
		return false;
	if (!cu_ok(w, w->cu.DeviceGetCount(&w->n_devices), "cuDeviceGetCount", why))
		return false;
	if (w->n_devices < 1)
		return fault_set(why, FAULT_NO_DEVICE, "cuDeviceGetCount: 0");
	w->cu_ready = true;
	return true;
}

bool work_context(struct work *w, unsigned device, struct fault *why)
{
	if (!work_driver(w, why))
		return false;
	if (w->has_ctx)
		return true; /* one worker serves one device: the program starts another for another */
	if (device >= (unsigned)w->n_devices)
		return fault_set(why, FAULT_DEVICE_NUMBER, "device %u of %d", device, w->n_devices);
	work_step(w, "making a context on device %u", device);
	const double begin = wire_now();
	if (!cu_ok(w, w->cu.DeviceGet(&w->dev, (int)device), "cuDeviceGet", why) ||
	    !cu_ok(w, w->cu.PrimaryCtxRetain(&w->ctx, w->dev), "cuDevicePrimaryCtxRetain", why) ||
	    !cu_ok(w, w->cu.CtxSetCurrent(w->ctx), "cuCtxSetCurrent", why) ||
	    !cu_ok(w, w->cu.StreamCreate(&w->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate", why))
		return false;
	w->context_ns = (wire_now() - begin) * 1e9;
	w->device = device;
	w->has_ctx = true;
	return true;
}

int work_attribute(struct work *w, CUdevice_attribute a)
{
	int v = 0;
	return w->cu.DeviceGetAttribute(&v, a, w->dev) == CUDA_SUCCESS ? v : 0;
}

int work_admin_only(void)
{
	FILE *f = fopen("/proc/driver/nvidia/params", "r");
	char line[256];
	int value = -1;
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "RmProfilingAdminOnly: %d", &value) == 1)
			break;
	if (f)
		fclose(f);
	return value;
}

const char *work_injected(void)
{
	static const char *const names[] = { "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *v = getenv(names[i]);
		if (v && *v)
			return names[i];
	}
	return NULL;
}

/* CUPTI up to its profiler, in the one order that works: docs.nvidia.com/cupti, Range Profiler. */
static bool open_cupti(struct work *w, struct fault *why)
{
	work_step(w, "opening CUPTI");
	if (!dl_cupti(&w->cupti, w->cupti_path, sizeof w->cupti_path, why))
		return false;
	uint32_t version = 0;
	w->cupti.GetVersion(&version);
	w->cupti_version = version;
	if (version < CUPTI_API_VERSION / 10000 * 10000)
		return fault_set(why, FAULT_CUPTI_OLD, "%s is version %u", w->cupti_path, version);
	work_step(w, "cuptiProfilerInitialize");
	CUpti_Profiler_Initialize_Params init = {
		.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE,
	};
	if (!cupti_ok(&w->cupti, w->cupti.ProfilerInitialize(&init), "cuptiProfilerInitialize", why))
		return false;
	work_step(w, "cuptiDeviceGetChipName");
	CUpti_Device_GetChipName_Params chip = {
		.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
		.deviceIndex = w->device,
	};
	if (!cupti_ok(&w->cupti, w->cupti.DeviceGetChipName(&chip), "cuptiDeviceGetChipName", why))
		return false;
	snprintf(w->chip, sizeof w->chip, "%s", chip.pChipName ? chip.pChipName : "");
	return true;
}

bool work_cupti(struct work *w, struct fault *why)
{
	if (!w->cupti_tried) {
		w->cupti_tried = true;
		w->cupti_ready = open_cupti(w, &w->cupti_why);
	}
	if (!w->cupti_ready)
		*why = w->cupti_why;
	return w->cupti_ready;
}

static bool open_nvml(struct work *w)
{
	struct fault why = { 0 };
	char bus[32] = "";
	if (!dl_nvml(&w->nvml, &why) || w->nvml.Init() != 0)
		return false;
	if (w->nvml.DriverVersion(w->driver, sizeof w->driver) != 0)
		w->driver[0] = '\0';
	w->driver[sizeof w->driver - 1] = '\0';
	return w->cu.DeviceGetPCIBusId &&
	       w->cu.DeviceGetPCIBusId(bus, sizeof bus, w->dev) == CUDA_SUCCESS &&
	       w->nvml.DeviceByBusId(bus, &w->nvml_dev) == 0;
}

static bool work_nvml(struct work *w)
{
	if (!w->nvml_tried) {
		w->nvml_tried = true;
		w->nvml_ready = open_nvml(w);
	}
	return w->nvml_ready;
}

static double nvml_mhz(struct work *w, bool highest, int type)
{
	unsigned mhz = 0;
	if (!work_nvml(w))
		return 0;
	int rc = highest ? w->nvml.MaxClockInfo(w->nvml_dev, type, &mhz)
	                 : w->nvml.ClockInfo(w->nvml_dev, type, &mhz);
	return rc == 0 ? mhz : 0;
}

void work_clocks(struct work *w, double *sm_mhz, double *memory_mhz)
{
	*sm_mhz = nvml_mhz(w, false, NVML_CLOCK_SM);
	*memory_mhz = nvml_mhz(w, false, NVML_CLOCK_MEM);
}

static void list_devices(struct work *w, struct cuda_info *info)
{
	for (int d = 0; d < w->n_devices && d < CUDA_MAX_DEVICES; d++) {
		struct cuda_device_info *i = &info->devices[info->n_devices];
		CUdevice dev;
		if (w->cu.DeviceGet(&dev, d) != CUDA_SUCCESS)
			continue;
		size_t bytes = 0;
		w->cu.DeviceGetName(i->name, sizeof i->name, dev);
		i->name[sizeof i->name - 1] = '\0';
		w->cu.DeviceTotalMem(&bytes, dev);
		i->bytes = bytes;
		w->cu.DeviceGetAttribute(&i->cc_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev);
		w->cu.DeviceGetAttribute(&i->cc_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev);
		if (w->cu.DeviceGetPCIBusId)
			w->cu.DeviceGetPCIBusId(i->bus_id, sizeof i->bus_id, dev);
		info->n_devices++;
	}
}

/* What CUPTI itself says about this device and @api. */
static bool cupti_supports(struct work *w, CUpti_Profiler_API api, struct fault *why)
{
	CUpti_Profiler_DeviceSupported_Params p = {
		.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE,
		.cuDevice = w->dev,
		.api = api,
	};
	if (!cupti_ok(&w->cupti, w->cupti.DeviceSupported(&p), "cuptiProfilerDeviceSupported", why))
		return false;
	const struct {
		CUpti_Profiler_Support_Level level;
		enum fault_id id;
		const char *what;
	} rows[] = {
		{ p.architecture, FAULT_ARCH_OLD, "architecture" },
		{ p.vGpu, FAULT_VIRTUAL, "vGPU" },
		{ p.confidentialCompute, FAULT_CONFIDENTIAL, "confidential compute" },
		{ p.cmp, FAULT_CMP, "CMP" },
		{ p.wsl, FAULT_WSL, "WSL" },
		{ p.sli, FAULT_OTHER, "SLI" },
	};
	if (p.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
		    rows[i].level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
			return fault_set(why, rows[i].id, "cuptiProfilerDeviceSupported: %s", rows[i].what);
	return true; /* "unknown" is no refusal: the first use tells */
}

void work_probe(struct work *w, unsigned device, struct cuda_info *info)
{
	memset(info, 0, sizeof *info);
	struct fault why = { 0 };
	info->device = device;
	bool ok = work_context(w, device, &why);
	info->driver_cuda = (unsigned)w->driver_cuda;
	if (w->cu_ready)
		list_devices(w, info);
	if (!ok) {
		for (unsigned c = 0; c < CUDA_MAX_CAPS; c++)
			info->cap[c] = why;
		return;
	}
	work_nvml(w);
	snprintf(info->driver, sizeof info->driver, "%s", w->driver);
	if (!work_cupti(w, &why)) {
		info->cap[CAPN_COUNTERS] = info->cap[CAPN_TIMELINE] = info->cap[CAPN_PER_LINE] = why;
	} else {
		struct fault *counters = &info->cap[CAPN_COUNTERS];
		if (cupti_supports(w, CUPTI_PROFILER_RANGE_PROFILING, counters))
			profile_try(w, counters);
		struct fault *lines = &info->cap[CAPN_PER_LINE];
		if (!w->cupti.SassSetConfig || !w->cupti.SassFlush || !w->cupti.SassToSource)
			fault_set(lines, FAULT_CUPTI_OLD, "no SASS metrics in %s", w->cupti_path);
		else if (cupti_supports(w, CUPTI_PROFILER_SASS_METRICS, lines))
			*lines = *counters; /* the same right is needed */
		if (counters->id == FAULT_NONE)
			profile_knows_chip(w, counters);
	}
	snprintf(info->chip, sizeof info->chip, "%s", w->chip);
	info->cupti = w->cupti_version;
	snprintf(info->cupti_path, sizeof info->cupti_path, "%s", w->cupti_path);
}

/* The sheet whose figures stand in where the device answers no query. */
static const struct gpu_spec *nearest_sheet(const char *name, int major, int minor, unsigned sms)
{
	const struct gpu_spec *best = NULL;
	double best_cost = INFINITY;
	for (size_t i = 0; i < gpu_count(); i++) {
		const struct gpu_spec *g = gpu_at(i);
		double cost = fabs((double)(g->cc_major * 10 + g->cc_minor) - (major * 10 + minor)) * 1000 +
		              fabs((double)g->sm_count - sms);
		size_t id = strlen(g->id);
		for (const char *s = name; *s; s++) { /* "NVIDIA H200" names the sheet h200 */
			char word[32];
			if (strlen(s) < id)
				break;
			memcpy(word, s, id);
			word[id] = '\0';
			if (str_ieq(word, g->id)) {
				cost -= 0.5 + (double)id;
				break;
			}
		}
		if (cost < best_cost) {
			best_cost = cost;
			best = g;
		}
	}
	return best;
}

static void source(struct gpu_spec *g, const char *figures, const char *text)
{
	if (g->n_sources == ARRAY_LEN(g->sources))
		return;
	struct gpu_source *s = &g->sources[g->n_sources++];
	snprintf(s->figures, sizeof s->figures, "%s", figures);
	snprintf(s->text, sizeof s->text, "%s", text);
}

bool work_sheet(struct work *w, unsigned device, struct gpu_spec *g, struct fault *why)
{
	if (!work_context(w, device, why))
		return false;
	char name[64] = "";
	size_t bytes = 0;
	w->cu.DeviceGetName(name, sizeof name, w->dev);
	name[sizeof name - 1] = '\0';
	w->cu.DeviceTotalMem(&bytes, w->dev);
#define ATTRIBUTE(a) work_attribute(w, CU_DEVICE_ATTRIBUTE_##a)
	int major = ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR), minor = ATTRIBUTE(COMPUTE_CAPABILITY_MINOR);
	unsigned sms = (unsigned)ATTRIBUTE(MULTIPROCESSOR_COUNT);
	const struct gpu_spec *like = nearest_sheet(name, major, minor, sms);
	if (!like)
		return fault_set(why, FAULT_OTHER, "no GPU sheet is built in");
	*g = *like;
	g->live = true;
	g->n_sources = 0;
	memset(g->sources, 0, sizeof g->sources);
	snprintf(g->id, sizeof g->id, "cuda%u", device);
	snprintf(g->name, sizeof g->name, "%s", name);
	struct fault no_cupti = { 0 };
	if (work_cupti(w, &no_cupti) && w->chip[0])
		snprintf(g->chip, sizeof g->chip, "%s", w->chip);
	g->cc_major = major;
	g->cc_minor = minor;
	g->sm_count = sms;
	/* A query that this driver refuses gives 0: the sheet's figure stays. */
#define TAKE(field, a)                           \
	do {                                         \
		int v_ = ATTRIBUTE(a);                   \
		if (v_ > 0)                              \
			g->field = (__typeof__(g->field))v_; \
	} while (0)
	TAKE(max_threads_per_sm, MAX_THREADS_PER_MULTIPROCESSOR);
	TAKE(max_blocks_per_sm, MAX_BLOCKS_PER_MULTIPROCESSOR);
	TAKE(max_threads_per_block, MAX_THREADS_PER_BLOCK);
	TAKE(warp_size, WARP_SIZE);
	TAKE(regs_per_sm, MAX_REGISTERS_PER_MULTIPROCESSOR);
	TAKE(regs_per_block, MAX_REGISTERS_PER_BLOCK);
	TAKE(smem_per_sm_bytes, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	TAKE(smem_per_block_bytes, MAX_SHARED_MEMORY_PER_BLOCK);
	TAKE(smem_per_block_optin_bytes, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	TAKE(smem_reserved_per_block_bytes, RESERVED_SHARED_MEMORY_PER_BLOCK);
	TAKE(l2_bytes, L2_CACHE_SIZE);
	TAKE(copy_engines, ASYNC_ENGINE_COUNT);
	g->dram_bytes = (double)bytes;
	source(g,
	       "cc_major cc_minor sm_count max_threads_per_sm max_blocks_per_sm max_threads_per_block "
	       "warp_size regs_per_sm regs_per_block smem_per_sm_bytes smem_per_block_bytes "
	       "l2_bytes dram_bytes copy_engines",
	       "cuDeviceGetAttribute, cuDeviceTotalMem of this device");
	source(g, "smem_per_block_optin_bytes smem_reserved_per_block_bytes",
	       "cuDeviceGetAttribute of this device");

	double mhz = nvml_mhz(w, true, NVML_CLOCK_SM), mem_mhz = nvml_mhz(w, true, NVML_CLOCK_MEM);
	const char *clocks = "nvmlDeviceGetMaxClockInfo of this device";
	if (mhz <= 0) {
		mhz = ATTRIBUTE(CLOCK_RATE) / 1e3; /* kHz */
		clocks = "cuDeviceGetAttribute CLOCK_RATE of this device";
	}
	if (mhz > 0) {
		g->clock_mhz = mhz;
		source(g, "clock_mhz", clocks);
		double ghz = mhz / 1e3;
		g->fp32_gflops = sms * g->fp32_lanes_per_sm * 2 * ghz;
		g->fp64_gflops = sms * g->fp64_lanes_per_sm * 2 * ghz;
		source(g, "fp32_gflops fp64_gflops",
		       "SMs x lanes x 2 x the highest clock; lanes from the sheet below");
		g->fp16_tensor_gflops =
			like->fp16_tensor_gflops * sms * mhz / (like->sm_count * like->clock_mhz);
		g->l2_gbs = like->l2_gbs * sms * mhz / (like->sm_count * like->clock_mhz);
		char text[256];
		snprintf(text, sizeof text, "sheet %s, scaled by SMs x clock", like->id);
		source(g, "fp16_tensor_gflops l2_gbs", text);
	}
	if (mem_mhz <= 0)
		mem_mhz = ATTRIBUTE(MEMORY_CLOCK_RATE) / 1e3;
	int bits = ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH);
	if (mem_mhz > 0 && bits > 0) {
		/* Double data rate: two transfers per clock of bus width / 8 bytes. */
		g->dram_gbs = 2 * mem_mhz * 1e6 * bits / 8 / 1e9;
		source(g, "dram_gbs", "2 x memory clock x bus width / 8 of this device");
	}
	unsigned gen = 0, width = 0;
	if (work_nvml(w) && w->nvml.MaxPcieGen && w->nvml.MaxPcieWidth &&
	    w->nvml.MaxPcieGen(w->nvml_dev, &gen) == 0 &&
	    w->nvml.MaxPcieWidth(w->nvml_dev, &width) == 0 && gen >= 1 && gen <= 6 && width >= 1 &&
	    width <= 32) {
		/* GT/s per lane and line coding: PCI Express base specification. */
		static const double gbs_per_lane[] = { 0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563 };
		g->pcie_gbs = gbs_per_lane[gen] * width;
		source(g, "pcie_gbs", "NVML: highest PCIe generation and width of this device");
	}
	char rest[256];
	snprintf(rest, sizeof rest, "not to be queried: from the sheet %s (%s)", like->id, like->name);
	source(g,
	       "max_regs_per_thread fp32_lanes_per_sm fp64_lanes_per_sm int32_lanes_per_sm "
	       "sfu_lanes_per_sm lsu_lanes_per_sm schedulers_per_sm l1_bytes dram_latency_ns "
	       "l2_latency_ns l1_latency_ns smem_latency_ns launch_overhead_ns",
	       rest);
	if (g->pinned_gbs > 0)
		source(
			g,
			"pinned_gbs duplex_gbs pageable_h2d_gbs pageable_d2h_gbs copy_latency_ns copy_call_ns "
			"launch_call_ns",
			rest);
	return true;
}
