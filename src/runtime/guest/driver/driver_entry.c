/*
 * The functions of the driver API by name; each of driver.def that is not served names itself once
 * and answers CUDA_ERROR_NOT_SUPPORTED.
 */
#include "runtime/guest/driver/driver.h"
#include "runtime/guest/guest_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cudaProfiler.h is in no wheel. */
GUEST_API CUresult CUDAAPI cuProfilerStart(void);
GUEST_API CUresult CUDAAPI cuProfilerStop(void);

/* --- functions by name --- */

#define API(name, timeline) extern const char at_##name[] __asm__(#name);
#define ALIAS(name, of)
#define STUB(name)
#include "runtime/guest/driver/driver.def"
#undef API
#undef ALIAS
#undef STUB

static const struct {
	const char *name, *function;
} functions[] = {
#define API(name, timeline) { #name, at_##name },
#define ALIAS(name, of) { #name, at_##of },
#define STUB(name)
#include "runtime/guest/driver/driver.def"
#undef API
#undef ALIAS
#undef STUB
};

static const char *function_named(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].function;
	return NULL;
}

/* Forms that take other arguments than the one before, by the CUDA that brought them. */
static const struct {
	const char *name;
	int since;
} later[] = {
	{ "cuCtxCreate_v4", 12050 },      { "cuCtxCreate_v3", 11040 },
	{ "cuMemAdvise_v2", 12020 },      { "cuMemPrefetchAsync_v2", 12020 },
	{ "cuGetProcAddress_v2", 12000 },
};

static bool is_known_to(const char *name, int version)
{
	for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
		if (!strcmp(later[i].name, name))
			return version >= later[i].since;
	return true;
}

/* The newest form of @symbol that a program of CUDA @version knows; NULL = not served. */
static const char *newest(const char *symbol, int version)
{
	static const char *const forms[] = { "_v4", "_v3", "_v2", "" };
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		char name[128];
		snprintf(name, sizeof name, "%s%s", symbol, forms[i]);
		const char *function = function_named(name);
		if (function && is_known_to(name, version))
			return function;
	}
	return NULL;
}

bool guest_driver_function(const char *symbol, int version, void **function)
{
	const char *at = newest(symbol, version);
	*function = (void *)(uintptr_t)at;
	return at != NULL;
}

static cudaError_t find(const char *symbol, void **function, int version,
                        CUdriverProcAddressQueryResult *status)
{
	if (!symbol || !function)
		return cudaErrorInvalidValue;
	const bool found = guest_driver_function(symbol, version, function);
	if (status)
		*status = found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return found || status ? cudaSuccess : cudaErrorSymbolNotFound; /* @status says it then */
}

GUEST_API CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **function, int version,
                                            cuuint64_t flags,
                                            CUdriverProcAddressQueryResult *status)
{
	(void)flags;
	DRIVER_CALL(DRIVER_ANY, find(symbol, function, version, status));
}

GUEST_API CUresult CUDAAPI find_v1(const char *symbol, void **function, int version,
                                   cuuint64_t flags) __asm__("cuGetProcAddress");
CUresult CUDAAPI find_v1(const char *symbol, void **function, int version, cuuint64_t flags)
{
	(void)flags;
	DRIVER_CALL(DRIVER_ANY, find(symbol, function, version, NULL));
}

GUEST_API CUresult CUDAAPI cuProfilerStart(void)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaSuccess);
}

GUEST_API CUresult CUDAAPI cuProfilerStop(void)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaSuccess);
}

/* Tables of functions that no document describes: there are none here. */
GUEST_API CUresult CUDAAPI cuGetExportTable(const void **table, const CUuuid *id)
{
	(void)table, (void)id;
	return CUDA_ERROR_NOT_FOUND;
}

/* --- those that are not served --- */

static CUresult not_served(const char *name, bool *told)
{
	if (!*told) {
		struct err err = { 0 };
		*told = true;
		err_set(&err, ERR_UNSUPPORTED,
		        "%s() is not served without a GPU; it answered CUDA_ERROR_NOT_SUPPORTED", name);
		err_remedy(&err, "src/runtime/guest/driver/driver.def lists what is served; run the "
		                 "program by itself on a machine with an NVIDIA GPU");
		record_problem("not-served", &err);
	}
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* Under the program's name, but with a C name of its own: its arguments are not looked at. */
#define API(name, timeline)
#define ALIAS(name, of)
#define STUB(name)                                       \
	GUEST_API CUresult stub_##name(void) __asm__(#name); \
	CUresult stub_##name(void)                           \
	{                                                    \
		static bool told;                                \
		return not_served(#name, &told);                 \
	}
#include "runtime/guest/driver/driver.def"
