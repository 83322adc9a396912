/*
 * NVRTC, opened at run time: source text in, PTX, cubin and log out.
 *
 * Internal to compile/. Loads once per process; every call is serialised, so any thread may call.
 * Knows no cache and does not interpret the log.
 */
#ifndef PMPP_COMPILE_RTC_H
#define PMPP_COMPILE_RTC_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct rtc_output {
	bool ok;        /* false: the source does not compile; no cubin */
	char *ptx;      /* NULL when not even PTX came out */
	size_t ptx_len; /* without the NUL */
	void *cubin;
	size_t cubin_len;
	char *log; /* never NULL after rtc_compile() returned true */
};

/* Loads NVRTC on first use. False with every place tried. */
bool rtc_load(struct err *err);
/* Takes the library out of memory; what was learned of it stays, and rtc_compile() opens it again.
 */
void rtc_let_go(void);
/* Valid after a successful rtc_load(). */
const char *rtc_path(void);
void rtc_version(int *major, int *minor);
const char *rtc_name(void); /* "NVRTC 13.0" */
/* Is sm_<cc> among the architectures? If not, ERR_UNSUPPORTED lists those that are. */
bool rtc_supports(int cc_major, int cc_minor, struct err *err);
/* Options as NVRTC takes them. True also when the source does not compile: see out->ok. */
bool rtc_compile(const char *file, const char *source, const char *const *options, int n_options,
                 struct rtc_output *out, struct err *err);
void rtc_free(struct rtc_output *out);

#endif
