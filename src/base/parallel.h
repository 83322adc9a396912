/* Work on a range of numbers by all processors. */
#ifndef PMPP_BASE_PARALLEL_H
#define PMPP_BASE_PARALLEL_H

#include <stddef.h>

/*
 * Calls @part for ranges that cover 0 to @n, each once and none shorter than @least unless @n is,
 * on as many threads as there are processors; returns when all are done. Ranges are numbered from 0
 * in ascending order. A thread that cannot be made is done without.
 */
#define PARALLEL_MOST 64 /* ranges */
typedef void parallel_part(void *ctx, unsigned number, size_t from, size_t to);
void parallel_ranges(size_t n, size_t least, parallel_part *part, void *ctx);
/* memcpy() by all processors; the two do not overlap. */
void parallel_copy(void *to, const void *from, size_t bytes);
void parallel_set(void *to, unsigned char value, size_t bytes); /* memset() */
/* Asks for the pages of a mapping that will be written, before they are; may do nothing. */
void parallel_touch(void *pages, size_t bytes);

#endif
