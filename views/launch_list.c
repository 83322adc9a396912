/*
 * Launches: what a program did with the GPU, by kernel, grid and block; the longest first. Enter:
 * every launch and copy in the order of the program's calls.
 *
 * The row under the cursor is the launch that all other panels show.
 */
#include "model/program_session.h"
#include "ui/view.h"

#include "base/scopeless.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWS                                                                                   \
	"Here after a run: every kernel, grid and block with its share of the GPU's time; copies, " \
	"faults, what the program wrote."

static const struct program *program_of(const struct session *s)
{
	return s->program ? s->program->now : NULL;
}

/* --- texts --- */

static void shape(const unsigned grid[3], const unsigned block[3], char *out, size_t n)
{
	char g[40], b[40];
	program_dimensions(grid, "×", g, sizeof g);
	program_dimensions(block, "×", b, sizeof b);
	snprintf(out, n, "%.36s · %.36s", g, b);
}

/* Columns of the longest kernel's name, at least @least. */
static int longest_name(const struct program *p, int least)
{
	for (unsigned k = 0; k < p->n_kernels; k++) {
		const int width = utf8_columns(p->kernels[k].name);
		least = width > least ? width : least;
	}
	return least;
}

static bool is_wrong(unsigned flags)
{
	return flags & (1u << PROGRAM_FLAG_FAILED | 1u << PROGRAM_FLAG_FAULT | 1u << PROGRAM_FLAG_RACE);
}

/* --- columns --- */

enum column {
	COL_NUMBER,
	COL_KERNEL,
	COL_SHAPE,
	COL_N,
	COL_TOTAL,
	COL_SHARE,
	COL_WAS,
	COL_FLAGS,
	COL_BOUND,
	COL_EACH,
	COL_DRAM,
	COLUMNS
};
static const struct {
	const char *title;
	int width;
	bool right, may_go;
} columns[COLUMNS] = {
	[COL_NUMBER] = { "#", 5, true, false },
	[COL_KERNEL] = { "kernel", 0, false, false },
	[COL_SHAPE] = { "grid · block", 14, false, false },
	[COL_N] = { "n", 5, true, false },
	[COL_TOTAL] = { "total", 8, true, false },
	[COL_SHARE] = { "share", 7, true, false },
	[COL_WAS] = { "was each", 11, true, true },
	[COL_FLAGS] = { "flags", 11, false, true },
	[COL_BOUND] = { "limited by", 10, false, true },
	[COL_EACH] = { "each", 8, true, true },
	[COL_DRAM] = { "DRAM", 8, true, true },
};

/* Where each column stands; -1 = there is no room for it. */
struct plan {
	int at[COLUMNS], width[COLUMNS];
};

static bool is_wanted(const struct session *s, enum column k)
{
	const struct program *p = program_of(s);
	if (k == COL_WAS)
		return s->program->before != NULL;
	if (k != COL_FLAGS)
		return true;
	for (size_t i = 0; i < p->n_groups; i++)
		if (p->groups[i].flags & ~(1u << PROGRAM_FLAG_REPEAT))
			return true;
	return false;
}

static struct plan plan_columns(const struct session *s, int cols)
{
	const struct program *p = program_of(s);
	struct plan plan;
	const int name = longest_name(p, 6);
	int used = 2;
	for (enum column k = 0; k < COLUMNS; k++) {
		plan.width[k] = columns[k].width;
		if (!columns[k].may_go)
			used += columns[k].width + 1;
	}
	const int most = cols - used - 1 < 40 ? cols - used - 1 : 40;
	plan.width[COL_KERNEL] = name < most ? name : most > 8 ? most : 8;
	used += plan.width[COL_KERNEL];
	for (enum column k = 0; k < COLUMNS; k++) {
		const bool fits =
			!columns[k].may_go || (is_wanted(s, k) && used + columns[k].width + 1 <= cols - 1);
		plan.at[k] = fits ? 0 : -1;
		if (fits && columns[k].may_go)
			used += columns[k].width + 1;
	}
	/* what nothing else needs is the name's */
	for (; used < cols - 1 && plan.width[COL_KERNEL] < name; used++)
		plan.width[COL_KERNEL]++;
	int at = 2;
	for (enum column k = 0; k < COLUMNS; k++)
		if (plan.at[k] >= 0) {
			plan.at[k] = at;
			at += plan.width[k] + 1;
		}
	return plan;
}

static void put(struct canvas *c, int row, const struct plan *plan, enum column k, enum style style,
                const char *text)
{
	if (plan->at[k] < 0)
		return;
	if (columns[k].right)
		canvas_right(c, row, plan->at[k] + plan->width[k], style, "%s", text);
	else
		canvas_text_n(c, row, plan->at[k], plan->width[k], style, text);
}

/* --- groups --- */

static double each_ns(const struct program_group *g)
{
	return g->launches ? g->total_ns / (double)g->launches : NAN;
}

/* The time of a launch in the run before, and whether this one is shorter. */
static void put_before(struct canvas *c, int row, const struct plan *plan, const struct session *s,
                       const struct program_group *g)
{
	const struct program *before = s->program->before;
	char text[48], ns[32];
	if (!before)
		return;
	const struct program_group *was = program_group_before(program_of(s), g, before);
	if (!was) {
		put(c, row, plan, COL_WAS, STYLE_KNOB, "new");
		return;
	}
	const double ratio = each_ns(was) / each_ns(g);
	const bool same = !isfinite(ratio) || fabs(ratio - 1) < 0.005;
	snprintf(text, sizeof text, "%s %s", fmt_ns(ns, sizeof ns, each_ns(was)),
	         same        ? "="
	         : ratio > 1 ? "▲"
	                     : "▼");
	put(c, row, plan, COL_WAS, same ? STYLE_DIM : ratio > 1 ? STYLE_GOOD : STYLE_BAD, text);
}

static void draw_group(struct canvas *c, int row, const struct plan *plan, const struct session *s,
                       const struct program_group *g, bool here)
{
	const struct program *p = program_of(s);
	char text[96], number[32];
	const enum style style = here ? STYLE_BOLD : STYLE_NORMAL;
	canvas_text(c, row, 0, STYLE_KNOB, here ? "▸" : " ");
	if (g < p->groups + 9) /* as in the roofline */
		canvas_printf(c, row, 1, STYLE_WATCH, "%d", (int)(g - p->groups) + 1);
	snprintf(text, sizeof text, "%" PRIu64, g->first);
	put(c, row, plan, COL_NUMBER, STYLE_DIM, text);
	char whole[512];
	const int wide = plan->width[COL_KERNEL];
	canvas_verbatim(c, row, plan->at[COL_KERNEL], wide, style,
	                scopeless(p->kernels[g->kernel].name, wide, whole, sizeof whole));
	shape(g->grid, g->block, text, sizeof text);
	put(c, row, plan, COL_SHAPE, STYLE_NORMAL, text);
	put(c, row, plan, COL_N, STYLE_NORMAL, fmt_count(number, sizeof number, (double)g->launches));
	put(c, row, plan, COL_TOTAL, style, fmt_ns(number, sizeof number, g->total_ns));
	snprintf(text, sizeof text, "%.1f %%", p->gpu_ns > 0 ? 100 * g->total_ns / p->gpu_ns : 0.0);
	put(c, row, plan, COL_SHARE, style, text);
	put_before(c, row, plan, s, g);
	program_flag_words(g->flags, text, sizeof text);
	put(c, row, plan, COL_FLAGS, is_wrong(g->flags) ? STYLE_BAD : STYLE_WATCH, text);
	put(c, row, plan, COL_BOUND, g->bound[0] ? STYLE_NORMAL : STYLE_FAINT,
	    g->bound[0] ? g->bound : "n/a");
	put(c, row, plan, COL_EACH, STYLE_NORMAL, fmt_ns(number, sizeof number, each_ns(g)));
	put(c, row, plan, COL_DRAM, STYLE_NORMAL,
	    g->dram_bytes < 0 ? "n/a" : fmt_bytes(number, sizeof number, g->dram_bytes));
}

static void draw_groups(const struct session *s, struct canvas *c, unsigned at)
{
	const struct program *p = program_of(s);
	const struct plan plan = plan_columns(s, c->cols);
	for (enum column k = 0; k < COLUMNS; k++)
		put(c, 0, &plan, k, STYLE_DIM, columns[k].title);
	const int window = c->rows - 1;
	const unsigned top = panel_scroll((unsigned)p->n_groups, at, window);
	for (int r = 0; r < window && top + (unsigned)r < p->n_groups; r++) {
		canvas_hit(c, r + 1, 0, 1, c->cols, HIT_ROW, top + (unsigned)r);
		draw_group(c, r + 1, &plan, s, &p->groups[top + (unsigned)r], top + (unsigned)r == at);
	}
	panel_scroll_marks(c, 1, window, top, (unsigned)p->n_groups);
}

/* --- every launch and copy --- */

/* Columns of a kernel's name: as many as the longest needs, and the other columns leave. */
static int event_name(const struct canvas *c, const struct program *p)
{
	const int name = longest_name(p, 20);
	const int others = c->cols >= 100 ? 76 : 60; /* with flags, where there is room */
	const int most = c->cols - others > 12 ? c->cols - others : 12;
	return name < most ? name : most;
}

static void draw_event(struct canvas *c, int row, const struct program *p,
                       const struct program_event *e, bool here)
{
	char what[512], size[96], start[32], ns[32], flags[64] = "";
	const struct program_span *span = e->launch ? &e->launch->span : &e->copy->span;
	const unsigned stream = e->launch ? e->launch->stream : e->copy->stream;
	const int name = event_name(c, p);
	if (e->launch) {
		char whole[512];
		snprintf(what, sizeof what, "%s",
		         scopeless(p->kernels[e->launch->kernel].name, name, whole, sizeof whole));
		shape(e->launch->grid, e->launch->block, size, sizeof size);
		program_flag_words(e->launch->flags, flags, sizeof flags);
		if (e->launch->parent)
			snprintf(flags + strlen(flags), sizeof flags - strlen(flags), ", #%" PRIu64,
			         e->launch->parent);
		canvas_right(c, row, 7, STYLE_DIM, "%" PRIu64, e->launch->number);
	} else {
		snprintf(what, sizeof what, "%s%s",
		         e->copy->set ? "memset" : program_direction_name(e->copy->direction),
		         e->copy->set || e->copy->direction == PROGRAM_D2D ? ""
		         : e->copy->pinned                                 ? " pinned"
		                                                           : " pageable");
		fmt_bytes(size, sizeof size, (double)e->copy->bytes);
	}
	canvas_text(c, row, 0, STYLE_KNOB, here ? "▸" : " ");
	const enum style style = here ? STYLE_BOLD : e->copy ? STYLE_HEAT1 : STYLE_NORMAL;
	if (e->launch)
		canvas_verbatim(c, row, 8, name, style, what);
	else
		canvas_text_n(c, row, 8, name, style, what);
	canvas_text_n(c, row, 9 + name, 18, STYLE_NORMAL, size);
	canvas_right(c, row, 34 + name, STYLE_DIM, "%u", stream);
	canvas_right(c, row, 44 + name, STYLE_DIM, "%s", fmt_ns(start, sizeof start, span->start_ns));
	canvas_right(c, row, 54 + name, STYLE_NORMAL, "%s",
	             fmt_ns(ns, sizeof ns, span->end_ns - span->start_ns));
	canvas_text_n(c, row, 56 + name, c->cols - 57 - name, STYLE_WATCH, flags);
}

static void draw_events(const struct session *s, struct canvas *c)
{
	const struct program *p = program_of(s);
	const unsigned total = (unsigned)program_events(p);
	const unsigned at = s->cursor.detail_row < total ? s->cursor.detail_row : total ? total - 1 : 0;
	const int name = event_name(c, p);
	canvas_right(c, 0, 7, STYLE_DIM, "#");
	canvas_text_n(c, 0, 8, name, STYLE_DIM, "launch or copy");
	canvas_text(c, 0, 9 + name, STYLE_DIM, "grid · block, size");
	canvas_right(c, 0, 34 + name, STYLE_DIM, "stream");
	canvas_right(c, 0, 44 + name, STYLE_DIM, "from");
	canvas_right(c, 0, 54 + name, STYLE_DIM, "takes");
	const int window = c->rows - 1;
	const unsigned top = panel_scroll(total, at, window);
	for (int r = 0; r < window && top + (unsigned)r < total; r++) {
		const struct program_event e = program_event_at(p, top + (unsigned)r);
		draw_event(c, r + 1, p, &e, top + (unsigned)r == at);
	}
	panel_scroll_marks(c, 1, window, top, total);
}

/* --- around the list --- */

/* "1 284 launches · 41.2 ms on an H200 ~ · 3 kernels make 92 %        exit 0" */
static void headline(const struct session *s, struct canvas *c)
{
	const struct program *p = program_of(s);
	char n[32], ns[32], end[48];
	double share = 0;
	size_t k = 0;
	if (p->signal && s->state == RUN_CANCELLED) /* that is how a run is ended */
		snprintf(end, sizeof end, "cancelled");
	else if (p->signal)
		snprintf(end, sizeof end, "ended by signal %d (SIG%s)", p->signal, program_signal_name(p));
	else
		snprintf(end, sizeof end, "exit %d", p->exit_status);
	canvas_right(c, 0, c->cols - 1, p->exit_status ? STYLE_BAD : STYLE_GOOD, "%s", end);
	const int room = c->cols - 4 - utf8_columns(end);
	char text[200];
	while (k < p->n_groups && share < 0.9 * p->gpu_ns)
		share += p->groups[k++].total_ns;
	snprintf(text, sizeof text, "%s launch%s · %s on %s %s",
	         fmt_count(n, sizeof n, (double)p->n_launches), p->n_launches == 1 ? "" : "es",
	         fmt_ns(ns, sizeof ns, p->gpu_ns), p->gpu->name, origin_mark(p->time_origin, c->ascii));
	int col = canvas_text_n(c, 0, 1, room, STYLE_BOLD, text);
	if (k && k < p->n_groups && p->gpu_ns > 0) {
		snprintf(text, sizeof text, " · %zu of %zu groups take %.0f %%", k, p->n_groups,
		         100 * share / p->gpu_ns);
		if (col + utf8_columns(text) <= 1 + room) /* whole, or not at all */
			canvas_text(c, 0, col, STYLE_BOLD, text);
	}
}

/* "copies  H2D 3 · 48 MiB pageable 8.7 GB/s   D2H 256 · 1 KiB pinned" */
static int draw_copies(struct canvas *c, int row, const struct program *p)
{
	int col = canvas_text(c, row, 1, STYLE_DIM, "copies");
	bool any = false;
	for (unsigned kind = 0; kind < 2u * PROGRAM_DIRECTIONS; kind++) {
		const bool pinned = kind & 1;
		double bytes = 0, ns = 0;
		size_t n = 0;
		for (size_t i = 0; i < p->n_copies; i++) {
			const struct program_copy *x = &p->copies[i];
			if (x->set || x->direction != kind / 2 || x->pinned != pinned)
				continue;
			n++;
			bytes += (double)x->bytes;
			ns += x->span.end_ns - x->span.start_ns;
		}
		if (!n)
			continue;
		char text[120], size[32];
		snprintf(text, sizeof text, "  %s %zu · %s%s%s %.1f GB/s",
		         program_direction_name((enum program_direction)(kind / 2)), n,
		         fmt_bytes(size, sizeof size, bytes), kind / 2 == PROGRAM_D2D ? "" : " ",
		         kind / 2 == PROGRAM_D2D ? ""
		         : pinned                ? "pinned"
		                                 : "pageable",
		         ns > 0 ? bytes / ns : 0.0);
		if (col + utf8_columns(text) >= c->cols)
			break;
		col = canvas_text(c, row, col, STYLE_NORMAL, text);
		any = true;
	}
	if (!any)
		canvas_text(c, row, col, STYLE_DIM, "  none");
	return row + 1;
}

static int draw_findings(struct canvas *c, int row, int last, const struct program *p)
{
	for (size_t i = 0; i < p->n_findings && row < last; i++) {
		const struct program_finding *f = &p->findings[i];
		char text[400];
		const size_t more = p->n_findings - i;
		if (row == last - 1 && more > 1)
			snprintf(text, sizeof text, "and %zu more: the panel Findings has all of them", more);
		else
			snprintf(text, sizeof text, "%s: %.300s", f->kind, program_finding_short(f));
		canvas_text(c, row, 1, f->error ? STYLE_BAD : STYLE_DIM, f->error ? "✗" : "·");
		canvas_text_n(c, row++, 3, c->cols - 4, f->error ? STYLE_BAD : STYLE_DIM, text);
	}
	return row;
}

static void draw_output(struct canvas *c, int row, int rows, const struct program *p)
{
	const size_t total = program_output_lines(p);
	const size_t first = total > (size_t)rows ? total - (size_t)rows : 0;
	for (size_t i = first; i < total && rows > 0; i++, row++) {
		const char *origin;
		char line[512];
		if (!program_output_line(p, i, &origin, line, sizeof line))
			return;
		const int col = canvas_printf(c, row, 1, STYLE_DIM, "%s │ ", origin);
		canvas_verbatim(c, row, col, c->cols - 1 - col, STYLE_NORMAL, line);
	}
}

/* Before a first run has ended: how far it is, or why there is none. */
static void draw_waiting(const struct session *s, struct canvas *c)
{
	int row = 1;
	if (s->state == RUN_FAILED) {
		canvas_text_n(c, row++, 2, c->cols - 4, STYLE_ERROR, "✗ The program did not run");
		row += canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_NORMAL, s->run_err.msg);
		row += canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_KNOB, s->run_err.remedy);
	} else if (s->state == RUN_RUNNING && s->stuck_compile) {
		canvas_text_n(c, row++, 2, c->cols - 4, STYLE_NORMAL, "compiling …");
	} else if (s->state == RUN_RUNNING) {
		canvas_printf(c, row++, 2, STYLE_NORMAL,
		              "running: launches %" PRIu64 ", copies %" PRIu64 " so far",
		              s->program->launches, s->program->copies);
	} else {
		canvas_text_n(c, row++, 2, c->cols - 4, STYLE_NORMAL,
		              s->state == RUN_CANCELLED ? "The run was cancelled: r runs it again."
		                                        : "Not run yet: press r.");
	}
	canvas_wrap(c, row + 1, 2, c->rows - row - 1, c->cols - 4, STYLE_DIM, SHOWS);
}

static unsigned rows(const struct session *s)
{
	return program_of(s) ? (unsigned)program_of(s)->n_groups : 0;
}

static unsigned start(const struct session *s)
{
	const struct program *p = program_of(s);
	const struct program_group *g = p ? program_group_of(p, s->program->launch) : NULL;
	return g ? (unsigned)(g - p->groups) : 0;
}

static unsigned detail_rows(const struct session *s)
{
	return program_of(s) ? (unsigned)program_events(program_of(s)) : 0;
}

static unsigned detail_start(const struct session *s)
{
	return program_of(s) ? (unsigned)program_event_of(program_of(s), s->program->launch) : 0;
}

static uint64_t chosen(const struct session *s)
{
	const struct program *p = program_of(s);
	if (!p)
		return 0;
	if (s->cursor.detail) {
		const struct program_event e = program_event_at(p, s->cursor.detail_row);
		return e.launch ? e.launch->number : 0;
	}
	return s->cursor.row < p->n_groups ? p->groups[s->cursor.row].first : 0;
}

static void draw(const struct session *s, struct canvas *c)
{
	const struct program *p = program_of(s);
	if (!s->program) {
		canvas_wrap(
			c, 0, 1, c->rows, c->cols - 2, STYLE_DIM,
			"n/a: one kernel is explored; pmpp-explore PROGRAM.cu shows a program's launches");
		return;
	}
	if (!p) {
		draw_waiting(s, c);
		return;
	}
	headline(s, c);
	const bool focused = panel_focused(s, "launch_list");
	const int findings = p->n_findings < 3 ? (int)p->n_findings : 3;
	const size_t lines = program_output_lines(p);
	int below = c->rows >= 8 ? 1 + findings : 0; /* copies and findings */
	int output = lines < 3 ? (int)lines : 3;
	if (output > c->rows - below - 6)
		output = c->rows - below - 6 > 0 ? c->rows - below - 6 : 0;
	struct canvas list = canvas_sub(c, 1, 0, c->rows - 1 - below - output, c->cols);
	if (focused && s->cursor.detail)
		draw_events(s, &list);
	else
		draw_groups(s, &list, focused && s->cursor.row < p->n_groups ? s->cursor.row : start(s));
	int row = c->rows - below - output;
	if (below) {
		row = draw_copies(c, row, p);
		draw_findings(c, row, c->rows - output, p);
	}
	draw_output(c, c->rows - output, output, p);
}

const struct view_desc view_launch_list = {
	.name = "launch_list",
	.title = "Launches",
	.brief = "Laun",
	.order = 0,
	.about = "a program's launches and copies: time, share, flags; the chosen one is in all panels",
	.draw = draw,
	.rows = rows,
	.start = start,
	.detail_rows = detail_rows,
	.detail_start = detail_start,
	.launch = chosen,
	.place = VIEW_GRID,
	.rank = { [LAYOUT_PROFILE] = 1, [LAYOUT_COMPARE] = 1 },
	.scope = VIEW_OF_PROGRAM,
};
