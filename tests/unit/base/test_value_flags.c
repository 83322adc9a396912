/* Flags of bytes that have a value: every span of a few words against a flag for each byte. */
#include "../unit.h"
#include "base/value_flags.h"

#include <string.h>

#define BYTES 21

static bool all(const bool *has, uint64_t at, uint64_t bytes)
{
	bool every = true;
	for (uint64_t i = at; i < at + bytes; i++)
		every &= has[i];
	return every;
}

static bool any(const bool *has, uint64_t at, uint64_t bytes)
{
	bool one = false;
	for (uint64_t i = at; i < at + bytes; i++)
		one |= has[i];
	return one;
}

/* What the flags say of every span is what the bytes say. */
static void same_everywhere(const uint8_t *flags, const bool *has)
{
	for (uint64_t at = 0; at < BYTES; at++)
		for (uint64_t bytes = 1; at + bytes <= BYTES; bytes++) {
			assert_int_equal(value_flags_all(flags, at, bytes), all(has, at, bytes));
			assert_int_equal(value_flags_any(flags, at, bytes), any(has, at, bytes));
		}
}

TEST(spans_are_those_of_their_bytes)
{
	assert_int_equal(value_flags_size(BYTES), 6);
	assert_int_equal(value_flags_size(20), 5);
	for (uint64_t at = 0; at < BYTES; at++)
		for (uint64_t bytes = 1; at + bytes <= BYTES; bytes++) {
			uint8_t flags[7] = { 0, 0, 0, 0, 0, 0, 0xaa };
			bool has[BYTES] = { false };
			value_flags_set(flags, at, bytes);
			memset(has + at, true, bytes);
			same_everywhere(flags, has);
			value_flags_clear(flags, at, bytes / 2);
			memset(has + at, false, bytes / 2);
			same_everywhere(flags, has);
			assert_int_equal(flags[6], 0xaa);
		}
}

/* Nothing is asked, nothing is done. */
TEST(an_empty_span_is_whole)
{
	uint8_t flags[2] = { 0 };
	value_flags_set(flags, 3, 0);
	assert_true(!flags[0] && !flags[1] && value_flags_all(flags, 3, 0));
	assert_false(value_flags_any(flags, 3, 0));
}
