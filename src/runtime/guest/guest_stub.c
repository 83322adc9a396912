/*
 * The functions of the runtime API that are not served: each names itself once, then answers
 * cudaErrorNotSupported, so that a program can go on without it if it knows how.
 */
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_record.h"

static cudaError_t not_served(const char *name, bool *told)
{
	const cudaError_t e = guest_enter();
	if (e == cudaSuccess && !*told) {
		struct err err = { 0 };
		*told = true;
		err_set(&err, ERR_UNSUPPORTED,
		        "%s() is not served without a GPU; it answered "
		        "cudaErrorNotSupported",
		        name);
		err_remedy(&err,
		           "src/runtime/guest/api.def lists what is served; run the program by itself "
		           "on a machine with an NVIDIA GPU");
		record_problem("not-served", &err);
	}
	return guest_leave(e == cudaSuccess ? cudaErrorNotSupported : e);
}

/* Under the program's name, but with a C name of its own: its arguments are not looked at. */
#define API(name, timeline)
#define ALIAS(name, of)
#define STUB(name)                                                   \
	GUEST_API cudaError_t stub_##name(void) __asm__("guest_" #name); \
	cudaError_t stub_##name(void)                                    \
	{                                                                \
		static bool told;                                            \
		return not_served(#name, &told);                             \
	}
#include "runtime/guest/api.def"
