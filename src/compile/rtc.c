/*
 * NVRTC by dlopen; see rtc.h. Reference: NVRTC user guide ("User Interface").
 *
 * It is 100 MB of code, of which opening it alone touches 30: a program that has a worker to
 * compile keeps what it learned of NVRTC, and lets the library go.
 *
 * NVRTC opens libnvrtc-builtins by its bare name at the first compilation. The file lies beside
 * libnvrtc, where the loader may not look, so it is opened here by full path beforehand.
 * PMPP_NVRTC names one library file to use instead of searching.
 */
#include "compile/rtc.h"

#include "base/mem.h"
#include "base/text.h"
#include "compile/compile.h"

#include <nvrtc.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RTC_FUNCTIONS(X)         \
	X(nvrtcVersion)              \
	X(nvrtcGetNumSupportedArchs) \
	X(nvrtcGetSupportedArchs)    \
	X(nvrtcGetErrorString)       \
	X(nvrtcCreateProgram)        \
	X(nvrtcDestroyProgram)       \
	X(nvrtcCompileProgram)       \
	X(nvrtcGetPTXSize)           \
	X(nvrtcGetPTX)               \
	X(nvrtcGetCUBINSize)         \
	X(nvrtcGetCUBIN)             \
	X(nvrtcGetProgramLogSize)    \
	X(nvrtcGetProgramLog)

static struct {
	pthread_once_t once;
	pthread_mutex_t lock;
	void *library, *builtins; /* under lock, once `ready`; NULL = not open */
	bool ready;
	struct err why;
	char path[4096];
	int major, minor;
	char name[32];
	int n_archs;
	int *archs;
#define X(f) __typeof__(&f) f;
	RTC_FUNCTIONS(X)
#undef X
} rtc = { .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER };

static bool failed(nvrtcResult r, const char *what, struct err *err)
{
	if (r == NVRTC_SUCCESS)
		return false;
	err_set(err, ERR_INTERNAL, "%s: %s: %s", rtc.name, what, rtc.nvrtcGetErrorString(r));
	return true;
}

/* NVRTC's C++ library takes memory as it is loaded and never gives it back: a search for leaks, in
 * a build that has one, is not to look there. */
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));

static void search_leaks(bool on)
{
	void (*const turn)(void) = on ? __lsan_enable : __lsan_disable;
	if (turn)
		turn();
}

static void *open_library(struct err *err)
{
	const char *only = getenv("PMPP_NVRTC");
	if (!only || !*only) {
		static const char *const majors[] = { "13", "12", NULL };
		return cuda_dlopen("nvrtc", majors, rtc.path, sizeof rtc.path, err);
	}
	void *handle = dlopen(only, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		snprintf(rtc.path, sizeof rtc.path, "%s", only);
	else
		err_set(err, ERR_UNAVAILABLE, "NVRTC, named by PMPP_NVRTC: %s", dlerror());
	return handle;
}

static bool resolve(void *handle)
{
#define X(f)                              \
	*(void **)&rtc.f = dlsym(handle, #f); \
	if (!rtc.f)                           \
		return err_set(&rtc.why, ERR_UNAVAILABLE, "%s has no function " #f, rtc.path);
	RTC_FUNCTIONS(X)
#undef X
	return true;
}

/* Missing builtins are reported by NVRTC itself, at the first compilation that needs them. */
static void preload_builtins(void)
{
	char *slash = strrchr(rtc.path, '/');
	if (!slash || rtc.builtins)
		return;
	char *file = mem_printf("%.*s/libnvrtc-builtins.so.%d.%d", (int)(slash - rtc.path), rtc.path,
	                        rtc.major, rtc.minor);
	rtc.builtins = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!rtc.builtins)
		dlerror();
	free(file);
}

static void load_once(void)
{
	search_leaks(false);
	rtc.library = open_library(&rtc.why);
	search_leaks(true);
	if (!rtc.library || !resolve(rtc.library)) {
		err_remedy(&rtc.why, "Install the CUDA Toolkit 12 or newer and set CUDA_HOME to its "
		                     "folder, or: pip install nvidia-cuda-nvrtc==13.0.88");
		return;
	}
	if (failed(rtc.nvrtcVersion(&rtc.major, &rtc.minor), "nvrtcVersion", &rtc.why) ||
	    failed(rtc.nvrtcGetNumSupportedArchs(&rtc.n_archs), "nvrtcGetNumSupportedArchs", &rtc.why))
		return;
	snprintf(rtc.name, sizeof rtc.name, "NVRTC %d.%d", rtc.major, rtc.minor);
	rtc.archs = mem_calloc((size_t)rtc.n_archs + 1, sizeof *rtc.archs);
	if (failed(rtc.nvrtcGetSupportedArchs(rtc.archs), "nvrtcGetSupportedArchs", &rtc.why))
		return;
	rtc.ready = true;
}

void rtc_let_go(void)
{
	pthread_mutex_lock(&rtc.lock);
	if (rtc.builtins)
		dlclose(rtc.builtins);
	if (rtc.library)
		dlclose(rtc.library);
	rtc.library = rtc.builtins = NULL;
	pthread_mutex_unlock(&rtc.lock);
}

/* With the lock held: open, after it was let go, and with what it needs to compile. */
static bool open_again(struct err *err)
{
	search_leaks(false);
	if (!rtc.library)
		rtc.library = dlopen(rtc.path, RTLD_NOW | RTLD_LOCAL);
	search_leaks(true);
	if (!rtc.library || !resolve(rtc.library))
		return err_set(err, ERR_UNAVAILABLE, "%s can no longer be opened: %s", rtc.name, dlerror());
	preload_builtins();
	return true;
}

bool rtc_load(struct err *err)
{
	pthread_once(&rtc.once, load_once);
	if (!rtc.ready && err)
		*err = rtc.why;
	return rtc.ready;
}

const char *rtc_path(void)
{
	return rtc.path;
}

void rtc_version(int *major, int *minor)
{
	*major = rtc.major;
	*minor = rtc.minor;
}

const char *rtc_name(void)
{
	return rtc.name;
}

bool rtc_supports(int cc_major, int cc_minor, struct err *err)
{
	if (!rtc_load(err))
		return false;
	struct text list = { 0 };
	for (int i = 0; i < rtc.n_archs; i++) {
		if (rtc.archs[i] == cc_major * 10 + cc_minor) {
			text_free(&list);
			return true;
		}
		text_add(&list, " sm_%d", rtc.archs[i]);
	}
	err_set(err, ERR_UNSUPPORTED, "%s cannot compile for sm_%d%d; it can for%s", rtc.name, cc_major,
	        cc_minor, list.s ? list.s : " nothing");
	text_free(&list);
	return err_remedy(err,
	                  "Choose a GPU of one of these architectures, or a CUDA Toolkit that "
	                  "knows sm_%d%d.",
	                  cc_major, cc_minor);
}

/* Sizes of text count the NUL; room for one more byte is kept, so that the result always ends. */
#define FETCH(size_of, get, program, buffer, len, err)   \
	(failed(rtc.size_of(program, &(len)), #size_of, err) \
	     ? false                                         \
	     : ((buffer) = mem_zalloc((len) + 1),            \
	        !failed(rtc.get(program, (void *)(buffer)), #get, err)))

/*
 * Without the driver's cache (~/.nv/ComputeCache): what NVRTC finds there comes without the
 * assembler's report, which says what each entry needs; and to look there, it starts the driver.
 * An NVRTC that has no such cache does not know the option.
 */
static nvrtcResult compile_uncached(nvrtcProgram program, const char *const *options, int n)
{
	const char **all = mem_calloc((size_t)n + 1, sizeof *all);
	if (n)
		memcpy(all, options, (size_t)n * sizeof *all);
	all[n] = "--no-cache";
	nvrtcResult r = rtc.nvrtcCompileProgram(program, n + 1, all);
	if (r == NVRTC_ERROR_INVALID_OPTION)
		r = rtc.nvrtcCompileProgram(program, n, all);
	free(all);
	return r;
}

static bool compile_locked(const char *file, const char *source, const char *const *options,
                           int n_options, struct rtc_output *out, struct err *err)
{
	nvrtcProgram program = NULL;
	if (failed(rtc.nvrtcCreateProgram(&program, source, file, 0, NULL, NULL), "nvrtcCreateProgram",
	           err))
		return false;
	nvrtcResult r = compile_uncached(program, options, n_options);
	size_t log_len = 0;
	bool good = FETCH(nvrtcGetProgramLogSize, nvrtcGetProgramLog, program, out->log, log_len, err);
	out->ok = r == NVRTC_SUCCESS;
	if (good && !out->ok && r != NVRTC_ERROR_COMPILATION) {
		/* wrong option, missing builtins, out of memory: not the source's fault */
		err_set(err, ERR_INTERNAL, "%s: %s: %s", rtc.name, rtc.nvrtcGetErrorString(r), out->log);
		good = false;
	}
	/* PTX is there too when only the assembler failed; its messages speak of lines in it */
	good = good && FETCH(nvrtcGetPTXSize, nvrtcGetPTX, program, out->ptx, out->ptx_len, err);
	if (good)
		out->ptx_len = strlen(out->ptx);
	if (good && out->ok)
		good = FETCH(nvrtcGetCUBINSize, nvrtcGetCUBIN, program, out->cubin, out->cubin_len, err);
	if (good && !out->ptx_len) {
		free(out->ptx);
		out->ptx = NULL;
	}
	rtc.nvrtcDestroyProgram(&program);
	return good;
}

bool rtc_compile(const char *file, const char *source, const char *const *options, int n_options,
                 struct rtc_output *out, struct err *err)
{
	*out = (struct rtc_output){ .ok = false };
	if (!rtc_load(err))
		return false;
	pthread_mutex_lock(&rtc.lock);
	bool good = open_again(err) && compile_locked(file, source, options, n_options, out, err);
	pthread_mutex_unlock(&rtc.lock);
	if (!good)
		rtc_free(out);
	return good;
}

void rtc_free(struct rtc_output *out)
{
	free(out->ptx);
	free(out->cubin);
	free(out->log);
	*out = (struct rtc_output){ .ok = false };
}
