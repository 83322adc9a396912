/*
 * Source: the kernel's own text with the share of warp instructions that every line executed.
 *
 * Knows nothing of why a line is hot; the other panels do.
 */
#include "ui/view.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static unsigned n_rows(const struct session *s)
{
	unsigned n = 0;
	for (const char *p = s->source; p && *p; n++) {
		p = strchr(p, '\n');
		if (p)
			p++;
	}
	return n;
}

static const struct counts *counts_of(const struct session *s, uint32_t line)
{
	if (!panel_metrics(s))
		return NULL;
	for (unsigned i = 0; i < s->now->run.counts.n_lines; i++)
		if (s->now->run.counts.lines[i].line == line)
			return &s->now->run.counts.lines[i].c;
	return NULL;
}

/* The hottest line that has text, else the variant's entry; as a row, from 0. */
static unsigned start(const struct session *s)
{
	unsigned total = n_rows(s), hot = 0;
	uint64_t most = 0;
	for (unsigned i = 0; panel_metrics(s) && i < s->now->run.counts.n_lines; i++) {
		const struct line_counts *l = &s->now->run.counts.lines[i];
		if (l->line && l->line <= total && l->c.warp_executed > most) {
			most = l->c.warp_executed;
			hot = l->line - 1;
		}
	}
	const struct kernel_desc *k = s->sel.kernel;
	if (most || !k || s->sel.variant >= k->n_variants || !s->source)
		return hot;
	const char *entry = strstr(s->source, k->variants[s->sel.variant].entry);
	for (const char *p = s->source; entry && p < entry; p++)
		hot += *p == '\n';
	return hot;
}

/* Warp instructions of the run, all lines together and the most of one. */
struct heat_scale {
	uint64_t sum, most;
};

static struct heat_scale scale_of(const struct session *s)
{
	struct heat_scale h = { .most = 1 };
	for (unsigned i = 0; panel_metrics(s) && i < s->now->run.counts.n_lines; i++) {
		const uint64_t n = s->now->run.counts.lines[i].c.warp_executed;
		h.sum += n;
		h.most = n > h.most ? n : h.most;
	}
	return h;
}

/* Tabs are two columns. */
static void expand_tabs(const char *raw, char *out, size_t n)
{
	size_t w = 0;
	for (const char *p = raw; *p && *p != '\r' && w + 3 < n; p++) {
		out[w++] = *p == '\t' ? ' ' : *p;
		if (*p == '\t')
			out[w++] = ' ';
	}
	out[w] = '\0';
}

static void draw_share(struct canvas *c, int row, const struct counts *k,
                       const struct heat_scale *h)
{
	const int bar = 12;
	if (!k || !h->sum || !k->warp_executed)
		return;
	const double share = (double)k->warp_executed / (double)h->sum;
	const enum style heat = share >= 0.3 ? STYLE_HEAT3 : share >= 0.1 ? STYLE_HEAT2 : STYLE_HEAT1;
	canvas_right(c, row, bar - 1, heat, "%.1f", 100 * share);
	canvas_bar(c, row, bar, 4, (double)k->warp_executed / (double)h->most, heat);
}

static void draw(const struct session *s, struct canvas *c)
{
	if (!s->source || !*s->source) {
		canvas_wrap(c, 0, 1, c->rows, c->cols - 2, STYLE_DIM,
		            s->program
		                ? "n/a: this kernel has no line table: compile with nvcc -lineinfo, or "
		                  "give pmpp-explore the source file"
		                : "n/a: this session holds no kernel source");
		return;
	}
	const bool pick = panel_focused(s, "source");
	const struct heat_scale scale = scale_of(s);
	const int text_at = 17;
	unsigned total = n_rows(s), at = pick ? s->cursor.row : start(s);
	if (at >= total)
		at = total ? total - 1 : 0;
	const unsigned top = panel_scroll(total, at, c->rows);
	for (int r = 0; r < c->rows && top + (unsigned)r < total; r++) {
		char raw[512], line[600];
		const uint32_t n = top + (uint32_t)r + 1;
		const struct counts *k = counts_of(s, n);
		const bool here = pick && n == at + 1;
		if (!source_line(s->source, n, raw, sizeof raw))
			break;
		expand_tabs(raw, line, sizeof line);
		canvas_hit(c, r, 0, 1, c->cols, HIT_ROW, n - 1);
		canvas_text(c, r, 0, STYLE_KNOB, here ? "▸" : " ");
		canvas_right(c, r, 5, STYLE_DIM, "%u", n);
		draw_share(c, r, k, &scale);
		canvas_verbatim(c, r, text_at, c->cols - 1 - text_at,
		                here ? STYLE_BOLD
		                : k  ? STYLE_NORMAL
		                     : STYLE_DIM,
		                line);
	}
	panel_scroll_marks(c, 0, c->rows, top, total);
}

const struct view_desc view_source = {
	.name = "source",
	.title = "Source",
	.brief = "Src",
	.order = 7,
	.about = "kernel source with the share of warp instructions of every line",
	.draw = draw,
	.rows = n_rows,
	.start = start,
	.of_source = true,
	.place = VIEW_SIDE,
	.rank = { [LAYOUT_PROFILE] = 2, [LAYOUT_COMPARE] = -1 },
};
