/* What tests of the GPU back end share: the stand-in library, and runs of its kernels. */
#ifndef PMPP_TEST_FAKE_RUN_H
#define PMPP_TEST_FAKE_RUN_H

#include "../unit.h"
#include "cuda/cuda.h"
#include "cuda/cuda_worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A process takes a second to end under ThreadSanitizer. */
#define SHORT_S (UNIT_TSAN ? 3.0 : 0.4)

/* fake_nvidia.so lies beside the test. */
static inline void use_fake(void)
{
	char path[4096 + 32];
	ssize_t n = readlink("/proc/self/exe", path, 4096);
	path[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(path, '/');
	snprintf(slash + 1, 32, "fake_nvidia.so");
	static const char *const names[] = { "PMPP_LIBCUDA", "PMPP_LIBCUPTI", "PMPP_LIBNVML",
		                                 "PMPP_LIBCUBLAS" };
	for (int i = 0; i < 4; i++)
		setenv(names[i], path, 1);
	static const char *const knobs[] = { "FAKE_NVIDIA",
		                                 "FAKE_ABSENT",
		                                 "FAKE_NAN",
		                                 "FAKE_DRIVER",
		                                 "FAKE_DEVICES",
		                                 "FAKE_CUPTI",
		                                 "FAKE_CHIP",
		                                 "FAKE_UNSUPPORTED",
		                                 "PMPP_CUDA_DEVICE",
		                                 "CUDA_INJECTION64_PATH",
		                                 "NVTX_INJECTION64_PATH" };
	for (size_t i = 0; i < sizeof knobs / sizeof *knobs; i++)
		unsetenv(knobs[i]);
}

#define FAKE_N 1000

struct fake_run {
	struct module module;
	struct launch_plan plan;
	struct run_request req;
	struct run_result res;
	struct err err;
	float a[FAKE_N], b[FAKE_N], c[FAKE_N];
	int x[FAKE_N];
};

static char fake_ptx[] = ".version 8.0";
static char fake_cubin[] = "\177ELF of no machine";

/* "fake_vecadd" adds a and b into c; every other entry gets x in place. */
static inline void fake_prepare(struct fake_run *f, const char *entry)
{
	memset(f, 0, sizeof *f);
	f->module = (struct module){ .ptx = fake_ptx,
		                         .ptx_len = sizeof fake_ptx - 1,
		                         .cubin = fake_cubin,
		                         .cubin_len = sizeof fake_cubin };
	f->plan = (struct launch_plan){ .entry = entry, .grid = { 4, 1, 1 }, .block = { 256, 1, 1 } };
	f->req = (struct run_request){
		.module = &f->module, .plan = &f->plan, .source_file = "fake.cu", .timeout_s = 20
	};
	for (int i = 0; i < FAKE_N; i++) {
		f->a[i] = (float)i;
		f->b[i] = 0.5f;
		f->c[i] = -1;
		f->x[i] = i;
	}
	const bool add = !strcmp(entry, "fake_vecadd");
	f->plan.n_buffers = add ? 3 : 1;
	f->plan.n_args = f->plan.n_buffers + 1;
	void *const data[3] = { add ? (void *)f->a : (void *)f->x, f->b, f->c };
	static const char *const names[3] = { "a", "b", "c" };
	for (unsigned i = 0; i < f->plan.n_buffers; i++) {
		f->plan.buffers[i] = (struct buffer_plan){ .name = names[i],
			                                       .count = FAKE_N,
			                                       .role = !add     ? BUF_INOUT
			                                               : i == 2 ? BUF_OUT
			                                                        : BUF_IN };
		f->plan.args[i] = (struct kernel_arg){ .kind = ARG_BUFFER, .buffer = i };
		f->req.buffers[i] = (struct run_buffer){ .data = data[i], .bytes = FAKE_N * 4 };
	}
	f->plan.args[f->plan.n_buffers] = (struct kernel_arg){ .kind = ARG_I32, .i32 = FAKE_N };
}

/* In fresh back end @be. */
static inline bool fake_go(struct fake_run *f, struct backend *be, const atomic_bool *cancel)
{
	const struct run_hooks hooks = { .cancel = cancel };
	return backend_cuda.run(be, &f->req, &hooks, &f->res, &f->err);
}

/* Opens a back end and runs fake_vecadd in it, which must go well. */
static inline void fake_begin(struct fake_run *f, struct backend **be)
{
	fake_prepare(f, "fake_vecadd");
	assert_true(backend_cuda.open(be, NULL, NULL));
	if (!fake_go(f, *be, NULL))
		fail_msg("%s", f->err.msg);
}

static inline void fake_done(struct fake_run *f)
{
	free(f->res.spans);
	run_counts_free(&f->res.counts);
	f->res.spans = NULL;
}

/* Such a test is its own worker. */
static inline bool fake_is_worker(int argc, char **argv, int *status)
{
	if (argc != 3 || strcmp(argv[1], CUDA_WORKER_OPTION))
		return false;
	*status = cuda_worker_main(atoi(argv[2]));
	return true;
}

static inline int fake_main(int argc, char **argv)
{
	int status;
	return fake_is_worker(argc, argv, &status) ? status : unit_run(NULL, NULL);
}

/* The setup of a test: a worker of its own environment. */
static inline int fake_fresh(void **state)
{
	(void)state;
	/* A worker started under another environment must not answer for this one: asked for another
	 * device, the parked one is ended, and the one started for it exits. */
	static struct cuda_info info;
	use_fake();
	setenv("FAKE_NVIDIA", "cuInit=exit", 1);
	cuda_probe(7, &info, NULL);
	cuda_probe(6, &info, NULL);
	use_fake();
	return 0;
}

#endif
