/*
 * Pages over the panels: the list, those first that explain the focused panel, and one page's text.
 * Pure drawing; see screen_parts.h.
 */
#include "ui/screen_parts.h"

#include "base/lang.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_COLS 80

void page_choice(const struct session *s, size_t i, struct choice *out)
{
	const char *view = s->view ? s->view : "";
	const struct text_page *p = page_for(view, i);
	*out = (struct choice){ .enabled = true };
	if (!p)
		return;
	out->current = page_explains(p, view);
	snprintf(out->label, sizeof out->label, "%.119s", p->title);
	snprintf(out->note, sizeof out->note, "%s%.300s", p->panels[0] ? "explains: " : "", p->panels);
}

const struct text_page *page_chosen(const struct session *s, size_t i)
{
	return page_for(s->view ? s->view : "", i);
}

size_t page_place(const struct session *s, const struct text_page *p)
{
	size_t i = 0;
	while (page_chosen(s, i) && page_chosen(s, i) != p)
		i++;
	return i;
}

/* @said, the translation of the row @line, with its parts (two blanks lie between them) below those
 * of other rows: where the parts of @line begin. */
static void aligned(const char *line, const char *said, char *out, size_t n)
{
	const char *from = line;
	size_t len = 0;
	out[0] = '\0';
	for (; *said; said += strspn(said, " ")) {
		const char *gap = strstr(said, "  ");
		const size_t bytes = gap ? (size_t)(gap - said) : strlen(said);
		from += strspn(from, " ");
		int left = (int)(from - line) - text_columns(out);
		left = len && left < 2 ? 2 : left;
		len += (size_t)snprintf(out + len, n - len, "%*s%.*s", left, "", (int)bytes, said);
		if (len >= n)
			return;
		said += bytes;
		const char *next = strstr(from, "  ");
		from = next ? next : from + strlen(from);
	}
}

/* Columns of @line before its second part, which stands behind a gap of two blanks: "  warp  32
 * threads". Without one, what follows the first row stands a little further right. */
static int hang(const char *line)
{
	const char *first = line + strspn(line, " "), *gap = strstr(first, "  ");
	char left[2000];
	if (!gap)
		return (int)(first - line) + 2;
	snprintf(left, sizeof left, "%.*s", (int)(gap + strspn(gap, " ") - line), line);
	return text_columns(left);
}

/* A row of a list or table: its first part, and the rest wrapped beside it. Rows used. */
static int entry(struct canvas *c, int row, int cols, const char *english)
{
	char line[2000], first[2000];
	const char *said = lang_text(english + strspn(english, " ")), *rest = line;
	if (lang_used())
		aligned(english, said, line, sizeof line);
	else
		snprintf(line, sizeof line, "%s", english);
	if (text_columns(line) <= cols) {
		canvas_verbatim(c, row, 2, cols, STYLE_NORMAL, line);
		return 1;
	}
	const int left = hang(line), at = left < cols / 2 ? left : 4;
	for (int k = 0; k < at && *rest;)
		k += char_columns(utf8_next(&rest));
	snprintf(first, sizeof first, "%.*s", (int)(rest - line), line);
	const int rows = text_rows(rest, cols - at);
	canvas_verbatim(c, row, 2, cols, STYLE_NORMAL, first);
	canvas_wrap(c, row, 2 + at, rows, cols - at, STYLE_NORMAL, rest);
	return rows;
}

/* Draws paragraph after paragraph into @c from row @row on, which may lie above it; returns the row
 * behind. What lies outside is clipped. */
static int paragraphs(struct canvas *c, int row, int cols, const char *text)
{
	char words[2000];
	while (*text) {
		size_t n = strcspn(text, "\n"), len = 0;
		if (!n || *text == ' ') {
			snprintf(words, sizeof words, "%.*s", (int)n, text);
			row += n ? entry(c, row, cols, words) : 1;
			text += n + (text[n] == '\n');
			continue;
		}
		for (; *text && *text != '\n' && *text != ' '; text += n + (text[n] == '\n')) {
			n = strcspn(text, "\n");
			len += (size_t)snprintf(words + len, sizeof words - len, "%s%.*s", len ? " " : "",
			                        (int)n, text);
			if (len >= sizeof words)
				len = sizeof words - 1;
		}
		const int rows = text_rows(words, cols);
		canvas_wrap(c, row, 2, rows, cols, STYLE_NORMAL, words);
		row += rows;
	}
	return row;
}

size_t page_rows(const struct text_page *p, int cols)
{
	struct canvas none = { 0 };
	return p ? (size_t)paragraphs(&none, 0, cols > 4 ? cols - 4 : 1, p->text) : 0;
}

size_t page_rows_before(const struct page_passage *p)
{
	struct canvas none = { 0 };
	char *before = mem_strndup(p->page->text, (size_t)(p->text - p->page->text));
	const int rows = paragraphs(&none, 0, USUAL_COLS - 6, before);
	free(before);
	return rows > 1 ? (size_t)rows - 1 : 0;
}

void page_draw(const struct text_page *p, size_t top, struct canvas *c)
{
	if (p)
		paragraphs(c, -(int)top, c->cols > 4 ? c->cols - 4 : 1, p->text);
}
