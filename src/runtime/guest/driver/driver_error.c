/* Errors of the driver: their names, and those of the runtime as the driver numbers them. */
#include "runtime/guest/driver/driver.h"

#include <stddef.h>

/* Since CUDA 10.1 both number alike; what only the runtime has is an error of arguments. */
CUresult driver_result(cudaError_t e)
{
	switch ((int)e) {
	case cudaErrorInvalidConfiguration:
	case cudaErrorInvalidPitchValue:
	case cudaErrorInvalidMemcpyDirection:
	case cudaErrorInvalidChannelDescriptor:
	case cudaErrorInvalidTexture:
	case cudaErrorInvalidFilterSetting:
	case cudaErrorMissingConfiguration: return CUDA_ERROR_INVALID_VALUE;
	case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
	case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
	default: return (CUresult)e;
	}
}

static const struct {
	CUresult number;
	const char *name;
} errors[] = {
	{ CUDA_SUCCESS, "CUDA_SUCCESS" },
#define X(name) { CUDA_ERROR_##name, "CUDA_ERROR_" #name },
#include "runtime/guest/driver/driver_error.def"
#undef X
};
#define N_ERRORS (sizeof errors / sizeof errors[0])

static const char *name_of(CUresult error)
{
	for (size_t i = 0; i < N_ERRORS; i++)
		if (errors[i].number == error)
			return errors[i].name;
	return NULL;
}

GUEST_API CUresult CUDAAPI cuGetErrorName(CUresult error, const char **text)
{
	if (!text)
		return CUDA_ERROR_INVALID_VALUE;
	*text = name_of(error);
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

GUEST_API CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text)
{
	if (!text)
		return CUDA_ERROR_INVALID_VALUE;
	*text = name_of(error) ? cudaGetErrorString((cudaError_t)error) : NULL;
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
