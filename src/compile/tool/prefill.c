/*
 * Build tool: holds every kernel's descriptor to its rules (model/kernel_check.h), compiles its
 * default parameters for every architecture of the GPU sheets, and writes the archive that is
 * linked into the program.
 *
 *   prefill ARCHIVE CACHE-FOLDER
 *
 * Worker processes compile into the cache folder; then the archive is put together from it, in a
 * fixed order. Unchanged sources are found there, so a second run compiles nothing.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "base/asset.h"
#include "base/mem.h"
#include "base/text.h"
#include "compile/compile.h"
#include "compile/module_pack.h"
#include "compile/module_store.h"
#include "model/gpu.h"
#include "model/kernel.h"
#include "model/kernel_check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNEL(name) extern const struct kernel_desc kernel_##name;
#include "kernels.def"
#undef KERNEL

static const struct kernel_desc *const kernels[] = {
#define KERNEL(name) &kernel_##name,
#include "kernels.def"
#undef KERNEL
};

struct job {
	char file[80];
	struct compile_macro macros[KERNEL_MAX_PARAMS];
	struct compile_request request;
};

static const unsigned long long cache_bytes = 64ull << 20;
enum { MAX_WORKERS = 64 };

static void report(const struct job *job, const struct err *err)
{
	fprintf(stderr, "kernels/%s, default parameters, sm_%d%d: %s\n", job->file,
	        job->request.cc_major, job->request.cc_minor, err->msg);
	if (err->remedy[0])
		fprintf(stderr, "%s\n", err->remedy);
}

/* Says which rule of descriptors is broken, of every kernel. */
static bool check_descriptors(void)
{
	bool ok = true;
	for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
		const struct kernel_desc *k = kernels[i];
		struct err err = { .code = ERR_NONE };
		char path[128];
		snprintf(path, sizeof path, "kernels/%s.cu", k->name ? k->name : "?");
		const struct asset *source = asset_find(path);
		if (kernel_check_complete(k, &err) &&
		    kernel_check_texts(k, source ? source->data : "", &err) &&
		    kernel_check_examples(k, &err))
			continue;
		fprintf(stderr, "%s: %s\n", path, err.msg);
		ok = false;
	}
	return ok;
}

/* Every distinct architecture once, in order of the sheets. */
static size_t architectures(int (*cc)[2])
{
	size_t n = 0;
	for (size_t g = 0; g < gpu_count(); g++) {
		const struct gpu_spec *gpu = gpu_at(g);
		size_t i = 0;
		while (i < n && (cc[i][0] != gpu->cc_major || cc[i][1] != gpu->cc_minor))
			i++;
		if (i == n) {
			cc[n][0] = gpu->cc_major;
			cc[n++][1] = gpu->cc_minor;
		}
	}
	return n;
}

static bool make_job(struct job *job, const struct kernel_desc *k, const int cc[2])
{
	char path[128];
	int64_t params[KERNEL_MAX_PARAMS];
	snprintf(job->file, sizeof job->file, "%s.cu", k->name);
	snprintf(path, sizeof path, "kernels/%s", job->file);
	const struct asset *source = asset_find(path);
	if (!source) {
		fprintf(stderr, "%s: not among the built-in files\n", path);
		return false;
	}
	kernel_defaults(k, params);
	job->request = (struct compile_request){
		.file = job->file,
		.source = source->data,
		.macros = job->macros,
		.n_macros = kernel_macros(k, params, job->macros),
		.cc_major = cc[0],
		.cc_minor = cc[1],
	};
	return true;
}

/* Takes jobs until none is left. Exit status of a worker. */
static int work(const struct job *jobs, size_t n, atomic_size_t *next)
{
	for (size_t i; (i = atomic_fetch_add(next, 1)) < n;) {
		struct module m;
		struct err err = { .code = ERR_NONE };
		if (!compile_module(&jobs[i].request, &m, &err)) {
			report(&jobs[i], &err);
			atomic_store(next, n); /* the others stop too */
			return 1;
		}
		module_free(&m);
	}
	return 0;
}

static bool compile_all(const struct job *jobs, size_t n)
{
	atomic_size_t *next =
		mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (next == MAP_FAILED) {
		perror("mmap");
		return false;
	}
	atomic_init(next, 0);
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	int workers = cores < 1 ? 1 : cores > MAX_WORKERS ? MAX_WORKERS : (int)cores;
	int started = 0;
	bool ok = true;
	fflush(NULL);
	for (; started < workers; started++) {
		pid_t pid = fork();
		if (!pid)
			_exit(work(jobs, n, next));
		if (pid < 0)
			break;
	}
	if (!started)
		ok = !work(jobs, n, next);
	for (int status; started; started--)
		if (wait(&status) < 0 || status)
			ok = false;
	munmap(next, sizeof *next);
	return ok;
}

static bool write_archive(const char *path, const struct job *jobs, size_t n)
{
	struct text archive = { 0 };
	for (size_t i = 0; i < n; i++) {
		struct module m;
		struct err err = { .code = ERR_NONE };
		if (!compile_module(&jobs[i].request, &m, &err)) {
			report(&jobs[i], &err);
			text_free(&archive);
			return false;
		}
		if (!archive.len)
			archive_begin(&archive, m.compiler);
		archive_add(&archive, &m);
		module_free(&m);
	}
	FILE *f = fopen(path, "wb");
	bool ok = f && fwrite(archive.s, 1, archive.len, f) == archive.len;
	ok = f && !fclose(f) && ok;
	if (!ok)
		perror(path);
	text_free(&archive);
	return ok;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s ARCHIVE CACHE-FOLDER\n", argv[0]);
		return 2;
	}
	if (!check_descriptors())
		return 1;
	struct compile_info info;
	store_use(argv[2]);
	compile_probe(&info);
	if (!info.nvrtc) {
		fprintf(stderr, "The build needs NVRTC to compile the kernels that it builds in.\n%s\n",
		        info.why_not);
		return 1;
	}
	if (info.cache_note[0]) {
		fprintf(stderr, "%s\n", info.cache_note);
		return 1;
	}
	int(*cc)[2] = mem_calloc(gpu_count() + 1, sizeof *cc);
	size_t n_cc = architectures(cc);
	size_t n = 0;
	struct job *jobs = mem_calloc(ARRAY_LEN(kernels) * n_cc + 1, sizeof *jobs);
	bool ok = n_cc > 0;
	if (!ok)
		fprintf(stderr, "no GPU sheet names an architecture\n");
	for (size_t k = 0; ok && k < ARRAY_LEN(kernels); k++)
		for (size_t c = 0; ok && c < n_cc; c++)
			ok = make_job(&jobs[n++], kernels[k], cc[c]);
	ok = ok && compile_all(jobs, n);
	ok = ok && write_archive(argv[1], jobs, n);
	store_trim(cache_bytes);
	free(jobs);
	free(cc);
	return ok ? 0 : 1;
}
