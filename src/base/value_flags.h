/*
 * Which bytes of some memory have a value: a byte of flags for each word of four, bit n for its
 * byte n. Whole words are set by a plain store, so that threads which write neighbouring words do
 * not meet; parts of a word by an atomic one. Offsets count from the memory's first byte, which is
 * the first of a word.
 */
#ifndef PMPP_BASE_VALUE_FLAGS_H
#define PMPP_BASE_VALUE_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUE_FLAGS_WORD 15 /* all four bytes */

/* Flags for so many bytes. All zero: none has a value. */
static inline size_t value_flags_size(uint64_t bytes)
{
	return (size_t)(bytes / 4 + (bytes % 4 != 0));
}

/* Flags of the bytes of word @word that lie in [at, end), of which there is one. */
static inline uint8_t value_flags_part(uint64_t word, uint64_t at, uint64_t end)
{
	const unsigned first = at > 4 * word ? (unsigned)(at - 4 * word) : 0;
	const unsigned last = end - 4 * word < 4 ? (unsigned)(end - 4 * word) : 4;
	return (uint8_t)((1u << last) - (1u << first));
}

/* Has every one of @bytes bytes from @at on a value? */
static inline bool value_flags_all(const uint8_t *flags, uint64_t at, uint64_t bytes)
{
	unsigned missing = 0;
	for (uint64_t w = at / 4; 4 * w < at + bytes; w++)
		missing |= value_flags_part(w, at, at + bytes) &
		           ~(unsigned)__atomic_load_n(&flags[w], __ATOMIC_RELAXED);
	return !missing;
}

/* Has any? */
static inline bool value_flags_any(const uint8_t *flags, uint64_t at, uint64_t bytes)
{
	unsigned there = 0;
	for (uint64_t w = at / 4; 4 * w < at + bytes; w++)
		there |= value_flags_part(w, at, at + bytes) &
		         (unsigned)__atomic_load_n(&flags[w], __ATOMIC_RELAXED);
	return there != 0;
}

/* They have one from now on. */
static inline void value_flags_set(uint8_t *flags, uint64_t at, uint64_t bytes)
{
	for (uint64_t w = at / 4; 4 * w < at + bytes; w++) {
		const uint8_t part = value_flags_part(w, at, at + bytes);
		if (part == VALUE_FLAGS_WORD)
			__atomic_store_n(&flags[w], VALUE_FLAGS_WORD, __ATOMIC_RELAXED);
		else if (part & ~__atomic_load_n(&flags[w], __ATOMIC_RELAXED))
			__atomic_fetch_or(&flags[w], part, __ATOMIC_RELAXED);
	}
}

/* They have none any more. */
static inline void value_flags_clear(uint8_t *flags, uint64_t at, uint64_t bytes)
{
	for (uint64_t w = at / 4; 4 * w < at + bytes; w++)
		__atomic_fetch_and(&flags[w], (uint8_t)~value_flags_part(w, at, at + bytes),
		                   __ATOMIC_RELAXED);
}

#endif
