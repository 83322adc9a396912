/*
 * Every step of every preset, docked over a panel at 80x24: title, sentence and figures are there
 * whole, without a Tab; a panel stays below. At no size is anything of it cut.
 */
#include "fixture_host.h"
#include "../unit.h"
#include "model/preset.h"
#include "ui/layout.h"

#include <math.h>

extern const struct view_desc view_tour;

/* The words of a text, one blank between two, however it is wrapped. */
static char *words_of(const char *text)
{
	struct text t = { 0 };
	bool blank = false;
	text_put(&t, "", 0);
	for (; *text; text++) {
		if (*text == ' ' || *text == '\n') {
			blank = t.len > 0;
			continue;
		}
		if (blank)
			text_put(&t, " ", 1);
		text_put(&t, text, 1);
		blank = false;
	}
	return t.s;
}

static void has(const struct preset *p, unsigned step, const char *screen, const char *text)
{
	char *want = words_of(text);
	if (!strstr(screen, want))
		fail_msg("preset %s, step %u, at 80x24: '%s' is not whole in\n%s", p->name, step + 1, want,
		         screen);
	free(want);
}

/* A session at that step: all that it claims holds, and what it computes is known. */
static struct session *at_step(const struct preset *p, unsigned i)
{
	struct session *s = fixture_reduced();
	s->tour.preset = p;
	s->tour.step = i;
	s->tour.judged = true;
	s->tour.n = preset_claims(&p->steps[i]);
	for (unsigned k = 0; k < s->tour.n; k++)
		s->tour.outcomes[k] = (struct tour_outcome){ .holds = true, .is = 12345.678 };
	return s;
}

/* No row of the docked lesson ends in "…", at that size. */
static void check_cuts(const struct preset *p, unsigned i, int rows, int cols)
{
	struct session *s = at_step(p, i);
	struct fixture_host fh = { .s = s };
	const struct screen_host host = fixture_host(&fh);
	const struct screen_state st = { .open = CMD_NONE };
	struct canvas c;
	char head[40];
	canvas_init(&c, rows, cols, false);
	screen_draw(&host, &st, &c);
	char *drawn = canvas_dump(&c, false);
	snprintf(head, sizeof head, " %u of %u ", i + 1, p->n_steps);
	char *from = strstr(drawn, head), *to = from;
	assert_non_null(from);
	for (int n = view_tour.dock_rows(s, cols, layout_lesson_most(rows)); n > 0 && to; n--)
		to = strchr(to + 1, '\n');
	if (to)
		*to = '\0';
	if (strstr(from, "…"))
		fail_msg("preset %s, step %u, at %dx%d: something is cut in\n%s", p->name, i + 1, cols,
		         rows, from);
	free(drawn);
	canvas_free(&c);
	fixture_free(s);
}

static void check_step(const struct preset *p, unsigned i)
{
	struct session *s = at_step(p, i);
	struct fixture_host fh = { .s = s };
	const struct screen_host host = fixture_host(&fh);
	const struct screen_state st = { .open = CMD_NONE };
	const struct preset_step *step = &p->steps[i];
	struct canvas c;
	canvas_init(&c, 24, 80, false);
	screen_draw(&host, &st, &c);
	char *drawn = canvas_dump(&c, false), *screen = words_of(drawn);
	has(p, i, screen, step->title);
	has(p, i, screen, step->say);
	for (unsigned k = 0; k < step->n_book; k++) {
		char number[64];
		if (!strcmp(step->book[k].unit, "ns"))
			fmt_ns(number, sizeof number, step->book[k].value);
		else
			fmt_num(number, sizeof number, step->book[k].value, 7);
		has(p, i, screen, number);
		has(p, i, screen, step->book[k].what);
	}
	if (step->n_expect)
		has(p, i, screen, step->stops ? "the mistake is caught" : "hold");
	has(p, i, screen, "SIMD efficiency"); /* the panel below: divergence */
	free(drawn);
	free(screen);
	canvas_free(&c);
	fixture_free(s);
}

static void every_step(void **state)
{
	struct preset *p;
	struct err err = { 0 };
	if (!preset_load(*state, &p, &err))
		fail_msg("%s", err.msg);
	for (unsigned i = 0; i < p->n_steps; i++) {
		static const int sizes[][2] = { { 24, 80 }, { 40, 120 }, { 60, 200 } };
		check_step(p, i);
		for (size_t k = 0; k < ARRAY_LEN(sizes); k++)
			check_cuts(p, i, sizes[k][0], sizes[k][1]);
	}
	preset_free(p);
}

TEST(claims_in_words)
{
	static const struct unit_case table[] = {
		{ "verified == 1", "the result is right" },
		{ "verified == 0", "the result is wrong, as it must be" },
		{ "mem.ld_sectors_per_request == 4", "sectors per load is 4.0" },
		{ "mem.ld_sectors@load-B == before.mem.ld_sectors@load-B / 8",
		  "global load sectors on the lines 'load-B' is global load sectors on the lines 'load-B' "
		  "of the step before ÷ 8" },
		{ "flop.fp32@path-A == 2 * 24 * 16",
		  "FP32 operations on the lines 'path-A' is 2 × 24 × 16" },
		{ "time.kernel_ns ~= 4984000 +- 30 %", "kernel time is about 4.98 ms ± 30 %" },
		{ "stream.critical == \"H2D\"", "critical engine is H2D" },
		{ "no.metric < 2", "no.metric is below 2" },
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char words[200];
		panel_claim(table[i].given, words, sizeof words);
		assert_string_equal(words, table[i].want);
	}
}

int main(void)
{
	for (size_t i = 0; i < preset_count(); i++) {
		const char *name = mem_strdup(preset_name(i)); /* valid until the next one is asked for */
		unit_add(name, every_step, name);
	}
	return unit_run(NULL, NULL);
}
