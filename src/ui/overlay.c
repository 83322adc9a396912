/*
 * What opens over the panels: choice lists with type-to-filter, help, the origin legend.
 *
 * Lists come from the host, help from keys.def and the views, the legend from ORIGINS: nothing is
 * written down twice. Pure drawing; see screen_parts.h.
 */
#include "ui/keys.h"
#include "ui/screen_parts.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

bool overlay_is_list(enum command open)
{
	return open == CMD_KERNEL || open == CMD_GPU || open == CMD_BACKEND || open == CMD_PRESET;
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

bool overlay_choice(const struct screen_host *host, const struct screen_state *st, size_t nth,
                    struct choice *out, size_t *index)
{
	size_t n = host->choices(host->ctx, st->open);
	for (size_t i = 0; i < n; i++) {
		*out = (struct choice){ 0 };
		host->choice_at(host->ctx, st->open, i, out);
		if (!contains(out->label, st->typed) && !contains(out->note, st->typed))
			continue;
		if (!nth--) {
			*index = i;
			return true;
		}
	}
	return false;
}

size_t overlay_count(const struct screen_host *host, const struct screen_state *st)
{
	struct choice ch;
	size_t index, n = 0;
	while (overlay_choice(host, st, n, &ch, &index))
		n++;
	return n;
}

static const char *title(enum command open)
{
	switch (open) {
	case CMD_KERNEL: return "choose kernel / variant";
	case CMD_GPU: return "choose the GPU";
	case CMD_BACKEND: return "choose where it runs";
	case CMD_PRESET: return "choose a preset";
	case CMD_HELP: return "keys";
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
	canvas_frame(&all, STYLE_KNOB);
	canvas_printf(&all, 0, 2, STYLE_TITLE, " %s ", head);
	return canvas_sub(&all, 1, 1, height - 2, width - 2);
}

static void list(const struct screen_host *host, const struct screen_state *st, struct canvas *c)
{
	size_t n = overlay_count(host, st), of = host->choices(host->ctx, st->open);
	struct canvas in = box(c, 100, (int)(of < 40 ? of : 40) + 5, title(st->open));
	int col = canvas_text(&in, 0, 1, STYLE_DIM, "filter ");
	col = canvas_printf(&in, 0, col, STYLE_KNOB_ON, "%s_", st->typed);
	canvas_right(&in, 0, in.cols - 1, STYLE_DIM,
	             "%zu of %zu   type to filter, Enter chooses, Esc closes", n, of);
	if (col > in.cols - 30)
		canvas_text(&in, 0, 1, STYLE_KNOB_ON, st->typed);
	int window = in.rows - 2;
	if (window <= 0)
		return;
	if (!n) {
		canvas_printf(&in, 2, 3, STYLE_WATCH, "nothing matches '%s': Backspace", st->typed);
		return;
	}
	size_t at = st->selected < n ? st->selected : n - 1;
	unsigned top = panel_scroll((unsigned)n, (unsigned)at, window);
	int label = in.cols / 3 < 20 ? 20 : in.cols / 3;
	for (int r = 0; r < window; r++) {
		struct choice ch;
		size_t index;
		if (!overlay_choice(host, st, top + (size_t)r, &ch, &index))
			break;
		bool here = top + (size_t)r == at;
		enum style s = here ? STYLE_SELECTED : ch.enabled ? STYLE_NORMAL : STYLE_FAINT;
		if (here)
			for (int k = 0; k < in.cols; k++)
				canvas_cell(&in, r + 2, k, STYLE_SELECTED, ' ');
		canvas_text(&in, r + 2, 1, s, here ? "▸" : ch.current ? "·" : " ");
		canvas_text_n(&in, r + 2, 3, label - 4, s, ch.label);
		canvas_text_n(&in, r + 2, label, in.cols - label - 1,
		              here         ? STYLE_SELECTED
		              : ch.enabled ? STYLE_DIM
		                           : STYLE_WATCH,
		              ch.enabled ? ch.note : ch.why_not);
	}
	panel_scroll_marks(&in, 2, window, top, (unsigned)n);
}

/* --- help and legend: rows of a text, drawn from a line on --- */

size_t overlay_text_rows(const struct screen_host *host, const struct screen_state *st)
{
	if (st->open == CMD_HELP)
		return key_count() + host->n_views + 3;
	return ORIGIN_COUNT + 3;
}

static void help_row(const struct screen_host *host, struct canvas *c, int row, size_t i)
{
	if (i < key_count()) {
		const struct key_desc *k = key_at(i);
		int col = canvas_text(c, row, 2, STYLE_KEY, key_shown(k->key));
		if (k->alt[0])
			canvas_printf(c, row, col, STYLE_DIM, "  %s", key_shown(k->alt));
		canvas_text_n(c, row, 16, c->cols - 17, STYLE_NORMAL, k->about);
		return;
	}
	i -= key_count();
	if (i == 1)
		canvas_text(c, row, 2, STYLE_TITLE, "panels");
	if (i < 2)
		return;
	i -= 2;
	if (i < host->n_views) {
		const struct view_desc *v = host->view_at(i);
		if (i < 10)
			canvas_printf(c, row, 2, STYLE_KEY, "%zu", (i + 1) % 10);
		canvas_text_n(c, row, 4, 12, STYLE_NORMAL, v->title);
		canvas_text_n(c, row, 16, c->cols - 17, STYLE_DIM, v->about ? v->about : "");
	}
}

static void origin_row(struct canvas *c, int row, size_t i)
{
	if (i < ORIGIN_COUNT) {
		enum origin o = (enum origin)i;
		canvas_text(c, row, 2, STYLE_BOLD, o == ORIGIN_NONE ? "n/a" : origin_mark(o, c->ascii));
		canvas_text(c, row, 7, STYLE_NORMAL, origin_name(o));
		canvas_text_n(c, row, 17, c->cols - 18, STYLE_DIM, origin_about(o));
	} else if (i == ORIGIN_COUNT + 1) {
		canvas_text_n(c, row, 2, c->cols - 3, STYLE_DIM,
		              "A mark follows every figure. Origins are never mixed silently.");
	}
}

static void pages(const struct screen_host *host, const struct screen_state *st, struct canvas *c)
{
	size_t n = overlay_text_rows(host, st);
	struct canvas in = box(c, 96, (int)n + 3, title(st->open));
	size_t window = in.rows > 0 ? (size_t)in.rows : 0;
	size_t top = n > window ? (st->top < n - window ? st->top : n - window) : 0;
	for (size_t r = 0; r < window && top + r < n; r++) {
		if (st->open == CMD_HELP)
			help_row(host, &in, (int)r, top + r);
		else
			origin_row(&in, (int)r, top + r);
	}
	if (n > window && window)
		panel_scroll_marks(&in, 0, in.rows, (unsigned)top, (unsigned)n);
}

void overlay_draw(const struct screen_host *host, const struct screen_state *st, struct canvas *c)
{
	if (overlay_is_list(st->open))
		list(host, st, c);
	else if (st->open == CMD_HELP || st->open == CMD_ORIGINS)
		pages(host, st, c);
}
