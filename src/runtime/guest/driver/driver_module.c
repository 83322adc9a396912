/* Modules: device code that the program loads, its kernels and variables by name. */
#include "runtime/guest/driver/driver.h"
#include "runtime/guest/guest_record.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CODE_BYTES ((size_t)1 << 30)

/* --- options of the compiler in the driver: only its logs mean something here --- */

struct jit {
	unsigned n;
	CUjit_option *option;
	void **value;
};

static void **jit_value(const struct jit *j, CUjit_option which)
{
	for (unsigned i = 0; i < j->n; i++)
		if (j->option[i] == which)
			return &j->value[i];
	return NULL;
}

/* A log's size comes in as room and goes out as what was written; both stand in a pointer. */
static void write_log(const struct jit *j, CUjit_option buffer, CUjit_option size, const char *text)
{
	void **to = jit_value(j, buffer), **room = jit_value(j, size);
	if (!room)
		return;
	const size_t n = (size_t)(uintptr_t)*room & UINT32_MAX;
	if (to && *to && n)
		snprintf(*to, n, "%s", text);
	const size_t written = strlen(text) < n ? strlen(text) : n;
	*room = (void *)(uintptr_t)written;
}

static void report(const struct jit *j, const char *text, double seconds)
{
	const float ms = (float)(seconds * 1e3);
	void **time = jit_value(j, CU_JIT_WALL_TIME);
	write_log(j, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
	write_log(j, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, text);
	if (time)
		memcpy(time, &ms, sizeof ms);
}

/* --- loading --- */

static cudaError_t load(CUmodule *out, const void *code, void *owned, const struct jit *j)
{
	struct err err = { 0 };
	if (!out || !code)
		return cudaErrorInvalidValue;
	const double began = clock_now_s();
	struct guest_module *m = guest_module_of_code(code, &err);
	if (!m) {
		record_problem("device-code", &err);
		report(j, err.msg, 0);
		return cudaErrorInvalidKernelImage;
	}
	m->owned = owned;
	const cudaError_t e = guest_module_need(m);
	report(j, e == cudaSuccess ? "" : m->why, clock_now_s() - began);
	if (e == cudaSuccess)
		*out = (CUmodule)m;
	return e;
}

GUEST_API CUresult CUDAAPI cuModuleLoadData(CUmodule *out, const void *code)
{
	DRIVER_CALL(DRIVER_CONTEXT, load(out, code, NULL, &(const struct jit){ .n = 0 }));
}

GUEST_API CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *out, const void *code)
{
	DRIVER_CALL(DRIVER_CONTEXT, load(out, code, NULL, &(const struct jit){ .n = 0 }));
}

GUEST_API CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *out, const void *code, unsigned n,
                                              CUjit_option *options, void **values)
{
	const struct jit j = { n, options, values };
	DRIVER_CALL(DRIVER_CONTEXT, load(out, code, NULL, &j));
}

static cudaError_t load_file(CUmodule *out, const char *path)
{
	struct text code = { 0 };
	if (!path || !file_read(path, MAX_CODE_BYTES, &code, NULL))
		return cudaErrorFileNotFound;
	const cudaError_t e = load(out, code.s, code.s, &(const struct jit){ .n = 0 });
	if (e != cudaSuccess)
		text_free(&code);
	return e;
}

GUEST_API CUresult CUDAAPI cuModuleLoad(CUmodule *out, const char *path)
{
	DRIVER_CALL(DRIVER_CONTEXT, load_file(out, path));
}

/* Its kernels may still be in graphs and records: only the handle is given back. */
GUEST_API CUresult CUDAAPI cuModuleUnload(CUmodule module)
{
	DRIVER_CALL(DRIVER_CONTEXT, module ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

GUEST_API CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	DRIVER_CALL(DRIVER_INIT, (*mode = CU_MODULE_LAZY_LOADING, cudaSuccess));
}

/* --- what is in it; a library is a module too --- */

GUEST_API CUresult CUDAAPI cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaLibraryGetKernel((cudaKernel_t *)out, (cudaLibrary_t)module, name));
}

GUEST_API CUresult CUDAAPI cuModuleGetFunctionCount(unsigned *n, CUmodule module)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaLibraryGetKernelCount(n, (cudaLibrary_t)module));
}

GUEST_API CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction *out, unsigned n, CUmodule module)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaLibraryEnumerateKernels((cudaKernel_t *)out, n, (cudaLibrary_t)module));
}

GUEST_API CUresult CUDAAPI cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module,
                                             const char *name)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaLibraryGetGlobal((void **)address, bytes, (cudaLibrary_t)module, name));
}

GUEST_API CUresult CUDAAPI cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *jit,
                                             void **jit_values, unsigned n_jit,
                                             CUlibraryOption *options, void **values, unsigned n)
{
	(void)options, (void)values, (void)n;
	const struct jit j = { n_jit, jit, jit_values };
	DRIVER_CALL(DRIVER_INIT, load((CUmodule *)out, code, NULL, &j));
}

GUEST_API CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *out, const char *path,
                                                 CUjit_option *jit, void **jit_values,
                                                 unsigned n_jit, CUlibraryOption *options,
                                                 void **values, unsigned n)
{
	(void)jit, (void)jit_values, (void)n_jit, (void)options, (void)values, (void)n;
	DRIVER_CALL(DRIVER_INIT, load_file((CUmodule *)out, path));
}

GUEST_API CUresult CUDAAPI cuLibraryUnload(CUlibrary library)
{
	DRIVER_CALL(DRIVER_INIT, cudaLibraryUnload((cudaLibrary_t)library));
}

GUEST_API CUresult CUDAAPI cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name)
{
	DRIVER_CALL(DRIVER_INIT,
	            cudaLibraryGetKernel((cudaKernel_t *)out, (cudaLibrary_t)library, name));
}

GUEST_API CUresult CUDAAPI cuLibraryGetKernelCount(unsigned *n, CUlibrary library)
{
	DRIVER_CALL(DRIVER_INIT, cudaLibraryGetKernelCount(n, (cudaLibrary_t)library));
}

GUEST_API CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel *out, unsigned n, CUlibrary library)
{
	DRIVER_CALL(DRIVER_INIT,
	            cudaLibraryEnumerateKernels((cudaKernel_t *)out, n, (cudaLibrary_t)library));
}

GUEST_API CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes,
                                              CUlibrary library, const char *name)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaLibraryGetGlobal((void **)address, bytes, (cudaLibrary_t)library, name));
}

GUEST_API CUresult CUDAAPI cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes,
                                               CUlibrary library, const char *name)
{
	DRIVER_CALL(DRIVER_INIT,
	            cudaLibraryGetManaged((void **)address, bytes, (cudaLibrary_t)library, name));
}

GUEST_API CUresult CUDAAPI cuLibraryGetModule(CUmodule *out, CUlibrary library)
{
	DRIVER_CALL(DRIVER_CONTEXT, (*out = (CUmodule)library, cudaSuccess));
}

GUEST_API CUresult CUDAAPI cuKernelGetFunction(CUfunction *out, CUkernel kernel)
{
	DRIVER_CALL(DRIVER_CONTEXT, (*out = (CUfunction)kernel, cudaSuccess));
}
