/*
 * Preloaded into the program: its n-th allocation fails, once (PMPP_OOM_AT=n), and at the end the
 * number of allocations is written (PMPP_OOM_COUNT=FILE). Processes that it starts are spared.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

static atomic_long made, fails_at;
static char report[4096];

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("PMPP_OOM_AT"), *to = getenv("PMPP_OOM_COUNT");
	snprintf(report, sizeof report, "%s", to ? to : "");
	const long n = at ? atol(at) : 0;
	unsetenv("PMPP_OOM_AT");
	unsetenv("PMPP_OOM_COUNT");
	unsetenv("LD_PRELOAD");
	atomic_store(&made, 0);
	atomic_store(&fails_at, n);
}

__attribute__((destructor)) static void end(void)
{
	char text[32];
	const int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&made));
	const int fd = report[0] ? open(report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	if (fd >= 0 && write(fd, text, (size_t)n) == n)
		close(fd);
}

static int fails(void)
{
	if (atomic_fetch_add(&made, 1) + 1 != atomic_load(&fails_at))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
	return fails() ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	*p = fails() ? NULL : __libc_memalign(align, n);
	return *p ? 0 : ENOMEM;
}
