/*
 * Source: the kernel's own text; of every line the share of warp instructions that it executed and,
 * where there is room, heat cells: sectors and bank passes per request, active lanes. Enter opens
 * what a line became: machine code, PTX, the 32 lanes of its accesses.
 *
 * Knows nothing of why a line is hot; the other panels do.
 */
#include "ui/view.h"

#include "base/text.h"

#include <math.h>
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

/* --- heat cells --- */

#define DETAIL_ROWS 24 /* of what a line became, at most */
#define CELLS_FROM 64  /* columns of a panel that has room for them */
enum { AT_SECTORS = 21, AT_BANKS = 26, AT_LANES = 31, TEXT_AT = 17, TEXT_AFTER_CELLS = 33 };

/* @good: the share of what was moved, passed or lit that was for something; what is fine is quiet,
 * as on the panels that say why. */
static void cell(struct canvas *c, int row, int right, double good, double fine, double half,
                 const char *text)
{
	const enum style heat = good >= fine ? STYLE_DIM : good >= half ? STYLE_HEAT2 : STYLE_HEAT3;
	canvas_right(c, row, right, heat, "%s", text);
}

static void draw_cells(struct canvas *c, int row, const struct counts *k, const struct counted *of)
{
	char text[32];
	if (!k || !k->warp_executed)
		return;
	const double requests = (double)(k->ld_requests + k->st_requests);
	const double sectors = (double)(k->ld_sectors + k->st_sectors);
	if (requests > 0 && count_known(of, COUNT_ld_sectors) && count_known(of, COUNT_st_sectors)) {
		const double bytes = (double)(k->ld_bytes + k->st_bytes);
		snprintf(text, sizeof text, "%.1f", sectors / requests);
		cell(c, row, AT_SECTORS, bytes / fmax(32 * sectors, 1), 0.75, 0.4, text);
	}
	const double shared = (double)(k->shared_ld_requests + k->shared_st_requests);
	const double passes = (double)(k->shared_ld_wavefronts + k->shared_st_wavefronts);
	if (shared > 0 && count_known(of, COUNT_shared_ld_wavefronts) &&
	    count_known(of, COUNT_shared_st_wavefronts)) {
		const double ideal = (double)(k->shared_ld_ideal + k->shared_st_ideal);
		snprintf(text, sizeof text, "%.1f", passes / shared);
		cell(c, row, AT_BANKS, ideal / fmax(passes, 1), 0.75, 0.4, text);
	}
	if (count_known(of, COUNT_thread_executed)) {
		const double lanes = (double)counts_active_lanes(k) / (double)k->warp_executed;
		snprintf(text, sizeof text, "%.0f", lanes);
		cell(c, row, AT_LANES, lanes / 32, 0.9, 0.5, text);
	}
}

static void draw_heads(struct canvas *c, int row)
{
	canvas_right(c, row, 5, STYLE_DIM, "%s", "line");
	canvas_right(c, row, 11, STYLE_DIM, "%s", "%");
	canvas_right(c, row, AT_SECTORS, STYLE_DIM, "%s", "sect");
	canvas_right(c, row, AT_BANKS, STYLE_DIM, "%s", "pass");
	canvas_right(c, row, AT_LANES, STYLE_DIM, "%s", "lane");
}

static unsigned detail_rows(const struct session *s)
{
	return s->source && *s->source && panel_metrics(s) ? panel_line_rows(s, s->cursor.row + 1) : 0;
}

static void draw_lines(const struct session *s, struct canvas *c, bool pick)
{
	const struct heat_scale scale = scale_of(s);
	const bool cells = c->cols >= CELLS_FROM && c->rows > 2 && panel_metrics(s) &&
	                   (count_known(&s->now->run.counts.of_lines, COUNT_ld_sectors) ||
	                    count_known(&s->now->run.counts.of_lines, COUNT_thread_executed));
	const int text_at = cells ? TEXT_AFTER_CELLS : TEXT_AT, above = cells ? 1 : 0;
	unsigned total = n_rows(s), at = pick ? s->cursor.row : start(s);
	if (at >= total)
		at = total ? total - 1 : 0;
	const unsigned top = panel_scroll(total, at, c->rows - above);
	if (cells)
		draw_heads(c, 0);
	for (int r = 0; r + above < c->rows && top + (unsigned)r < total; r++) {
		char raw[512], line[600];
		const uint32_t n = top + (uint32_t)r + 1;
		const struct counts *k = counts_of(s, n);
		const bool here = pick && n == at + 1;
		if (!source_line(s->source, n, raw, sizeof raw))
			break;
		expand_tabs(raw, line, sizeof line);
		const int row = r + above;
		canvas_hit(c, row, 0, 1, c->cols, HIT_ROW, n - 1);
		canvas_text(c, row, 0, STYLE_KNOB, here ? "▸" : " ");
		canvas_right(c, row, 5, STYLE_DIM, "%u", n);
		draw_share(c, row, k, &scale);
		if (cells)
			draw_cells(c, row, k, &s->now->run.counts.of_lines);
		canvas_verbatim(c, row, text_at, c->cols - 1 - text_at,
		                here ? STYLE_BOLD
		                : k  ? STYLE_NORMAL
		                     : STYLE_DIM,
		                line);
	}
	panel_scroll_marks(c, above, c->rows - above, top, total);
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
	const int all = panel_line_height(s, s->cursor.row + 1, c->cols), most = c->rows * 3 / 4;
	const int wanted = all < most && all < DETAIL_ROWS ? all
	                   : most < DETAIL_ROWS            ? most
	                                                   : DETAIL_ROWS;
	const int shut = c->rows < 10 ? 2 : c->rows - wanted < 5 ? 5 : c->rows - wanted;
	if (!pick || !s->cursor.detail || !panel_metrics(s) || c->rows < 6) {
		draw_lines(s, c, pick);
		return;
	}
	struct canvas lines = canvas_sub(c, 0, 0, shut, c->cols);
	struct canvas below = canvas_sub(c, shut, 0, c->rows - shut, c->cols);
	draw_lines(s, &lines, pick);
	panel_line(s, s->cursor.row + 1, s->cursor.detail_row, &below);
}

const struct view_desc view_source = {
	.name = "source",
	.title = "Source",
	.brief = "Src",
	.order = 7,
	.about = "source, with instructions, sectors, bank passes, lanes of each line; "
			 "Enter: what it became",
	.draw = draw,
	.rows = n_rows,
	.start = start,
	.detail_rows = detail_rows,
	.of_source = true,
	.place = VIEW_SIDE,
	.rank = { [LAYOUT_PROFILE] = 2, [LAYOUT_COMPARE] = -1 },
};
