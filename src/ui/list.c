/*
 * What an open list holds: the host's choices, or one of the screen's own two lists: everything
 * that has a name (find), and what can be copied. See screen_parts.h.
 */
#include "ui/command.h"
#include "ui/keys.h"

#include "model/page.h"

#include <stdio.h>
#include <string.h>

/* --- find --- */

static size_t source_view(const struct screen_host *host)
{
	size_t i = 0;
	while (i < host->n_views && !host->view_at(i)->of_source)
		i++;
	return i;
}

/* The kinds of things that are found, in this order. */
enum kind { A_PANEL, A_METRIC, A_PAGE, A_KERNEL, A_PRESET, A_GPU, A_KEY, A_PASSAGE, A_LINE, KINDS };

/* Lines of the source on this screen, where a panel shows it. */
static size_t line_count(const struct screen_host *host)
{
	const char *p = host->session(host->ctx)->source;
	size_t n = 0;
	if (source_view(host) == host->n_views)
		return 0;
	for (; p && *p; n++) {
		p = strchr(p, '\n');
		p = p ? p + 1 : p;
	}
	return n;
}

static size_t kind_count(const struct screen_host *host, enum kind k)
{
	switch (k) {
	case A_PANEL: return host->n_views;
	case A_METRIC: return METRIC_COUNT;
	case A_PAGE: return page_count();
	case A_KERNEL: return host->choices(host->ctx, CMD_KERNEL);
	case A_PRESET: return host->choices(host->ctx, CMD_PRESET);
	case A_GPU: return host->choices(host->ctx, CMD_GPU);
	case A_KEY: return key_count();
	case A_PASSAGE: return page_passage_count();
	case A_LINE: return line_count(host);
	case KINDS: break;
	}
	return 0;
}

/* Which thing is the @i-th of all; KINDS = none. */
static enum kind kind_of(const struct screen_host *host, size_t *i)
{
	int k = A_PANEL;
	for (; k < KINDS; k++) {
		const size_t n = kind_count(host, (enum kind)k);
		if (*i < n)
			break;
		*i -= n;
	}
	return (enum kind)k;
}

/* A choice of the host, under the name of its kind. */
static void of_host(const struct screen_host *host, enum command list, size_t i, const char *kind,
                    struct choice *out)
{
	char label[sizeof out->label];
	host->choice_at(host->ctx, list, i, out);
	snprintf(label, sizeof label, "%.8s %.100s", kind, out->label);
	memcpy(out->label, label, sizeof label);
	out->current = false;
}

/* Line @i from 0; @out may know the text behind an earlier one. */
static void line_at(const struct screen_host *host, size_t i, struct choice *out)
{
	const char *p = host->session(host->ctx)->source;
	size_t at = 0;
	if (out->text_after && out->index_after <= i) {
		p = out->text_after;
		at = out->index_after;
	}
	for (; at < i; at++)
		p += strcspn(p, "\n") + 1;
	const size_t n = strcspn(p, "\n"), indent = strspn(p, " \t");
	snprintf(out->label, sizeof out->label, "line %zu", i + 1);
	if (indent < n)
		snprintf(out->note, sizeof out->note, "%.*s", (int)(n - indent < 319 ? n - indent : 319),
		         p + indent);
	out->verbatim = true;
	out->text_after = p + n + (p[n] == '\n');
	out->index_after = i + 1;
}

/* What the pages say, paragraph by paragraph and row by row. */
static void passage_at(size_t i, struct choice *out)
{
	const struct page_passage *p = page_passage_at(i);
	snprintf(out->label, sizeof out->label, "page %.100s", p->page->title);
	for (size_t k = 0, n = 0; k < p->n && n + 1 < sizeof out->note; k++) /* lines become one */
		if (n || p->text[k] != ' ')
			out->note[n++] = (char)(p->text[k] == '\n' ? ' ' : p->text[k]);
}

/* A panel by its title and by what the row of tabs calls it. */
static void panel_at(const struct view_desc *v, struct choice *out)
{
	if (v->brief)
		snprintf(out->label, sizeof out->label, "panel %s (%s)", v->title, v->brief);
	else
		snprintf(out->label, sizeof out->label, "panel %s", v->title);
	snprintf(out->note, sizeof out->note, "%.319s", v->about ? v->about : "");
}

static void find_at(const struct screen_host *host, size_t i, struct choice *out)
{
	out->enabled = true;
	switch (kind_of(host, &i)) {
	case A_PANEL: panel_at(host->view_at(i), out); return;
	case A_METRIC:
		snprintf(out->label, sizeof out->label, "figure %.100s", metric_catalogue[i].title);
		snprintf(out->note, sizeof out->note, "%.319s", metric_catalogue[i].definition);
		return;
	case A_PAGE:
		snprintf(out->label, sizeof out->label, "page %.100s", page_at(i)->title);
		snprintf(out->note, sizeof out->note, "explains: %.300s", page_at(i)->panels);
		return;
	case A_KERNEL: of_host(host, CMD_KERNEL, i, "kernel", out); return;
	case A_PRESET: of_host(host, CMD_PRESET, i, "preset", out); return;
	case A_GPU: of_host(host, CMD_GPU, i, "GPU", out); return;
	case A_KEY:
		snprintf(out->label, sizeof out->label, "key %s", key_shown(key_at(i)->key));
		snprintf(out->note, sizeof out->note, "%.319s", key_at(i)->about);
		return;
	case A_PASSAGE: passage_at(i, out); return;
	case A_LINE: line_at(host, i, out); return;
	case KINDS: break;
	}
}

/* A figure by itself: what it is here, and what it means. */
static void say_metric(const struct session *s, struct screen_state *st, enum metric_id id)
{
	const struct metric_set *m = panel_metrics(s);
	char value[96] = "n/a";
	if (m)
		metric_format(m, id, value, sizeof value);
	screen_say(st, false, "%s %s %s   %s   (%s)", metric_catalogue[id].title, value,
	           m ? origin_mark(m->v[id].origin, false) : "", metric_catalogue[id].definition,
	           metric_catalogue[id].key);
}

/* Page @i of the focused panel's list is read. */
static void page_open(struct screen_state *st, size_t i)
{
	st->open = CMD_PAGE;
	st->page = i;
}

static void find_choose(const struct screen_host *host, struct screen_state *st, size_t i)
{
	switch (kind_of(host, &i)) {
	case A_PANEL: view_focus(host, st, i); return;
	case A_METRIC: say_metric(host->session(host->ctx), st, (enum metric_id)i); return;
	case A_PAGE: page_open(st, page_place(host->session(host->ctx), page_at(i))); return;
	case A_KERNEL: host->choose(host->ctx, CMD_KERNEL, i); return;
	case A_PRESET: host->choose(host->ctx, CMD_PRESET, i); return;
	case A_GPU: host->choose(host->ctx, CMD_GPU, i); return;
	case A_KEY: st->next = key_at(i)->command; return;
	case A_PASSAGE: {
		const struct page_passage *p = page_passage_at(i);
		page_open(st, page_place(host->session(host->ctx), p->page));
		st->top = page_rows_before(p);
		return;
	}
	case A_LINE:
		view_focus(host, st, source_view(host));
		host->edit(host->ctx)->cursor.row = (unsigned)i;
		host->edit(host->ctx)->cursor.placed = true;
		return;
	case KINDS: break;
	}
}

/* --- all lists --- */

size_t list_count(const struct screen_host *host, enum command open)
{
	size_t n = 0;
	if (open == CMD_COPY)
		return copy_count(host);
	if (open == CMD_PAGES)
		return page_count();
	if (open != CMD_FIND)
		return host->choices(host->ctx, open);
	for (int k = A_PANEL; k < KINDS; k++)
		n += kind_count(host, (enum kind)k);
	return n;
}

void list_at(const struct screen_host *host, enum command open, size_t i, struct choice *out)
{
	*out = (struct choice){ .text_after = out->text_after, .index_after = out->index_after };
	if (open == CMD_COPY)
		copy_at(host, i, out);
	else if (open == CMD_PAGES)
		page_choice(host->session(host->ctx), i, out);
	else if (open == CMD_FIND)
		find_at(host, i, out);
	else
		host->choice_at(host->ctx, open, i, out);
}

void list_choose(const struct screen_host *host, struct screen_state *st, enum command open,
                 size_t i)
{
	if (open == CMD_COPY)
		copy_choose(host, st, i);
	else if (open == CMD_PAGES)
		page_open(st, i);
	else if (open == CMD_FIND)
		find_choose(host, st, i);
	else
		host->choose(host->ctx, open, i);
}
