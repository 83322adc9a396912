/*
 * A stand-in for libcuda, libcupti, NVML and cuBLAS in one library, for tests without a GPU.
 *
 * Device memory is host memory and a few kernels are functions here, so that results can be
 * checked. FAKE_NVIDIA holds what goes wrong, separated by commas: "cuInit=100" (a result),
 * "cuptiRangeProfilerStart=crash", "cuLaunchKernel=hang", "cuMemcpyHtoD_v2=nap" (1..3 ms), "=doze"
 * (120 ms), "=once:FILE" (it crashes where FILE is, which is then gone). Misuse that kills the real
 * CUPTI (a second Enable, Start without SetConfig ...) kills this one too. FAKE_ABSENT names
 * counters (parts of names) that the chip lacks, FAKE_NAN those without a number.
 */
#define _GNU_SOURCE
#include "fake_nvidia.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct fake_state fake_state;

static void crash(void)
{
	signal(SIGSEGV, SIG_DFL); /* no sanitizer's report in between */
	raise(SIGSEGV);
}

/* @word: "once:FILE". True if the file was there. */
static bool take_mark(const char *word)
{
	char file[400];
	snprintf(file, sizeof file, "%.*s", (int)strcspn(word + 5, ","), word + 5);
	return unlink(file) == 0;
}

/* The file FAKE_DOZES tells the test that it has begun. */
static void doze(void)
{
	const char *mark = getenv("FAKE_DOZES");
	const int fd = mark ? open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd >= 0)
		close(fd);
	nanosleep(&(struct timespec){ .tv_nsec = 120000000 }, NULL);
}

int fake_result(const char *name)
{
	const char *s = getenv("FAKE_NVIDIA");
	size_t n = strlen(name);
	for (; s && *s; s += strcspn(s, ","), s += *s == ',') {
		if (strncmp(s, name, n) || s[n] != '=')
			continue;
		const char *v = s + n + 1;
		if (!strncmp(v, "crash", 5) || (!strncmp(v, "once:", 5) && take_mark(v)))
			crash();
		else if (!strncmp(v, "once:", 5))
			continue;
		else if (!strncmp(v, "exit", 4))
			_exit(7);
		else if (!strncmp(v, "hang", 4))
			for (;;)
				pause();
		else if (!strncmp(v, "doze", 4))
			doze();
		else if (!strncmp(v, "nap", 3))
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 + rand() % 2000000 }, NULL);
		else
			return atoi(v);
	}
	return 0;
}

int fake_listed(const char *env, const char *name)
{
	const char *s = getenv(env);
	return s && *s && strstr(name, s) != NULL;
}

void fake_misuse(const char *what)
{
	fprintf(stderr, "fake CUPTI: misuse: %s\n", what);
	abort();
}

uint64_t fake_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
