/* Error numbers to faults; see cuda_fault.h. Numbers: cuda.h CUresult, cupti_result.h. */
#include "cuda/cuda_fault.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *key, *reason, *remedy;
} faults[FAULT_COUNT] = {
#define FAULT(id, key_, reason_, remedy_) \
	[FAULT_##id] = { .key = key_, .reason = reason_, .remedy = remedy_ },
#include "cuda/cuda_fault.def"
#undef FAULT
};

static unsigned known(enum fault_id id)
{
	return (unsigned)id < FAULT_COUNT ? (unsigned)id : (unsigned)FAULT_OTHER;
}

const char *fault_key(enum fault_id id)
{
	return faults[known(id)].key;
}

const char *fault_reason(enum fault_id id)
{
	return faults[known(id)].reason;
}

const char *fault_remedy(enum fault_id id)
{
	return faults[known(id)].remedy;
}

struct row {
	int number;
	enum fault_id id;
};

static enum fault_id look_up(const struct row *rows, size_t n, int number)
{
	if (number == 0)
		return FAULT_NONE;
	for (size_t i = 0; i < n; i++)
		if (rows[i].number == number)
			return rows[i].id;
	return FAULT_OTHER;
}

enum fault_id fault_of_cuda(int result)
{
	static const struct row rows[] = {
		{ 2, FAULT_OUT_OF_MEMORY },
		{ 3, FAULT_NO_DRIVER }, /* NOT_INITIALIZED: module not loaded */
		{ 34, FAULT_STUB_DRIVER },
		{ 35, FAULT_DRIVER_OLD },  /* runtime's INSUFFICIENT_DRIVER */
		{ 46, FAULT_DEVICE_BUSY }, /* DEVICE_UNAVAILABLE */
		{ 100, FAULT_NO_DEVICE },
		{ 101, FAULT_DEVICE_NUMBER },
		{ 200, FAULT_NO_IMAGE },
		{ 209, FAULT_NO_IMAGE },
		{ 218, FAULT_NO_IMAGE },
		{ 221, FAULT_NO_IMAGE },
		{ 222, FAULT_NO_IMAGE },
		{ 223, FAULT_NO_IMAGE },
		{ 214, FAULT_DEVICE_LOST }, /* ECC_UNCORRECTABLE */
		{ 220, FAULT_DEVICE_LOST }, /* NVLINK_UNCORRECTABLE */
		{ 700, FAULT_KERNEL_FAULT },
		{ 710, FAULT_KERNEL_FAULT },
		{ 714, FAULT_KERNEL_FAULT },
		{ 715, FAULT_KERNEL_FAULT },
		{ 716, FAULT_KERNEL_FAULT },
		{ 717, FAULT_KERNEL_FAULT },
		{ 718, FAULT_KERNEL_FAULT },
		{ 719, FAULT_KERNEL_FAULT },
		{ 721, FAULT_KERNEL_FAULT },
		{ 701, FAULT_LAUNCH },
		{ 720, FAULT_LAUNCH },
		{ 1, FAULT_LAUNCH },
		{ 702, FAULT_KERNEL_TIMEOUT }, /* the display's own watchdog */
		{ 803, FAULT_DRIVER_MISMATCH },
		{ 804, FAULT_DRIVER_OLD },
		{ 802, FAULT_DEVICE_LOST }, /* SYSTEM_NOT_READY: fabric manager */
		{ 999, FAULT_DEVICE_LOST },
	};
	return look_up(rows, sizeof rows / sizeof *rows, result);
}

enum fault_id fault_of_cupti(int result)
{
	static const struct row rows[] = {
		{ 8, FAULT_OUT_OF_MEMORY },
		{ 9, FAULT_DEVICE_LOST },
		{ 11, FAULT_CUPTI_OLD },
		{ 14, FAULT_DRIVER_OLD }, /* NOT_COMPATIBLE */
		{ 15, FAULT_NO_NVPERF },  /* NOT_INITIALIZED from cuptiProfilerInitialize */
		{ 26, FAULT_COUNTERS_BUSY },
		{ 33, FAULT_VIRTUAL },
		{ 40, FAULT_VIRTUAL },
		{ 35, FAULT_PRIVILEGES },
		{ 36, FAULT_PROFILER_ATTACHED },
		{ 39, FAULT_PROFILER_ATTACHED },
		{ 41, FAULT_CONFIDENTIAL },
		{ 42, FAULT_CMP },
		{ 43, FAULT_MIG },
		{ 45, FAULT_WSL },
		{ 38, FAULT_ARCH_OLD }, /* LEGACY_PROFILER_NOT_SUPPORTED */
		{ 46, FAULT_CHIP_UNKNOWN },
	};
	return look_up(rows, sizeof rows / sizeof *rows, result);
}

enum err_code fault_code(enum fault_id id)
{
	switch (id) {
	case FAULT_KERNEL_FAULT: return ERR_FAULT;
	case FAULT_KERNEL_TIMEOUT: return ERR_TIMEOUT;
	case FAULT_CANCELLED: return ERR_CANCELLED;
	case FAULT_LAUNCH: return ERR_USAGE;
	case FAULT_WORKER:
	case FAULT_OTHER: return ERR_INTERNAL;
	default: return ERR_UNAVAILABLE;
	}
}

bool fault_set(struct cuda_fault *f, enum fault_id id, const char *fmt, ...)
{
	f->id = id;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(f->detail, sizeof f->detail, fmt, ap);
	va_end(ap);
	return false;
}

bool fault_to_err(const struct cuda_fault *f, struct err *err)
{
	err_set(err, fault_code(f->id), "%s%s%s%s", fault_reason(f->id), f->detail[0] ? " (" : "",
	        f->detail, f->detail[0] ? ")" : "");
	if (fault_remedy(f->id)[0])
		err_remedy(err, "%s", fault_remedy(f->id));
	return false;
}
