/*
 * The driver, the chosen device, CUPTI and NVML: opened once, asked for facts.
 *
 * Runs no kernel.
 */
#include "cuda/cuda_work.h"
#include "base/monotonic.h"
#include "base/text.h"

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

bool cu_ok(struct gpu_worker *w, CUresult r, const char *what, struct cuda_fault *why)
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

bool work_driver(struct gpu_worker *w, struct cuda_fault *why)
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

bool work_context(struct gpu_worker *w, unsigned device, struct cuda_fault *why)
{
	if (!work_driver(w, why))
		return false;
	if (w->has_ctx)
		return true; /* one worker serves one device: the program starts another for another */
	if (device >= (unsigned)w->n_devices)
		return fault_set(why, FAULT_DEVICE_NUMBER, "device %u of %d", device, w->n_devices);
	work_step(w, "making a context on device %u", device);
	const double begin = clock_now_s();
	if (!cu_ok(w, w->cu.DeviceGet(&w->dev, (int)device), "cuDeviceGet", why) ||
	    !cu_ok(w, w->cu.PrimaryCtxRetain(&w->ctx, w->dev), "cuDevicePrimaryCtxRetain", why) ||
	    !cu_ok(w, w->cu.CtxSetCurrent(w->ctx), "cuCtxSetCurrent", why) ||
	    !cu_ok(w, w->cu.StreamCreate(&w->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate", why))
		return false;
	w->context_ns = (clock_now_s() - begin) * 1e9;
	w->device = device;
	w->has_ctx = true;
	return true;
}

int work_attribute(struct gpu_worker *w, CUdevice_attribute a)
{
	int v = 0;
	return w->cu.DeviceGetAttribute(&v, a, w->dev) == CUDA_SUCCESS ? v : 0;
}

int work_admin_only(void)
{
	FILE *f = fopen("/proc/driver/nvidia/params", "r");
	char line[256];
	static const char name[] = "RmProfilingAdminOnly: ";
	int value = -1;
	while (value < 0 && f && fgets(line, sizeof line, f))
		if (!strncmp(line, name, sizeof name - 1))
			value = line[sizeof name - 1] != '0';
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
static bool open_cupti(struct gpu_worker *w, struct cuda_fault *why)
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

bool work_cupti(struct gpu_worker *w, struct cuda_fault *why)
{
	if (!w->cupti_tried) {
		w->cupti_tried = true;
		w->cupti_ready = open_cupti(w, &w->cupti_why);
	}
	if (!w->cupti_ready)
		*why = w->cupti_why;
	return w->cupti_ready;
}

static bool open_nvml(struct gpu_worker *w)
{
	struct cuda_fault why = { 0 };
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

bool work_nvml(struct gpu_worker *w)
{
	if (!w->nvml_tried) {
		w->nvml_tried = true;
		w->nvml_ready = open_nvml(w);
	}
	return w->nvml_ready;
}

static double nvml_mhz(struct gpu_worker *w, bool highest, int type)
{
	unsigned mhz = 0;
	if (!work_nvml(w))
		return 0;
	int rc = highest ? w->nvml.MaxClockInfo(w->nvml_dev, type, &mhz)
	                 : w->nvml.ClockInfo(w->nvml_dev, type, &mhz);
	return rc == 0 ? mhz : 0;
}

double work_highest_clock(struct gpu_worker *w, int type)
{
	return nvml_mhz(w, true, type);
}

void work_clocks(struct gpu_worker *w, double *sm_mhz, double *memory_mhz)
{
	*sm_mhz = nvml_mhz(w, false, NVML_CLOCK_SM);
	*memory_mhz = nvml_mhz(w, false, NVML_CLOCK_MEM);
}
