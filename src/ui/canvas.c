/*
 * The cell grid: UTF-8 in, clipped styled cells out; see canvas.h.
 *
 * Refuses to know terminals, locales and sessions. Whatever text comes in is shown in the language
 * in use (base/lang.h); its columns are counted by base/utf8.h.
 */
#include "ui/canvas.h"

#include "base/lang.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void canvas_init(struct canvas *c, int rows, int cols, bool ascii)
{
	*c = (struct canvas){ .stride = cols > 0 ? cols : 0,
		                  .rows = rows > 0 ? rows : 0,
		                  .cols = cols > 0 ? cols : 0,
		                  .ascii = ascii };
	c->cells = mem_calloc((size_t)c->rows * (size_t)c->cols, sizeof *c->cells);
	canvas_clear(c);
}

void canvas_free(struct canvas *c)
{
	free(c->cells);
	*c = (struct canvas){ 0 };
}

static struct cell *at(const struct canvas *c, int row, int col)
{
	if (row < 0 || col < 0 || row >= c->rows || col >= c->cols)
		return NULL;
	return c->cells + (size_t)(c->row + row) * (size_t)c->stride + (size_t)(c->col + col);
}

void canvas_clear(struct canvas *c)
{
	for (int r = 0; r < c->rows; r++)
		for (int k = 0; k < c->cols; k++)
			*at(c, r, k) = (struct cell){ .ch = ' ', .style = STYLE_NORMAL };
}

struct canvas canvas_sub(const struct canvas *c, int row, int col, int rows, int cols)
{
	if (row < 0) {
		rows += row;
		row = 0;
	}
	if (col < 0) {
		cols += col;
		col = 0;
	}
	if (rows > c->rows - row)
		rows = c->rows - row;
	if (cols > c->cols - col)
		cols = c->cols - col;
	if (rows <= 0 || cols <= 0)
		rows = cols = row = col = 0;
	struct canvas sub = *c;
	sub.row = c->row + row;
	sub.col = c->col + col;
	sub.rows = rows;
	sub.cols = cols;
	return sub;
}

/* --- ASCII --- */

struct fallback {
	const char *utf8;
	char ascii;
};

/* Every non-ASCII character that this program's own texts use. */
static const struct fallback fallbacks[] = {
	{ "─", '-' }, { "│", '|' }, { "┤", '+' },      { "┬", '+' }, { "└", '+' }, { "┼", '+' },
	{ "╌", '-' }, { "┆", ':' }, { "╭", '+' },      { "╮", '+' }, { "╰", '+' }, { "╯", '+' },
	{ "·", '.' }, { "×", 'x' }, { "÷", '/' },      { "−", '-' }, { "–", '-' }, { "—", '-' },
	{ "…", '.' }, { "▲", '^' }, { "▼", 'v' },      { "◀", '<' }, { "▶", '>' }, { "▸", '>' },
	{ "▴", 'A' }, { "○", 'o' }, { "●", '*' },      { "≈", '%' }, { "¶", '#' }, { "✓", '+' },
	{ "✗", 'x' }, { "←", '<' }, { "→", '>' },      { "↑", '^' }, { "↓", 'v' }, { "‹", '<' },
	{ "›", '>' }, { "≤", '<' }, { "≥", '>' },      { "µ", 'u' }, { "█", '#' }, { "▉", '#' },
	{ "▊", '#' }, { "▋", '#' }, { "▌", '+' },      { "▍", '+' }, { "▎", '.' }, { "▏", '.' },
	{ "▁", '_' }, { "▂", '_' }, { "▃", '_' },      { "▄", '=' }, { "▅", '=' }, { "▆", '#' },
	{ "▇", '#' }, { "▓", '#' }, { "▒", '=' },      { "░", '.' }, { "▐", '+' }, { "±", '~' },
	{ "★", '*' }, { "•", 'o' }, { "\u00a0", ' ' }, { "┌", '+' }, { "├", '+' },
};

char ascii_fallback(uint32_t ch)
{
	if (ch < 0x80)
		return (char)ch;
	if (ch >= 0x2800 && ch <= 0x28ff)
		return ch == 0x2800 ? ' ' : '*';
	for (size_t i = 0; i < ARRAY_LEN(fallbacks); i++) {
		const char *s = fallbacks[i].utf8;
		if (utf8_next(&s) == ch)
			return fallbacks[i].ascii;
	}
	return '?';
}

/* --- text --- */

static bool readable(uint32_t ch)
{
	return char_columns(ch) == 2 || (ch >= '0' && ch <= '9') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= 'a' && ch <= 'z');
}

static void watch_overlap(const struct canvas *c, int row, int col, uint32_t is)
{
	struct canvas_watch *w = c->watch;
	const struct cell *cell = at(c, row, col);
	const uint32_t was = cell ? cell->ch : ' ';
	if (!readable(was) || !readable(is) || was == is || w->overlaps++ || w->cuts)
		return;
	char over[8] = "", under[8] = "";
	utf8_put(over, is);
	utf8_put(under, was);
	snprintf(w->first, sizeof w->first, "row %d, column %d: '%s' is drawn over '%s'",
	         c->row + row + 1, c->col + col + 1, over, under);
}

static void watch_cut(const struct canvas *c, int row, int col, const char *text)
{
	struct canvas_watch *w = c->watch;
	if (col >= 0 || row < 0 || row >= c->rows || !c->cols || w->cuts++ || w->overlaps)
		return;
	snprintf(w->first, sizeof w->first, "row %d: '%.60s' begins outside", c->row + row + 1, text);
}

/* The other half of a wide character that is drawn over becomes a blank. */
static void part(struct canvas *c, int row, int col)
{
	struct cell *cell = at(c, row, col), *all = c->cells;
	if (!cell)
		return;
	const ptrdiff_t in_row = (cell - all) % c->stride;
	if (cell->ch == CELL_TAIL && in_row > 0)
		cell[-1].ch = ' ';
	if (in_row + 1 < c->stride && cell[1].ch == CELL_TAIL)
		cell[1].ch = ' ';
}

void canvas_cell(struct canvas *c, int row, int col, enum style s, uint32_t ch)
{
	struct cell *cell = at(c, row, col);
	if (!cell || ch == CELL_TAIL) /* drawn with its character */
		return;
	const int wide = char_columns(ch) - 1;
	struct cell *tail = wide ? at(c, row, col + 1) : NULL;
	if (wide && !tail)
		ch = 0x2026;
	part(c, row, col);
	cell->ch = c->ascii ? (uint32_t)ascii_fallback(ch) : ch;
	cell->style = (uint8_t)s;
	if (!tail)
		return;
	part(c, row, col + 1);
	cell->ch = c->ascii ? '?' : ch;
	*tail = (struct cell){ c->ascii ? '?' : CELL_TAIL, (uint8_t)s };
}

/* A character of a text: it goes over lines and bars, not over another text. */
static void text_cell(struct canvas *c, int row, int col, enum style s, uint32_t ch)
{
	if (c->watch)
		watch_overlap(c, row, col, ch);
	canvas_cell(c, row, col, s, ch);
}

/* --- text as it stands --- */

int canvas_verbatim(struct canvas *c, int row, int col, int width, enum style s, const char *utf8)
{
	if (width <= 0)
		return col;
	const bool cut = text_columns(utf8) > width;
	const int end = col + width - cut;
	uint32_t ch;
	while ((ch = utf8_next(&utf8)) && col + char_columns(ch) <= end) {
		text_cell(c, row, col, s, ch);
		col += char_columns(ch);
	}
	if (cut)
		canvas_cell(c, row, col++, s, 0x2026);
	return col;
}

static int verbatim(struct canvas *c, int row, int col, enum style s, const char *utf8)
{
	uint32_t ch;
	bool cut = false;
	if (c->watch)
		watch_cut(c, row, col, utf8);
	for (; (ch = utf8_next(&utf8)); col += char_columns(ch)) {
		cut |= col + char_columns(ch) > c->cols && ch != ' ';
		text_cell(c, row, col, s, ch);
	}
	if (cut) /* nothing ends silently */
		canvas_cell(c, row, c->cols - 1, s, 0x2026);
	return col;
}

/* --- text in the person's language --- */

int utf8_columns(const char *utf8)
{
	return text_columns(lang_text(utf8));
}

int canvas_text(struct canvas *c, int row, int col, enum style s, const char *utf8)
{
	return verbatim(c, row, col, s, lang_text(utf8));
}

int canvas_text_n(struct canvas *c, int row, int col, int width, enum style s, const char *utf8)
{
	return canvas_verbatim(c, row, col, width, s, lang_text(utf8));
}

/* Text from @col on; or, where @to_right, up to before it. Returns the column behind the text. */
static int print(struct canvas *c, int row, int col, bool to_right, enum style s, const char *fmt,
                 va_list ap)
{
	struct text t = { 0 };
	text_add_v(&t, fmt, ap);
	if (t.s) {
		const char *said = lang_formatted(fmt, t.s);
		col = verbatim(c, row, to_right ? col - text_columns(said) : col, s, said);
	}
	text_free(&t);
	return col;
}

int canvas_printf(struct canvas *c, int row, int col, enum style s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	col = print(c, row, col, false, s, fmt, ap);
	va_end(ap);
	return col;
}

int canvas_item(struct canvas *c, int row, int col, enum style s, const char *fmt, ...)
{
	struct text t = { 0 };
	va_list ap;
	va_start(ap, fmt);
	text_add_v(&t, fmt, ap);
	va_end(ap);
	const char *said = t.s ? lang_formatted(fmt, t.s) : "";
	if (col + text_columns(said) < c->cols)
		col = verbatim(c, row, col, s, said);
	text_free(&t);
	return col;
}

void canvas_right(struct canvas *c, int row, int right, enum style s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	print(c, row, right, true, s, fmt, ap);
	va_end(ap);
}

int text_rows(const char *utf8, int cols)
{
	int n = 0;
	utf8 = lang_text(utf8);
	while (cols > 0 && *utf8) {
		size_t len;
		utf8 = utf8_line(utf8, cols, &len);
		n++;
	}
	return n;
}

int canvas_wrap(struct canvas *c, int row, int col, int rows, int cols, enum style s,
                const char *utf8)
{
	int used = 0;
	utf8 = lang_text(utf8);
	while (cols > 0 && *utf8 && used < rows) {
		size_t len;
		const char *next = utf8_line(utf8, cols, &len);
		char *piece = mem_strndup(utf8, len);
		int end = canvas_verbatim(c, row + used, col, cols, s, piece);
		if (used + 1 == rows && *next)
			canvas_cell(c, row + used, end < col + cols ? end : col + cols - 1, s, 0x2026);
		free(piece);
		utf8 = next;
		used++;
	}
	return used;
}

void canvas_hline(struct canvas *c, int row, int col, int n, enum style s)
{
	for (int i = 0; i < n; i++)
		canvas_cell(c, row, col + i, s, 0x2500);
}

void canvas_frame(struct canvas *c, enum style s)
{
	const int bottom = c->rows - 1, right = c->cols - 1;
	canvas_hline(c, 0, 0, c->cols, s);
	canvas_hline(c, bottom, 0, c->cols, s);
	for (int r = 1; r < bottom; r++) {
		canvas_cell(c, r, 0, s, 0x2502);
		canvas_cell(c, r, right, s, 0x2502);
	}
	canvas_cell(c, 0, 0, s, 0x256d);
	canvas_cell(c, 0, right, s, 0x256e);
	canvas_cell(c, bottom, 0, s, 0x2570);
	canvas_cell(c, bottom, right, s, 0x256f);
}

void canvas_style(struct canvas *c, int row, int col, int n, enum style s)
{
	for (int i = 0; i < n; i++) {
		struct cell *cell = at(c, row, col + i);
		if (cell)
			cell->style = (uint8_t)s;
	}
}

void canvas_hit(struct canvas *c, int row, int col, int rows, int cols, enum hit_kind kind,
                unsigned index)
{
	struct canvas_hits *h = c->hits;
	const struct canvas in = canvas_sub(c, row, col, rows, cols);
	if (h && in.rows > 0 && h->n < ARRAY_LEN(h->hit))
		h->hit[h->n++] = (struct canvas_hit){ kind, index, in.row, in.col, in.rows, in.cols };
}

void canvas_scrolls(struct canvas *c)
{
	struct canvas_watch *w = c->watch;
	if (w && w->scrolls < ARRAY_LEN(w->window))
		w->window[w->scrolls++] = (struct watch_window){ c->row, c->col, c->rows, c->cols };
}

/* --- bars --- */

static int eighths(double fraction, int cells)
{
	if (!(fraction > 0) || cells <= 0)
		return 0;
	if (fraction > 1)
		fraction = 1;
	int e = (int)floor(fraction * cells * 8 + 0.5);
	return e < 1 ? 1 : e; /* something is never drawn as nothing */
}

void canvas_bar(struct canvas *c, int row, int col, int cols, double fraction, enum style s)
{
	int e = eighths(fraction, cols);
	if (c->ascii) {
		for (int i = 0; i < (e + 4) / 8; i++)
			canvas_cell(c, row, col + i, s, '#');
		if (e && e < 4)
			canvas_cell(c, row, col, s, '.');
		return;
	}
	for (int i = 0; i < e / 8; i++)
		canvas_cell(c, row, col + i, s, 0x2588);
	if (e % 8)
		canvas_cell(c, row, col + e / 8, s,
		            0x2590u - (uint32_t)(e % 8)); /* 258F is 1/8, 2589 is 7/8 */
}

void canvas_column(struct canvas *c, int row, int col, int rows, double value, enum style s)
{
	int e = eighths(value, rows);
	if (c->ascii) {
		for (int i = 0; i < (e + 4) / 8; i++)
			canvas_cell(c, row + rows - 1 - i, col, s, '#');
		if (e && e < 4)
			canvas_cell(c, row + rows - 1, col, s, '.');
		return;
	}
	for (int i = 0; i < e / 8; i++)
		canvas_cell(c, row + rows - 1 - i, col, s, 0x2588);
	if (e % 8)
		canvas_cell(c, row + rows - 1 - e / 8, col, s,
		            0x2580u + (uint32_t)(e % 8)); /* 2581 is 1/8 */
}

/* --- dump --- */

static void trim_end(struct text *t, size_t from, char blank)
{
	while (t->len > from && t->s[t->len - 1] == blank)
		t->s[--t->len] = '\0';
	text_put(t, "\n", 1);
}

char *canvas_dump(const struct canvas *c, bool styles)
{
	static const char letters[] = {
#define X(id, letter) letter,
		STYLES(X)
#undef X
	};
	struct text t = { 0 };
	char bytes[4];
	text_put(&t, "", 0);
	for (int r = 0; r < c->rows; r++) {
		size_t from = t.len;
		for (int k = 0; k < c->cols; k++)
			if (at(c, r, k)->ch != CELL_TAIL)
				text_put(&t, bytes, utf8_put(bytes, at(c, r, k)->ch));
		trim_end(&t, from, ' ');
	}
	for (int r = 0; styles && r < c->rows; r++) {
		size_t from = t.len;
		for (int k = 0; k < c->cols; k++)
			if (at(c, r, k)->ch != CELL_TAIL)
				text_put(&t, &letters[at(c, r, k)->style], 1);
		trim_end(&t, from, '.');
	}
	return t.s;
}
