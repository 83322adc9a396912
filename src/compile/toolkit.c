/*
 * Where CUDA is on this machine, and opening its libraries by name.
 *
 * Looks only at folders a person or an installer would use, in the order compile.h states; opens
 * nothing by pattern, because other packages carry libraries of the same name and another major.
 * Knows nothing of what a library is for.
 */
#define _GNU_SOURCE /* dlinfo() */
#include "compile/compile.h"

#include "base/mem.h"
#include "base/text.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PLACES 48

static struct {
	pthread_once_t once;
	unsigned n;
	char *dir[MAX_PLACES]; /* roots: each may hold include/, lib/, lib64/ ... */
	char home[4096];
} places = { .once = PTHREAD_ONCE_INIT };

/* Below a root, where toolkits, wheels and distributions keep shared libraries. */
static const char *const lib_folders[] = {
	"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "extras/CUPTI/lib64",
};
/* The driver's own libraries, where the loader is sometimes not told about them. */
static const char *const driver_folders[] = {
	"/usr/local/nvidia/lib64",    "/usr/lib/wsl/lib", "/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu", "/usr/lib64",
};

static bool exists(const char *dir, const char *file)
{
	char path[4096];
	int n = snprintf(path, sizeof path, "%s/%s", dir, file);
	return n > 0 && (size_t)n < sizeof path && !access(path, R_OK);
}

static void add_place(const char *dir)
{
	if (!dir || dir[0] != '/' || places.n == MAX_PLACES || access(dir, X_OK))
		return;
	for (unsigned i = 0; i < places.n; i++)
		if (!strcmp(places.dir[i], dir))
			return;
	places.dir[places.n++] = mem_strdup(dir);
}

/* <dir>/bin/nvcc in PATH, links followed: /usr/bin/nvcc may point into a toolkit. */
static void add_nvcc_place(void)
{
	const char *path = getenv("PATH");
	while (path && *path) {
		size_t len = strcspn(path, ":");
		char *file = mem_printf("%.*s/nvcc", (int)len, path);
		char *real = len && !access(file, X_OK) ? realpath(file, NULL) : NULL;
		free(file);
		if (real) {
			for (int up = 0; up < 2; up++) { /* .../bin/nvcc -> ... */
				char *slash = strrchr(real, '/');
				if (slash)
					*slash = '\0';
			}
			add_place(real);
			free(real);
			return;
		}
		path += len;
		path += *path == ':';
	}
}

/* build/cuda of the source tree that this program was built in: any parent folder named build. */
static void add_build_place(void)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - sizeof "/cuda");
	if (n <= 0)
		return;
	exe[n] = '\0';
	for (char *slash; (slash = strrchr(exe, '/')) && slash != exe;) {
		*slash = '\0';
		char *name = strrchr(exe, '/');
		if (name && !strcmp(name, "/build")) {
			char *dir = mem_printf("%s/cuda", exe);
			add_place(dir);
			free(dir);
		}
	}
}

/* NVIDIA's Python wheels: cu13 holds everything, earlier majors one folder per package. */
static void add_wheel_places(void)
{
	static const char *const packages[] = {
		"cu13", "cuda_nvrtc", "cuda_cupti", "cublas", "cuda_runtime",
	};
	const char *home = getenv("HOME");
	const struct {
		const char *root, *below;
	} sites[] = {
		{ getenv("VIRTUAL_ENV"), "lib/python3*/site-packages" },
		{ getenv("CONDA_PREFIX"), "lib/python3*/site-packages" },
		{ home ? home : "", ".local/lib/python3*/site-packages" },
		{ "/usr/local", "lib/python3*/dist-packages" },
		{ "/usr/local", "lib/python3*/site-packages" },
		{ "/usr", "lib/python3/dist-packages" },
	};
	for (size_t s = 0; s < ARRAY_LEN(sites); s++) {
		if (!sites[s].root || sites[s].root[0] != '/')
			continue;
		for (size_t p = 0; p < ARRAY_LEN(packages); p++) {
			char *pattern =
				mem_printf("%s/%s/nvidia/%s", sites[s].root, sites[s].below, packages[p]);
			glob_t found;
			if (!glob(pattern, 0, NULL, &found)) {
				for (size_t i = 0; i < found.gl_pathc; i++)
					add_place(found.gl_pathv[i]);
				globfree(&found);
			}
			free(pattern);
		}
	}
}

static bool is_home(const char *dir)
{
	if (exists(dir, "include/cuda.h"))
		return true;
	for (size_t f = 0; f < ARRAY_LEN(lib_folders); f++) {
		char *lib = mem_printf("%s/%s", dir, lib_folders[f]);
		bool yes = exists(lib, "libnvrtc.so.13") || exists(lib, "libnvrtc.so.12");
		free(lib);
		if (yes)
			return true;
	}
	return false;
}

/* For tests: as if no toolkit were installed. */
static bool system_hidden(void)
{
	const char *hidden = getenv("PMPP_NO_SYSTEM_CUDA");
	return hidden && *hidden && strcmp(hidden, "0") != 0;
}

static void find_places(void)
{
	const bool system = !system_hidden();
	if (system) {
		add_place(getenv("CUDA_HOME"));
		add_place(getenv("CUDA_PATH"));
		add_nvcc_place();
	}
	add_build_place();
	if (system) {
		add_place("/usr/local/cuda");
		add_wheel_places();
	}
	for (unsigned i = 0; i < places.n && !places.home[0]; i++)
		if (strlen(places.dir[i]) < sizeof places.home && is_home(places.dir[i]))
			snprintf(places.home, sizeof places.home, "%s", places.dir[i]);
}

const char *cuda_home(void)
{
	pthread_once(&places.once, find_places);
	return places.home;
}

/* The file that was really opened, as the loader knows it. */
static void opened_path(void *handle, const char *asked, char *path, size_t n)
{
	struct link_map *map = NULL;
	const char *name = asked;
	if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map && map->l_name && map->l_name[0])
		name = map->l_name;
	if (path && n)
		snprintf(path, n, "%s", name);
}

static void *open_in(const char *folder, const char *file, char *path, size_t path_size,
                     struct text *tried)
{
	if (!exists(folder, file))
		return NULL;
	char *full = mem_printf("%s/%s", folder, file);
	void *handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		opened_path(handle, full, path, path_size);
	else
		text_add(tried, "\n  %s", dlerror());
	free(full);
	return handle;
}

void *cuda_dlopen(const char *name, const char *const *versions, char *path, size_t path_size,
                  struct err *err)
{
	pthread_once(&places.once, find_places);
	struct text tried = { 0 };
	void *handle = NULL;
	char file[128];
	for (unsigned i = 0; !handle && i < places.n; i++)
		for (size_t f = 0; !handle && f < ARRAY_LEN(lib_folders); f++) {
			char *folder = mem_printf("%s/%s", places.dir[i], lib_folders[f]);
			for (size_t v = 0; !handle && versions[v]; v++) {
				snprintf(file, sizeof file, "lib%s.so%s%s", name, *versions[v] ? "." : "",
				         versions[v]);
				handle = open_in(folder, file, path, path_size, &tried);
			}
			free(folder);
		}
	for (size_t v = 0; !handle && versions[v]; v++) {
		snprintf(file, sizeof file, "lib%s.so%s%s", name, *versions[v] ? "." : "", versions[v]);
		handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
		if (handle) {
			opened_path(handle, file, path, path_size);
			break;
		}
		text_add(&tried, "\n  loader: %s", dlerror());
		for (size_t f = 0; !handle && f < ARRAY_LEN(driver_folders); f++)
			handle = open_in(driver_folders[f], file, path, path_size, &tried);
	}
	if (!handle) {
		struct text folders = { 0 };
		for (unsigned i = 0; i < places.n; i++)
			text_add(&folders, "%s%s", i ? ", " : "", places.dir[i]);
		err_set(err, ERR_UNAVAILABLE, "lib%s was not found.%s\n  not in lib/ or lib64/ of: %s",
		        name, tried.s ? tried.s : "",
		        folders.s ? folders.s : "(no CUDA folder on this machine)");
		text_free(&folders);
	}
	text_free(&tried);
	return handle;
}

/* The file @name of folder @dir, when it can be run. */
static bool program_in(const char *dir, size_t len, const char *below, const char *name, char *path,
                       size_t n)
{
	const int k = snprintf(path, n, "%.*s%s/%s", (int)len, dir, below, name);
	return k > 0 && (size_t)k < n && !access(path, X_OK);
}

bool cuda_tool(const char *name, char *path, size_t path_size, struct err *err)
{
	pthread_once(&places.once, find_places);
	struct text folders = { 0 };
	for (unsigned i = 0; i < places.n; i++) {
		if (program_in(places.dir[i], strlen(places.dir[i]), "/bin", name, path, path_size)) {
			text_free(&folders);
			return true;
		}
		text_add(&folders, "%s/bin, ", places.dir[i]);
	}
	const char *at = system_hidden() ? NULL : getenv("PATH");
	while (at && *at) {
		const size_t len = strcspn(at, ":");
		if (len && program_in(at, len, "", name, path, path_size)) {
			text_free(&folders);
			return true;
		}
		at += len;
		at += *at == ':';
	}
	err_set(err, ERR_UNAVAILABLE, "%s was not found in %sPATH", name, folders.s ? folders.s : "");
	text_free(&folders);
	return false;
}

bool cuda_tool_or_named(const char *name, const char *variable, const char *remedy, char *path,
                        size_t path_size, struct err *err)
{
	const char *only = getenv(variable);
	if (!only || !*only)
		return cuda_tool(name, path, path_size, err) || err_remedy(err, "%s", remedy);
	snprintf(path, path_size, "%s", only);
	if (!access(only, X_OK))
		return true;
	err_set(err, ERR_UNAVAILABLE, "%s names %s, which cannot be run", variable, only);
	return err_remedy(err, "Name the %s of a CUDA Toolkit, or unset it.", name);
}
