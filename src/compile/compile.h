/*
 * CUDA source to PTX and static facts, through NVRTC and a cache.
 *
 * NVRTC is opened at run time (dlopen); without it the cache built into the program still serves
 * every shipped kernel at its default parameters. Knows nothing of kernels' meaning.
 */
#ifndef PMPP_COMPILE_COMPILE_H
#define PMPP_COMPILE_COMPILE_H

#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct compile_macro {
	const char *name;
	int64_t value;
};

/* A person's own file: what goes into it beside the text that NVRTC gets. */
struct compile_own {
	const char *path;  /* on disk, for what it includes; NULL = there is only the text */
	const char *text;  /* all of it, host code too, kernels extern "C" unless @nvcc */
	const char *extra; /* C++ behind the text, such as instances of templates; NULL = none */
	unsigned n_words;  /* as on nvcc's command line: -I, -D, -std=... */
	const char *const *words;
	bool nvcc; /* not NVRTC; and the file at @path itself, if there is one */
	bool ptx;  /* the text is PTX */
};

struct compile_request {
	const char *file; /* name used in messages and .loc: "sgemm.cu" */
	const char *source;
	unsigned n_macros; /* order does not matter for the cache */
	const struct compile_macro *macros;
	int cc_major, cc_minor;        /* compiled for sm_XY; PTX for compute_XY */
	unsigned max_registers;        /* -maxrregcount; 0 = as many as the compiler wants */
	const atomic_bool *cancel;     /* polled where the compiler has its own process; may be NULL */
	const struct compile_own *own; /* NULL = a kernel of this program */
};

/* Static facts of one entry, as the compiler reports them for this architecture. */
struct entry_usage {
	char *entry;
	unsigned registers, static_shared_bytes, stack_bytes, spill_store_bytes, spill_load_bytes,
		barriers;
	unsigned const_bytes; /* bank 0: parameters and the driver's own words */
	unsigned max_threads; /* __launch_bounds__; 0 = no bound stated */
};

/* A compiled source. Owned; module_free(). */
struct module {
	char *ptx; /* NUL-terminated */
	size_t ptx_len;
	void *cubin; /* for the cuda back end; NULL when the cache has none */
	size_t cubin_len;
	char *log; /* compiler's messages, "" if none */
	unsigned n_entries;
	struct entry_usage *entries;
	char key[33]; /* cache key, hex */
	enum { MODULE_COMPILED, MODULE_CACHED, MODULE_BUILT_IN } from;
	char compiler[32];  /* "NVRTC 13.0" */
	int64_t compile_ns; /* 0 when cached */
};

/*
 * Thread-safe. ERR_COMPILE carries NVRTC's log, each message with the source line it speaks of, or
 * says that NVRTC itself died (compile_worker.h);
 * ERR_UNAVAILABLE: no NVRTC and not in any cache (the remedy says how to get it).
 * ERR_UNSUPPORTED: this NVRTC does not know the architecture; the message lists those it knows.
 * An unreadable or unwritable cache directory is not an error: compile_info.cache_note tells.
 */
bool compile_module(const struct compile_request *req, struct module *out, struct err *err);
void module_free(struct module *m);
const struct entry_usage *module_entry(const struct module *m, const char *entry);

struct kernel_desc;
/* The macros of a kernel family: every PARAM_COMPILE parameter with its value in @params.
 * @out has room for KERNEL_MAX_PARAMS. Returns how many. */
unsigned kernel_macros(const struct kernel_desc *k, const int64_t *params,
                       struct compile_macro *out);

/* What `doctor` shows. */
struct compile_info {
	bool nvrtc; /* usable */
	char nvrtc_path[1024];
	int major, minor;
	char why_not[2048];   /* when it is not: every place tried and why it failed */
	char cache_dir[1024]; /* "" = none */
	char cache_note[512]; /* "" = fine, else why entries cannot be kept */
	unsigned built_in;    /* entries of the built-in cache */
};
void compile_probe(struct compile_info *info);
/* Folder whose include/ holds CUDA's headers, lib/ its libraries; "" = none found.
 * Looked for in CUDA_HOME, CUDA_PATH, next to nvcc in PATH, build/cuda of the source tree,
 * /usr/local/cuda, Python wheels (site-packages/nvidia/cu13). */
const char *cuda_home(void);
/* Opens lib<name>.so.<version> from the places above, then by the loader's own path and where
 * drivers are installed. @versions in order of preference, ended by NULL; "" = lib<name>.so.
 * @path receives the file that was opened. NULL with every place tried in @err.
 * Thread-safe. Shared by compile/ and cuda/. */
void *cuda_dlopen(const char *name, const char *const *versions, char *path, size_t path_size,
                  struct err *err);

/* The program @name of the toolkit, from bin/ of the places above, then PATH. ERR_UNAVAILABLE with
 * every place looked into. Thread-safe. */
bool cuda_tool(const char *name, char *path, size_t path_size, struct err *err);
/* The same, unless the environment's @variable names the program; @remedy where there is none. */
bool cuda_tool_or_named(const char *name, const char *variable, const char *remedy, char *path,
                        size_t path_size, struct err *err);

#endif
