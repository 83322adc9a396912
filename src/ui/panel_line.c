/*
 * What a source line became: its machine instructions and the PTX behind each, how often they ran,
 * and one of the accesses that the observed warp made there. See view.h.
 */
#include "ui/view.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WIDE 150     /* columns from which code and access stand side by side */
#define LENS_ROWS 10 /* an access with its 32 lanes */
#define WHY_ROWS 3   /* why there is no code */
#define LEAST_CODE 2 /* rows of code that are never given away */

static const struct code_listing *listing(const struct session *s)
{
	const struct code_listing *c = s->now ? s->now->code : NULL;
	return c && c->n ? c : NULL;
}

static const struct access_sample *access_at(const struct session *s, uint32_t line, unsigned nth)
{
	for (unsigned i = 0; panel_metrics(s) && i < s->now->run.counts.n_accesses; i++) {
		const struct access_sample *a = &s->now->run.counts.accesses[i];
		if (a->line == line && !nth--)
			return a;
	}
	return NULL;
}

static unsigned accesses(const struct session *s, uint32_t line)
{
	unsigned n = 0;
	while (access_at(s, line, n))
		n++;
	return n;
}

static unsigned instructions(const struct session *s, uint32_t line)
{
	const struct code_listing *c = listing(s);
	unsigned n = 0;
	for (unsigned i = 0; c && i < c->n; i++)
		n += c->insts[i].line == line;
	return n;
}

unsigned panel_line_rows(const struct session *s, uint32_t line)
{
	const unsigned n = accesses(s, line);
	return n ? n : instructions(s, line);
}

int panel_line_height(const struct session *s, uint32_t line, int cols)
{
	const int n = (int)instructions(s, line), code = n > WHY_ROWS ? n : WHY_ROWS;
	const int lens = accesses(s, line) ? LENS_ROWS + 2 : 0; /* its cure may take three */
	return 1 + (cols < WIDE ? code + lens : code > lens ? code : lens);
}

static const char *ptx_text(const struct code_listing *c, uint32_t number)
{
	for (unsigned i = 0; number && i < c->n_ptx; i++)
		if (c->ptx[i].number == number)
			return c->ptx[i].text;
	return "";
}

/* "0180   262 k  ISETP.GE.AND P1, …   setp.lt.s32 …"; the PTX once, beside its first instruction.
 */
static void draw_inst(const struct session *s, struct canvas *c, int row, unsigned i, bool again)
{
	const struct code_listing *code = s->now->code;
	const struct code_inst *in = &code->insts[i];
	const struct code_count *count = code_listing_count(code, &s->now->run.counts, i);
	const int sass_at = 16, ptx_at = c->cols >= 66 ? sass_at + (c->cols - sass_at) * 11 / 20 : 0;
	char text[32];
	canvas_printf(c, row, 2, STYLE_DIM, "%04" PRIx32, in->offset);
	if (count && count->warps) {
		fmt_si(text, sizeof text, (double)count->warps);
		canvas_right(c, row, sass_at - 2, STYLE_NORMAL, "%s", text);
	}
	canvas_verbatim(c, row, sass_at, (ptx_at ? ptx_at : c->cols) - 1 - sass_at, STYLE_NORMAL,
	                in->text);
	if (ptx_at && !again)
		canvas_verbatim(c, row, ptx_at, c->cols - 1 - ptx_at, STYLE_DIM,
		                ptx_text(code, in->ptx_line));
}

/* Of the line's instructions the first of those that ran most. */
static unsigned hottest(const struct session *s, uint32_t line)
{
	const struct code_listing *c = listing(s);
	unsigned nth = 0, hot = 0;
	uint64_t most = 0;
	for (unsigned i = 0; c && i < c->n; i++) {
		if (c->insts[i].line != line)
			continue;
		const struct code_count *count = code_listing_count(c, &s->now->run.counts, i);
		if (count && count->warps > most) {
			most = count->warps;
			hot = nth;
		}
		nth++;
	}
	return hot;
}

/* The instructions around the @at-th; all of them where they fit. */
static void draw_code(const struct session *s, uint32_t line, unsigned at, struct canvas *c)
{
	const struct code_listing *code = listing(s);
	unsigned nth = 0;
	uint32_t before = 0;
	if (!code) {
		const struct code_listing *none = s->now ? s->now->code : NULL;
		const int row =
			canvas_wrap(c, 0, 2, c->rows, c->cols - 4, STYLE_DIM,
		                none ? none->why : "n/a: this run was recorded without its machine code");
		if (none)
			canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_KNOB, none->remedy);
		return;
	}
	const unsigned total = instructions(s, line);
	if (!total)
		canvas_wrap(c, 0, 2, c->rows, c->cols - 4, STYLE_DIM,
		            "no instruction stands for this line: it declares, or the compiler moved its "
		            "work to others");
	const unsigned top = panel_scroll(total, at, c->rows);
	for (unsigned i = 0; i < code->n; i++) {
		if (code->insts[i].line != line || nth++ < top)
			continue;
		const int row = (int)(nth - 1 - top);
		if (row >= c->rows)
			break;
		draw_inst(s, c, row, i, row && code->insts[i].ptx_line == before);
		before = code->insts[i].ptx_line;
	}
	panel_scroll_marks(c, 0, c->rows, top, total);
}

static void draw_head(const struct session *s, uint32_t line, unsigned nth, struct canvas *c)
{
	const struct code_listing *code = listing(s);
	const unsigned n = accesses(s, line), insts = instructions(s, line);
	char head[200], title[sizeof code->title] = "";
	if (code) /* "sm_80 machine code", of "sm_80 machine code, ptxas 13.0.88" */
		snprintf(title, sizeof title, "%.*s", (int)strcspn(code->title, ","), code->title);
	size_t len = (size_t)snprintf(head, sizeof head, " line %u ", line);
	if (code)
		len += (size_t)snprintf(head + len, sizeof head - len, "· %s: %u instruction%s ", title,
		                        insts, insts == 1 ? "" : "s");
	if (n)
		snprintf(head + len, sizeof head - len, "· warp 0, access %u of %u ", nth + 1, n);
	canvas_hline(c, 0, 2, c->cols - 4, STYLE_DIM);
	canvas_text_n(c, 0, 5, c->cols - 10, STYLE_DIM, head);
}

void panel_line(const struct session *s, uint32_t line, unsigned nth, struct canvas *c)
{
	const unsigned n = accesses(s, line);
	const int below = c->rows - 1, code_rows = (int)instructions(s, line);
	if (!s->now || below < 1)
		return;
	if (n && nth >= n)
		nth = n - 1;
	draw_head(s, line, nth, c);
	struct canvas code = canvas_sub(c, 1, 0, below, c->cols), lens = code;
	if (n && c->cols >= WIDE) {
		code.cols = c->cols / 2;
		lens = canvas_sub(c, 1, code.cols, below, c->cols - code.cols);
	} else if (n) {
		const int most = below - LENS_ROWS > LEAST_CODE ? below - LENS_ROWS : LEAST_CODE;
		code.rows = code_rows > 0 && code_rows < most ? code_rows : most;
		lens = canvas_sub(c, 1 + code.rows, 0, below - code.rows, c->cols);
	}
	draw_code(s, line, n ? hottest(s, line) : nth, &code);
	if (n)
		panel_access(&s->now->plan, access_at(s, line, nth), LENS_LANES, &lens);
}
