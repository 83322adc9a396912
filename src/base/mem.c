/* Allocation that never returns NULL; see mem.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define OUT_OF_MEMORY 3 /* exit status: not possible here */

static void (*restore_hook)(void);

_Noreturn void mem_exhausted(size_t bytes)
{
	if (restore_hook)
		restore_hook();
	char words[200]; /* no stream: it might want memory */
	const int n =
		snprintf(words, sizeof words,
	             "pmpp-explore: out of memory (%zu bytes wanted); what was asked for is not "
	             "done\n  choose a smaller problem size, or end other programs\n",
	             bytes);
	if (write(STDERR_FILENO, words, (size_t)n) < 0)
		_exit(OUT_OF_MEMORY);
	_exit(OUT_OF_MEMORY);
}

static size_t product(size_t n, size_t bytes)
{
	if (bytes && n > SIZE_MAX / bytes)
		mem_exhausted(SIZE_MAX);
	return n * bytes;
}

void mem_on_failure(void (*restore)(void))
{
	restore_hook = restore;
}

static void *_Atomic reserve;
static size_t reserve_bytes;
static atomic_bool was_short;

#define LARGE_BYTES (128 << 10)

/* Who keeps a reserve lives long, and gives large blocks back to the system at once: left to itself
 * glibc keeps them in the heaps of threads, where what is small comes to lie between them, and
 * nothing goes back any more (46 MB instead of 23 after a hundred thousand keys). */
static void live_long(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	mallopt(M_ARENA_MAX, 2);
#endif
}

void mem_keep_reserve(size_t bytes)
{
	live_long();
	reserve_bytes = bytes;
	void *p = malloc(bytes);
	if (p)
		memset(p, 1, bytes); /* so that the pages are ours */
	free(atomic_exchange(&reserve, p));
}

bool mem_was_short(void)
{
	if (!atomic_exchange(&was_short, false))
		return false;
	mem_keep_reserve(reserve_bytes);
	return true;
}

void mem_give_reserve(size_t bytes)
{
	void *p = atomic_exchange(&reserve, NULL);
	if (!p)
		mem_exhausted(bytes);
	free(p);
	atomic_store(&was_short, true);
}

void *mem_alloc(size_t bytes)
{
	void *p = malloc(bytes ? bytes : 1);
	if (p)
		return p;
	mem_give_reserve(bytes);
	return mem_alloc(bytes);
}

void *mem_zalloc(size_t bytes)
{
	return mem_calloc(1, bytes);
}

void *mem_calloc(size_t n, size_t bytes)
{
	size_t total = product(n, bytes);
	void *p = calloc(1, total ? total : 1);
	if (p)
		return p;
	mem_give_reserve(total);
	return mem_calloc(n, bytes);
}

void *mem_realloc(void *p, size_t n, size_t bytes)
{
	size_t total = product(n, bytes);
	void *q = realloc(p, total ? total : 1);
	if (q)
		return q;
	mem_give_reserve(total);
	return mem_realloc(p, n, bytes);
}

void *mem_aligned(size_t align, size_t bytes)
{
	size_t total = product((bytes + align - 1) / align, align);
	void *p = NULL;
	while (posix_memalign(&p, align, total ? total : align))
		mem_give_reserve(total);
	memset(p, 0, total);
	return p;
}

#define PAGE ((size_t)4096)

/* To the whole pages of @bytes from @p on. */
static void advise(void *p, size_t bytes, int advice)
{
	const uintptr_t first = ((uintptr_t)p + PAGE - 1) / PAGE * PAGE;
	const uintptr_t end = ((uintptr_t)p + bytes) / PAGE * PAGE;
	if (first < end)
		(void)madvise((void *)first, end - first, advice);
}

void mem_wish_large_pages(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
	advise(p, bytes, MADV_HUGEPAGE);
#else
	(void)p, (void)bytes;
#endif
}

void mem_wish_zeroes_in_forks(void *p, size_t bytes, bool wish)
{
#ifdef MADV_WIPEONFORK
	advise(p, bytes, wish ? MADV_WIPEONFORK : MADV_KEEPONFORK);
#else
	(void)p, (void)bytes, (void)wish;
#endif
}

void *mem_pages(size_t bytes)
{
	const size_t align = bytes < MEM_LARGE_PAGE ? PAGE : MEM_LARGE_PAGE;
	const size_t total = product((bytes + PAGE - 1) / PAGE, PAGE);
	void *p = NULL;
	while (posix_memalign(&p, align, total ? total : PAGE))
		mem_give_reserve(total);
	if (align == MEM_LARGE_PAGE)
		mem_wish_large_pages(p, total);
	return p;
}

/* A millisecond or two. */
#define COPY_PIECE ((size_t)16 << 20)

bool mem_copy_until(void *to, const void *from, size_t bytes, const atomic_bool *stop)
{
	for (size_t at = 0; at < bytes;) {
		if (stop && atomic_load(stop))
			return false;
		const size_t n = bytes - at < COPY_PIECE ? bytes - at : COPY_PIECE;
		memcpy((char *)to + at, (const char *)from + at, n);
		at += n;
	}
	return true;
}

char *mem_strndup(const char *s, size_t n)
{
	char *p = mem_alloc(n + 1);
	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;
	va_list again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = mem_alloc((size_t)(n > 0 ? n : 0) + 1);
	vsnprintf(p, (size_t)(n > 0 ? n : 0) + 1, fmt, again);
	va_end(again);
	return p;
}
