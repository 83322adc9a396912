/*
 * What the worker's GPU can do: its devices, and each capability or the reason why not.
 */
#include "cuda/cuda_work.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static void list_devices(struct gpu_worker *w, struct cuda_info *info)
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
static bool cupti_supports(struct gpu_worker *w, CUpti_Profiler_API api, struct cuda_fault *why)
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

void work_probe(struct gpu_worker *w, unsigned device, struct cuda_info *info)
{
	memset(info, 0, sizeof *info);
	struct cuda_fault why = { 0 };
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
		struct cuda_fault *counters = &info->cap[CAPN_COUNTERS];
		if (cupti_supports(w, CUPTI_PROFILER_RANGE_PROFILING, counters))
			profile_try(w, counters);
		struct cuda_fault *lines = &info->cap[CAPN_PER_LINE];
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
