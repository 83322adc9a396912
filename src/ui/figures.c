/*
 * Metrics as a person reads them: number by unit, origin mark, and what it was before.
 *
 * The one place that turns a metric into characters; computes nothing. See canvas.h.
 */
#include "ui/canvas.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* X(unit, how): units that are not plain counts. */
enum how { COUNT, PCT, BYTES, NS, FLOPS, SI, ONE_DECIMAL, THREE_DIGITS };

static enum how how_shown(const char *unit)
{
	static const struct {
		const char *unit;
		enum how how;
	} table[] = {
		{ "pct", PCT },
		{ "bytes", BYTES },
		{ "ns", NS },
		{ "GFLOPS", FLOPS },
		{ "FLOP", SI },
		{ "FLOP/byte", THREE_DIGITS },
		{ "waves", THREE_DIGITS },
		{ "sectors/req", ONE_DECIMAL },
		{ "lanes/inst", ONE_DECIMAL },
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!strcmp(unit, table[i].unit))
			return table[i].how;
	return COUNT;
}

static void number(enum how how, double v, char *out, size_t n)
{
	switch (how) {
	case PCT: snprintf(out, n, "%.1f %%", v); return;
	case BYTES: fmt_bytes(out, n, v); return;
	case NS: fmt_ns(out, n, v); return;
	case SI: fmt_si(out, n, v); return;
	case ONE_DECIMAL: snprintf(out, n, "%.1f", v); return;
	case THREE_DIGITS: fmt_num(out, n, v, 3); return;
	case FLOPS:
		if (fabs(v) >= 99.95)
			fmt_count(out, n, v);
		else
			fmt_num(out, n, v, 3);
		return;
	case COUNT:
		if (fabs(v) >= 1e7)
			fmt_si(out, n, v);
		else if (v != floor(v))
			fmt_num(out, n, v, 4);
		else
			fmt_count(out, n, v);
		return;
	}
}

void metric_format(const struct metric_set *m, enum metric_id id, char *out, size_t n)
{
	if (!m || id >= METRIC_COUNT || m->v[id].origin == ORIGIN_NONE) {
		snprintf(out, n, "n/a");
		return;
	}
	if (metric_catalogue[id].kind == METRIC_TEXT)
		snprintf(out, n, "%s", m->v[id].text);
	else if (!isfinite(m->v[id].num))
		snprintf(out, n, "n/a");
	else
		number(how_shown(metric_catalogue[id].unit), m->v[id].num, out, n);
}

void canvas_shows(struct canvas *c, enum metric_id id)
{
	struct metric_list *l = c->shown;
	for (unsigned i = 0; l && i < l->n; i++)
		if (l->id[i] == id)
			return;
	if (l)
		l->id[l->n++] = id;
}

int canvas_metric(struct canvas *c, int row, int col, int width, const struct metric_set *m,
                  enum metric_id id)
{
	char text[96];
	metric_format(m, id, text, sizeof text);
	canvas_shows(c, id);
	int pad = width - utf8_columns(text);
	if (pad > 0)
		col += pad;
	if (!strcmp(text, "n/a"))
		return canvas_text(c, row, col, STYLE_DIM, text);
	col = canvas_text(c, row, col, STYLE_BOLD, text);
	return canvas_text(c, row, col + 1, STYLE_DIM, origin_mark(m->v[id].origin, c->ascii));
}

int canvas_was(struct canvas *c, int row, int col, double is, double was, const char *shown,
               int better)
{
	if (!isfinite(is) || !isfinite(was) || is == was)
		return col;
	col = canvas_printf(c, row, col, STYLE_FAINT, "was %s ", shown);
	int direction = is > was ? 1 : -1;
	enum style s = !better ? STYLE_DIM : direction == better ? STYLE_GOOD : STYLE_BAD;
	return canvas_text(c, row, col, s, direction > 0 ? "▲" : "▼");
}

int canvas_delta(struct canvas *c, int row, int col, const struct metric_set *m,
                 const struct metric_set *before, enum metric_id id, int better)
{
	char is[96], was[96];
	if (!m || !before || !metric_known(m, id) || !metric_known(before, id))
		return col;
	metric_format(m, id, is, sizeof is);
	metric_format(before, id, was, sizeof was);
	if (!strcmp(is, was))
		return col;
	if (metric_catalogue[id].kind == METRIC_TEXT)
		return canvas_printf(c, row, col, STYLE_FAINT, "was %s", was);
	return canvas_was(c, row, col, metric_get(m, id), metric_get(before, id), was, better);
}
