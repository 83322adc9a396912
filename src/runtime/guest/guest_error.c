/* Errors of the runtime: names, texts, and the last one of each thread. */
#include "runtime/guest/guest.h"

#include <stddef.h>

static const struct {
	const char *name;
	int number;
	const char *text;
} errors[] = {
#define ERROR(name, number, text) { #name, number, text },
#include "runtime/guest/cuda_error.def"
#undef ERROR
};
#define N_ERRORS (sizeof errors / sizeof errors[0])

static _Thread_local cudaError_t last_error = cudaSuccess;

void guest_note_error(cudaError_t e)
{
	if (e != cudaSuccess && e != cudaErrorNotReady)
		last_error = e;
}

GUEST_API const char *CUDARTAPI cudaGetErrorName(cudaError_t error)
{
	for (size_t i = 0; i < N_ERRORS; i++)
		if (errors[i].number == (int)error)
			return errors[i].name;
	return "unrecognized error code";
}

GUEST_API const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
	for (size_t i = 0; i < N_ERRORS; i++)
		if (errors[i].number == (int)error)
			return errors[i].text;
	return "unrecognized error code";
}

GUEST_API cudaError_t CUDARTAPI cudaPeekAtLastError(void)
{
	return last_error;
}

GUEST_API cudaError_t CUDARTAPI cudaGetLastError(void)
{
	const cudaError_t e = cudaPeekAtLastError();
	last_error = cudaSuccess;
	if (!guest_fault_is_news())     /* else it is too early to ask */
		guest.unchecked_launch = 0; /* launches up to here are checked ones */
	return e;
}
