/*
 * A small program as a person would write one with the driver API, for tests of whole programs on a
 * GPU without a GPU: NVIDIA's driver is the stand-in that PMPP_LIBCUDA names.
 *
 *     injected_program [WORD...]   in this order:
 *       N        launch fake_vecadd N times, with copies around them
 *       stream   the same once, in a stream of its own
 *       shapes   fake_increment with two other grids
 *       refused  a launch with a block too large
 *       fault    a kernel that faults; the program says so and ends with 3
 *       crash    ends by SIGSEGV   kill  by SIGKILL   hang  never   exit=N  by exit(N)
 *       read     prints a line of its standard input
 */
#define _GNU_SOURCE
#include <cuda.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define N 256

static void *driver;

static void *function(const char *name)
{
	void *f = dlsym(driver, name);
	if (!f) {
		fprintf(stderr, "no %s\n", name);
		exit(9);
	}
	return f;
}

#define CALL(name) ((__typeof__(&name))(uintptr_t)function(#name))

static CUmodule module;

static CUresult launch(const char *kernel, unsigned grid, unsigned block, CUstream stream,
                       void **args)
{
	CUfunction f;
	CALL(cuModuleGetFunction)(&f, module, kernel);
	return CALL(cuLaunchKernel)(f, grid, 1, 1, block, 1, 1, 0, stream, args, NULL);
}

/* c = a + b on the GPU, and is it? */
static void add(unsigned times, CUstream stream)
{
	static float a[N], b[N], c[N];
	CUdeviceptr da, db, dc;
	int n = N;
	for (int i = 0; i < N; i++)
		a[i] = (float)i, b[i] = 2 * (float)i;
	CALL(cuMemAlloc_v2)(&da, sizeof a);
	CALL(cuMemAlloc_v2)(&db, sizeof b);
	CALL(cuMemAlloc_v2)(&dc, sizeof c);
	CALL(cuMemcpyHtoD_v2)(da, a, sizeof a);
	CALL(cuMemcpyHtoD_v2)(db, b, sizeof b);
	CALL(cuMemsetD8Async)(dc, 0, sizeof c, stream);
	void *args[] = { &da, &db, &dc, &n };
	for (unsigned i = 0; i < times; i++)
		launch("fake_vecadd", 2, 128, stream, args);
	CALL(cuCtxSynchronize)();
	CALL(cuMemcpyDtoH_v2)(c, dc, sizeof c);
	printf("%s\n", c[N - 1] == 3 * (float)(N - 1) ? "sums are right" : "WRONG");
}

static void shapes(void)
{
	int x[N] = { 0 };
	CUdeviceptr d;
	int n = N;
	CALL(cuMemAlloc_v2)(&d, sizeof x);
	CALL(cuMemcpyHtoD_v2)(d, x, sizeof x);
	void *args[] = { &d, &n };
	launch("fake_increment", 1, 256, NULL, args);
	launch("fake_increment", 4, 64, NULL, args);
	launch("fake_increment", 1, 256, NULL, args);
	CALL(cuCtxSynchronize)();
}

static void word(const char *w)
{
	CUstream stream;
	char line[200];
	if (w[0] >= '0' && w[0] <= '9') {
		add((unsigned)atoi(w), NULL);
	} else if (!strcmp(w, "stream")) {
		CALL(cuStreamCreate)(&stream, 0);
		add(1, stream);
	} else if (!strcmp(w, "shapes")) {
		shapes();
	} else if (!strcmp(w, "refused")) {
		printf("refused: %d\n", (int)launch("fake_increment", 1, 2048, NULL, NULL));
	} else if (!strcmp(w, "fault")) {
		launch("fake_fault", 1, 32, NULL, NULL);
		fprintf(stderr, "error %d\n", (int)CALL(cuCtxSynchronize)());
		launch("fake_increment", 1, 32, NULL, NULL);
		exit(3);
	} else if (!strcmp(w, "crash") || !strcmp(w, "kill")) {
		fflush(stdout);
		if (w[0] == 'k') /* what was told until then is kept */
			nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
		raise(w[0] == 'c' ? SIGSEGV : SIGKILL);
	} else if (!strcmp(w, "hang")) {
		for (;;)
			pause();
	} else if (!strncmp(w, "exit=", 5)) {
		exit(atoi(w + 5));
	} else if (!strcmp(w, "read")) {
		printf("read %s", fgets(line, sizeof line, stdin) ? line : "nothing\n");
	} else {
		printf("word %s\n", w);
	}
}

int main(int n, char **args)
{
	CUcontext ctx;
	driver = dlopen(getenv("PMPP_LIBCUDA") ? getenv("PMPP_LIBCUDA") : "libcuda.so.1", RTLD_NOW);
	if (!driver) {
		fprintf(stderr, "%s\n", dlerror());
		return 9;
	}
	CALL(cuInit)(0);
	CALL(cuDevicePrimaryCtxRetain)(&ctx, 0);
	CALL(cuModuleLoadData)(&module, "");
	for (int i = 1; i < n; i++)
		word(args[i]);
	return 0;
}
