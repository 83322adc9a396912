/*
 * The cell grid: UTF-8 in, clipped styled cells out; see canvas.h.
 *
 * Refuses to know terminals, locales and sessions. Widths follow the rule "one character, one
 * column": the ranges of East Asian wide characters and combining marks (Unicode UAX #11,
 * EastAsianWidth W and F; general categories Mn and Me) are replaced, not measured.
 */
#include "ui/canvas.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT 0xfffdu

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

/* --- UTF-8 --- */

struct range {
	uint32_t first, last;
};

static const struct range not_one_column[] = {
	{ 0x0000, 0x001f },   { 0x007f, 0x009f },   { 0x0300, 0x036f },    { 0x0483, 0x0489 },
	{ 0x0591, 0x05bd },   { 0x064b, 0x065f },   { 0x1100, 0x115f },    { 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff },   { 0x200b, 0x200f },   { 0x202a, 0x202e },    { 0x2060, 0x206f },
	{ 0x20d0, 0x20ff },   { 0x231a, 0x231b },   { 0x23e9, 0x23ec },    { 0x23f0, 0x23f0 },
	{ 0x23f3, 0x23f3 },   { 0x25fd, 0x25fe },   { 0x2614, 0x2615 },    { 0x2648, 0x2653 },
	{ 0x267f, 0x267f },   { 0x2693, 0x2693 },   { 0x26a1, 0x26a1 },    { 0x26aa, 0x26ab },
	{ 0x26bd, 0x26be },   { 0x26c4, 0x26c5 },   { 0x26ce, 0x26ce },    { 0x26d4, 0x26d4 },
	{ 0x26ea, 0x26ea },   { 0x26f2, 0x26f3 },   { 0x26f5, 0x26f5 },    { 0x26fa, 0x26fa },
	{ 0x26fd, 0x26fd },   { 0x2705, 0x2705 },   { 0x270a, 0x270b },    { 0x2728, 0x2728 },
	{ 0x274c, 0x274c },   { 0x274e, 0x274e },   { 0x2753, 0x2755 },    { 0x2757, 0x2757 },
	{ 0x2795, 0x2797 },   { 0x27b0, 0x27b0 },   { 0x27bf, 0x27bf },    { 0x2b1b, 0x2b1c },
	{ 0x2b50, 0x2b50 },   { 0x2b55, 0x2b55 },   { 0x2e80, 0x303e },    { 0x3041, 0xa4cf },
	{ 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },   { 0xd800, 0xdfff },    { 0xf900, 0xfaff },
	{ 0xfe00, 0xfe0f },   { 0xfe10, 0xfe19 },   { 0xfe20, 0xfe6f },    { 0xfeff, 0xfeff },
	{ 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x16fe0, 0x18aff },  { 0x1b000, 0x1b2ff },
	{ 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f18e },  { 0x1f191, 0x1f19a },
	{ 0x1f200, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f7e0, 0x1f7eb },  { 0x1f900, 0x1f9ff },
	{ 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd }, { 0xe0000, 0x10ffff },
};

static uint32_t one_column(uint32_t ch)
{
	if (ch >= 0x20 && ch < 0x7f)
		return ch;
	size_t lo = 0, hi = ARRAY_LEN(not_one_column);
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (ch > not_one_column[mid].last)
			lo = mid + 1;
		else if (ch < not_one_column[mid].first)
			hi = mid;
		else
			return REPLACEMENT;
	}
	return ch;
}

uint32_t utf8_next(const char **s)
{
	const unsigned char *p = (const unsigned char *)*s;
	if (!*p)
		return 0;
	if (*p < 0x80) {
		(*s)++;
		return one_column(*p);
	}
	int extra = *p >= 0xf0 && *p < 0xf5   ? 3
	            : *p >= 0xe0 && *p < 0xf0 ? 2
	            : *p >= 0xc2 && *p < 0xe0 ? 1
	                                      : 0;
	uint32_t ch = extra == 3 ? *p & 0x07u : extra == 2 ? *p & 0x0fu : *p & 0x1fu;
	for (int i = 1; i <= extra; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			extra = 0;
			break;
		}
		ch = ch << 6 | (p[i] & 0x3fu);
	}
	bool overlong = (extra == 2 && ch < 0x800) || (extra == 3 && ch < 0x10000);
	if (!extra || overlong || ch > 0x10ffff) {
		(*s)++;
		return REPLACEMENT;
	}
	*s += extra + 1;
	return one_column(ch);
}

int utf8_columns(const char *utf8)
{
	int n = 0;
	while (utf8_next(&utf8))
		n++;
	return n;
}

struct fallback {
	const char *utf8;
	char ascii;
};

/* Every non-ASCII character that this program's own texts use. */
static const struct fallback fallbacks[] = {
	{ "─", '-' },      { "│", '|' }, { "┤", '+' }, { "┬", '+' }, { "└", '+' }, { "┼", '+' },
	{ "╌", '-' },      { "┆", ':' }, { "╭", '+' }, { "╮", '+' }, { "╰", '+' }, { "╯", '+' },
	{ "·", '.' },      { "×", 'x' }, { "÷", '/' }, { "−", '-' }, { "–", '-' }, { "—", '-' },
	{ "…", '.' },      { "▲", '^' }, { "▼", 'v' }, { "◀", '<' }, { "▶", '>' }, { "▸", '>' },
	{ "▴", 'A' },      { "○", 'o' }, { "●", '*' }, { "≈", '%' }, { "¶", '#' }, { "✓", '+' },
	{ "✗", 'x' },      { "←", '<' }, { "→", '>' }, { "↑", '^' }, { "↓", 'v' }, { "‹", '<' },
	{ "›", '>' },      { "≤", '<' }, { "≥", '>' }, { "µ", 'u' }, { "█", '#' }, { "▉", '#' },
	{ "▊", '#' },      { "▋", '#' }, { "▌", '+' }, { "▍", '+' }, { "▎", '.' }, { "▏", '.' },
	{ "▁", '_' },      { "▂", '_' }, { "▃", '_' }, { "▄", '=' }, { "▅", '=' }, { "▆", '#' },
	{ "▇", '#' },      { "▓", '#' }, { "▒", '=' }, { "░", '.' }, { "▐", '+' }, { "±", '~' },
	{ "\u00a0", ' ' },
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

static bool alphanumeric(uint32_t ch)
{
	return (ch >= '0' && ch <= '9') || (ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z');
}

static void watch_overlap(const struct canvas *c, int row, int col, uint32_t is)
{
	struct canvas_watch *w = c->watch;
	const struct cell *cell = at(c, row, col);
	const uint32_t was = cell ? cell->ch : ' ';
	if (!alphanumeric(was) || !alphanumeric(is) || was == is || w->overlaps++ || w->cuts)
		return;
	snprintf(w->first, sizeof w->first, "row %d, column %d: '%c' is drawn over '%c'",
	         c->row + row + 1, c->col + col + 1, (char)is, (char)was);
}

static void watch_cut(const struct canvas *c, int row, int col, const char *text)
{
	struct canvas_watch *w = c->watch;
	if (col >= 0 || row < 0 || row >= c->rows || !c->cols || w->cuts++ || w->overlaps)
		return;
	snprintf(w->first, sizeof w->first, "row %d: '%.60s' begins outside", c->row + row + 1, text);
}

void canvas_cell(struct canvas *c, int row, int col, enum style s, uint32_t ch)
{
	struct cell *cell = at(c, row, col);
	if (!cell)
		return;
	ch = one_column(ch);
	cell->ch = c->ascii ? (uint32_t)ascii_fallback(ch) : ch;
	cell->style = (uint8_t)s;
}

/* A character of a text: it goes over lines and bars, not over another text. */
static void text_cell(struct canvas *c, int row, int col, enum style s, uint32_t ch)
{
	if (c->watch)
		watch_overlap(c, row, col, ch);
	canvas_cell(c, row, col, s, ch);
}

int canvas_text(struct canvas *c, int row, int col, enum style s, const char *utf8)
{
	uint32_t ch;
	bool cut = false;
	if (c->watch)
		watch_cut(c, row, col, utf8);
	for (; (ch = utf8_next(&utf8)); col++) {
		cut |= col >= c->cols && ch != ' ';
		text_cell(c, row, col, s, ch);
	}
	if (cut) /* nothing ends silently */
		canvas_cell(c, row, c->cols - 1, s, 0x2026);
	return col;
}

int canvas_text_n(struct canvas *c, int row, int col, int width, enum style s, const char *utf8)
{
	if (width <= 0)
		return col;
	bool cut = utf8_columns(utf8) > width;
	int n = cut ? width - 1 : width;
	uint32_t ch;
	while (n-- > 0 && (ch = utf8_next(&utf8)))
		text_cell(c, row, col++, s, ch);
	if (cut)
		canvas_cell(c, row, col++, s, 0x2026);
	return col;
}

/* Text from @col on; or, where @to_right, up to before it. Returns the column behind the text. */
static int print(struct canvas *c, int row, int col, bool to_right, enum style s, const char *fmt,
                 va_list ap)
{
	struct text t = { 0 };
	text_add_v(&t, fmt, ap);
	if (t.s)
		col = canvas_text(c, row, to_right ? col - utf8_columns(t.s) : col, s, t.s);
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

void canvas_right(struct canvas *c, int row, int right, enum style s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	print(c, row, right, true, s, fmt, ap);
	va_end(ap);
}

/* The piece of @s that fits @cols columns, broken at a blank if possible. Returns where the next
 * piece starts; @len gets the bytes of this one. */
static const char *wrap_piece(const char *s, int cols, size_t *len)
{
	const char *p = s, *blank = NULL;
	int n = 0;
	while (*p && *p != '\n') {
		if (*p == ' ')
			blank = p;
		const char *next = p;
		utf8_next(&next);
		if (++n > cols)
			break;
		p = next;
	}
	if (!*p || *p == '\n') {
		*len = (size_t)(p - s);
		return *p ? p + 1 : p;
	}
	if (blank && blank > s) {
		*len = (size_t)(blank - s);
		while (*blank == ' ')
			blank++;
		return blank;
	}
	*len = (size_t)(p - s);
	return p;
}

int text_rows(const char *utf8, int cols)
{
	int n = 0;
	while (cols > 0 && *utf8) {
		size_t len;
		utf8 = wrap_piece(utf8, cols, &len);
		n++;
	}
	return n;
}

int canvas_wrap(struct canvas *c, int row, int col, int rows, int cols, enum style s,
                const char *utf8)
{
	int used = 0;
	while (cols > 0 && *utf8 && used < rows) {
		size_t len;
		const char *next = wrap_piece(utf8, cols, &len);
		char *piece = mem_strndup(utf8, len);
		int end = canvas_text_n(c, row + used, col, cols, s, piece);
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

static void put_utf8(struct text *t, uint32_t ch)
{
	char b[4];
	size_t n;
	if (ch < 0x80) {
		b[0] = (char)ch;
		n = 1;
	} else if (ch < 0x800) {
		b[0] = (char)(0xc0 | ch >> 6);
		b[1] = (char)(0x80 | (ch & 0x3f));
		n = 2;
	} else if (ch < 0x10000) {
		b[0] = (char)(0xe0 | ch >> 12);
		b[1] = (char)(0x80 | (ch >> 6 & 0x3f));
		b[2] = (char)(0x80 | (ch & 0x3f));
		n = 3;
	} else {
		b[0] = (char)(0xf0 | ch >> 18);
		b[1] = (char)(0x80 | (ch >> 12 & 0x3f));
		b[2] = (char)(0x80 | (ch >> 6 & 0x3f));
		b[3] = (char)(0x80 | (ch & 0x3f));
		n = 4;
	}
	text_put(t, b, n);
}

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
	text_put(&t, "", 0);
	for (int r = 0; r < c->rows; r++) {
		size_t from = t.len;
		for (int k = 0; k < c->cols; k++)
			put_utf8(&t, at(c, r, k)->ch);
		trim_end(&t, from, ' ');
	}
	for (int r = 0; styles && r < c->rows; r++) {
		size_t from = t.len;
		for (int k = 0; k < c->cols; k++)
			text_put(&t, &letters[at(c, r, k)->style], 1);
		trim_end(&t, from, '.');
	}
	return t.s;
}
