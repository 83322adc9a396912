/* A text in another language: by message, by what was formatted from one, by its parts. The
 * catalogue is lang.po of this folder. */
#include "../unit.h"
#include "base/lang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *english, const char *want)
{
	assert_string_equal(lang_text(english), want);
}

static int chinese(void **state)
{
	(void)state;
	lang_use(1);
	return 0;
}

TEST(messages)
{
	chinese(NULL);
	expect("blocks", "线程块");
	expect("  blocks ", "  线程块 ");
	expect("block", "block");
	expect("stream", "stream"); /* fuzzy */
	expect("kernel", "kernel"); /* not translated */
	expect("", "");
	expect("66.7 %", "66.7 %");
	lang_use(0);
	expect("blocks", "blocks");
}

TEST(what_was_formatted)
{
	chinese(NULL);
	expect("3 of 12 blocks", "12 个线程块中的 3 个");
	expect("3 of many blocks", "3 of many blocks");
	expect("at offset 0x2c", "在偏移 0x2c");
	expect("at offset 0x210", "在偏移 0x210");
	expect("at offset 0xno", "at offset 0xno");
	expect("limited by shared memory", "受限于共享内存");
	expect("limited by shared memory and blocks", "同时受限于共享内存和线程块");
	expect("limited by x", "受限于x");
	expect("1 launch", "启动 1 次");
	expect("2 launches", "启动 2 次");
	expect("wide |blocks  |  12|", "宽 |线程块  |  12|");
	expect("66 % of the roof", "达到上限的 66 %");
	expect("nan % of the roof", "达到上限的 nan %");
	expect("parameter 'a': a is too large", "参数“a”：a 太大");
}

/* What a person typed, or a list of names, may look like a message. */
TEST(names_stay)
{
	chinese(NULL);
	expect("no buffer is called 'blocks'", "没有名为“blocks”的缓冲区");
	expect("there are: blocks, shared memory", "可选：blocks, shared memory");
	expect("limited by 'blocks'", "受限于'blocks'");
}

TEST(what_was_joined)
{
	chinese(NULL);
	expect("blocks, shared memory", "线程块, 共享内存");
	expect("f.cu:3: a is too large", "f.cu:3: a 太大");
	expect("note (blocks)", "note (线程块)");
	expect("one\nblocks\ntwo", "one\n线程块\ntwo");
	expect("one, two: three", "one, two: three");
	/* two messages side by side before anything that only looks like one */
	expect("a is too large: limited by blocks; kept", "a 太大: 受限于线程块; kept");
	expect("! ✗ blocks: shared memory", "! ✗ 线程块: 共享内存");
	expect("▲ blocks 256", "▲ 线程块 256");
	expect("limited by a, wide blocks (gpu)", "受限于a, wide blocks (gpu)");
	expect("limits, all known (gpu)", "所有已知限制 (gpu)");
}

TEST(a_format_says_which_message)
{
	chinese(NULL);
	assert_string_equal(lang_formatted("limited by %s", "limited by a and b"), "受限于a and b");
	assert_string_equal(lang_formatted(" %u of %u blocks ", " 3 of 12 blocks "),
	                    " 12 个线程块中的 3 个 ");
	assert_string_equal(lang_formatted("%s", "blocks"), "线程块");
	assert_string_equal(lang_formatted("|%-8s|%4d", "|a       |   1"), "|a       |   1");
}

/* Texts that were asked for lately are still there; the same one is not made again. */
TEST(what_is_kept)
{
	char text[60];
	chinese(NULL);
	const char *first = lang_text("limited by blocks");
	for (int i = 0; i < 60; i++) {
		snprintf(text, sizeof text, "limited by %d", i);
		lang_text(text);
	}
	assert_string_equal(first, "受限于线程块");
	for (int i = 0; i < 10000; i++) {
		snprintf(text, sizeof text, "limited by %d", i);
		assert_int_equal(strncmp(lang_text(text), "受限于", 9), 0);
	}
	assert_ptr_equal(lang_text("limited by shared memory"), lang_text("limited by shared memory"));
}

TEST(codes)
{
	size_t i;
	struct err err = { 0 };
	assert_int_equal(lang_count(), 2);
	assert_string_equal(lang_own_name(0), "English");
	assert_string_equal(lang_own_name(1), "试");
	assert_null(lang_code(2));
	assert_true(lang_find("lang", &i, &err));
	assert_int_equal(i, 1);
	assert_true(lang_find("en_GB.UTF-8", &i, &err));
	assert_int_equal(i, 0);
	assert_false(lang_find("fr", &i, &err));
	assert_string_equal(err.msg, "no language is called 'fr'");
	assert_string_equal(err.remedy, "there are: en, lang");
}

/* As gettext(3) reads them: LC_ALL, LC_MESSAGES, LANG; LANGUAGE before them, but not in "C". */
TEST(environment)
{
	static const struct {
		const char *all, *messages, *lang, *language;
		size_t want;
	} table[] = {
		{ "", "", "", "", 0 },
		{ "", "", "", "lang", 0 },
		{ "lang_XX.UTF-8", "", "", "", 1 },
		{ "", "lang", "en_US", "", 1 },
		{ "", "", "lang.UTF-8", "", 1 },
		{ "C", "lang", "lang", "lang", 0 },
		{ "C.UTF-8", "", "", "lang", 0 },
		{ "en_US.UTF-8", "", "", "fr:lang:en", 1 },
		{ "lang_XX", "", "", "en", 0 },
		{ "de_DE", "", "", "", 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		setenv("LC_ALL", table[i].all, 1);
		setenv("LC_MESSAGES", table[i].messages, 1);
		setenv("LANG", table[i].lang, 1);
		setenv("LANGUAGE", table[i].language, 1);
		if (lang_of_environment() != table[i].want)
			fail_msg("row %zu", i);
	}
}
