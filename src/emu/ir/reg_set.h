/* Sets of registers of a program, a bit each. */
#ifndef PMPP_EMU_REG_SET_H
#define PMPP_EMU_REG_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t reg_set;

/* Words of a set of @registers. */
static inline size_t reg_set_words(uint32_t registers)
{
	return registers / 64 + 1;
}

static inline bool reg_set_has(const reg_set *s, int32_t r)
{
	return s[r / 64] >> (r % 64) & 1;
}

static inline void reg_set_put(reg_set *s, int32_t r)
{
	s[r / 64] |= (reg_set)1 << (r % 64);
}

static inline void reg_set_take(reg_set *s, int32_t r)
{
	s[r / 64] &= ~((reg_set)1 << (r % 64));
}

/* Returns true when that makes @to larger. */
static inline bool reg_set_add(reg_set *to, const reg_set *more, size_t words)
{
	reg_set larger = 0;
	for (size_t i = 0; i < words; i++) {
		larger |= more[i] & ~to[i];
		to[i] |= more[i];
	}
	return larger;
}

#endif
