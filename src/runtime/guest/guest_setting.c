/* Settings that change no result here: the profiler's range, banks of shared memory, attributes of
 * streams, entry points of the driver. What was set is given back when it is asked for. */
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_record.h"

#include <string.h>

/* cuda_profiler_api.h is in no wheel. */
GUEST_API cudaError_t CUDARTAPI cudaProfilerStart(void);
GUEST_API cudaError_t CUDARTAPI cudaProfilerStop(void);

/* The explorer records every launch, inside the program's ranges and outside. */
GUEST_API cudaError_t CUDARTAPI cudaProfilerStart(void)
{
	GUEST_CALL(cudaSuccess);
}

GUEST_API cudaError_t CUDARTAPI cudaProfilerStop(void)
{
	GUEST_CALL(cudaSuccess);
}

/* --- banks of shared memory: four bytes on every device from 5.0 on --- */

static cudaError_t bank_size(enum cudaSharedMemConfig *config)
{
	if (!config)
		return cudaErrorInvalidValue;
	*config = cudaSharedMemBankSizeFourByte;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
	GUEST_CALL(bank_size(config));
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
	GUEST_CALL(config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue : cudaSuccess);
}

static cudaError_t set_bank_size(const void *host, enum cudaSharedMemConfig config)
{
	cudaError_t why;
	if (config > cudaSharedMemBankSizeEightByte)
		return cudaErrorInvalidValue;
	return guest_function_of(host, &why) ? cudaSuccess : why;
}

GUEST_API cudaError_t CUDARTAPI cudaFuncSetSharedMemConfig(const void *host,
                                                           enum cudaSharedMemConfig config)
{
	GUEST_CALL(set_bank_size(host, config));
}

/* --- attributes of streams --- */

static cudaError_t stream_attribute(cudaStream_t handle, cudaLaunchAttributeID which,
                                    cudaLaunchAttributeValue *out,
                                    const cudaLaunchAttributeValue *in)
{
	struct guest_stream *s = guest_stream_of(handle);
	if (!s || (!in && !out))
		return s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
	if (out)
		memset(out, 0, sizeof *out);
	switch (which) {
	case cudaLaunchAttributeAccessPolicyWindow:
		if (in)
			s->window = *in;
		else
			*out = s->window;
		return cudaSuccess;
	case cudaLaunchAttributeSynchronizationPolicy:
		if (in)
			s->sync_policy = in->syncPolicy;
		else
			out->syncPolicy = s->sync_policy;
		return cudaSuccess;
	case cudaLaunchAttributePriority:
		if (in)
			s->priority = in->priority;
		else
			out->priority = s->priority;
		return cudaSuccess;
	default: return cudaSuccess; /* hints */
	}
}

GUEST_API cudaError_t CUDARTAPI cudaStreamGetAttribute(cudaStream_t stream,
                                                       cudaLaunchAttributeID which,
                                                       cudaLaunchAttributeValue *value)
{
	GUEST_CALL(stream_attribute(stream, which, value, NULL));
}

GUEST_API cudaError_t CUDARTAPI cudaStreamSetAttribute(cudaStream_t stream,
                                                       cudaLaunchAttributeID which,
                                                       const cudaLaunchAttributeValue *value)
{
	GUEST_CALL(stream_attribute(stream, which, NULL, value));
}

static cudaError_t copy_attributes(cudaStream_t to, cudaStream_t from)
{
	struct guest_stream *t = guest_stream_of(to);
	const struct guest_stream *f = guest_stream_of(from);
	if (!t || !f)
		return cudaErrorInvalidResourceHandle;
	t->window = f->window;
	t->sync_policy = f->sync_policy;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
	GUEST_CALL(copy_attributes(to, from));
}

/* --- functions of the driver, by name --- */

static cudaError_t entry_point(const char *symbol, void **function, unsigned version,
                               enum cudaDriverEntryPointQueryResult *status)
{
	struct err err = { 0 };
	if (!symbol || !function)
		return cudaErrorInvalidValue;
	if (guest_driver_function(symbol, (int)version, function)) {
		if (status)
			*status = cudaDriverEntryPointSuccess;
		return cudaSuccess;
	}
	if (status)
		*status = cudaDriverEntryPointSymbolNotFound;
	err_set(&err, ERR_UNSUPPORTED, "%s() of the driver is not there without a GPU", symbol);
	err_remedy(&err, "use the runtime API for it, or run the program on a machine with a GPU");
	record_problem("not-served", &err);
	return status ? cudaSuccess : cudaErrorSymbolNotFound;
}

GUEST_API cudaError_t CUDARTAPI
cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                        enum cudaDriverEntryPointQueryResult *status)
{
	(void)flags;
	GUEST_CALL(entry_point(symbol, function, CUDART_VERSION, status));
}

GUEST_API cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(
	const char *symbol, void **function, unsigned version, unsigned long long flags,
	enum cudaDriverEntryPointQueryResult *status)
{
	(void)flags;
	GUEST_CALL(entry_point(symbol, function, version, status));
}
