/* Columns of characters and texts, and where a line may break. */
#include "../unit.h"
#include "base/utf8.h"

TEST(columns)
{
	static const struct {
		const char *text;
		int columns;
	} table[] = {
		{ "", 0 },      { "warp", 4 },     { "线程束", 6 },   { "▲▼…·×", 5 }, { "ｆ，", 4 },
		{ "한글", 4 },  { "かな", 4 },     { "😀", 2 },       { "（a）", 5 }, { "e\xcc\x81", 2 },
		{ "\xff!", 2 }, { "\xe7\xba", 2 }, { "\x1b[31m", 5 },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		assert_int_equal(text_columns(table[i].text), table[i].columns);
	assert_int_equal(char_columns(0x2fffd), 2);
	assert_int_equal(char_columns(0x303f), 1);
	assert_int_equal(char_columns(0xffe0), 2);
	assert_int_equal(char_columns('a'), 1);
}

/* A combining mark has no column of its own: it is replaced, not hidden. */
TEST(nothing_is_there_and_not_seen)
{
	const char *s = "\xcc\x81\xe2\x80\x8b";
	assert_int_equal(utf8_next(&s), UTF8_REPLACEMENT);
	assert_int_equal(utf8_next(&s), UTF8_REPLACEMENT);
	assert_int_equal(utf8_next(&s), 0);
}

TEST(written_and_read)
{
	static const uint32_t all[] = { 'a', 0xd7, 0x7ebf, 0x1f600 };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		char bytes[5] = "";
		const char *s = bytes;
		assert_int_equal(utf8_put(bytes, all[i]), i + 1);
		assert_int_equal(utf8_next(&s), all[i]);
		assert_int_equal(s - bytes, i + 1);
	}
}

TEST(breaks)
{
	assert_true(utf8_breaks(0x7ebf, 0x7a0b)); /* 线程 */
	assert_true(utf8_breaks('8', 0x7ebf));
	assert_true(utf8_breaks(0xff0c, 0x7ebf));  /* ， before 线 */
	assert_false(utf8_breaks(0x7ebf, 0xff0c)); /* 线 before ， */
	assert_false(utf8_breaks(0x7ebf, ')'));
	assert_false(utf8_breaks(0xff08, 0x7ebf)); /* （ before 线 */
	assert_false(utf8_breaks('a', 'b'));
}
