/*
 * One instruction of machine code in words: its source line, how often it ran, what the compiler
 * tells the scheduler of it, which instructions it needs and which need it; and the PTX of
 * its line. See view.h.
 */
#include "ui/view.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LIST_AT = 9, WORDY_ROWS = 5, PTX_AT = 9, BECAME_COLS = 22 };

/* "needs  00c0 IMAD.WIDE, 00d0 LDG.E (scoreboard 3)" */
static int draw_sources(const struct code_listing *code, unsigned at, struct canvas *c, int row)
{
	const struct code_inst *in = &code->insts[at];
	char text[400] = "", opcode[40];
	for (unsigned k = 0; k < in->n_sources; k++) {
		const struct code_inst *from = &code->insts[in->sources[k].index];
		const unsigned board = code_inst_waits(in, from);
		const size_t len = strlen(text);
		code_inst_opcode(from, opcode, sizeof opcode);
		snprintf(text + len, sizeof text - len, "%s%04" PRIx32 " %s", k ? ", " : "", from->offset,
		         opcode);
		if (board != CODE_NO_BARRIER)
			snprintf(text + strlen(text), sizeof text - strlen(text), " (scoreboard %u)", board);
	}
	canvas_text(c, row, 2, STYLE_DIM, "needs");
	canvas_verbatim(c, row, LIST_AT, c->cols - LIST_AT - 1, STYLE_WATCH,
	                in->n_sources ? text : "-");
	return row + 1;
}

static void draw_readers(const struct code_listing *code, unsigned at, struct canvas *c, int row)
{
	char text[400] = "", opcode[40];
	for (unsigned i = 0; i < code->n; i++) {
		const size_t len = strlen(text);
		if (!code_inst_reads(&code->insts[i], at) || len > sizeof text - 60)
			continue;
		code_inst_opcode(&code->insts[i], opcode, sizeof opcode);
		snprintf(text + len, sizeof text - len, "%s%04" PRIx32 " %s", len ? ", " : "",
		         code->insts[i].offset, opcode);
	}
	canvas_text(c, row, 2, STYLE_DIM, "for");
	canvas_verbatim(c, row, LIST_AT, c->cols - LIST_AT - 1, STYLE_GOOD, text[0] ? text : "-");
}

/* On the rule: the instruction whole, as it may be cut off in the list; and, as far as there is
 * room, " ran 2 097 152 = times, 31.9 lanes ". */
static void draw_rule(const struct session *s, unsigned at, struct canvas *c)
{
	const struct run_counts *counts = &s->now->run.counts;
	const struct code_inst *in = &s->now->code->insts[at];
	const struct code_count *k = code_listing_count(s->now->code, counts, at);
	char text[360], times[32], ran[120] = "";
	canvas_hline(c, 0, 2, c->cols - 4, STYLE_DIM);
	snprintf(text, sizeof text, " %04" PRIx32 " %s ", in->offset, in->text);
	const int end = canvas_verbatim(c, 0, 4, c->cols - 6, STYLE_BOLD, text);
	const int right = c->cols - 4;
	if (!k)
		return;
	fmt_count(times, sizeof times, (double)k->warps);
	const char *mark = origin_mark(counts->origin, c->ascii);
	snprintf(ran, sizeof ran, " ran %s %s times, %.1f of 32 lanes ", times, mark,
	         k->warps ? (double)k->lanes / (double)k->warps : 0);
	if (!k->warps && end + utf8_columns(" never ran ") < right)
		canvas_right(c, 0, right, STYLE_NORMAL, " never ran ");
	else if (k->warps && end + text_columns(ran) + 2 < right)
		canvas_right(c, 0, right, STYLE_NORMAL, " ran %s %s times, %.1f of 32 lanes ", times, mark,
		             (double)k->lanes / (double)k->warps);
	else if (k->warps && end + text_columns(times) + 10 < right)
		canvas_right(c, 0, right, STYLE_NORMAL, " ran %s %s ", times, mark);
}

/* What the compiler tells the scheduler, in words. */
static int draw_issue(const struct code_listing *code, unsigned at, struct canvas *c, int row)
{
	const struct code_inst *in = &code->insts[at];
	canvas_text(c, row, 2, STYLE_DIM, "issue");
	int col = canvas_printf(
		c, row, LIST_AT, STYLE_NORMAL,
		in->stall == 1 ? "%u cycle to the warp's next" : "%u cycles to the warp's next", in->stall);
	if (in->yield)
		col = canvas_text(c, row, col, STYLE_NORMAL, ", another warp preferred");
	if (in->write_bar != CODE_NO_BARRIER)
		col = canvas_printf(c, row, col, STYLE_KNOB, "   scoreboard %u set by its result",
		                    in->write_bar);
	if (in->read_bar != CODE_NO_BARRIER)
		col = canvas_printf(c, row, col, STYLE_NORMAL, "   %u set when its operands are read",
		                    in->read_bar);
	if (in->reuse)
		col = canvas_printf(c, row, col, STYLE_NORMAL,
		                    in->reuse & (in->reuse - 1) ? "   keeps %d operands"
		                                                : "   keeps %d operand",
		                    __builtin_popcount(in->reuse));
	if (code->live)
		canvas_printf(c, row, col, STYLE_DIM,
		              in->live_regs == 1 ? "   %u register live" : "   %u registers live",
		              in->live_regs);
	return row + 1;
}

void panel_code(const struct session *s, unsigned at, struct canvas *c)
{
	const struct code_listing *code = s->now->code;
	const struct code_inst *in = &code->insts[at];
	char line[300];
	draw_rule(s, at, c);
	panel_source(s, in->line, line, sizeof line);
	int col = 2;
	if (in->line)
		col = canvas_printf(c, 1, 2, STYLE_DIM, "%5u  ", in->line);
	canvas_verbatim(c, 1, col, c->cols - col - 1, STYLE_BOLD, line);
	if (in->conflicts)
		canvas_right(c, 1, c->cols - 2, STYLE_WATCH, "  + %u cyc: registers of one bank",
		             in->conflicts);
	int row = 2;
	if (c->rows >= WORDY_ROWS)
		row = draw_issue(code, at, c, row);
	row = draw_sources(code, at, c, row);
	draw_readers(code, at, c, row);
}

/* "→ 00c0 00d0", or that the assembler needed nothing for it. */
static void became(const struct code_listing *code, const struct code_ptx *p, char *out, size_t n)
{
	out[0] = '\0';
	for (unsigned i = 0; i < code->n; i++) {
		const size_t len = strlen(out);
		if (code->insts[i].ptx_line == p->number && len + 8 < n)
			snprintf(out + len, n - len, "%s%04" PRIx32, len ? " " : "", code->insts[i].offset);
	}
}

/* Where the column of what became of them begins: behind the longest of the line's PTX. */
static int became_at(const struct code_listing *code, const struct code_inst *in, int cols)
{
	int longest = 0;
	for (unsigned k = 0; k < code->n_ptx; k++) {
		const int len = text_columns(code->ptx[k].text);
		if (code_ptx_beside(&code->ptx[k], in) && len > longest)
			longest = len;
	}
	const int at = PTX_AT + longest + 3;
	return at < cols - BECAME_COLS ? at : cols - BECAME_COLS;
}

void panel_code_ptx(const struct session *s, unsigned of, unsigned total, struct canvas *c)
{
	const struct code_listing *code = s->now->code;
	const struct code_inst *in = &code->insts[of];
	const unsigned at = s->cursor.detail_row;
	const unsigned top = panel_scroll(total, at, c->rows - 2);
	const int into_at = became_at(code, in, c->cols);
	char line[300], into[240];
	draw_rule(s, of, c);
	panel_source(s, in->line, line, sizeof line);
	int col = canvas_text(c, 1, 2, STYLE_DIM, "PTX of  ");
	canvas_verbatim(c, 1, col, c->cols - col - 1, STYLE_BOLD, line);
	unsigned nth = 0;
	for (unsigned k = 0; k < code->n_ptx; k++) {
		if (!code_ptx_beside(&code->ptx[k], in) || nth++ < top)
			continue;
		const int row = 2 + (int)(nth - 1 - top);
		if (row >= c->rows)
			break;
		const bool here = nth - 1 == at;
		became(code, &code->ptx[k], into, sizeof into);
		canvas_text(c, row, 0, STYLE_KNOB, here ? "▸" : " ");
		canvas_right(c, row, 7, STYLE_DIM, "%u", code->ptx[k].number);
		canvas_verbatim(c, row, PTX_AT, into_at - PTX_AT - 2, here ? STYLE_BOLD : STYLE_NORMAL,
		                code->ptx[k].text);
		if (into[0])
			canvas_verbatim(c, row, into_at, c->cols - into_at - 1, STYLE_GOOD, into);
		else
			canvas_text_n(c, row, into_at, c->cols - into_at - 1, STYLE_DIM, "no code of its own");
	}
	panel_scroll_marks(c, 2, c->rows - 2, top, total);
}
