/*
 * The GPU worker is killed at a hundred random moments of a run: another one makes up for it. Every
 * second time that one is killed as well: then the program gets an error that says so or a complete
 * result, lives on, and the next run works.
 */
#include "fake_run.h"

#include "base/text.h"
#include "cuda/cuda_client.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define KILLS 100

/* The only child there is: the worker. 0 = none at this moment. */
static pid_t find_worker(void)
{
	char path[64];
	pid_t found = 0;
	snprintf(path, sizeof path, "/proc/self/task");
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		snprintf(path, sizeof path, "/proc/self/task/%.16s/children", e->d_name);
		FILE *f = fopen(path, "r");
		int pid;
		if (f && fscanf(f, "%d", &pid) == 1)
			found = pid;
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return found;
}

struct killing {
	long ns[2]; /* to wait before each kill; 0 = no more of them */
	unsigned killed;
};

static void *kill_later(void *arg)
{
	struct killing *k = arg;
	for (unsigned i = 0; i < 2 && k->ns[i]; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = k->ns[i] }, NULL);
		const pid_t p = find_worker();
		k->killed += p > 0 && !kill(p, SIGKILL);
	}
	return NULL;
}

TEST(a_killed_worker_is_survived)
{
	static struct fake_run f;
	struct backend *be;
	struct err err = { 0 };
	uint64_t seed = 12345;
	unsigned killed = 0, failed = 0;
	use_fake();
	setenv("FAKE_NVIDIA", "cuLaunchKernel=nap,cuMemcpyHtoD_v2=nap,cuInit=nap", 1);
	assert_true(backend_cuda.open(&be, NULL, &err));
	for (unsigned i = 0; i < KILLS; i++) {
		pthread_t t;
		struct killing k = { .ns = { 1 + (long)(rand_next(&seed) % 60000000) } };
		if (i % 2)
			k.ns[1] = 1 + (long)(rand_next(&seed) % 60000000);
		fake_prepare(&f, "fake_vecadd");
		f.req.repeat = 3;
		assert_int_equal(pthread_create(&t, NULL, kill_later, &k), 0);
		const bool ok = fake_go(&f, be, NULL);
		pthread_join(t, NULL);
		killed += k.killed;
		if (ok) {
			assert_true(f.c[999] == 999.5f);
		} else {
			failed++;
			assert_int_equal(k.killed, 2);
			assert_int_equal(f.err.code, ERR_INTERNAL);
			assert_non_null(
				strstr(f.err.msg, "kernel fake_vecadd: the GPU worker ended (signal 9, "));
			assert_non_null(strstr(f.err.remedy, "started anew"));
			/* the caller's buffers are as they were */
			assert_true(f.c[999] == -1);
		}
		fake_done(&f);
	}
	assert_true(killed > KILLS / 2);
	assert_true(failed > 0);
	fake_prepare(&f, "fake_vecadd");
	if (!fake_go(&f, be, NULL))
		fail_msg("%s", f.err.msg);
	assert_true(f.c[999] == 999.5f);
	fake_done(&f);
	backend_cuda.close(be);
	print_message("%u workers killed, %u runs failed\n", killed, failed);
}

/* The worker must not outlive the program, even inside a kernel that never ends. */
TEST(the_worker_ends_with_the_program)
{
	int out[2];
	assert_int_equal(pipe(out), 0);
	pid_t program = fork();
	assert_true(program >= 0);
	if (program == 0) {
		/* A program of its own: starts a worker on an endless kernel and says its number. */
		char fd[16];
		snprintf(fd, sizeof fd, "%d", out[1]);
		execl("/proc/self/exe", "test_kill", "--hang", fd, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	pid_t worker = 0;
	assert_int_equal(read(out[0], &worker, sizeof worker), (ssize_t)sizeof worker);
	close(out[0]);
	assert_true(worker > 0);
	assert_int_equal(kill(worker, 0), 0);
	kill(program, SIGKILL);
	waitpid(program, NULL, 0);
	bool gone = false;
	for (int i = 0; i < 200 && !gone; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		char path[64], line[256] = "";
		snprintf(path, sizeof path, "/proc/%d/stat", (int)worker);
		FILE *f = fopen(path, "r");
		gone = !f || !fgets(line, sizeof line, f) || strstr(line, ") Z ");
		if (f)
			fclose(f);
	}
	assert_true(gone);
}

static void *hang(void *arg)
{
	static struct fake_run f;
	struct backend *be;
	(void)arg;
	fake_prepare(&f, "fake_hang");
	if (backend_cuda.open(&be, NULL, NULL))
		fake_go(&f, be, NULL);
	return NULL;
}

static int hang_until_killed(int fd)
{
	pthread_t t;
	pid_t p = 0;
	use_fake();
	if (pthread_create(&t, NULL, hang, NULL))
		return 1;
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	p = find_worker();
	if (write(fd, &p, sizeof p) != (ssize_t)sizeof p)
		return 1;
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	int status;
	if (fake_is_worker(argc, argv, &status))
		return status;
	if (argc == 3 && !strcmp(argv[1], "--hang"))
		return hang_until_killed(atoi(argv[2]));
	return unit_run(NULL, NULL);
}
