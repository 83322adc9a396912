/* Opens the libraries and fills the tables; see cuda_dl.h. Calls nothing in them. */
#include "cuda/cuda_dl.h"
#include "base/mem.h"
#include "compile/compile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAY, NEED };

struct symbol {
	const char *newest, *older;
	size_t offset;
	int need;
};

#define FN(field_, symbol_, older_, need_) \
	{ .newest = #symbol_, .older = older_, .offset = offsetof(TABLE, field_), .need = need_ },
static const struct symbol cuda_symbols[] = {
#define TABLE struct cuda_fns
#include "cuda/cuda_fn.def"
#undef TABLE
};
static const struct symbol cupti_symbols[] = {
#define TABLE struct cupti_fns
#include "cuda/cupti_fn.def"
#undef TABLE
};
static const struct symbol cublas_symbols[] = {
#define TABLE struct cublas_fns
#include "cuda/cublas_fn.def"
#undef TABLE
};
static const struct symbol nvml_symbols[] = {
#define TABLE struct nvml_fns
#include "cuda/nvml_fn.def"
#undef TABLE
};
#undef FN

struct library {
	const char *name; /* "cupti" */
	const char *env;  /* a file to open instead */
	const char *versions[3];
	const struct symbol *symbols;
	size_t n_symbols;
	enum fault_id absent, incomplete;
};

#define SYMBOLS(table) .symbols = table, .n_symbols = sizeof table / sizeof *table

static void *open_library(const struct library *lib, char *path, size_t path_size,
                          struct cuda_fault *why)
{
	const char *file = getenv(lib->env);
	if (file && *file) {
		void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
		if (!handle)
			fault_set(why, lib->absent, "%s: %s", lib->env, dlerror());
		else if (path)
			snprintf(path, path_size, "%s", file);
		return handle;
	}
	struct err err = { 0 };
	void *handle = cuda_dlopen(lib->name, lib->versions, path, path_size, &err);
	if (handle)
		return handle;
	/* The loader's own words; where else it was looked for, `doctor` says of the compiler. */
	const char *loader = strstr(err.msg, "loader: ");
	loader = loader ? loader + strlen("loader: ") : err.msg;
	fault_set(why, lib->absent, "%.*s", (int)strcspn(loader, "\n"), loader);
	return NULL;
}

static bool resolve_all(const struct library *lib, void *fns, char *path, size_t path_size,
                        struct cuda_fault *why)
{
	void *handle = open_library(lib, path, path_size, why);
	if (!handle)
		return false;
	for (size_t i = 0; i < lib->n_symbols; i++) {
		const struct symbol *s = &lib->symbols[i];
		void *f = dlsym(handle, s->newest);
		if (!f && *s->older)
			f = dlsym(handle, s->older);
		if (!f && s->need == NEED)
			return fault_set(why, lib->incomplete, "lib%s lacks %s", lib->name, s->newest);
		memcpy((char *)fns + s->offset, &f, sizeof f);
	}
	return true;
}

bool dl_cuda(struct cuda_fns *fns, char *path, size_t path_size, struct cuda_fault *why)
{
	static const struct library lib = {
		.name = "cuda",
		.env = "PMPP_LIBCUDA",
		.versions = { "1" },
		SYMBOLS(cuda_symbols),
		.absent = FAULT_NO_DRIVER,
		.incomplete = FAULT_DRIVER_OLD,
	};
	return resolve_all(&lib, fns, path, path_size, why);
}

/*
 * CUPTI opens libnvperf_host.so by its bare name; opened here from CUPTI's own folder first, it is
 * found also where the loader's path does not lead there. Whether it worked, CUPTI itself tells.
 */
static void open_beside(const char *path, const char *file)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return;
	char *full = mem_printf("%.*s/%s", (int)(slash - path), path, file);
	if (!access(full, R_OK))
		(void)dlopen(full, RTLD_NOW | RTLD_GLOBAL);
	free(full);
}

bool dl_cupti(struct cupti_fns *fns, char *path, size_t path_size, struct cuda_fault *why)
{
	static const struct library lib = {
		.name = "cupti",
		.env = "PMPP_LIBCUPTI",
		.versions = { "13" },
		SYMBOLS(cupti_symbols),
		.absent = FAULT_NO_CUPTI,
		.incomplete = FAULT_CUPTI_OLD,
	};
	char where[512] = "";
	if (!resolve_all(&lib, fns, where, sizeof where, why))
		return false;
	open_beside(where, "libnvperf_host.so");
	open_beside(where, "libnvperf_target.so");
	if (path)
		snprintf(path, path_size, "%s", where);
	return true;
}

bool dl_cublas(struct cublas_fns *fns, char *path, size_t path_size, struct cuda_fault *why)
{
	static const struct library lib = {
		.name = "cublas",
		.env = "PMPP_LIBCUBLAS",
		.versions = { "13", "12" },
		SYMBOLS(cublas_symbols),
		.absent = FAULT_NO_CUBLAS,
		.incomplete = FAULT_NO_CUBLAS,
	};
	return resolve_all(&lib, fns, path, path_size, why);
}

bool dl_nvml(struct nvml_fns *fns, struct cuda_fault *why)
{
	static const struct library lib = {
		.name = "nvidia-ml",
		.env = "PMPP_LIBNVML",
		.versions = { "1" },
		SYMBOLS(nvml_symbols),
		.absent = FAULT_NO_NVML,
		.incomplete = FAULT_NO_NVML,
	};
	return resolve_all(&lib, fns, NULL, 0, why);
}
