/*
 * What opens over the panels: choice lists with type-to-filter, help, the origin legend.
 *
 * What lists hold is list.c, what pages say help.c. Pure drawing; see screen_parts.h.
 */
#include "ui/screen_parts.h"

#include "base/lang.h"
#include "base/mem.h"
#include "model/page.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool overlay_is_list(enum command open)
{
	return open == CMD_KERNEL || open == CMD_GPU || open == CMD_BACKEND || open == CMD_PRESET ||
	       open == CMD_FIND || open == CMD_COPY || open == CMD_PAGES;
}

bool overlay_is_open(const struct screen_state *st)
{
	return st->open != CMD_NONE && !overlay_is_prompt(st->open);
}

bool overlay_is_prompt(enum command open)
{
	return open == CMD_PARAM_TYPE || open == CMD_LINE;
}

static char lower(char ch)
{
	return ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
}

static bool contains(const char *text, const char *part)
{
	for (; *text; text++) {
		size_t i = 0;
		while (part[i] && lower(text[i]) == lower(part[i]))
			i++;
		if (!part[i])
			return true;
	}
	return !*part;
}

/* What is typed in another script can only stand in the text as it is shown. */
static bool holds(const char *text, const char *part, bool translated)
{
	return contains(text, part) || (translated && contains(lang_text(text), part));
}

size_t overlay_passing(const struct screen_host *host, const struct screen_state *st,
                       size_t **index)
{
	const size_t of = list_count(host, st->open);
	bool other = false;
	for (const char *p = st->typed; *p; p++)
		other = other || (unsigned char)*p > 0x7f;
	*index = mem_calloc(of + 1, sizeof **index);
	struct choice ch = { 0 };
	size_t n = 0;
	for (size_t i = 0; i < of; i++) {
		list_at(host, st->open, i, &ch);
		if (holds(ch.label, st->typed, other) || holds(ch.note, st->typed, other && !ch.verbatim))
			(*index)[n++] = i;
	}
	return n;
}

static const char *title(enum command open)
{
	switch (open) {
	case CMD_KERNEL: return "choose kernel / variant";
	case CMD_GPU: return "choose the GPU";
	case CMD_BACKEND: return "choose where it runs";
	case CMD_PRESET: return "choose a preset";
	case CMD_FIND: return "find";
	case CMD_COPY: return "copy";
	case CMD_PAGES: return "pages: those on this panel first";
	case CMD_HELP: return "help; ? once more, or Enter: pages to read";
	case CMD_ORIGINS: return "origin of a number";
	default: return "";
	}
}

/* Clears the box, draws its frame and returns what lies inside. */
static struct canvas box(struct canvas *c, int cols, int rows, const char *head)
{
	int width = c->cols < cols ? c->cols : cols, height = c->rows < rows ? c->rows : rows;
	if (width == c->cols && c->rows < 30) /* a small screen is covered whole */
		height = c->rows;
	const int left = (c->cols - width) / 2;
	struct canvas all = canvas_sub(c, 0, left, height, width);
	canvas_clear(&all);
	canvas_hit(&all, 0, 0, all.rows, all.cols, HIT_BOX, 0);
	canvas_frame(&all, STYLE_KNOB);
	canvas_printf(&all, 0, 2, STYLE_TITLE, " %s ", head);
	return canvas_sub(&all, 1, 1, height - 2, width - 2);
}

/* The choices of @index around the selected one, in a window from row 2 on. */
static void list_rows(const struct screen_host *host, const struct screen_state *st,
                      const size_t *index, size_t n, struct canvas *in)
{
	const int window = in->rows - 2;
	const size_t at = st->selected < n ? st->selected : n - 1;
	const unsigned top = panel_scroll((unsigned)n, (unsigned)at, window);
	const int part = st->open == CMD_FIND ? in->cols / 2 : in->cols / 3;
	const int label = part < 20 ? 20 : part;
	const bool own = st->open == CMD_FIND || st->open == CMD_COPY || st->open == CMD_PAGES;
	struct choice ch = { 0 };
	for (int r = 0; r < window && top + (size_t)r < n; r++) {
		const bool here = top + (size_t)r == at;
		list_at(host, st->open, index[top + (size_t)r], &ch);
		canvas_hit(in, r + 2, 0, 1, in->cols, HIT_CHOICE, top + (unsigned)r);
		const enum style s = here ? STYLE_SELECTED : ch.enabled ? STYLE_NORMAL : STYLE_FAINT;
		const enum style note = here ? STYLE_SELECTED : ch.enabled ? STYLE_DIM : STYLE_WATCH;
		if (here)
			for (int k = 0; k < in->cols; k++)
				canvas_cell(in, r + 2, k, STYLE_SELECTED, ' ');
		canvas_text(in, r + 2, 1, s, here ? "▸" : ch.current ? "·" : " ");
		(own ? canvas_text_n : canvas_verbatim)(in, r + 2, 3, label - 4, s, ch.label);
		(ch.verbatim ? canvas_verbatim : canvas_text_n)(in, r + 2, label, in->cols - label - 1,
		                                                note, ch.enabled ? ch.note : ch.why_not);
	}
	panel_scroll_marks(in, 2, window, top, (unsigned)n);
}

static void list(const struct screen_host *host, const struct screen_state *st, struct canvas *c)
{
	size_t *index, n = overlay_passing(host, st, &index), of = list_count(host, st->open);
	struct canvas in = box(c, 100, (int)(of < 40 ? of : 40) + 5, title(st->open));
	int col = canvas_text(&in, 0, 1, STYLE_DIM, "filter ");
	col = canvas_verbatim(&in, 0, col, in.cols - col - 1, STYLE_KNOB_ON, st->typed);
	canvas_cell(&in, 0, col++, STYLE_KNOB_ON, '_');
	char hint[96];
	snprintf(hint, sizeof hint, "%zu of %zu   type to filter, Enter chooses, Esc closes", n, of);
	if (col + 2 + utf8_columns(hint) >= in.cols)
		snprintf(hint, sizeof hint, "%zu of %zu", n, of);
	if (col + 2 + utf8_columns(hint) < in.cols)
		canvas_right(&in, 0, in.cols - 1, STYLE_DIM, "%s", hint);
	if (in.rows > 2 && n)
		list_rows(host, st, index, n, &in);
	else if (in.rows > 2)
		canvas_printf(&in, 2, 3, STYLE_WATCH, "nothing matches '%s': Backspace", st->typed);
	free(index);
}

/* --- help and legend: rows of a text, drawn from a line on --- */

#define PAGE_COLS 96

static const char *output_text(const struct screen_host *host)
{
	return host->output ? host->output(host->ctx) : "";
}

static size_t lines_of(const char *text)
{
	size_t n = 0;
	for (; *text; n++) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return n;
}

size_t overlay_text_rows(const struct screen_host *host, const struct screen_state *st)
{
	if (st->open == CMD_OUTPUT)
		return lines_of(output_text(host));
	if (st->open == CMD_PAGE) /* of the narrowest screen, so that its end can be reached */
		return page_rows(page_chosen(host->session(host->ctx), st->page), PAGE_LEAST_COLS);
	return (size_t)help_draw(host, st->open, 0, PAGE_COLS - 2, NULL);
}

static void pages(const struct screen_host *host, const struct screen_state *st, struct canvas *c)
{
	const int cols = (c->cols < PAGE_COLS ? c->cols : PAGE_COLS) - 2;
	const int n = help_draw(host, st->open, 0, cols, NULL);
	struct canvas in = box(c, PAGE_COLS, n + 3, title(st->open));
	const int most = n > in.rows ? n - in.rows : 0;
	const int top = (int)st->top < most ? (int)st->top : most;
	help_draw(host, st->open, top, cols, &in);
	if (most && in.rows > 0)
		panel_scroll_marks(&in, 0, in.rows, (unsigned)top, (unsigned)n);
}

/* The page that is being read, from row `top` on. */
static void read_page(const struct screen_host *host, const struct screen_state *st,
                      struct canvas *c)
{
	const struct text_page *p = page_chosen(host->session(host->ctx), st->page);
	struct canvas in = box(c, PAGE_COLS, c->rows, p ? p->title : "");
	const size_t n = page_rows(p, in.cols), window = in.rows > 0 ? (size_t)in.rows : 0;
	const size_t top = n > window ? (st->top < n - window ? st->top : n - window) : 0;
	page_draw(p, top, &in);
	if (n > window && window)
		panel_scroll_marks(&in, 0, in.rows, (unsigned)top, (unsigned)n);
}

#define TAB_COLS 8

/* What a row of @len bytes shows from column @from on: tabs are blanks, no character is cut in two.
 * Returns the columns of all of it. */
static int row_from(const char *row, size_t len, int from, char *out, size_t n)
{
	const char *const end = row + len;
	size_t used = 0;
	int col = 0;
	while (row < end) {
		const char *next = row;
		const bool tab = *row == '\t';
		const int wide = tab ? TAB_COLS - col % TAB_COLS : char_columns(utf8_next(&next));
		next = tab ? row + 1 : next;
		for (int k = 0; tab && k < wide; k++)
			if (col + k >= from && used + 1 < n)
				out[used++] = ' ';
		if (!tab && col >= from && used + (size_t)(next - row) < n) {
			memcpy(out + used, row, (size_t)(next - row));
			used += (size_t)(next - row);
		}
		col += wide;
		row = next;
	}
	out[used] = '\0';
	return col;
}

static int widest(const char *text)
{
	char line[16];
	int most = 0;
	while (*text) {
		const size_t len = strcspn(text, "\n");
		const int cols = row_from(text, len, INT_MAX, line, sizeof line);
		most = cols > most ? cols : most;
		text += len + (text[len] == '\n');
	}
	return most;
}

void output_shift(const struct screen_host *host, struct screen_state *st, int direction)
{
	const int most = widest(output_text(host)) - PAGE_LEAST_COLS;
	st->shift += direction * SHIFT_COLS;
	st->shift = st->shift > most ? most : st->shift;
	st->shift = st->shift < 0 ? 0 : st->shift;
}

/* What a line behind ':' printed, from row `top` and column `shift` on. */
static void output(const struct screen_host *host, const struct screen_state *st, struct canvas *c)
{
	char head[sizeof st->line + 2], line[2000];
	const char *text = output_text(host);
	const size_t n = lines_of(text);
	const int cols = widest(text);
	snprintf(head, sizeof head, ": %s", st->line);
	head[c->cols > 8 && (int)strlen(head) > c->cols - 8 ? (size_t)c->cols - 8 : strlen(head)] =
		'\0';
	struct canvas in = box(c, c->cols, c->rows, head);
	const size_t window = in.rows > 0 ? (size_t)in.rows : 0;
	const size_t top = n > window ? (st->top < n - window ? st->top : n - window) : 0;
	const int beyond = cols > in.cols - 2 ? cols - (in.cols - 2) : 0;
	const int from = st->shift < beyond ? st->shift : beyond;
	for (size_t i = 0; *text && i < top + window; i++) {
		const size_t len = strcspn(text, "\n");
		row_from(text, len, from, line, sizeof line);
		if (i >= top)
			canvas_text_n(&in, (int)(i - top), 1, in.cols - 2, STYLE_NORMAL, line);
		text += len + (text[len] == '\n');
	}
	panel_scroll_marks(&in, 0, in.rows, (unsigned)top, (unsigned)n);
	if (beyond && c->cols > 40)
		canvas_printf(c, in.rows + 1, c->cols - 36, STYLE_KEY, " ←→ columns %d to %d of %d ",
		              from + 1, from + in.cols - 2, cols);
}

void overlay_draw(const struct screen_host *host, const struct screen_state *st, struct canvas *c)
{
	if (overlay_is_list(st->open))
		list(host, st, c);
	else if (st->open == CMD_HELP || st->open == CMD_ORIGINS)
		pages(host, st, c);
	else if (st->open == CMD_OUTPUT)
		output(host, st, c);
	else if (st->open == CMD_PAGE)
		read_page(host, st, c);
}
