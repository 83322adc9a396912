/*
 * A stand-in for NVRTC: what it does with a source is in the source's words.
 *
 * "SIGILL" and "hang" do that; "wrong" is a source that does not compile; "slow" takes 100 ms;
 * "refuse" is an error that is not the source's; "cached" was compiled before: without --no-cache
 * its log is empty; "older" does not know that option. Everything else compiles to itself.
 * FAKE_NVRTC holds words for every source.
 */
#define _GNU_SOURCE /* asprintf */
#include <nvrtc.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *source;
static char compile_log[64];

nvrtcResult nvrtcVersion(int *major, int *minor)
{
	*major = 13;
	*minor = 9;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int *n)
{
	*n = 1;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *archs)
{
	*archs = 90;
	return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult r)
{
	return r == NVRTC_ERROR_INVALID_OPTION ? "fake: invalid option" : "fake";
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *p, const char *text, const char *name, int n,
                               const char *const *headers, const char *const *names)
{
	(void)name, (void)n, (void)headers, (void)names;
	const char *words = getenv("FAKE_NVRTC");
	if (asprintf(&source, "%s%s", text, words ? words : "") < 0)
		return NVRTC_ERROR_OUT_OF_MEMORY;
	*p = (nvrtcProgram)(void *)&source;
	/* cppcheck-suppress memleak ; freed by nvrtcDestroyProgram() */
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *p)
{
	free(source);
	*p = NULL;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int n, const char *const *options)
{
	(void)p;
	const bool no_cache = n && !strcmp(options[n - 1], "--no-cache");
	snprintf(compile_log, sizeof compile_log, "pid %d, %d options, first %.20s", (int)getpid(), n,
	         n ? options[0] : "none");
	if (strstr(source, "cached") && !no_cache)
		compile_log[0] = '\0';
	if (strstr(source, "older") && no_cache)
		return NVRTC_ERROR_INVALID_OPTION;
	if (strstr(source, "SIGILL")) {
		fprintf(stderr, "last words\n");
		signal(SIGILL, SIG_DFL); /* no sanitizer's report in between */
		raise(SIGILL);
	}
	if (strstr(source, "hang"))
		for (;;)
			pause();
	if (strstr(source, "slow"))
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	return strstr(source, "wrong")    ? NVRTC_ERROR_COMPILATION
	       : strstr(source, "refuse") ? NVRTC_ERROR_INVALID_OPTION
	                                  : NVRTC_SUCCESS;
}

/* What NVRTC gives in two calls, its size and then its bytes. */
#define RESULT(size_call, call, bytes, size)         \
	nvrtcResult size_call(nvrtcProgram p, size_t *n) \
	{                                                \
		(void)p;                                     \
		*n = (size);                                 \
		return NVRTC_SUCCESS;                        \
	}                                                \
	nvrtcResult call(nvrtcProgram p, char *out)      \
	{                                                \
		(void)p;                                     \
		memcpy(out, bytes, size);                    \
		return NVRTC_SUCCESS;                        \
	}
RESULT(nvrtcGetPTXSize, nvrtcGetPTX, source, strlen(source) + 1)
RESULT(nvrtcGetCUBINSize, nvrtcGetCUBIN, "a\0b", 3)
RESULT(nvrtcGetProgramLogSize, nvrtcGetProgramLog, compile_log, strlen(compile_log) + 1)
