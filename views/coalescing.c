/*
 * Coalescing and banks: what every memory instruction of a warp moves against what it uses, and
 * the 32 addresses behind it.
 *
 * Global: distinct 32-byte sectors per warp instruction (PMPP 6.1). Shared: wavefronts, the most
 * distinct words in one of the 32 banks; 64-bit accesses by half warps, 128-bit by quarter warps
 * (the rules at the top of model/counts.h). Figures come from the counts; only the one sampled
 * access that the detail shows is taken apart here.
 */
#include "ui/view.h"

#include "base/text.h"
#include "model/access_shape.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWS                                                                              \
	"Here after a run: sectors per request of every load and store, bank passes of every " \
	"shared access, the reason for each, and the addresses of a warp (Enter)."

#define WHY_COLUMNS 15

enum kind { LOAD, STORE, SHARED_LOAD, SHARED_STORE };

/* One table row: the loads, or the stores, of one source line in one memory. */
struct entry {
	uint32_t line;
	enum kind kind;
	uint64_t requests, moved, useful; /* global: sectors, bytes; shared: wavefronts, ideal ones */
};

static bool is_shared(enum kind k)
{
	return k >= SHARED_LOAD;
}

static struct entry entry_of(const struct line_counts *l, enum kind k)
{
	const struct counts *c = &l->c;
	switch (k) {
	case LOAD: return (struct entry){ l->line, k, c->ld_requests, c->ld_sectors, c->ld_bytes };
	case STORE: return (struct entry){ l->line, k, c->st_requests, c->st_sectors, c->st_bytes };
	case SHARED_LOAD:
		return (struct entry){ l->line, k, c->shared_ld_requests, c->shared_ld_wavefronts,
			                   c->shared_ld_ideal };
	case SHARED_STORE:
		return (struct entry){ l->line, k, c->shared_st_requests, c->shared_st_wavefronts,
			                   c->shared_st_ideal };
	}
	return (struct entry){ 0 };
}

/* Global rows first, then shared; each by line. False past the end. */
static bool entry_at(const struct session *s, unsigned index, struct entry *out)
{
	unsigned seen = 0;
	if (!panel_metrics(s))
		return false;
	for (int shared = 0; shared < 2; shared++)
		for (unsigned i = 0; i < s->now->run.counts.n_lines; i++)
			for (int store = 0; store < 2; store++) {
				*out = entry_of(&s->now->run.counts.lines[i], (enum kind)(2 * shared + store));
				if (out->requests && seen++ == index)
					return true;
			}
	return false;
}

static unsigned n_rows(const struct session *s)
{
	struct entry e;
	unsigned n = 0;
	while (entry_at(s, n, &e))
		n++;
	return n;
}

/* The row that moves most without need: wasted sectors, or wavefronts beyond the ideal. */
static unsigned worst_row(const struct session *s)
{
	struct entry e;
	unsigned worst = 0;
	double most = 0;
	for (unsigned i = 0; entry_at(s, i, &e); i++) {
		double useful = is_shared(e.kind) ? (double)e.useful : (double)e.useful / 32;
		if (!is_shared(e.kind) && useful < (double)e.requests)
			useful = (double)e.requests; /* one sector per request is the least */
		if ((double)e.moved - useful > most) {
			most = (double)e.moved - useful;
			worst = i;
		}
	}
	return worst;
}

static bool selected(const struct session *s, struct entry *e)
{
	unsigned n = n_rows(s);
	if (!panel_focused(s, "coalescing")) /* the worst row is the example */
		return n && entry_at(s, worst_row(s), e);
	return n && entry_at(s, s->cursor.row < n ? s->cursor.row : n - 1, e);
}

/* The @nth sampled access of a row; NULL past the end. */
static const struct access_sample *sample_of(const struct session *s, const struct entry *e,
                                             unsigned nth)
{
	bool store = e->kind == STORE || e->kind == SHARED_STORE;
	for (unsigned i = 0; i < s->now->run.counts.n_accesses; i++) {
		const struct access_sample *a = &s->now->run.counts.accesses[i];
		if (a->line == e->line && a->shared == is_shared(e->kind) && a->store == store && !nth--)
			return a;
	}
	return NULL;
}

static unsigned n_samples(const struct session *s, const struct entry *e)
{
	unsigned n = 0;
	while (sample_of(s, e, n))
		n++;
	return n;
}

/* The recorded access that moves most beyond its need; of equals the first. 0 without any. */
static unsigned worst_sample(const struct session *s, const struct entry *e)
{
	const struct access_sample *a;
	unsigned worst = 0, most = 0;
	for (unsigned i = 0; (a = sample_of(s, e, i)); i++) {
		const struct access_shape sh = access_shape(a);
		const struct bank_use b = access_banks(a);
		const unsigned excess = !a->shared           ? access_excess(&sh)
		                        : b.passes > b.parts ? b.passes - b.parts
		                                             : 0;
		if (excess > most) {
			most = excess;
			worst = i;
		}
	}
	return worst;
}

/* Sectors per request of the recorded accesses are not those of the whole run: the addresses
 * change from time to time, and what was recorded is only how it began. */
static bool varies(const struct session *s, const struct entry *e)
{
	const struct access_sample *a;
	double sectors = 0, times = 0;
	if (is_shared(e->kind))
		return false;
	for (unsigned i = 0; (a = sample_of(s, e, i)); i++) {
		const double n = a->executions ? (double)a->executions : 1;
		sectors += n * access_shape(a).n_sectors;
		times += n;
	}
	const double recorded = sectors / times, whole = (double)e->moved / (double)e->requests;
	return times > 0 && (recorded > 1.25 * whole || whole > 1.25 * recorded);
}

static unsigned detail_rows(const struct session *s)
{
	struct entry e;
	return selected(s, &e) ? n_samples(s, &e) : 0;
}

static unsigned detail_start(const struct session *s)
{
	struct entry e;
	return selected(s, &e) ? worst_sample(s, &e) : 0;
}

/* --- words --- */

/* The pattern of one access. */
static void pattern_words(const struct access_sample *a, char *out, size_t n)
{
	const struct access_shape sh = access_shape(a);
	char num[32];
	switch (sh.pattern) {
	case ACCESS_ONE_LANE: snprintf(out, n, "one lane"); break;
	case ACCESS_BROADCAST: snprintf(out, n, "one address"); break;
	case ACCESS_GROUPS: snprintf(out, n, "%u addresses", sh.addresses); break;
	case ACCESS_CONTIGUOUS: snprintf(out, n, "contiguous"); break;
	case ACCESS_MISALIGNED: snprintf(out, n, "misaligned"); break;
	case ACCESS_LANES_OFF: snprintf(out, n, "lanes off"); break;
	case ACCESS_STRIDED:
	case ACCESS_COLUMNS:
		panel_bytes((uint64_t)(sh.stride < 0 ? -sh.stride : sh.stride), num, sizeof num);
		snprintf(out, n, "stride %s%s B", sh.stride < 0 ? "-" : "", num);
		break;
	case ACCESS_RUNS:
		if (sh.lanes % sh.runs == 0 && sh.even)
			snprintf(out, n, "%u runs of %u B", sh.runs, sh.lanes / sh.runs * a->bytes_per_lane);
		else
			snprintf(out, n, "%u runs", sh.runs);
		break;
	case ACCESS_SCATTERED: snprintf(out, n, "scattered"); break;
	}
}

/* All recorded accesses of the row: the worst one's pattern, and how many have another. */
static void why(const struct session *s, const struct entry *e, char *out, size_t n)
{
	char other[32];
	const struct access_sample *a;
	unsigned others = 0;
	out[0] = '\0';
	if (is_shared(e->kind)) {
		if (e->moved <= e->useful)
			snprintf(out, n, "no conflict");
		else
			snprintf(out, n, "%.0f-way conflict",
			         ceil((double)e->moved / (double)(e->useful ? e->useful : 1)));
		return;
	}
	if (!(a = sample_of(s, e, worst_sample(s, e))))
		return;
	pattern_words(a, out, n);
	for (unsigned i = 0; (a = sample_of(s, e, i)); i++) {
		pattern_words(a, other, sizeof other);
		others += strcmp(other, out) != 0;
	}
	if (varies(s, e))
		snprintf(out, n, "varies");
	else if (others && strlen(out) + 4 <= WHY_COLUMNS)
		snprintf(out + strlen(out), n - strlen(out), " +%u", others);
}

/* --- drawing --- */

static enum style grade(double share)
{
	return share >= 0.75 ? STYLE_GOOD : share >= 0.4 ? STYLE_WATCH : STYLE_BAD;
}

static const char *sign(double share)
{
	return share >= 0.75 ? " " : share >= 0.4 ? "!" : "✗";
}

static int one_summary(struct canvas *c, int row, const char *label, const struct metric_set *m,
                       const struct metric_set *before, enum metric_id per, enum metric_id eff,
                       enum metric_id requests)
{
	canvas_text(c, row, 2, STYLE_NORMAL, label);
	if (metric_known(m, requests) && metric_get(m, requests) == 0) {
		canvas_text(c, row, 10, STYLE_DIM, "none");
		return row + 1;
	}
	int col = canvas_metric(c, row, 10, 5, m, per);
	if (!metric_known(m, per)) {
		canvas_text_n(c, row, col + 2, c->cols - col - 3, STYLE_DIM, panel_reason(m, per));
		return row + 1;
	}
	col = canvas_text(c, row, col, STYLE_DIM, " sectors/req   ");
	col = canvas_metric(c, row, col, 7, m, eff);
	col = canvas_text(c, row, col, STYLE_DIM, " used   ");
	if (col + 30 < c->cols) {
		col = canvas_metric(c, row, col, 9, m, requests);
		col = canvas_text(c, row, col, STYLE_DIM, " req   ");
	}
	if (col + 11 < c->cols)
		canvas_delta(c, row, col, m, before, per, -1);
	return row + 1;
}

static int summary(const struct session *s, struct canvas *c, int row, int last)
{
	const struct metric_set *m = panel_metrics(s), *before = panel_before(s);
	if (row < last)
		row = one_summary(c, row, "loads", m, before, M_MEM_LD_SPR, M_MEM_LD_EFF, M_MEM_LD_REQ);
	if (row < last)
		row = one_summary(c, row, "stores", m, before, M_MEM_ST_SPR, M_MEM_ST_EFF, M_MEM_ST_REQ);
	if (row >= last)
		return row;
	canvas_text(c, row, 2, STYLE_NORMAL, "shared");
	const double ld = metric_get(m, M_SH_LD_REQ), st = metric_get(m, M_SH_ST_REQ);
	const bool matrices = metric_get(m, M_SH_LDM_REQ) > 0;
	if (ld == 0 && st == 0 && !matrices) {
		canvas_text(c, row, 10, STYLE_DIM, "none");
		return row + 1;
	}
	if (!metric_known(m, M_SH_LD_EXCESS)) {
		const int col = canvas_metric(c, row, 10, 5, m, M_SH_LD_EXCESS);
		canvas_text_n(c, row, col + 2, c->cols - col - 3, STYLE_DIM,
		              panel_reason(m, M_SH_LD_EXCESS));
		return row + 1;
	}
	char excess[64];
	metric_format(m, M_SH_LD_EXCESS, excess, sizeof excess);
	const int width = utf8_columns(excess);
	int col = canvas_text(c, row, width < 5 ? 15 - width : 10,
	                      metric_get(m, M_SH_LD_EXCESS) > 0 ? STYLE_BAD : STYLE_BOLD, excess);
	col = canvas_text(c, row, col, STYLE_DIM, " excess of ");
	if (ld > 0 || !matrices)
		col = canvas_metric(c, row, col, 0, m, M_SH_LD_WAVE);
	if (ld > 0 && matrices)
		col = canvas_text(c, row, col, STYLE_DIM, " + ");
	if (matrices)
		col = canvas_metric(c, row, col, 0, m, M_SH_LDM_WAVE);
	col = canvas_text(c, row, col, STYLE_DIM, " load passes");
	metric_format(m, M_SH_ST_EXCESS, excess, sizeof excess);
	char passes[64];
	metric_format(m, M_SH_ST_WAVE, passes, sizeof passes);
	const int stores = 3 + utf8_columns(excess) + utf8_columns(" of ") + utf8_columns(passes) + 2 +
	                   utf8_columns(" store passes");
	if (col + stores < c->cols) {
		col = canvas_text(c, row, col + 3, STYLE_BOLD, excess);
		col = canvas_text(c, row, col, STYLE_DIM, " of ");
		col = canvas_metric(c, row, col, 0, m, M_SH_ST_WAVE);
		col = canvas_text(c, row, col, STYLE_DIM, " store passes");
	}
	col += 2;
	if (col + 11 < c->cols)
		canvas_delta(c, row, col, m, before, M_SH_LD_EXCESS, -1);
	return row + 1;
}

struct columns {
	int source, kind, req, per, used, why; /* right ends; source and why: left */
};

static void one_row(const struct session *s, struct canvas *c, int row, const struct columns *k,
                    const struct entry *e, bool here)
{
	static const char *const names[] = { "ld", "st", "sh ld", "sh st" };
	char text[512];
	enum style st = here ? STYLE_BOLD : STYLE_NORMAL;
	double per = (double)e->moved / (double)e->requests;
	double unit = is_shared(e->kind) ? 1 : 32;
	double share = e->moved ? (double)e->useful / (unit * (double)e->moved) : 1;
	/* one sector or one pass per request cannot be bettered */
	bool best = per <= 1.0;
	if (here)
		canvas_text(c, row, 0, STYLE_KNOB, "▸");
	canvas_right(c, row, 6, STYLE_DIM, "%u", e->line);
	panel_source(s, e->line, text, sizeof text);
	canvas_verbatim(c, row, 8, k->source - 8, st, text);
	canvas_right(c, row, k->kind, STYLE_DIM, "%s", names[e->kind]);
	if (k->req > 0) {
		if (e->requests < 1000000)
			fmt_count(text, sizeof text, (double)e->requests);
		else
			fmt_si(text, sizeof text, (double)e->requests);
		canvas_right(c, row, k->req, STYLE_NORMAL, "%s", text);
	}
	canvas_right(c, row, k->per, STYLE_BOLD, "%.1f", per);
	enum style g = best ? STYLE_NORMAL : grade(share);
	canvas_right(c, row, k->used - 2, g, "%.0f %%", 100 * share);
	canvas_text(c, row, k->used - 1, g, best ? " " : sign(share));
	why(s, e, text, sizeof text);
	canvas_text_n(c, row, k->why, c->cols - 1 - k->why, STYLE_NORMAL, text);
}

static void table(const struct session *s, struct canvas *c, int row, int last, bool pick)
{
	if (row >= last)
		return;
	int why_width = c->cols >= 60 ? WHY_COLUMNS : c->cols >= 48 ? 10 : 0;
	struct columns k = { .why = c->cols - 1 - why_width };
	k.used = k.why - 1;
	k.per = k.used - 8;
	k.req = c->cols >= 76 ? k.per - 8 : 0;
	k.kind = (k.req ? k.req : k.per) - 8;
	k.source = k.kind - 6;
	canvas_right(c, row, 6, STYLE_DIM, "line");
	canvas_text_n(c, row, 8, k.source - 8, STYLE_DIM, "source");
	if (k.req)
		canvas_right(c, row, k.req, STYLE_DIM, "requests");
	canvas_right(c, row, k.per, STYLE_DIM, "each");
	canvas_right(c, row, k.used - 2, STYLE_DIM, "used");
	if (why_width)
		canvas_text(c, row, k.why, STYLE_DIM, "why");
	row++;
	unsigned total = n_rows(s), at = s->cursor.row < total ? s->cursor.row : total - 1;
	int window = last - row;
	unsigned top = panel_scroll(total, at, window);
	for (int r = 0; r < window && top + (unsigned)r < total; r++) {
		struct entry e;
		canvas_hit(c, row + r, 0, 1, c->cols, HIT_ROW, top + (unsigned)r);
		if (entry_at(s, top + (unsigned)r, &e))
			one_row(s, c, row + r, &k, &e, pick && top + (unsigned)r == at);
	}
	panel_scroll_marks(c, row, window, top, total);
}

#define SHORT_LENS 5 /* rows: its head, and four of the access */
#define LANES_ROWS 9 /* of an access, from which its lanes have room */

/* The sampled access of the selected row, or why there is none. */
static void lens(const struct session *s, struct canvas *c, int row, int last, bool open)
{
	struct entry e;
	if (row >= last || !selected(s, &e))
		return;
	const unsigned n = n_samples(s, &e);
	const unsigned nth =
		open && s->cursor.detail_row < n ? s->cursor.detail_row : worst_sample(s, &e);
	const struct access_sample *a = sample_of(s, &e, nth);
	struct canvas area = canvas_sub(c, row, 0, last - row, c->cols);
	canvas_hline(&area, 0, 2, c->cols - 4, STYLE_DIM);
	if (a) {
		char head[160];
		snprintf(head, sizeof head, " line %u · %s · block 0 · warp 0 · access %u of %u ", e.line,
		         a->op, nth + 1, n);
		if (varies(s, &e)) /* what is below is not the whole truth */
			snprintf(head + strlen(head), sizeof head - strlen(head),
			         "· the run's mean: %.1f sectors ", (double)e.moved / (double)e.requests);
		canvas_text_n(&area, 0, 5, c->cols - 10, STYLE_DIM, head);
		area = canvas_sub(&area, 1, 0, area.rows - 1, area.cols);
		panel_access(&s->now->plan, a, !open && area.rows < LANES_ROWS ? LENS_SHORT : LENS_LANES,
		             &area);
		return;
	}
	canvas_printf(&area, 0, 5, STYLE_DIM, " line %u ", e.line);
	canvas_wrap(&area, 1, 2, area.rows - 1, c->cols - 4, STYLE_DIM,
	            s->now->run.counts.origin == ORIGIN_MEASURED
	                ? "n/a: a GPU does not report addresses; back end emu does (key b)"
	                : "n/a: the observed warp (block 0, warp 0) did not run this line, or the "
	                  "list of samples was full");
}

static void draw(const struct session *s, struct canvas *c)
{
	if (panel_waiting(s, c, SHOWS))
		return;
	int last = c->rows, row = summary(s, c, c->rows >= 12 ? 1 : 0, last);
	bool pick = panel_focused(s, "coalescing");
	unsigned n = n_rows(s);
	if (c->rows >= 12)
		row++;
	if (!n) {
		canvas_wrap(c, row, 2, last - row, c->cols - 4, STYLE_DIM,
		            "per line: n/a, this run has no memory counts per source line");
		return;
	}
	int rest = last - row;
	if (s->cursor.detail && pick && rest < 16) {
		int head = rest >= 11 ? 3 : 0;
		if (head)
			table(s, c, row, row + 2, pick);
		lens(s, c, row + head, last, true);
	} else if (rest >= 16) {
		int rows = (int)n + 1 < rest - 11 ? (int)n + 1 : rest - 11;
		table(s, c, row, row + rows, pick);
		lens(s, c, row + rows + 1, last, s->cursor.detail && pick);
	} else if (rest >= (int)n + 1 + SHORT_LENS) { /* what Enter opens, in short */
		const int gap = rest > (int)n + 1 + SHORT_LENS;
		table(s, c, row, row + (int)n + 1, pick);
		lens(s, c, row + (int)n + 1 + gap, last, false);
	} else {
		table(s, c, row, last, pick);
	}
}

const struct view_desc view_coalescing = {
	.name = "coalescing",
	.title = "Coalescing",
	.brief = "Coal",
	.order = 4,
	.about = "sectors and bank passes per request, line by line; the addresses of a warp",
	.draw = draw,
	.rows = n_rows,
	.start = worst_row,
	.detail_rows = detail_rows,
	.detail_start = detail_start,
	.place = VIEW_GRID,
	.rank = { [LAYOUT_PROFILE] = 3 },
};
