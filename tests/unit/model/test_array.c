/* Elements to and from numbers, figures of arrays, arrays in files. */
#include "../unit.h"
#include "model/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(elements_keep_their_values)
{
	static const struct {
		enum elem_type type;
		double in, out;
	} cases[] = {
		{ ELEM_F16, 0, 0 },
		{ ELEM_F16, 1, 1 },
		{ ELEM_F16, -0.333251953125, -0.333251953125 },
		{ ELEM_F16, 65504, 65504 },
		{ ELEM_F16, 65520, INFINITY },
		{ ELEM_F16, 0x1p-24, 0x1p-24 },
		{ ELEM_F16, 0x1p-14, 0x1p-14 },
		{ ELEM_F16, 0x1.ffcp-15, 0x1.ff8p-15 + 0x1p-24 },
		{ ELEM_F16, 2049, 2048 },
		{ ELEM_F16, 2051, 2052 },
		{ ELEM_BF16, 1.00390625, 1 },
		{ ELEM_BF16, -3.140625, -3.140625 },
		{ ELEM_I8, -128, -128 },
		{ ELEM_U8, 255, 255 },
		{ ELEM_I16, -32768, -32768 },
		{ ELEM_U16, 65535, 65535 },
		{ ELEM_I32, -7, -7 },
		{ ELEM_U32, 4294967295.0, 4294967295.0 },
		{ ELEM_I64, -0x1p53, -0x1p53 },
		{ ELEM_U64, 0x1p63, 0x1p63 },
		{ ELEM_F32, 0.5, 0.5 },
		{ ELEM_F64, 0.1, 0.1 },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t room[2] = { 0 };
		elem_put(cases[i].type, room, 1, cases[i].in);
		const double v = elem_get(cases[i].type, room, 1);
		if (v != cases[i].out)
			fail_msg("%s: %a became %a", elem_name(cases[i].type), cases[i].in, v);
	}
	uint16_t h;
	elem_put(ELEM_F16, &h, 0, NAN);
	assert_true(isnan(elem_get(ELEM_F16, &h, 0)));
	elem_put(ELEM_BF16, &h, 0, NAN);
	assert_true(isnan(elem_get(ELEM_BF16, &h, 0)));
	char text[48];
	const uint64_t most = UINT64_MAX;
	elem_format(ELEM_U64, &most, 0, text, sizeof text);
	assert_string_equal(text, "18446744073709551615");
}

TEST(figures_leave_odd_values_out)
{
	float v[] = { 1, 2, NAN, 0, -3, INFINITY };
	const struct array a = { .type = ELEM_F32, .count = 6, .data = v };
	struct array_stats s;
	array_stats(&a, &s);
	assert_int_equal(s.numbers, 4);
	assert_int_equal(s.nans, 1);
	assert_int_equal(s.infinities, 1);
	assert_int_equal(s.zeros, 1);
	assert_int_equal(s.first_odd, 2);
	assert_true(s.min == -3 && s.max == 2 && s.mean == 0);
	assert_true(fabs(s.deviation - sqrt(14.0 / 4)) < 1e-12);
}

TEST(differences_are_found)
{
	float v[] = { 1, 2, NAN, 0 };
	double w[] = { 1, 2.5, NAN, 8, 9 };
	const struct array a = { .type = ELEM_F32, .count = 4, .data = v };
	const struct array b = { .type = ELEM_F64, .count = 5, .data = w };
	struct array_difference d;
	array_compare(&a, &b, &d);
	assert_int_equal(d.compared, 4);
	assert_int_equal(d.differ, 2);
	assert_int_equal(d.first, 1);
	assert_int_equal(d.largest_at, 3);
	assert_true(d.largest == 8 && d.largest_relative == 1);
}

static void write_file(const char *path, const char *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

TEST(files_give_back_what_was_written)
{
	static const char *const endings[ARRAY_FORMS] = { "txt", "csv", "npy", "bin" };
	char folder[] = "/tmp/pmpp-array-XXXXXX", path[64];
	assert_non_null(mkdtemp(folder));
	for (unsigned t = 0; t < ELEM_TYPES; t++)
		for (int f = 0; f < ARRAY_FORMS; f++) {
			uint64_t room[6] = { 0 };
			const struct array a = {
				.type = (enum elem_type)t, .count = 6, .cols = 3, .data = room
			};
			struct array back;
			struct text all = { 0 };
			for (size_t i = 0; i < 6; i++)
				elem_put(a.type, room, i, (double)i * 3);
			array_write(&a, (enum array_form)f, &all);
			snprintf(path, sizeof path, "%s/a.%s", folder, endings[f]);
			write_file(path, all.s, all.len);
			text_free(&all);
			struct err err = { 0 };
			if (!array_read(path, a.type, &back, &err))
				fail_msg("%s %s: %s", elem_name(a.type), endings[f], err.msg);
			assert_int_equal(back.count, 6);
			assert_int_equal(back.cols, f == ARRAY_RAW ? 0 : 3);
			assert_memory_equal(back.data, room, 6 * elem_size(a.type));
			free(back.data);
			unlink(path);
		}
	rmdir(folder);
}

TEST(files_that_are_none_are_refused)
{
	static const struct {
		const char *ending, *bytes, *says;
	} cases[] = {
		{ "csv", "1,2\n3,x\n", ":2: 'x' is no number" },
		{ "csv", "a,b\n1,2\n", "" }, /* names of columns */
		{ "txt", "", "no element" },
		{ "bin", "123", "whole number of elements" },
		{ "npy", "not at all, no", "not a .npy" },
		{ "npy", "\x93NUMPY\1\0\xff\xff{", "" },
	};
	char folder[] = "/tmp/pmpp-array-XXXXXX", path[64];
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct array a;
		struct err err = { 0 };
		snprintf(path, sizeof path, "%s/a.%s", folder, cases[i].ending);
		const size_t n = strlen(cases[i].bytes);
		write_file(path, cases[i].bytes, n);
		const bool read = array_read(path, ELEM_F32, &a, &err);
		if (i == 1) {
			assert_true(read && a.count == 2);
			free(a.data);
		} else {
			assert_false(read);
			assert_non_null(strstr(err.msg, cases[i].says));
		}
		unlink(path);
	}
	rmdir(folder);
}
