/* Launches and functions of the driver API. */
#include "runtime/guest/driver/driver.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* --- launches --- */

struct shape {
	dim3 grid, block;
	unsigned shared_bytes;
	bool cooperative;
};

/* Arguments in one buffer (CU_LAUNCH_PARAM_...): pointers to each, as the runtime takes them. */
static cudaError_t unpack(const void *function, void **extra, void ***args)
{
	const uint8_t *buffer = NULL;
	size_t room = 0, offset, bytes, n = 0;
	for (; extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
		if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
			room = *(const size_t *)extra[1];
	}
	while (cudaFuncGetParamInfo(function, n, &offset, &bytes) == cudaSuccess)
		n++;
	*args = mem_calloc(n + 1, sizeof **args);
	for (size_t i = 0; i < n; i++) {
		cudaFuncGetParamInfo(function, i, &offset, &bytes);
		if (!buffer || offset + bytes > room)
			return cudaErrorInvalidValue;
		(*args)[i] = (void *)(uintptr_t)(buffer + offset);
	}
	return cudaSuccess;
}

static cudaError_t launch(CUfunction f, const struct shape *s, CUstream stream, void **args,
                          void **extra)
{
	const void *function = (const void *)f;
	void **own = NULL;
	cudaError_t e = cudaSuccess;
	if (extra && !args) {
		e = unpack(function, extra, &own);
		args = own;
	}
	if (e == cudaSuccess)
		e = s->cooperative
		        ? cudaLaunchCooperativeKernel(function, s->grid, s->block, args, s->shared_bytes,
		                                      stream)
		        : cudaLaunchKernel(function, s->grid, s->block, args, s->shared_bytes, stream);
	free(own);
	return e;
}

GUEST_API CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                          unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                          CUstream stream, void **args, void **extra)
{
	const struct shape s = { { gx, gy, gz }, { bx, by, bz }, shared, false };
	DRIVER_CALL(DRIVER_CONTEXT, launch(f, &s, stream, args, extra));
}

GUEST_API CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy,
                                                     unsigned gz, unsigned bx, unsigned by,
                                                     unsigned bz, unsigned shared, CUstream stream,
                                                     void **args)
{
	const struct shape s = { { gx, gy, gz }, { bx, by, bz }, shared, true };
	DRIVER_CALL(DRIVER_CONTEXT, launch(f, &s, stream, args, NULL));
}

static cudaError_t launch_ex(const CUlaunchConfig *c, CUfunction f, void **args, void **extra)
{
	const cudaLaunchConfig_t config = driver_launch_config(c);
	void **own = NULL;
	cudaError_t e = extra && !args ? unpack((const void *)f, extra, &own) : cudaSuccess;
	if (e == cudaSuccess)
		e = cudaLaunchKernelExC(&config, (const void *)f, own ? own : args);
	free(own);
	return e;
}

GUEST_API CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args,
                                            void **extra)
{
	DRIVER_CALL(DRIVER_CONTEXT, c ? launch_ex(c, f, args, extra) : cudaErrorInvalidValue);
}

/* --- launches as before CUDA 4: block and arguments are set at the function --- */

#define MAX_SET_BYTES 4096
struct settings {
	CUfunction function;
	dim3 block;
	unsigned shared_bytes, bytes;
	uint8_t args[MAX_SET_BYTES];
	struct settings *next;
};

static struct settings *settings_of(CUfunction f)
{
	static struct settings *all;
	struct settings *s = all;
	while (s && s->function != f)
		s = s->next;
	if (!s) {
		s = mem_zalloc(sizeof *s);
		*s = (struct settings){ .function = f, .block = { 1, 1, 1 }, .next = all };
		all = s;
	}
	return s;
}

static cudaError_t set_block(CUfunction f, int x, int y, int z)
{
	settings_of(f)->block = (dim3){ (unsigned)x, (unsigned)y, (unsigned)z };
	return x > 0 && y > 0 && z > 0 ? cudaSuccess : cudaErrorInvalidValue;
}

GUEST_API CUresult CUDAAPI cuFuncSetBlockShape(CUfunction f, int x, int y, int z)
{
	DRIVER_CALL(DRIVER_CONTEXT, set_block(f, x, y, z));
}

GUEST_API CUresult CUDAAPI cuFuncSetSharedSize(CUfunction f, unsigned bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, (settings_of(f)->shared_bytes = bytes, cudaSuccess));
}

GUEST_API CUresult CUDAAPI cuParamSetSize(CUfunction f, unsigned bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, bytes > MAX_SET_BYTES
	                                ? cudaErrorInvalidValue
	                                : (settings_of(f)->bytes = bytes, cudaSuccess));
}

static cudaError_t set_argument(CUfunction f, int offset, const void *value, unsigned bytes)
{
	if (offset < 0 || bytes > MAX_SET_BYTES || (unsigned)offset > MAX_SET_BYTES - bytes)
		return cudaErrorInvalidValue;
	memcpy(settings_of(f)->args + offset, value, bytes);
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuParamSeti(CUfunction f, int offset, unsigned value)
{
	DRIVER_CALL(DRIVER_CONTEXT, set_argument(f, offset, &value, sizeof value));
}

GUEST_API CUresult CUDAAPI cuParamSetf(CUfunction f, int offset, float value)
{
	DRIVER_CALL(DRIVER_CONTEXT, set_argument(f, offset, &value, sizeof value));
}

GUEST_API CUresult CUDAAPI cuParamSetv(CUfunction f, int offset, void *value, unsigned bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, set_argument(f, offset, value, bytes));
}

static cudaError_t launch_as_set(CUfunction f, int x, int y, CUstream stream)
{
	struct settings *set = settings_of(f);
	size_t bytes = set->bytes;
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, set->args, CU_LAUNCH_PARAM_BUFFER_SIZE,
		              &bytes, CU_LAUNCH_PARAM_END };
	const struct shape s = {
		{ (unsigned)x, (unsigned)y, 1 }, set->block, set->shared_bytes, false
	};
	return launch(f, &s, stream, NULL, extra);
}

GUEST_API CUresult CUDAAPI cuLaunch(CUfunction f)
{
	DRIVER_CALL(DRIVER_CONTEXT, launch_as_set(f, 1, 1, 0));
}

GUEST_API CUresult CUDAAPI cuLaunchGrid(CUfunction f, int x, int y)
{
	DRIVER_CALL(DRIVER_CONTEXT, launch_as_set(f, x, y, 0));
}

GUEST_API CUresult CUDAAPI cuLaunchGridAsync(CUfunction f, int x, int y, CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, launch_as_set(f, x, y, stream));
}
