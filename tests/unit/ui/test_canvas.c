/* Cells, text, bars, plots and figures: what every panel is made of. */
#include "../unit.h"
#include "ui/canvas.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect(const struct canvas *c, const char *want)
{
	char *is = canvas_dump(c, false);
	assert_string_equal(is, want);
	free(is);
}

TEST(text_is_clipped_on_every_side)
{
	struct canvas c;
	canvas_init(&c, 2, 5, false);
	assert_int_equal(canvas_text(&c, 0, -2, STYLE_NORMAL, "abcdefghij"), 8);
	canvas_text(&c, -1, 0, STYLE_NORMAL, "no");
	canvas_text(&c, 2, 0, STYLE_NORMAL, "no");
	canvas_right(&c, 1, 5, STYLE_NORMAL, "%d", 42);
	expect(&c, "cdef…\n   42\n");
	canvas_free(&c);
}

TEST(sub_canvas_never_reaches_outside)
{
	struct canvas c;
	canvas_init(&c, 4, 6, false);
	struct canvas s = canvas_sub(&c, 1, 2, 2, 3);
	for (int r = -2; r < 5; r++)
		canvas_text(&s, r, -3, STYLE_NORMAL, "##########");
	expect(&c, "\n  ##…\n  ##…\n\n");
	struct canvas out = canvas_sub(&c, -3, -3, 5, 5);
	assert_int_equal(out.rows, 2);
	assert_int_equal(out.cols, 2);
	struct canvas none = canvas_sub(&s, 7, 0, 3, 3);
	assert_int_equal(none.rows, 0);
	canvas_text(&none, 0, 0, STYLE_NORMAL, "x");
	struct canvas nested = canvas_sub(&s, 1, 1, 9, 9);
	assert_int_equal(nested.rows, 1);
	assert_int_equal(nested.cols, 2);
	canvas_free(&c);
}

TEST(utf8_good_and_bad)
{
	struct canvas c;
	assert_int_equal(utf8_columns("a·█×"), 4);
	assert_int_equal(utf8_columns(""), 0);
	/* lone continuation, overlong, surrogate, cut short, beyond Unicode: one column per byte */
	assert_int_equal(utf8_columns("\x80"), 1);
	assert_int_equal(utf8_columns("\xc0\xaf"), 2);
	assert_int_equal(utf8_columns("\xed\xa0\x80"), 1);
	assert_int_equal(utf8_columns("\xe2\x96"), 2);
	assert_int_equal(utf8_columns("\xf5\x80\x80\x80"), 4);
	canvas_init(&c, 1, 8, false);
	canvas_text(&c, 0, 0, STYLE_NORMAL,
	            "a\tb\xff\xe4\xb8\xad"
	            "c"); /* tab, junk, wide character */
	expect(&c, "a\xef\xbf\xbd"
	           "b\xef\xbf\xbd\xe4\xb8\xad"
	           "c\n");
	canvas_free(&c);
}

TEST(wide_characters_have_two_cells)
{
	struct canvas c;
	canvas_init(&c, 2, 8, false);
	assert_int_equal(canvas_verbatim(&c, 0, 1, 7, STYLE_BOLD, "线程x"), 6);
	assert_int_equal(c.cells[1].ch, 0x7ebf);
	assert_int_equal(c.cells[2].ch, CELL_TAIL);
	assert_int_equal(c.cells[2].style, STYLE_BOLD);
	assert_int_equal(c.cells[5].ch, 'x');
	/* what is drawn over a half leaves no half behind */
	canvas_cell(&c, 0, 2, STYLE_NORMAL, '|');
	assert_int_equal(c.cells[1].ch, ' ');
	canvas_cell(&c, 0, 3, STYLE_NORMAL, '|');
	assert_int_equal(c.cells[4].ch, ' ');
	/* a cut leaves whole characters */
	canvas_clear(&c);
	assert_int_equal(canvas_verbatim(&c, 0, 0, 4, STYLE_NORMAL, "线程块"), 3);
	canvas_text(&c, 1, 5, STYLE_NORMAL, "线程");
	expect(&c, "线…\n     线…\n");
	struct canvas left = canvas_sub(&c, 0, 0, 1, 3);
	canvas_cell(&left, 0, 2, STYLE_NORMAL, 0x7ebf); /* only half of it would be inside */
	expect(&c, "线…\n     线…\n");
	canvas_free(&c);
	canvas_init(&c, 1, 8, true);
	canvas_text(&c, 0, 0, STYLE_NORMAL, "线程x");
	expect(&c, "????x\n");
	canvas_free(&c);
}

TEST(wide_text_wraps_between_characters)
{
	struct canvas c;
	canvas_init(&c, 3, 8, false);
	assert_int_equal(canvas_wrap(&c, 0, 0, 3, 8, STYLE_NORMAL, "线程束有32个线程，很多"), 3);
	expect(&c, "线程束有\n32个线\n程，很多\n");
	assert_int_equal(text_rows("线程束的线程，", 12), 2);
	assert_int_equal(text_rows("线", 1), 1);
	canvas_free(&c);
}

TEST(every_character_has_an_ascii_form)
{
	struct canvas c;
	canvas_init(&c, 1, 40, true);
	canvas_text(&c, 0, 0, STYLE_NORMAL, "a×b · 100 % ▲▼ ✓✗ ← → ‹8› ●≈¶ ─│└ █▌");
	for (int i = 0; i < 40; i++)
		assert_true(c.cells[i].ch >= 0x20 && c.cells[i].ch < 0x7f);
	expect(&c, "axb . 100 % ^v +x < > <8> *%# -|+ #+\n");
	canvas_free(&c);
}

TEST(what_does_not_fit_ends_in_dots)
{
	struct canvas c;
	canvas_init(&c, 1, 12, false);
	assert_int_equal(canvas_text_n(&c, 0, 0, 6, STYLE_NORMAL, "occupancy"), 6);
	assert_int_equal(canvas_text_n(&c, 0, 7, 4, STYLE_NORMAL, "roof"), 11);
	assert_int_equal(canvas_text_n(&c, 0, 0, 0, STYLE_NORMAL, "x"), 0);
	expect(&c, "occup… roof\n");
	canvas_free(&c);
}

TEST(wrapping)
{
	struct canvas c;
	canvas_init(&c, 4, 10, false);
	assert_int_equal(canvas_wrap(&c, 0, 0, 4, 10, STYLE_NORMAL, "more reuse per byte\nnow"), 3);
	expect(&c, "more reuse\nper byte\nnow\n\n");
	canvas_clear(&c);
	assert_int_equal(canvas_wrap(&c, 0, 0, 1, 10, STYLE_NORMAL, "more reuse per byte"), 1);
	expect(&c, "more reus…\n\n\n\n");
	canvas_clear(&c);
	assert_int_equal(canvas_wrap(&c, 0, 0, 4, 4, STYLE_NORMAL, "abcdefgh"), 2);
	expect(&c, "abcd\nefgh\n\n\n");
	assert_int_equal(text_rows("more reuse per byte\nnow", 10), 3);
	assert_int_equal(text_rows("", 10), 0);
	assert_int_equal(text_rows("x", 0), 0);
	canvas_free(&c);
}

TEST(bars_in_eighths)
{
	struct canvas c;
	canvas_init(&c, 3, 4, false);
	canvas_bar(&c, 0, 0, 4, 0.53125, STYLE_BAR); /* 17 eighths */
	canvas_bar(&c, 1, 0, 4, 0.0001, STYLE_BAR);  /* something is never nothing */
	canvas_bar(&c, 2, 0, 4, 7, STYLE_BAR);
	expect(&c, "██▏\n▏\n████\n");
	canvas_clear(&c);
	canvas_bar(&c, 0, 0, 4, 0, STYLE_BAR);
	canvas_bar(&c, 1, 0, 4, NAN, STYLE_BAR);
	canvas_column(&c, 0, 3, 3, 0.5, STYLE_BAR); /* 12 eighths of three cells */
	expect(&c, "\n   ▄\n   █\n");
	canvas_free(&c);
	canvas_init(&c, 2, 4, true);
	canvas_bar(&c, 0, 0, 4, 0.5, STYLE_BAR);
	canvas_bar(&c, 1, 0, 4, 0.01, STYLE_BAR);
	expect(&c, "##\n.\n");
	canvas_free(&c);
}

TEST(plot_stays_in_its_box)
{
	struct canvas c;
	canvas_init(&c, 4, 6, false);
	struct plot p = { .c = &c, .row = 1, .col = 1, .rows = 2, .cols = 4, .style = STYLE_BAR };
	plot_line(&p, 0, 0, 1, 1);
	plot_line(&p, -1e9, 0.5, 1e9, 0.5);
	plot_line(&p, NAN, 0, 1, 1);
	plot_line(&p, 0, INFINITY, 1, 1);
	plot_line(&p, 2, 2, 3, 3);
	plot_dot(&p, 1.5, 0);
	plot_dot(&p, 0.5, NAN);
	for (int i = 0; i < 24; i++)
		if (i / 6 == 0 || i / 6 == 3 || i % 6 == 0 || i % 6 == 5)
			assert_int_equal(c.cells[i].ch, ' ');
	int row, col;
	assert_true(plot_cell(&p, 0, 0, &row, &col));
	assert_int_equal(row, 2);
	assert_int_equal(col, 1);
	assert_true(plot_cell(&p, 1, 1, &row, &col));
	assert_int_equal(row, 1);
	assert_int_equal(col, 4);
	assert_false(plot_cell(&p, 1.01, 0, &row, &col));
	/* one dot in each corner of a cell: bits of the Unicode braille block */
	struct plot one = { .c = &c, .row = 0, .col = 0, .rows = 1, .cols = 1, .style = STYLE_BAR };
	plot_dot(&one, 0, 1);
	assert_int_equal(c.cells[0].ch, 0x2801);
	plot_dot(&one, 1, 0);
	assert_int_equal(c.cells[0].ch, 0x2881);
	canvas_free(&c);
}

TEST(figures_by_unit)
{
	static const struct {
		enum metric_id id;
		double value;
		const char *want;
	} table[] = {
		{ M_OCC_PCT, 66.6667, "66.7 %" },
		{ M_MEM_LD_SPR, 32, "32.0" },
		{ M_TIME_KERNEL, 839850, "840 us" },
		{ M_DRAM_READ, 536870912, "512 MiB" },
		{ M_ROOF_ATTAINABLE, 6220, "6 220" },
		{ M_ROOF_ATTAINABLE, 388.75, "389" },
		{ M_ROOF_AI, 0.25, "0.25" },
		{ M_MEM_LD_REQ, 1048576, "1 048 576" },
		{ M_INST_WARP, 121634816, "122 M" },
		{ M_INST_THREAD, 255, "255" },
		{ M_MEM_LD_REQ, 0, "0" },
	};
	struct metric_set m;
	char text[64];
	metrics_clear(&m, "why");
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		metric_num(&m, table[i].id, ORIGIN_COUNTED, table[i].value);
		metric_format(&m, table[i].id, text, sizeof text);
		assert_string_equal(text, table[i].want);
	}
	metric_format(&m, M_OCC_ACHIEVED, text, sizeof text);
	assert_string_equal(text, "n/a");
	metric_format(NULL, M_OCC_PCT, text, sizeof text);
	assert_string_equal(text, "n/a");
	metric_num(&m, M_OCC_PCT, ORIGIN_COUNTED, NAN);
	metric_format(&m, M_OCC_PCT, text, sizeof text);
	assert_string_equal(text, "n/a");
}

TEST(marks_and_deltas)
{
	struct canvas c;
	struct metric_set m, before;
	metrics_clear(&m, "why");
	metrics_clear(&before, "why");
	canvas_init(&c, 5, 30, false);
	metric_num(&m, M_OCC_PCT, ORIGIN_MODELLED, 100);
	metric_num(&before, M_OCC_PCT, ORIGIN_MODELLED, 75);
	metric_num(&m, M_MEM_LD_SPR, ORIGIN_COUNTED, 4);
	metric_num(&before, M_MEM_LD_SPR, ORIGIN_SAMPLED, 32);
	int col = canvas_metric(&c, 0, 0, 8, &m, M_OCC_PCT);
	canvas_delta(&c, 0, col + 1, &m, &before, M_OCC_PCT, +1);
	col = canvas_metric(&c, 1, 0, 8, &m, M_MEM_LD_SPR);
	canvas_delta(&c, 1, col + 1, &m, &before, M_MEM_LD_SPR, -1);
	col = canvas_metric(&c, 2, 0, 8, &m, M_MEM_ST_SPR);
	assert_int_equal(canvas_delta(&c, 2, col, &m, &before, M_MEM_ST_SPR, -1), col);
	assert_int_equal(canvas_delta(&c, 2, col, &m, NULL, M_OCC_PCT, 1), col);
	/* differs, but not in what is shown: no delta */
	metric_num(&before, M_OCC_PCT, ORIGIN_MODELLED, 99.99);
	assert_int_equal(canvas_delta(&c, 3, 0, &m, &before, M_OCC_PCT, +1), 0);
	expect(&c, " 100.0 % ~ was 75.0 % ▲\n     4.0 = was 32.0 ▼\n     n/a\n\n\n");
	assert_int_equal(c.cells[22].style, STYLE_GOOD);
	assert_int_equal(c.cells[30 + 20].style, STYLE_GOOD);
	canvas_free(&c);
}
