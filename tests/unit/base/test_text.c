/* Numbers as people read them, and back; strings; the growing buffer; hash and random stream. */
#include "../unit.h"
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shown {
	double value;
	const char *text;
};

static void check(char *(*format)(char *, size_t, double), const struct shown *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char out[64];
		assert_ptr_equal(format(out, sizeof out, list[i].value), out);
		assert_string_equal(out, list[i].text);
		char small[4]; /* cut, never overrun */
		format(small, sizeof small, list[i].value);
		assert_memory_equal(small, list[i].text, strlen(small));
		assert_true(strlen(small) <= 3);
	}
}

TEST(counts_in_groups_of_three)
{
	static const struct shown list[] = {
		{ 0, "0" },
		{ 7, "7" },
		{ 999, "999" },
		{ 1000, "1 000" },
		{ 1048576, "1 048 576" },
		{ -1234567, "-1 234 567" },
		{ -0.2, "0" },
		{ 1e18, "1e+18" },
	};
	check(fmt_count, list, ARRAY_LEN(list));
}

TEST(si_suffixes_at_three_digits)
{
	static const struct shown list[] = {
		{ 0, "0" },        { 389, "389" },         { 6220, "6.22 k" },   { 1048576, "1.05 M" },
		{ 999.4, "999" },  { 999.6, "1.00 k" },    { 999600, "1.00 M" }, { 12.34, "12.3" },
		{ 9.996, "10.0" }, { 65.07e12, "65.1 T" }, { -1234, "-1.23 k" },
	};
	check(fmt_si, list, ARRAY_LEN(list));
}

TEST(bytes_in_binary_units)
{
	static const struct shown list[] = {
		{ 512, "512 B" },     { 1023, "1023 B" },      { 167936, "164 KiB" },
		{ 6220, "6.07 KiB" }, { 1048575, "1.00 MiB" }, { 40.4e9, "37.6 GiB" },
	};
	check(fmt_bytes, list, ARRAY_LEN(list));
}

TEST(times_from_nanoseconds)
{
	static const struct shown list[] = {
		{ 850, "850 ns" },   { 3550, "3.55 us" },  { 12.3e6, "12.3 ms" },
		{ 1.2e9, "1.20 s" }, { 3600e9, "3600 s" },
	};
	check(fmt_ns, list, ARRAY_LEN(list));
}

TEST(numbers_keep_their_significant_digits)
{
	static const struct shown list[] = {
		{ 0, "0" },           { 0.25, "0.25" },     { 200.0 / 3, "66.67" },      { 389, "389" },
		{ 0.0123, "0.0123" }, { 123456, "123456" }, { 1e14, "100000000000000" }, { 1e15, "1e+15" },
		{ 1e-5, "1e-05" },
	};
	char out[64];
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		assert_string_equal(fmt_num(out, sizeof out, list[i].value, 4), list[i].text);
	uint64_t seed = 1;
	for (int i = 0; i < 20000; i++) { /* the promise of the header, on values of every size */
		double v = ldexp((double)(rand_next(&seed) >> 11) + 1, (int)(rand_next(&seed) % 110) - 75);
		double back = strtod(fmt_num(out, sizeof out, v, 6), NULL);
		assert_true(fabs(back - v) <= 0.5000001e-5 * v);
	}
}

TEST(whole_numbers_with_suffix)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = {
		{ "0", 0 },
		{ "-1", -1 },
		{ "+7", 7 },
		{ "256", 256 },
		{ "4k", 4096 },
		{ "1M", 1 << 20 },
		{ "2g", INT64_C(2) << 30 },
		{ "-3K", -3072 },
	};
	static const char *const bad[] = {
		"", "-", "x", "1x", "1kk", " 1", "1 ", "1.5", "0x10", "99999999999999999999", "9999999999g",
	};
	int64_t v;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_true(parse_int(good[i].text, &v));
		assert_int_equal(v, good[i].value);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		v = 42;
		assert_false(parse_int(bad[i], &v));
		assert_int_equal(v, 42);
	}
}

TEST(names_near_each_other)
{
	static const char *const names[] = { "vec_add", "sgemm", "reduction" };
	assert_true(str_ieq("H200", "h200"));
	assert_false(str_ieq("h200", "h2000"));
	assert_false(str_ieq("", "a"));
	assert_int_equal(str_distance("kitten", "sitting"), 3);
	assert_int_equal(str_distance("", "abc"), 3);
	assert_int_equal(str_distance("SGEMM", "sgemm"), 0);
	assert_string_equal(str_nearest("sgem", names, 3), "sgemm");
	assert_string_equal(str_nearest("reducton", names, 3), "reduction");
	assert_null(str_nearest("zzzzzzzz", names, 3));
	char lengthy[300];
	memset(lengthy, 'a', sizeof lengthy - 1);
	lengthy[sizeof lengthy - 1] = '\0';
	assert_int_equal(str_distance(lengthy, ""), 63);
}

TEST(buffer_grows)
{
	struct text t = { 0 };
	for (int i = 0; i < 5000; i++)
		text_add(&t, "%04d", i);
	assert_int_equal(t.len, 20000);
	assert_int_equal(strlen(t.s), 20000);
	assert_memory_equal(t.s + 4 * 4321, "4321", 4);
	text_put(&t, "a\0b", 3);
	assert_int_equal(t.len, 20003);
	assert_memory_equal(t.s + 20000, "a\0b", 4);
	char *wide = test_malloc(3001);
	memset(wide, 'w', 3000);
	wide[3000] = '\0';
	text_add(&t, "<%s>", wide);
	assert_int_equal(t.len, 23005);
	assert_int_equal(t.s[t.len - 1], '>');
	test_free(wide);
	text_free(&t);
	assert_null(t.s);
	assert_int_equal(t.len, 0);
}

/* FNV-1a's published values, and splitmix64's first outputs from state 0. */
TEST(hash_and_random_stream_are_the_published_ones)
{
	assert_true(hash_bytes(HASH_SEED, "", 0) == UINT64_C(0xcbf29ce484222325));
	assert_true(hash_bytes(HASH_SEED, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(hash_bytes(HASH_SEED, "foobar", 6) == UINT64_C(0x85944171f73967e8));
	assert_true(hash_bytes(hash_bytes(HASH_SEED, "foo", 3), "bar", 3) ==
	            hash_bytes(HASH_SEED, "foobar", 6));
	uint64_t s = 0;
	assert_true(rand_next(&s) == UINT64_C(0xe220a8397b1dcdaf));
	assert_true(rand_next(&s) == UINT64_C(0x6e789e6aa1b965f4));
}

int main(void)
{
	setlocale(LC_ALL, "");
	return unit_run(NULL, NULL);
}
