/* Rows of bits, one for each register or operation of a program. */
#ifndef PMPP_EMU_BITS_H
#define PMPP_EMU_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of a row of @n bits. */
static inline size_t bits_words(uint32_t n)
{
	return n / 64 + 1;
}

static inline bool bits_get(const uint64_t *row, unsigned i)
{
	return row[i / 64] >> (i % 64) & 1;
}

static inline void bits_set(uint64_t *row, unsigned i)
{
	row[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline void bits_clear(uint64_t *row, unsigned i)
{
	row[i / 64] &= ~((uint64_t)1 << (i % 64));
}

/* All that is set in @more is set in @to; true when that is something new. */
static inline bool bits_add(uint64_t *to, const uint64_t *more, size_t words)
{
	uint64_t larger = 0;
	for (size_t i = 0; i < words; i++) {
		larger |= more[i] & ~to[i];
		to[i] |= more[i];
	}
	return larger;
}

#endif
