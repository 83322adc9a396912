/*
 * Machine code: the kernel as the assembler made it (SASS), instruction by instruction, with how
 * often each ran, what the compiler tells the scheduler, and which instructions wait for which.
 *
 * Reads no encoding; the record's listing has everything (model/code_listing.h).
 */
#include "ui/view.h"

#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWS                                                                                   \
	"Here after a run: the kernel's machine code, how often every instruction ran, the cycles " \
	"that the compiler has it wait, its scoreboards, and what it depends on."

enum {
	SASS_COLS = 78, /* with instructions of 36 characters, as most are */
	LANES_COLS = 6,
	TEXT_AT = 42,
	BESIDE_COLS = 24,
	SOURCE_COLS = 36, /* of source alone, where long instructions want the rest */
	WORDY_ROWS = 24,
	MOST_COLS = 320 /* of any text here */
};

static const struct code_listing *listing(const struct session *s)
{
	const struct code_listing *c = panel_metrics(s) ? s->now->code : NULL;
	return c && c->n ? c : NULL;
}

static unsigned n_rows(const struct session *s)
{
	const struct code_listing *c = listing(s);
	return c ? c->n : 0;
}

static uint64_t warps_of(const struct session *s, unsigned i)
{
	const struct code_count *k = code_listing_count(s->now->code, &s->now->run.counts, i);
	return k ? k->warps : 0;
}

/* The instruction that ran most; of equals the first. */
static unsigned start(const struct session *s)
{
	unsigned hot = 0;
	for (unsigned i = 1; i < n_rows(s); i++)
		if (warps_of(s, i) > warps_of(s, hot))
			hot = i;
	return hot;
}

static unsigned selected(const struct session *s)
{
	const unsigned n = n_rows(s);
	if (!panel_focused(s, "machine_code"))
		return start(s);
	return s->cursor.row < n ? s->cursor.row : n - 1;
}

/* PTX instructions of the selected instruction's source line. */
static unsigned detail_rows(const struct session *s)
{
	const struct code_listing *c = listing(s);
	unsigned n = 0;
	for (unsigned k = 0; c && k < c->n_ptx; k++)
		n += code_ptx_beside(&c->ptx[k], &c->insts[selected(s)]);
	return n;
}

/* The one that became the selected instruction. */
static unsigned detail_start(const struct session *s)
{
	const struct code_listing *c = listing(s);
	unsigned n = 0;
	for (unsigned k = 0; c && k < c->n_ptx; k++) {
		if (c->ptx[k].number == c->insts[selected(s)].ptx_line)
			return n;
		n += code_ptx_beside(&c->ptx[k], &c->insts[selected(s)]);
	}
	return 0;
}

/* --- one instruction -------------------------------------------------------------------------- */

/* Where the columns of the machine code begin in the canvas, and of what stands beside it. */
struct columns {
	int source, ptx, sass; /* first column; -1 = no room */
	int offset, runs, share, lanes, live, stall, sets, waits, text;
};

/* Columns in which all texts, so many of each length, are whole but @left. */
static int cols_for(const unsigned *of_length, unsigned left)
{
	int cols = MOST_COLS - 1;
	while (cols && of_length[cols] <= left)
		left -= of_length[cols--];
	return cols + 2;
}

static int text_cols(const struct code_listing *code, unsigned left)
{
	unsigned of_length[MOST_COLS] = { 0 };
	for (unsigned i = 0; i < code->n; i++)
		of_length[strlen(code->insts[i].text) + (code->insts[i].spill ? 8 : 0)]++;
	return cols_for(of_length, left);
}

/* Nearly all source lines; nearly all of the PTX. */
static int source_cols(const struct session *s, const struct code_listing *code)
{
	unsigned of_length[MOST_COLS] = { 0 }, n = 0;
	char line[300];
	for (unsigned i = 0; i < code->n; i++) {
		if (i && code->insts[i].line == code->insts[i - 1].line)
			continue;
		panel_source(s, code->insts[i].line, line, sizeof line);
		of_length[text_columns(line)]++;
		n++;
	}
	return cols_for(of_length, n / 20) + 5;
}

/* Of what stands beside an instruction: parameters that became none may be long. */
static int ptx_cols(const struct code_listing *code)
{
	unsigned of_length[MOST_COLS] = { 0 }, n = 0, last = 0;
	for (unsigned k = 0; k < code->n_ptx; k++)
		last = code->ptx[k].number > last ? code->ptx[k].number : last;
	bool *beside = mem_calloc(last + 1u, sizeof *beside);
	for (unsigned i = 0; i < code->n; i++)
		if (code->insts[i].ptx_line <= last)
			beside[code->insts[i].ptx_line] = true;
	for (unsigned k = 0; k < code->n_ptx; k++) {
		if (!beside[code->ptx[k].number])
			continue;
		const int cols = text_columns(code->ptx[k].text);
		of_length[cols < MOST_COLS ? cols : MOST_COLS - 1]++;
		n++;
	}
	free(beside);
	return cols_for(of_length, n / 20);
}

/* Source and PTX side by side, in at most @room columns, in @want nineteen of twenty instructions
 * are whole. In @rest all are, if that takes nothing from the lines beside them. */
static void place_both(const struct session *s, struct columns *at, int room, int want, int rest)
{
	const int source = source_cols(s, s->now->code), ptx = ptx_cols(s->now->code);
	at->source = 0;
	at->sass = rest > source + ptx ? rest : source + ptx;
	at->sass = at->sass < want ? at->sass : want < room ? want : room;
	at->sass = at->sass < 2 * BESIDE_COLS ? 2 * BESIDE_COLS : at->sass;
	at->ptx = at->sass - (source + ptx <= at->sass || ptx < at->sass / 2 ? ptx : at->sass / 2);
}

static struct columns columns_of(const struct session *s, const struct canvas *c)
{
	struct columns at = { .source = -1, .ptx = -1, .lanes = -1 };
	const struct code_listing *code = s->now->code;
	const int lanes = c->cols >= SASS_COLS + LANES_COLS + BESIDE_COLS ? LANES_COLS : 0;
	const int room = c->cols - SASS_COLS - lanes, all = c->cols - TEXT_AT - lanes;
	const int want = all - text_cols(code, code->n / 20);
	if (room >= 2 * BESIDE_COLS) {
		place_both(s, &at, room, want, all - text_cols(code, 0));
	} else if (room >= BESIDE_COLS) {
		at.source = 0;
		at.sass = want < SOURCE_COLS ? SOURCE_COLS : want < room ? want : room;
	}
	const bool wide = c->cols >= 64;
	at.offset = at.sass + 9;
	at.runs = wide ? at.sass + 16 : -1;
	at.share = at.sass + (wide ? 22 : 15);
	if (lanes)
		at.lanes = at.share + LANES_COLS;
	at.live = wide ? at.share + lanes + 4 : -1;
	at.stall = wide ? at.share + lanes + 8 : -1;
	at.sets = wide ? at.share + lanes + 10 : -1;
	at.waits = wide ? at.share + lanes + 14 : -1;
	at.text = at.sass + (wide ? TEXT_AT + lanes : 16);
	return at;
}

static void draw_titles(struct canvas *c, int row, const struct columns *at)
{
	if (at->source >= 0)
		canvas_text(c, row, at->source + 2, STYLE_DIM, "source");
	if (at->ptx >= 0)
		canvas_text(c, row, at->ptx, STYLE_DIM, "PTX");
	canvas_right(c, row, at->offset, STYLE_DIM, "at");
	canvas_right(c, row, at->share, STYLE_DIM, "%%");
	if (at->lanes >= 0)
		canvas_right(c, row, at->lanes, STYLE_DIM, "lanes");
	if (at->runs >= 0) {
		canvas_right(c, row, at->runs, STYLE_DIM, "runs");
		canvas_right(c, row, at->live, STYLE_DIM, "reg");
		canvas_right(c, row, at->stall, STYLE_DIM, "cyc");
		canvas_text(c, row, at->sets, STYLE_DIM, "set");
		canvas_text(c, row, at->waits, STYLE_DIM, "wait");
	}
	canvas_text(c, row, at->text, STYLE_DIM, "instruction");
}

static void draw_counts(const struct session *s, struct canvas *c, int row, unsigned i,
                        const struct columns *at)
{
	const struct run_counts *counts = &s->now->run.counts;
	const struct code_count *k = code_listing_count(s->now->code, counts, i);
	const uint64_t warps = k ? k->warps : 0;
	char runs[16];
	if (!counts->n_code || !counts->total.warp_executed)
		return;
	const double share = (double)warps / (double)counts->total.warp_executed;
	const enum style heat = share >= 0.1    ? STYLE_HEAT3
	                        : share >= 0.03 ? STYLE_HEAT2
	                        : warps         ? STYLE_HEAT1
	                                        : STYLE_DIM;
	if (at->runs >= 0)
		canvas_right(c, row, at->runs, warps ? STYLE_NORMAL : STYLE_DIM, "%s",
		             fmt_si(runs, sizeof runs, (double)warps));
	canvas_right(c, row, at->share, heat, "%.1f", 100 * share);
	if (at->lanes < 0 || !warps)
		return;
	const double lanes = (double)k->lanes / (double)warps;
	const bool chosen = s->now->code->insts[i].text[0] == '@'; /* few may be just what was meant */
	canvas_right(c, row, at->lanes, lanes < 16 && !chosen ? STYLE_WATCH : STYLE_DIM, "%.1f", lanes);
}

/* Stall, yield, scoreboards: "12y" "01" "-1----". */
static void draw_control(const struct code_listing *code, struct canvas *c, int row, unsigned i,
                         const struct columns *at)
{
	const struct code_inst *in = &code->insts[i];
	char waits[CODE_BARRIERS + 1] = "", live[8] = "";
	unsigned n = 0;
	if (at->runs < 0)
		return;
	for (unsigned b = 0; b < CODE_BARRIERS; b++)
		if (in->wait >> b & 1)
			waits[n++] = (char)('0' + b);
	if (code->live)
		snprintf(live, sizeof live, "%u", in->live_regs);
	canvas_right(c, row, at->live, STYLE_DIM, "%s", live);
	canvas_right(c, row, at->stall, in->stall >= 10 ? STYLE_WATCH : STYLE_DIM, "%u", in->stall);
	if (in->yield)
		canvas_text(c, row, at->stall, STYLE_DIM, "y");
	if (in->write_bar != CODE_NO_BARRIER)
		canvas_printf(c, row, at->sets, STYLE_KNOB, "%u", in->write_bar);
	if (in->read_bar != CODE_NO_BARRIER)
		canvas_printf(c, row, at->sets + 1, STYLE_DIM, "r%u", in->read_bar);
	canvas_text(c, row, at->waits, STYLE_WATCH, waits);
}

/* Source line and PTX of the instruction, once for those in a row that share them. */
static void draw_beside(const struct session *s, struct canvas *c, int row, unsigned i, bool first,
                        const struct columns *at)
{
	const struct code_listing *code = s->now->code;
	const struct code_inst *in = &code->insts[i], *last = i ? in - 1 : NULL;
	char line[300];
	const int source_end = at->ptx >= 0 ? at->ptx : at->sass;
	if (at->source >= 0 && (first || !last || last->line != in->line)) {
		if (in->line)
			canvas_right(c, row, at->source + 5, STYLE_DIM, "%u", in->line);
		panel_source(s, in->line, line, sizeof line);
		canvas_verbatim(c, row, at->source + 6, source_end - at->source - 7,
		                in->line ? STYLE_NORMAL : STYLE_DIM, line);
	}
	if (at->ptx < 0 || (!first && last && last->ptx_line == in->ptx_line))
		return;
	for (unsigned k = 0; k < code->n_ptx; k++)
		if (code->ptx[k].number == in->ptx_line)
			canvas_verbatim(c, row, at->ptx, at->sass - at->ptx - 1, STYLE_DIM, code->ptx[k].text);
}

/* --- loops and arrows ------------------------------------------------------------------------- */

/* The bracket of the innermost loop that holds the instruction, by its share of all. */
static void draw_loop(const struct session *s, struct canvas *c, int row, int col, unsigned i,
                      const struct code_loop *loops, unsigned n)
{
	const struct code_loop *in = NULL;
	for (unsigned k = 0; k < n; k++)
		if (i >= loops[k].first && i <= loops[k].last)
			in = &loops[k];
	if (!in)
		return;
	const uint64_t all = s->now->run.counts.total.warp_executed;
	const double share = all ? (double)in->warps / (double)all : 0;
	const enum style heat = share >= 0.5 ? STYLE_HEAT3 : share >= 0.1 ? STYLE_HEAT2 : STYLE_DIM;
	canvas_cell(c, row, col, heat, i == in->first ? 0x250c : i == in->last ? 0x2514 : 0x2502);
}

static void draw_arrow(const struct code_listing *code, struct canvas *c, int row, int col,
                       unsigned i, unsigned at, bool into)
{
	unsigned from, to;
	code_listing_span(code, at, into, &from, &to);
	if (from == to || i < from || i > to)
		return;
	const bool end = i == at || (into ? code_inst_reads(&code->insts[i], at)
	                                  : code_inst_reads(&code->insts[at], i));
	canvas_cell(c, row, col, into ? STYLE_GOOD : STYLE_WATCH,
	            !end        ? 0x2502
	            : i == from ? 0x250c
	            : i == to   ? 0x2514
	                        : 0x251c);
	if (end && i != at)
		canvas_cell(c, row, col + 1, into ? STYLE_GOOD : STYLE_WATCH, into ? 0x25b8 : 0x2500);
}

static void draw_rows(const struct session *s, struct canvas *c, int row, int rows)
{
	const struct code_listing *code = s->now->code;
	const struct columns at = columns_of(s, c);
	const unsigned sel = selected(s), top = panel_scroll(code->n, sel, rows);
	struct code_loop loops[CODE_MAX_LOOPS];
	const unsigned n = code_listing_loops(code, &s->now->run.counts, loops);
	const bool pick = panel_focused(s, "machine_code");
	for (int r = 0; r < rows && top + (unsigned)r < code->n; r++) {
		const unsigned i = top + (unsigned)r;
		const struct code_inst *in = &code->insts[i];
		const bool here = pick && i == sel;
		canvas_hit(c, row + r, 0, 1, c->cols, HIT_ROW, i);
		draw_beside(s, c, row + r, i, !r, &at);
		draw_loop(s, c, row + r, at.sass, i, loops, n);
		draw_arrow(code, c, row + r, at.sass + 1, i, sel, false);
		draw_arrow(code, c, row + r, at.sass + 2, i, sel, true);
		if (here)
			canvas_text(c, row + r, at.sass + 4, STYLE_KNOB, "▸");
		canvas_right(c, row + r, at.offset, STYLE_DIM, "%04" PRIx32, in->offset);
		draw_counts(s, c, row + r, i, &at);
		draw_control(code, c, row + r, i, &at);
		const int room = c->cols - 1 - at.text, spill = in->spill ? 8 : 0;
		const int col = canvas_verbatim(c, row + r, at.text, room - spill,
		                                in->spill ? STYLE_BAD
		                                : here    ? STYLE_BOLD
		                                          : STYLE_NORMAL,
		                                in->text);
		if (in->spill)
			canvas_text(c, row + r, col + 1, STYLE_BAD, "✗ spill");
	}
	panel_scroll_marks(c, row, rows, top, code->n);
}

static void draw_absence(const struct session *s, struct canvas *c, int row)
{
	const struct code_listing *code = s->now->code;
	if (!code) {
		canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_DIM,
		            s->state == RUN_RUNNING
		                ? "disassembling …"
		                : "n/a: this run was recorded without its machine code");
		return;
	}
	row += canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_NORMAL, code->why);
	canvas_wrap(c, row + 1, 2, c->rows - row - 1, c->cols - 4, STYLE_KNOB, code->remedy);
}

static void draw(const struct session *s, struct canvas *c)
{
	if (panel_waiting(s, c, SHOWS))
		return;
	int row = panel_notes(s, c) ? 1 : 0;
	if (!listing(s)) {
		draw_absence(s, c, row + 1);
		return;
	}
	if (c->rows >= 8)
		row = panel_code_head(s, c, row);
	const struct columns at = columns_of(s, c);
	const bool detail = s->cursor.detail && panel_focused(s, "machine_code") && c->rows >= 12;
	int below = c->rows < 12 ? 0 : c->rows >= WORDY_ROWS ? 5 : 4;
	if (detail && below < (int)detail_rows(s) + 2)
		below = (int)detail_rows(s) + 2 < c->rows / 2 ? (int)detail_rows(s) + 2 : c->rows / 2;
	if (c->rows - row > 1)
		draw_titles(c, row++, &at);
	draw_rows(s, c, row, c->rows - row - below);
	if (!below)
		return;
	struct canvas part = canvas_sub(c, c->rows - below, 0, below, c->cols);
	if (detail)
		panel_code_ptx(s, selected(s), detail_rows(s), &part);
	else
		panel_code(s, selected(s), &part);
}

static const struct view_word words[] = {
	{ "at",
	  "where the instruction lies in the kernel, in bytes; left of it the innermost loop as a "
	  "bracket, and arrows: from what it needs, to what needs it" },
	{ "runs", "warps that executed it" },
	{ "%", "its share of all warp instructions" },
	{ "lanes", "of 32, those that took part on an average: not those of another path, which had "
	           "ended, or whose predicate was false" },
	{ "reg", "registers of a thread that hold a value still needed there; the most of a kernel "
	         "decide how many it is given" },
	{ "cyc", "cycles that the warp waits, by the compiler's order, until its next instruction: the "
	         "result of arithmetic is then there. y: another warp preferred" },
	{ "set", "scoreboard (0 to 5) that tells when the result is there, for what takes no fixed "
	         "time, as loads do; r: that tells when its operands have been read" },
	{ "wait", "scoreboards that must be free before it issues: the place where a warp stands still "
	          "for memory" },
	{ "bank cycles", "cycles lost as registers of an instruction lie in one bank" },
	{ "spill", "a register put aside in local memory, or brought back, as there were not enough" },
	{ NULL, NULL },
};

const struct view_desc view_machine_code = {
	.name = "machine_code",
	.title = "Machine code",
	.brief = "SASS",
	.order = 13,
	.about = "machine code beside its PTX and source: counts, stalls, scoreboards, dependencies",
	.words = words,
	.draw = draw,
	.rows = n_rows,
	.start = start,
	.detail_rows = detail_rows,
	.detail_start = detail_start,
	.place = VIEW_ALONE,
};
