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

static void *press_escape(void *arg)
{
	nanosleep(&(struct timespec){ .tv_nsec = *(const long *)arg }, NULL);
	atomic_store(&stop, true);
	return NULL;
}

TEST_WITH(a_run_is_cancelled_soon, fake_fresh, NULL)
{
	static const char *const entries[] = { "fake_hang", "fake_vecadd" };
	static struct fake_run f;
	struct backend *be;
	assert_true(backend_cuda.open(&be, NULL, NULL));
	for (int i = 0; i < 2; i++) {
		long after = 100000000;
		pthread_t t;
		atomic_store(&stop, false);
		if (i) {
			backend_cuda.close(be);
			fake_fresh(NULL);
			setenv("FAKE_NVIDIA", "cuStreamSynchronize=nap,cuEventRecord=nap", 1);
			assert_true(backend_cuda.open(&be, NULL, NULL));
			after = 30000000;
		}
		fake_prepare(&f, entries[i]);
		assert_int_equal(pthread_create(&t, NULL, press_escape, &after), 0);
		bool ok = fake_go(&f, be, &stop);
		pthread_join(t, NULL);
		assert_false(ok);
		assert_int_equal(f.err.code, ERR_CANCELLED);
	}
	backend_cuda.close(be);
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

/* Copies are made in pieces, on both sides: the worker answers in time and is kept. */
TEST_WITH(a_cancel_while_copying_keeps_the_worker, fake_fresh, NULL)
{
	const size_t bytes = (size_t)40 << 20;
	static struct fake_run f;
	struct backend *be;
	long after = 300000000;
	pthread_t t;
	setenv("FAKE_NVIDIA", "cuMemcpyHtoD_v2=doze", 1);
	assert_true(backend_cuda.open(&be, NULL, NULL));
	fake_prepare(&f, "fake_vecadd");
	f.req.caps = CAP_STATIC;
	assert_true(fake_go(&f, be, NULL)); /* starts it */
	fake_done(&f);
	const int pid = worker_pid();
	fake_prepare(&f, "fake_vecadd");
	void *large = calloc(1, bytes);
	assert_non_null(large);
	for (int i = 0; i < 3; i++) /* 9 pieces, 1080 ms: longer than a cancelled worker may take */
		f.req.buffers[i] = (struct run_buffer){ .data = large, .bytes = bytes };
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&t, NULL, press_escape, &after), 0);
	assert_false(fake_go(&f, be, &stop));
	pthread_join(t, NULL);
	assert_int_equal(f.err.code, ERR_CANCELLED);
	assert_int_equal(worker_pid(), pid);
	free(large);
	/* before the worker has heard of it nothing is read at all */
	fake_prepare(&f, "fake_vecadd");
	void *closed = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(closed != MAP_FAILED);
	f.req.buffers[0] = (struct run_buffer){ .data = closed, .bytes = bytes };
	assert_false(fake_go(&f, be, &stop));
	assert_int_equal(f.err.code, ERR_CANCELLED);
	munmap(closed, bytes);
	fake_prepare(&f, "fake_vecadd");
	f.req.caps = CAP_STATIC;
	assert_true(fake_go(&f, be, NULL));
	assert_int_equal(worker_pid(), pid);
	fake_done(&f);
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
