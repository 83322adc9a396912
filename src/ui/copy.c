/*
 * What can be copied from the screen, as text for other programs: the command line that gives this
 * screen again, the verdict, the panel, every figure, or one of those in front. The terminal's
 * clipboard is term.c's.
 */
#include "ui/screen_parts.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/program_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL_ROWS = 40, PANEL_COLS = 100 }; /* of a panel as text */

/* One launch of a person's program, with the shape that it has here: as `run` takes it. */
static char *launch_words(const struct session *s)
{
	const struct session_program *sp = s->program;
	const struct launch_plan *is = &s->plan;
	const struct program_launch *l = program_launch_numbered(sp->now, sp->launch);
	struct text t = { 0 };
	text_add(&t, "run --launch %" PRIu64, sp->launch);
	if (s->plan_ok && (is->block.x != l->block[0] || is->block.y != l->block[1]))
		text_add(&t, " --block %u,%u,%u", is->block.x, is->block.y, is->block.z);
	if (s->plan_ok && (is->grid.x != l->grid[0] || is->grid.y != l->grid[1]))
		text_add(&t, " --grid %u,%u,%u", is->grid.x, is->grid.y, is->grid.z);
	if (s->plan_ok && is->dynamic_shared_bytes != l->dynamic_shared_bytes)
		text_add(&t, " --shared %u", is->dynamic_shared_bytes);
	text_add(&t, " --gpu %s --backend %s %s", s->sel.gpu->id, s->sel.backend, sp->command);
	return t.s;
}

/* Without the program's name. */
static char *words(const struct session *s)
{
	if (s->program && s->program->now && s->program->launch)
		return launch_words(s);
	const struct kernel_desc *k = s->sel.kernel;
	struct text t = { 0 };
	text_add(&t, "%s/%s", k->name, k->variants[s->sel.variant].name);
	for (unsigned i = 0; i < k->n_params; i++) {
		char value[64];
		if (!kernel_param_used(k, s->sel.variant, i))
			continue;
		kernel_param_format(k, i, s->sel.params[i], value, sizeof value);
		text_add(&t, " %s=%s", k->params[i].name, value);
	}
	text_add(&t, " --gpu %s --backend %s", s->sel.gpu->id, s->sel.backend);
	return t.s;
}

void screen_words(const struct screen_host *host, char *out, size_t n)
{
	const struct session *s = host->session(host->ctx);
	if (!s->sel.kernel || s->sel.kernel->user || s->program || s->opened)
		return;
	char *all = words(s);
	if (strlen(all) < n)
		snprintf(out, n, "%s", all);
	free(all);
}

static char *command_line(const struct screen_host *host)
{
	char *all = words(host->session(host->ctx)), *line = mem_printf("pmpp-explore %s", all);
	free(all);
	return line;
}

/* @rows x @cols of what @draw draws, without blanks at the ends of rows. */
static char *drawn(const struct session *s, const struct view_desc *v, int rows, int cols)
{
	struct canvas c;
	struct text t = { 0 };
	canvas_init(&c, rows, cols, false);
	if (v)
		v->draw(s, &c);
	else
		verdict_draw(s, &c);
	char *text = canvas_dump(&c, false);
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t n = strcspn(line, "\n");
		while (n && line[n - 1] == ' ')
			n--;
		text_put(&t, line, n);
		text_put(&t, "\n", 1);
	}
	while (t.len > 1 && t.s[t.len - 2] == '\n')
		t.s[--t.len] = '\0';
	free(text);
	canvas_free(&c);
	return t.s;
}

static char *verdict(const struct screen_host *host)
{
	return drawn(host->session(host->ctx), NULL, 1, 120);
}

static char *panel_text(const struct screen_host *host)
{
	const struct session *s = host->session(host->ctx);
	return drawn(s, host->view_at(screen_focus(host, s)), PANEL_ROWS, PANEL_COLS);
}

/* A Markdown table of every figure that is known. */
static char *figures(const struct screen_host *host)
{
	const struct metric_set *m = panel_metrics(host->session(host->ctx));
	struct text t = { 0 };
	text_add(&t, "| figure | value | origin | key |\n|---|---:|---|---|\n");
	for (int i = 0; m && i < METRIC_COUNT; i++) {
		const enum metric_id id = (enum metric_id)i;
		char value[96];
		if (!metric_known(m, id))
			continue;
		metric_format(m, id, value, sizeof value);
		text_add(&t, "| %s | %s | %s | %s |\n", metric_catalogue[id].title, value,
		         origin_name(m->v[id].origin), metric_catalogue[id].key);
	}
	return t.s;
}

/* As the screen has it: "100.0 %". */
static char *one_figure(const struct screen_host *host, enum metric_id id)
{
	char value[96];
	metric_format(panel_metrics(host->session(host->ctx)), id, value, sizeof value);
	return mem_printf("%s", value);
}

static const struct {
	const char *label, *note;
	char *(*text)(const struct screen_host *host); /* the caller's to free */
} things[] = {
	{ "command line", "that gives this screen again: kernel, parameters, GPU, back end",
	  command_line },
	{ "verdict", "the first row: time, share of the roof, what limits it", verdict },
	{ "panel", "the panel in front, as text", panel_text },
	{ "figures", "every figure of this run, as a Markdown table", figures },
};

/* The figures that the panel in front shows and that are known. */
static struct metric_list in_front(const struct screen_host *host)
{
	const struct session *s = host->session(host->ctx);
	const struct metric_set *m = panel_metrics(s);
	struct metric_list all = { 0 }, known = { 0 };
	struct canvas c;
	if (!m || !host->n_views)
		return known;
	canvas_init(&c, PANEL_ROWS, PANEL_COLS, false);
	c.shown = &all;
	host->view_at(screen_focus(host, s))->draw(s, &c);
	canvas_free(&c);
	for (unsigned i = 0; i < all.n; i++)
		if (metric_known(m, all.id[i]))
			known.id[known.n++] = all.id[i];
	return known;
}

size_t copy_count(const struct screen_host *host)
{
	return ARRAY_LEN(things) + in_front(host).n;
}

void copy_at(const struct screen_host *host, size_t i, struct choice *out)
{
	*out = (struct choice){ .enabled = true };
	if (i >= ARRAY_LEN(things)) {
		const enum metric_id id = in_front(host).id[i - ARRAY_LEN(things)];
		snprintf(out->label, sizeof out->label, "%s", metric_catalogue[id].title);
		metric_format(panel_metrics(host->session(host->ctx)), id, out->note, sizeof out->note);
		return;
	}
	snprintf(out->label, sizeof out->label, "%s", things[i].label);
	snprintf(out->note, sizeof out->note, "%s", things[i].note);
}

void copy_choose(const struct screen_host *host, struct screen_state *st, size_t i)
{
	if (!host->session(host->ctx)->sel.kernel || !host->n_views) {
		screen_say(st, false, "there is nothing to copy yet");
		return;
	}
	free(st->copied);
	st->copied = i < ARRAY_LEN(things) ? things[i].text(host)
	                                   : one_figure(host, in_front(host).id[i - ARRAY_LEN(things)]);
	screen_say(st, false, "copied, if the terminal allows it (OSC 52): %.*s%s",
	           (int)strcspn(st->copied, "\n"), st->copied, strchr(st->copied, '\n') ? " …" : "");
}
