/*
 * The pages: help, which begins with the panel in front and the definition of every figure it
 * shows, then keys and panels; and the legend of origins. Built as rows, then drawn from one on.
 *
 * From keys.def, the views, metric.def and ORIGINS: nothing is written down twice.
 */
#include "ui/keys.h"
#include "ui/screen_parts.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define INDENT 16 /* columns for what a row is about */

/* Rows are numbered; those from @first on land on the canvas. */
struct page {
	struct canvas *c; /* NULL = only counted */
	int first, n, cols;
};

static void row(struct page *p, enum style of_name, const char *name, enum style of_text,
                const char *text)
{
	const int at = p->n++ - p->first;
	if (!p->c || at < 0 || at >= p->c->rows)
		return;
	const bool whole = !text[0];
	canvas_text_n(p->c, at, 2, (whole ? p->c->cols - 3 : INDENT - 3), of_name, name);
	canvas_text_n(p->c, at, INDENT, p->c->cols - INDENT - 1, of_text, text);
}

/* @text from column @col on, in as many rows as it needs. */
static void paragraph(struct page *p, int col, enum style s, const char *text)
{
	const int width = p->cols - col - 1, need = text_rows(text, width), at = p->n - p->first;
	p->n += need;
	if (!p->c)
		return;
	struct canvas all = *p->c;
	for (int r = 0; r < need; r++) { /* row by row: the page may begin inside it */
		if (at + r < 0 || at + r >= all.rows)
			continue;
		struct canvas line;
		canvas_init(&line, need, width, all.ascii);
		canvas_wrap(&line, 0, 0, need, width, s, text);
		for (int k = 0; k < width; k++) {
			const struct cell *cell = line.cells + (size_t)r * (size_t)line.stride + (size_t)k;
			canvas_cell(&all, at + r, col + k, (enum style)cell->style, cell->ch);
		}
		canvas_free(&line);
	}
}

/* What the panel in front shows, figure by figure. */
static void panel_page(const struct screen_host *host, struct page *p)
{
	const struct session *s = host->session(host->ctx);
	const struct view_desc *v = host->view_at(screen_focus(host, s));
	const struct metric_set *m = panel_metrics(s);
	struct metric_list shown = { 0 };
	struct canvas scratch;
	char head[160], value[96];
	row(p, STYLE_TITLE, v->title, STYLE_NORMAL, "");
	paragraph(p, 2, STYLE_NORMAL, v->about ? v->about : "");
	const struct kernel_desc *k = s->sel.kernel;
	const struct variant_desc *variant = k ? &k->variants[s->sel.variant] : NULL;
	if (variant && variant->section) {
		snprintf(head, sizeof head, "%.60s: %.80s", k->title ? k->title : k->name,
		         variant->section);
		row(p, STYLE_DIM, head, STYLE_NORMAL, "");
	}
	canvas_init(&scratch, 40, 100, false);
	scratch.shown = &shown;
	v->draw(s, &scratch);
	canvas_free(&scratch);
	for (const struct view_word *w = v->words; w && w->name; w++) {
		row(p, STYLE_BOLD, w->name, STYLE_NORMAL, "");
		paragraph(p, 4, STYLE_DIM, w->meaning);
	}
	for (unsigned i = 0; i < shown.n; i++) {
		const struct metric_desc *d = &metric_catalogue[shown.id[i]];
		metric_format(m, shown.id[i], value, sizeof value);
		snprintf(head, sizeof head, "%.60s  %.60s %s", d->title, value,
		         m ? origin_mark(m->v[shown.id[i]].origin, false) : "");
		row(p, STYLE_BOLD, head, STYLE_NORMAL, "");
		paragraph(p, 4, STYLE_DIM, d->definition);
	}
	p->n++;
}

static void help_page(const struct screen_host *host, struct page *p)
{
	char name[64];
	if (host->n_views)
		panel_page(host, p);
	row(p, STYLE_TITLE, "keys", STYLE_NORMAL, "");
	for (size_t i = 0; i < key_count(); i++) {
		const struct key_desc *k = key_at(i);
		snprintf(name, sizeof name, "%s%s%s", key_shown(k->key), k->alt[0] ? "  " : "",
		         key_shown(k->alt));
		row(p, STYLE_KEY, name, STYLE_NORMAL, k->about);
	}
	p->n++;
	row(p, STYLE_TITLE, "panels", STYLE_NORMAL, "");
	for (size_t i = 0; i < host->n_views; i++) {
		const struct view_desc *v = host->view_at(i);
		if (i < 10)
			snprintf(name, sizeof name, "%zu %s", (i + 1) % 10, v->title);
		else
			snprintf(name, sizeof name, "  %s", v->title);
		row(p, STYLE_NORMAL, name, STYLE_DIM, v->about ? v->about : "");
	}
}

static void origin_page(struct page *p, bool ascii)
{
	char name[64];
	for (int i = 0; i < ORIGIN_COUNT; i++) {
		const enum origin o = (enum origin)i;
		snprintf(name, sizeof name, "%-4s %s", o == ORIGIN_NONE ? "n/a" : origin_mark(o, ascii),
		         origin_name(o));
		row(p, STYLE_BOLD, name, STYLE_DIM, origin_about(o));
	}
	p->n++;
	row(p, STYLE_DIM, "A mark follows every figure. Origins are never mixed silently.",
	    STYLE_NORMAL, "");
}

int help_draw(const struct screen_host *host, enum command page, int first, int cols,
              struct canvas *c)
{
	struct page p = { .c = c, .first = first, .cols = c ? c->cols : cols };
	if (page == CMD_HELP)
		help_page(host, &p);
	else
		origin_page(&p, c && c->ascii);
	return p.n;
}
