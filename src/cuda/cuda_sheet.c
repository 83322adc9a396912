/*
 * The GPU sheet of the worker's device: asked of the driver and of NVML, figure by figure.
 *
 * Only attributes that CUDA 13 still has are queried; what no query gives (lanes, latencies) comes
 * from the sheet of the nearest known GPU and says so.
 */
#include "cuda/cuda_work.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "NVIDIA H200" names the sheet h200. */
static bool name_says(const char *name, const char *id)
{
	const size_t n = strlen(id);
	for (const char *s = name; strlen(s) >= n; s++) {
		char word[32];
		snprintf(word, sizeof word, "%.*s", (int)n, s);
		if (str_ieq(word, id))
			return true;
	}
	return false;
}

/* The sheet whose figures stand in where the device answers no query. */
static const struct gpu_spec *nearest_sheet(const char *name, int major, int minor, unsigned sms)
{
	const struct gpu_spec *best = NULL;
	double best_distance = INFINITY;
	for (size_t i = 0; i < gpu_count(); i++) {
		const struct gpu_spec *g = gpu_at(i);
		const double generations = g->cc_major * 10 + g->cc_minor - (major * 10 + minor);
		double distance = fabs(generations) * 1000 + fabs((double)g->sm_count - sms);
		if (name_says(name, g->id))
			distance -= 0.5 + (double)strlen(g->id);
		if (distance < best_distance) {
			best_distance = distance;
			best = g;
		}
	}
	return best;
}

/* Says where @figures come from. */
static void cite(struct gpu_spec *g, const char *figures, const char *text)
{
	if (g->n_sources == ARRAY_LEN(g->sources))
		return;
	struct gpu_source *s = &g->sources[g->n_sources++];
	snprintf(s->figures, sizeof s->figures, "%s", figures);
	snprintf(s->text, sizeof s->text, "%s", text);
}

#define ATTRIBUTE(a) work_attribute(w, CU_DEVICE_ATTRIBUTE_##a)

/* The device's own limits; one that this driver refuses to tell stays the sheet's. */
static void limits_of_device(struct gpu_worker *w, struct gpu_spec *g)
{
#define LIMIT(field, a)                          \
	do {                                         \
		int v_ = ATTRIBUTE(a);                   \
		if (v_ > 0)                              \
			g->field = (__typeof__(g->field))v_; \
	} while (0)
	LIMIT(max_threads_per_sm, MAX_THREADS_PER_MULTIPROCESSOR);
	LIMIT(max_blocks_per_sm, MAX_BLOCKS_PER_MULTIPROCESSOR);
	LIMIT(max_threads_per_block, MAX_THREADS_PER_BLOCK);
	LIMIT(warp_size, WARP_SIZE);
	LIMIT(regs_per_sm, MAX_REGISTERS_PER_MULTIPROCESSOR);
	LIMIT(regs_per_block, MAX_REGISTERS_PER_BLOCK);
	LIMIT(smem_per_sm_bytes, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	LIMIT(smem_per_block_bytes, MAX_SHARED_MEMORY_PER_BLOCK);
	LIMIT(smem_per_block_optin_bytes, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	LIMIT(smem_reserved_per_block_bytes, RESERVED_SHARED_MEMORY_PER_BLOCK);
	LIMIT(l2_bytes, L2_CACHE_SIZE);
	LIMIT(copy_engines, ASYNC_ENGINE_COUNT);
#undef LIMIT
	cite(g,
	     "cc_major cc_minor sm_count max_threads_per_sm max_blocks_per_sm max_threads_per_block "
	     "warp_size regs_per_sm regs_per_block smem_per_sm_bytes smem_per_block_bytes "
	     "l2_bytes dram_bytes copy_engines",
	     "cuDeviceGetAttribute, cuDeviceTotalMem of this device");
	cite(g, "smem_per_block_optin_bytes smem_reserved_per_block_bytes",
	     "cuDeviceGetAttribute of this device");
}

/* The highest clock, and the rates that follow from it. */
static void rates_of_device(struct gpu_worker *w, const struct gpu_spec *like, struct gpu_spec *g)
{
	double mhz = work_highest_clock(w, NVML_CLOCK_SM);
	const char *source = "nvmlDeviceGetMaxClockInfo of this device";
	if (mhz <= 0) {
		mhz = ATTRIBUTE(CLOCK_RATE) / 1e3; /* kHz */
		source = "cuDeviceGetAttribute CLOCK_RATE of this device";
	}
	if (mhz <= 0)
		return;
	g->clock_mhz = mhz;
	cite(g, "clock_mhz", source);
	const double ghz = mhz / 1e3;
	g->fp32_gflops = g->sm_count * g->fp32_lanes_per_sm * 2 * ghz;
	g->fp64_gflops = g->sm_count * g->fp64_lanes_per_sm * 2 * ghz;
	cite(g, "fp32_gflops fp64_gflops",
	     "SMs x lanes x 2 x the highest clock; lanes from the sheet below");
	const double scale = g->sm_count * mhz / (like->sm_count * like->clock_mhz);
	g->fp16_tensor_gflops = like->fp16_tensor_gflops * scale;
	g->tf32_tensor_gflops = like->tf32_tensor_gflops * scale;
	g->l2_gbs = like->l2_gbs * scale;
	char text[256];
	snprintf(text, sizeof text, "sheet %s, scaled by SMs x clock", like->id);
	cite(g, "fp16_tensor_gflops l2_gbs", text);
	if (g->tf32_tensor_gflops > 0)
		cite(g, "tf32_tensor_gflops", text);
}

static void bandwidths_of_device(struct gpu_worker *w, struct gpu_spec *g)
{
	double mhz = work_highest_clock(w, NVML_CLOCK_MEM);
	if (mhz <= 0)
		mhz = ATTRIBUTE(MEMORY_CLOCK_RATE) / 1e3;
	const int bits = ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH);
	if (mhz > 0 && bits > 0) {
		/* Double data rate: two transfers per clock of bus width / 8 bytes. */
		g->dram_gbs = 2 * mhz * 1e6 * bits / 8 / 1e9;
		cite(g, "dram_gbs", "2 x memory clock x bus width / 8 of this device");
	}
	unsigned gen = 0, width = 0;
	if (work_nvml(w) && w->nvml.MaxPcieGen && w->nvml.MaxPcieWidth &&
	    w->nvml.MaxPcieGen(w->nvml_dev, &gen) == 0 &&
	    w->nvml.MaxPcieWidth(w->nvml_dev, &width) == 0 && gen >= 1 && gen <= 6 && width >= 1 &&
	    width <= 32) {
		/* GT/s per lane and line coding: PCI Express base specification. */
		static const double gbs_per_lane[] = { 0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563 };
		g->pcie_gbs = gbs_per_lane[gen] * width;
		cite(g, "pcie_gbs", "NVML: highest PCIe generation and width of this device");
	}
}

/* What no query gives. */
static void cite_the_rest(const struct gpu_spec *like, struct gpu_spec *g)
{
	char rest[256];
	snprintf(rest, sizeof rest, "not to be queried: from the sheet %s (%s)", like->id, like->name);
	cite(g,
	     "max_regs_per_thread fp32_lanes_per_sm fp64_lanes_per_sm int32_lanes_per_sm "
	     "sfu_lanes_per_sm lsu_lanes_per_sm schedulers_per_sm l1_bytes dram_latency_ns "
	     "l2_latency_ns l1_latency_ns smem_latency_ns launch_overhead_ns",
	     rest);
	if (g->l2_partitions > 0)
		cite(g, "l2_partitions", rest);
	if (g->pinned_gbs > 0)
		cite(g,
		     "pinned_gbs duplex_gbs pageable_h2d_gbs pageable_d2h_gbs copy_latency_ns "
		     "copy_call_ns launch_call_ns",
		     rest);
}

bool work_sheet(struct gpu_worker *w, unsigned device, struct gpu_spec *g, struct cuda_fault *why)
{
	if (!work_context(w, device, why))
		return false;
	char name[64] = "";
	size_t bytes = 0;
	w->cu.DeviceGetName(name, sizeof name, w->dev);
	name[sizeof name - 1] = '\0';
	w->cu.DeviceTotalMem(&bytes, w->dev);
	const int major = ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR);
	const int minor = ATTRIBUTE(COMPUTE_CAPABILITY_MINOR);
	const unsigned sms = (unsigned)ATTRIBUTE(MULTIPROCESSOR_COUNT);
	const struct gpu_spec *like = nearest_sheet(name, major, minor, sms);
	if (!like)
		return fault_set(why, FAULT_OTHER, "no GPU sheet is built in");
	*g = *like;
	g->live = true;
	g->n_sources = 0;
	memset(g->sources, 0, sizeof g->sources);
	snprintf(g->id, sizeof g->id, "cuda%u", device);
	snprintf(g->name, sizeof g->name, "%s", name);
	struct cuda_fault no_cupti = { 0 };
	if (work_cupti(w, &no_cupti) && w->chip[0])
		snprintf(g->chip, sizeof g->chip, "%s", w->chip);
	g->cc_major = major;
	g->cc_minor = minor;
	g->sm_count = sms;
	g->dram_bytes = (double)bytes;
	limits_of_device(w, g);
	rates_of_device(w, like, g);
	bandwidths_of_device(w, g);
	cite_the_rest(like, g);
	return true;
}
