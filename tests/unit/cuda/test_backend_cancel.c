/*
 * A run of the GPU back end is cancelled at once, whatever it does, and leaves no process behind.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "fake_run.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static atomic_bool stop;

/* Escape, as soon as the worker says that it has begun. */
static void stop_it(void *ctx, double fraction)
{
	(void)ctx;
	atomic_store(&stop, fraction > 0);
}

TEST_WITH(a_run_is_cancelled_soon, fake_fresh, NULL)
{
	static const char *const entries[] = { "fake_hang", "fake_vecadd" };
	static struct fake_run f;
	const struct run_hooks hooks = { .progress = stop_it, .cancel = &stop };
	for (int i = 0; i < 2; i++) {
		struct backend *be;
		fake_fresh(NULL);
		if (i)
			setenv("FAKE_NVIDIA", "cuStreamSynchronize=nap,cuEventRecord=doze", 1);
		assert_true(backend_cuda.open(&be, NULL, NULL));
		fake_prepare(&f, entries[i]);
		atomic_store(&stop, false);
		assert_false(backend_cuda.run(be, &f.req, &hooks, &f.res, &f.err));
		assert_int_equal(f.err.code, ERR_CANCELLED);
		backend_cuda.close(be);
	}
}

/* The one child of this thread. The kernel's list may miss it while it runs: proc(5). */
static int worker_pid(void)
{
	int pid = 0;
	for (int tries = 0; !pid && tries < 1000; tries++) {
		FILE *f = fopen("/proc/thread-self/children", "r");
		assert_non_null(f);
		if (fscanf(f, "%d", &pid) != 1)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		fclose(f);
	}
	assert_true(pid > 0);
	return pid;
}

/* Escape, as soon as there is the file @mark. */
static void *stop_while_copying(void *mark)
{
	while (access(mark, F_OK) != 0)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	atomic_store(&stop, true);
	return NULL;
}

/* Cancels a copy of 9 pieces, which takes 1080 ms: longer than a cancelled worker may. */
static void cancel_copying(struct backend *be, char *mark)
{
	const size_t bytes = (size_t)40 << 20;
	static struct fake_run f;
	pthread_t t;
	void *large = calloc(1, bytes);
	assert_non_null(large);
	fake_prepare(&f, "fake_vecadd");
	for (int i = 0; i < 3; i++)
		f.req.buffers[i] = (struct run_buffer){ .data = large, .bytes = bytes };
	atomic_store(&stop, false);
	unlink(mark);
	assert_int_equal(pthread_create(&t, NULL, stop_while_copying, mark), 0);
	assert_false(fake_go(&f, be, &stop));
	pthread_join(t, NULL);
	assert_int_equal(f.err.code, ERR_CANCELLED);
	free(large);
}

/* Runs without copies worth mentioning. Returns the worker that did it. */
static int run_quickly(struct backend *be)
{
	static struct fake_run f;
	fake_prepare(&f, "fake_vecadd");
	f.req.caps = CAP_STATIC;
	assert_true(fake_go(&f, be, NULL));
	fake_done(&f);
	return worker_pid();
}

/* Copies are made in pieces, on both sides: the worker answers in time and is kept. A piece too may
 * take too long on a busy machine, but not always; all of them together always do. */
TEST_WITH(a_cancel_while_copying_keeps_the_worker, fake_fresh, NULL)
{
	const size_t bytes = (size_t)40 << 20;
	static struct fake_run f;
	struct backend *be;
	char mark[] = "/tmp/pmpp-dozes-XXXXXX";
	close(mkstemp(mark));
	setenv("FAKE_NVIDIA", "cuMemcpyHtoD_v2=doze", 1);
	setenv("FAKE_DOZES", mark, 1);
	assert_true(backend_cuda.open(&be, NULL, NULL));
	bool kept = false;
	for (int tries = 0; tries < 30 && !kept; tries++) {
		const int pid = run_quickly(be); /* starts one */
		cancel_copying(be, mark);
		kept = run_quickly(be) == pid;
	}
	unlink(mark);
	unsetenv("FAKE_DOZES");
	assert_true(kept);
	/* before the worker has heard of it nothing is read at all */
	const int pid = worker_pid();
	fake_prepare(&f, "fake_vecadd");
	void *closed = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(closed != MAP_FAILED);
	f.req.buffers[0] = (struct run_buffer){ .data = closed, .bytes = bytes };
	assert_false(fake_go(&f, be, &stop));
	assert_int_equal(f.err.code, ERR_CANCELLED);
	munmap(closed, bytes);
	assert_int_equal(run_quickly(be), pid);
	backend_cuda.close(be);
}

/* No worker is left behind as a zombie or running. */
TEST_WITH(no_child_is_left, fake_fresh, NULL)
{
	fake_fresh(NULL);
	int status;
	errno = 0;
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	/* a parked one is alive and ends with the program */
	assert_true(cuda_probe(0, &(struct cuda_info){ 0 }, NULL));
	assert_int_equal(waitpid(-1, &status, WNOHANG), 0);
}

int main(int argc, char **argv)
{
	return fake_main(argc, argv);
}
