/* Kernels by handle, and libraries: device code that the program loads while it runs. */
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_record.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CODE_BYTES ((size_t)1 << 30)

/* --- kernels of the program: a handle is the address of the host's stub --- */

static cudaError_t kernel_of(cudaKernel_t *kernel, const void *host)
{
	cudaError_t why;
	const struct guest_function *f = guest_function_of(host, &why);
	if (f)
		*kernel = (cudaKernel_t)(uintptr_t)f->host;
	return why;
}

GUEST_API cudaError_t CUDARTAPI cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
	GUEST_CALL(kernel_of(kernel, host));
}

GUEST_API cudaError_t CUDARTAPI cudaGetFuncBySymbol(cudaFunction_t *function, const void *host)
{
	GUEST_CALL(kernel_of((cudaKernel_t *)function, host));
}

GUEST_API cudaError_t CUDARTAPI cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                                enum cudaFuncAttribute which,
                                                                int value, int device)
{
	if (device)
		GUEST_CALL(cudaErrorInvalidDevice);
	return cudaFuncSetAttribute(kernel, which, value);
}

/* --- libraries: a handle is the module --- */

static cudaError_t load(cudaLibrary_t *out, const void *code, bool owned)
{
	struct err err = { 0 };
	if (!out || !code)
		return cudaErrorInvalidValue;
	struct guest_module *m = guest_module_of_code(code, &err);
	if (!m) {
		record_problem("device-code", &err);
		return cudaErrorInvalidKernelImage;
	}
	m->owned = owned ? (void *)(uintptr_t)code : NULL;
	const cudaError_t e = guest_module_need(m);
	if (e == cudaSuccess)
		*out = (cudaLibrary_t)m;
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaLibraryLoadData(cudaLibrary_t *out, const void *code,
                                                    enum cudaJitOption *jit, void **jit_values,
                                                    unsigned n_jit, enum cudaLibraryOption *options,
                                                    void **values, unsigned n)
{
	(void)jit, (void)jit_values, (void)n_jit, (void)options, (void)values, (void)n;
	GUEST_CALL(load(out, code, false));
}

static cudaError_t load_file(cudaLibrary_t *out, const char *path)
{
	struct text code = { 0 };
	if (!path || !file_read(path, MAX_CODE_BYTES, &code, NULL))
		return cudaErrorFileNotFound;
	const cudaError_t e = load(out, code.s, true);
	if (e != cudaSuccess)
		text_free(&code);
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaLibraryLoadFromFile(cudaLibrary_t *out, const char *path,
                                                        enum cudaJitOption *jit, void **jit_values,
                                                        unsigned n_jit,
                                                        enum cudaLibraryOption *options,
                                                        void **values, unsigned n)
{
	(void)jit, (void)jit_values, (void)n_jit, (void)options, (void)values, (void)n;
	GUEST_CALL(load_file(out, path));
}

/* Its kernels may still be in graphs and records: only the name is forgotten. */
GUEST_API cudaError_t CUDARTAPI cudaLibraryUnload(cudaLibrary_t library)
{
	GUEST_CALL(library ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

static struct guest_module *module_of(cudaLibrary_t library)
{
	return (struct guest_module *)library;
}

static cudaError_t library_kernel(cudaKernel_t *out, cudaLibrary_t library, const char *name)
{
	if (!library || !name)
		return cudaErrorInvalidValue;
	const struct guest_function *f = guest_function_named(module_of(library), name);
	if (f)
		*out = (cudaKernel_t)(uintptr_t)f->host;
	return f ? cudaSuccess : cudaErrorSymbolNotFound;
}

GUEST_API cudaError_t CUDARTAPI cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library,
                                                     const char *name)
{
	GUEST_CALL(library_kernel(out, library, name));
}

static cudaError_t kernel_count(unsigned *n, cudaLibrary_t library)
{
	if (!library || !n)
		return cudaErrorInvalidValue;
	*n = 0;
	while (emu_module_kernel(module_of(library)->loaded, *n))
		++*n;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaLibraryGetKernelCount(unsigned *n, cudaLibrary_t library)
{
	GUEST_CALL(kernel_count(n, library));
}

static cudaError_t list_kernels(cudaKernel_t *out, unsigned n, cudaLibrary_t library)
{
	const char *name;
	if (!library)
		return cudaErrorInvalidValue;
	for (unsigned i = 0; i < n && (name = emu_module_kernel(module_of(library)->loaded, i)); i++)
		library_kernel(&out[i], library, name);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaLibraryEnumerateKernels(cudaKernel_t *out, unsigned n,
                                                            cudaLibrary_t library)
{
	GUEST_CALL(list_kernels(out, n, library));
}

static cudaError_t library_variable(void **address, size_t *bytes, cudaLibrary_t library,
                                    const char *name)
{
	uint64_t at, size;
	if (!library || !name || !emu_module_variable(module_of(library)->loaded, name, &at, &size))
		return library && name ? cudaErrorSymbolNotFound : cudaErrorInvalidValue;
	/* it may be managed: the text alone does not tell */
	emu_device_host_writes(guest.device, at, false);
	if (address)
		*address = (void *)(uintptr_t)at;
	if (bytes)
		*bytes = (size_t)size;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaLibraryGetGlobal(void **address, size_t *bytes,
                                                     cudaLibrary_t library, const char *name)
{
	GUEST_CALL(library_variable(address, bytes, library, name));
}

GUEST_API cudaError_t CUDARTAPI cudaLibraryGetManaged(void **address, size_t *bytes,
                                                      cudaLibrary_t library, const char *name)
{
	GUEST_CALL(library_variable(address, bytes, library, name));
}
