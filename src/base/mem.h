/*
 * Memory that is there or ends the program: allocation failure is not recoverable here.
 * The one hook lets the terminal be restored before the last message.
 */
#ifndef PMPP_BASE_MEM_H
#define PMPP_BASE_MEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

void *mem_alloc(size_t bytes) __attribute__((malloc));  /* uninitialised */
void *mem_zalloc(size_t bytes) __attribute__((malloc)); /* zeroed */
void *mem_calloc(size_t n, size_t bytes)
	__attribute__((malloc));                        /* zeroed; overflow ends the program */
void *mem_realloc(void *p, size_t n, size_t bytes); /* overflow ends the program */
/* Room for one more element behind @n in an array of @cap: at first for @least, then for twice as
 * many. All four are evaluated more than once. */
#define MEM_ROOM(array, n, cap, least)                              \
	do {                                                            \
		if ((n) == (cap)) {                                         \
			(cap) = (cap) ? 2 * (cap) : (least);                    \
			(array) = mem_realloc((array), (cap), sizeof *(array)); \
		}                                                           \
	} while (0)
/* No more room in an array of @cap than for its @n elements, which is kept for long. */
#define MEM_FIT(array, n, cap)                                      \
	do {                                                            \
		if ((n) && (n) < (cap)) {                                   \
			(cap) = (n);                                            \
			(array) = mem_realloc((array), (cap), sizeof *(array)); \
		}                                                           \
	} while (0)
/* Uninitialised whole pages, large ones where the system has them; freed with free(). */
void *mem_pages(size_t bytes);
#define MEM_LARGE_PAGE ((size_t)2 << 20)
/* For @bytes from @p on, whatever is there: one large page comes sooner than all its small ones,
 * when it is first touched. Only a wish. */
void mem_wish_large_pages(void *p, size_t bytes);
/* Whether a copy of this process (fork) may find zeroes in the whole pages of @bytes from @p on, so
 * that the system copies none of them. To be taken back before they are freed. Only a wish. */
void mem_wish_zeroes_in_forks(void *p, size_t bytes, bool wish);
/* Zeroed, aligned to @align (a power of two); freed with free(). */
void *mem_aligned(size_t align, size_t bytes);
char *mem_strdup(const char *s) __attribute__((malloc));
char *mem_strndup(const char *s, size_t n) __attribute__((malloc));
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2), malloc));
/* Copies piece by piece. False: *@stop was set (NULL = never), and only a part was copied. */
bool mem_copy_until(void *to, const void *from, size_t bytes, const atomic_bool *stop);
/* Says that so many bytes are not to be had, and ends the program with status 3. */
_Noreturn void mem_exhausted(size_t bytes);
/*
 * Keeps @bytes in reserve, for a program with a session to lose: the allocation that fails gets
 * them back, and the program goes on for as long as that lasts. mem_was_short(): it happened since
 * the last call; the reserve is laid up again if it can be.
 */
void mem_keep_reserve(size_t bytes);
bool mem_was_short(void);
/* For what allocates by itself (libyaml): gives the reserve, so that it may be tried once more.
 * Ends the program where there is none. */
void mem_give_reserve(size_t bytes);
/* Called once before the out-of-memory message is written to stderr. */
void mem_on_failure(void (*restore)(void));

#endif
