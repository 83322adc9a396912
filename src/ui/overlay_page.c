/*
 * Pages over the panels: the list, those first that explain the focused panel, and one page's text.
 * Pure drawing; see screen_parts.h.
 */
#include "ui/screen_parts.h"

#include "base/text.h"
#include "model/page.h"

#include <stdio.h>
#include <string.h>

void page_choice(const struct session *s, size_t i, struct choice *out)
{
	const char *view = s->view ? s->view : "";
	const struct text_page *p = page_for(view, i);
	*out = (struct choice){ .enabled = true };
	if (!p)
		return;
	out->current = page_explains(p, view);
	snprintf(out->label, sizeof out->label, "%.47s", p->title);
	snprintf(out->note, sizeof out->note, "%s%.90s", p->panels[0] ? "explains: " : "", p->panels);
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

/* Columns of @line before its second part, which stands behind a gap of two blanks: "  warp  32
 * threads". Without one, what follows the first row stands a little further right. */
static size_t hang(const char *line)
{
	const char *first = line + strspn(line, " "), *gap = strstr(first, "  ");
	return (size_t)(gap ? gap + strspn(gap, " ") - line : first - line + 2);
}

/* A row of a list or table: its first part, and the rest wrapped beside it. Rows used. */
static int entry(struct canvas *c, int row, int cols, const char *line)
{
	const size_t left = hang(line);
	const int at = (int)left < cols / 2 ? (int)left : 4;
	char first[200];
	snprintf(first, sizeof first, "%.*s", at, line);
	if ((int)strlen(line) <= cols) {
		canvas_text(c, row, 2, STYLE_NORMAL, line);
		return 1;
	}
	const char *rest = line + (strlen(line) < (size_t)at ? strlen(line) : (size_t)at);
	const int rows = text_rows(rest, cols - at);
	canvas_text(c, row, 2, STYLE_NORMAL, first);
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

void page_draw(const struct text_page *p, size_t top, struct canvas *c)
{
	if (p)
		paragraphs(c, -(int)top, c->cols > 4 ? c->cols - 4 : 1, p->text);
}
