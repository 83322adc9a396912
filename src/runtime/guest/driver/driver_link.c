/* The linker of the driver API: parts in PTX, or containers that hold PTX, joined to one text. What
 * it gives in place of machine code is that text, which cuModuleLoadData() takes. */
#include "runtime/guest/driver/driver.h"
#include "runtime/guest/guest_record.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ptx/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CODE_BYTES ((size_t)1 << 30)

struct link {
	unsigned n;
	char **part;
	char *whole;
};

static cudaError_t create(CUlinkState *out)
{
	if (!out)
		return cudaErrorInvalidValue;
	*out = (CUlinkState)mem_zalloc(sizeof(struct link));
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuLinkCreate(unsigned n, CUjit_option *options, void **values,
                                        CUlinkState *out)
{
	(void)n, (void)options, (void)values;
	DRIVER_CALL(DRIVER_CONTEXT, create(out));
}

static cudaError_t refuse(CUjitInputType type, const char *name)
{
	struct err err = { 0 };
	err_set(&err, ERR_UNSUPPORTED, "the program links %s '%s', which holds machine code",
	        type == CU_JIT_INPUT_LIBRARY ? "the library" : "the object", name ? name : "");
	err_remedy(&err, "give cuLinkAddData() or cuLinkAddFile() PTX or a fat binary with PTX");
	record_problem("device-code", &err);
	return cudaErrorNotSupported;
}

static cudaError_t add(struct link *l, CUjitInputType type, const void *data, size_t bytes,
                       const char *name)
{
	struct err err = { 0 };
	if (!l || !data)
		return cudaErrorInvalidValue;
	/* NVIDIA's device runtime: its functions are the emulator's own */
	if (type == CU_JIT_INPUT_LIBRARY && name && strstr(name, "cudadevrt"))
		return cudaSuccess;
	if (type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY)
		return refuse(type, name);
	char *text =
		type == CU_JIT_INPUT_PTX ? mem_strndup(data, bytes) : guest_ptx_of_code(data, &err);
	if (!text) {
		record_problem("device-code", &err);
		return cudaErrorInvalidKernelImage;
	}
	l->part = mem_realloc(l->part, l->n + 1u, sizeof *l->part);
	l->part[l->n++] = text;
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuLinkAddData(CUlinkState state, CUjitInputType type, void *data,
                                         size_t bytes, const char *name, unsigned n,
                                         CUjit_option *options, void **values)
{
	(void)n, (void)options, (void)values;
	DRIVER_CALL(DRIVER_CONTEXT, add((struct link *)state, type, data, bytes, name));
}

static cudaError_t add_file(struct link *l, CUjitInputType type, const char *path)
{
	struct text code = { 0 };
	if (!path)
		return cudaErrorInvalidValue;
	if (type == CU_JIT_INPUT_LIBRARY)
		return add(l, type, "", 0, path);
	if (!file_read(path, MAX_CODE_BYTES, &code, NULL))
		return cudaErrorFileNotFound;
	const cudaError_t e = add(l, type, code.s, code.len, path);
	text_free(&code);
	return e;
}

GUEST_API CUresult CUDAAPI cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                                         unsigned n, CUjit_option *options, void **values)
{
	(void)n, (void)options, (void)values;
	DRIVER_CALL(DRIVER_CONTEXT, add_file((struct link *)state, type, path));
}

static cudaError_t complete(struct link *l, void **code, size_t *bytes)
{
	struct err err = { 0 };
	if (!l || !code || !l->n)
		return cudaErrorInvalidValue;
	if (!l->whole)
		l->whole = ptx_join(l->n, (const char *const *)l->part, &err);
	if (!l->whole) {
		record_problem("device-code", &err);
		return cudaErrorInvalidPtx;
	}
	*code = l->whole;
	if (bytes)
		*bytes = strlen(l->whole) + 1;
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuLinkComplete(CUlinkState state, void **code, size_t *bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, complete((struct link *)state, code, bytes));
}

/* The text stays: modules made of it point into it. */
static cudaError_t destroy(struct link *l)
{
	if (!l)
		return cudaErrorInvalidResourceHandle;
	for (unsigned i = 0; i < l->n; i++)
		free(l->part[i]);
	free(l->part);
	free(l);
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuLinkDestroy(CUlinkState state)
{
	DRIVER_CALL(DRIVER_CONTEXT, destroy((struct link *)state));
}
