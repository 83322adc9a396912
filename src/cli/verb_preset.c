/* preset: walk a guided ladder in the terminal, or check every expectation of it. */
#include "cli/cli.h"

#include "base/lang.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "model/brief.h"
#include "model/ladder.h"
#include "lab/registry.h"
#include "lab/session_file.h"
#include "lab/tour.h"
#include "ui/view.h"

#include <stdlib.h>
#include <string.h>

#define RUNG_LIMIT_S 5
#define BOOK_COLS 46 /* of what a book's figure is called */
#define TEXT_COLS 78

struct state {
	const char *backend;
	const char *record;
	bool check, json;
	uint64_t step;
};

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	const struct option_spec all[] = {
		{ "--check", OPT_FLAG, &s->check, NULL, "only run every step and test its expectations" },
		{ "--step", OPT_ORDINAL, &s->step, "N", "only this step" },
		{ "--backend", OPT_TEXT, &s->backend, "NAME", "emu, cuda, or auto (default emu)" },
		{ "--record", OPT_TEXT, &s->record, "FILE",
		  "also write the session: every step's run, and the ladder of the last one" },
		OPTION_JSON(&s->json),
	};
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all);
}

/* Wrapped at blanks, and between characters where a language has none. */
static void paragraph(FILE *f, const char *english)
{
	char *text = mem_strdup(lang_text(english));
	for (char *p = text; (p = strchr(p, '\n'));)
		*p = ' ';
	size_t len;
	for (const char *at = text; *at;) {
		const char *next = utf8_line(at, TEXT_COLS - 2, &len);
		while (len && at[len - 1] == ' ')
			len--;
		fprintf(f, "  %.*s\n", (int)len, at);
		at = next;
	}
	free(text);
}

/* The book's figures, and ours beside them in the same unit. */
static void print_book(struct cli *c, const struct preset_step *s, const struct run_record *r,
                       const struct tour_result *t)
{
	for (unsigned i = 0; i < s->n_book; i++) {
		const struct preset_book *b = &s->book[i];
		const unsigned claim = preset_book_claim(s, i);
		const enum metric_id id = preset_book_metric(b);
		char num[32];
		const char *what = lang_text(b->what);
		const int room = BOOK_COLS - text_columns(what);
		cli_name(c->out, STYLE_DIM, c->utf8 ? "  ¶ " : "  # ");
		fprintf(c->out, "%s%*s", what, room > 0 ? room : 0, "");
		fprintf(c->out, " %s %s", fmt_num(num, sizeof num, b->value, 7), lang_text(b->unit));
		if (claim < t->n && t->evaluated[claim]) {
			const double ours = t->outcome[claim].left.num;
			cli_say(c->out, t->outcome[claim].holds ? STYLE_GOOD : STYLE_WATCH, "   ours %s%s%s",
			        fmt_num(num, sizeof num, ours / preset_book_factor(b), 7),
			        id == METRIC_COUNT ? "" : " ",
			        id == METRIC_COUNT ? "" : origin_mark(r->metrics.v[id].origin, !c->utf8));
		}
		fputc('\n', c->out);
		if (b->note) {
			cli_line_in(c, STYLE_DIM, "    about this figure:");
			paragraph(c->out, b->note);
		}
	}
}

/* What the step claims, as it is written, or in plain words. */
static void print_checks(struct cli *c, const struct preset_step *s, const struct tour_result *t,
                         bool in_words)
{
	for (unsigned i = 0; i < t->n; i++) {
		const bool ok = t->evaluated[i] && t->outcome[i].holds;
		if (ok && i >= s->n_expect) /* a figure of the book: it stands beside ours */
			continue;
		const char *mark = ok              ? (c->utf8 ? "✓" : "ok")
		                   : t->excused[i] ? (c->utf8 ? "–" : "--")
		                                   : (c->utf8 ? "✗" : "NO");
		char num[32], line[400], words[400];
		cli_name(c->out, ok ? STYLE_GOOD : t->excused[i] ? STYLE_DIM : STYLE_BAD, "  ");
		cli_name(c->out, ok ? STYLE_GOOD : t->excused[i] ? STYLE_DIM : STYLE_BAD, mark);
		const char *claim = preset_claim(s, i, line, sizeof line);
		if (in_words) {
			panel_claim(claim, words, sizeof words);
			cli_say(c->out, STYLE_NORMAL, " %s", words);
		} else {
			fprintf(c->out, " %s", claim);
		}
		if (!t->evaluated[i] || t->excused[i])
			fprintf(c->out, "\n      %s", lang_text(t->problem[i]));
		else if (!ok)
			cli_say(c->out, STYLE_NORMAL, "   (left side is %s)",
			        t->outcome[i].left.is_text
			            ? t->outcome[i].left.text
			            : fmt_num(num, sizeof num, t->outcome[i].left.num, 9));
		fputc('\n', c->out);
	}
}

static json_t *checks_json(const struct preset_step *s, const struct tour_result *t)
{
	json_t *all = json_array();
	for (unsigned i = 0; i < t->n; i++) {
		char line[400];
		json_t *e = json_pack("{s:s, s:b}", "expect", preset_claim(s, i, line, sizeof line),
		                      "holds", t->evaluated[i] && t->outcome[i].holds);
		if (t->excused[i])
			json_object_set_new(e, "excused", json_string(t->problem[i]));
		if (!t->evaluated[i] && !t->excused[i])
			json_object_set_new(e, "problem", json_string(t->problem[i]));
		else if (t->evaluated[i] && !t->outcome[i].left.is_text)
			json_object_set_new(e, "value", json_number(t->outcome[i].left.num));
		json_array_append_new(all, e);
	}
	return all;
}

struct walk {
	struct cli *c;
	const struct state *s;
	const struct preset *p;
	json_t *steps;
	unsigned run, failed, excused;
	struct session session; /* for --record: its runs so far */
};

static bool step_selection(const struct walk *w, unsigned i, struct selection *sel, struct err *err)
{
	*sel = (struct selection){ .seed = 1 };
	/* what stops a run is seen by the emulator; a GPU would hang or answer anything */
	const bool emu = w->p->steps[i].stops || !w->s->backend;
	if (!choose_gpu_and_backend(NULL, emu ? "emu" : w->s->backend, sel, err))
		return false;
	/* a device answers for itself, whatever sheet the step names */
	const struct gpu_spec *const device = sel->gpu;
	if (!tour_select(w->p, i, sel, err))
		return false;
	if (strcmp(sel->backend, "emu"))
		sel->gpu = device;
	return true;
}

static void print_head(struct cli *c, const struct preset *p)
{
	cli_line_in(c, STYLE_TITLE, "%s", p->title);
	cli_line_in(c, STYLE_DIM, "%s", p->chapter);
	fputc('\n', c->out);
}

/* "2/6  the step's title", and what runs where. */
static void print_title(const struct walk *w, unsigned i, const struct gpu_spec *gpu)
{
	const struct preset_step *s = &w->p->steps[i];
	FILE *f = w->c->out;
	fprintf(f, "%u/%u  ", i + 1, w->p->n_steps);
	cli_say(f, STYLE_TITLE, "%s", s->title);
	fputs("\n  ", f);
	cli_name(f, STYLE_KNOB, s->run);
	fprintf(f, "  %s\n", gpu->name);
}

/* The step's expectation is that its run is stopped, and why. Nothing is compared with it. */
static bool stop_step(struct walk *w, unsigned i, struct err *err)
{
	const struct preset_step *s = &w->p->steps[i];
	struct selection sel;
	struct run_record *r = NULL;
	struct err stop = { 0 };
	struct cli *c = w->c;
	if (!step_selection(w, i, &sel, err))
		return false;
	const bool ran = run_selection(&sel, NULL, &r, &stop);
	const struct run_finding *found = ran ? run_findings_with(&r->run.found, s->stops) : NULL;
	const struct run_finding caught = found ? *found : (struct run_finding){ .text = "" };
	const bool holds = found || (!ran && strstr(stop.msg, s->stops));
	record_free(r);
	const char *said = found ? caught.text : ran ? NULL : stop.msg;
	const char *remedy = found ? caught.remedy : stop.remedy;
	w->run++;
	w->failed += !holds;
	if (c->json) {
		json_array_append_new(w->steps,
		                      json_pack("{s:s, s:s, s:b, s:s?, s:[]}", "title", s->title, "run",
		                                s->run, "holds", holds, "stopped", said, "expect"));
		return true;
	}
	print_title(w, i, sel.gpu);
	if (!w->s->check) {
		paragraph(c->out, s->say);
		paragraph(c->out, said ? said : lang_text("Nothing was found wrong."));
		if (remedy[0])
			paragraph(c->out, remedy);
	}
	const char *sign = holds ? (c->utf8 ? "✓" : "ok") : (c->utf8 ? "✗" : "NO");
	cli_name(c->out, holds ? STYLE_GOOD : STYLE_BAD, "  ");
	cli_name(c->out, holds ? STYLE_GOOD : STYLE_BAD, sign);
	cli_line(c, " is caught: %s", s->stops);
	if (!holds)
		cli_line(c, "      %s", said ? said : "nothing was found wrong");
	fputc('\n', c->out);
	return true;
}

/* Runs step @i; the record is the caller's. NULL: it could not run, @err says why. */
static struct run_record *step_record(const struct walk *w, unsigned i, struct err *err)
{
	struct selection sel;
	struct run_record *r = NULL;
	if (!step_selection(w, i, &sel, err) || !run_selection(&sel, NULL, &r, err))
		return NULL;
	return r;
}

static void show_step(struct walk *w, unsigned i, const struct run_record *r,
                      const struct tour_result *t)
{
	const struct preset_step *s = &w->p->steps[i];
	struct cli *c = w->c;
	print_title(w, i, r->sel.gpu);
	if (!w->s->check) {
		paragraph(c->out, s->say);
		if (s->reveal)
			paragraph(c->out, s->reveal);
		print_book(c, s, r, t);
	}
	print_checks(c, s, t, !w->s->check);
	fputc('\n', c->out);
}

static bool walk_step(struct walk *w, unsigned i, struct run_record **before, struct err *err)
{
	if (w->p->steps[i].stops)
		return stop_step(w, i, err);
	struct run_record *r = step_record(w, i, err);
	if (!r)
		return false;
	struct tour_result t;
	tour_check(w->p, i, r, *before, &t);
	w->run++;
	w->failed += t.failed > 0;
	w->excused += t.n_excused;
	if (w->c->json)
		json_array_append_new(w->steps,
		                      json_pack("{s:s, s:s, s:b, s:o}", "title", w->p->steps[i].title,
		                                "run", w->p->steps[i].run, "holds", t.failed == 0, "expect",
		                                checks_json(&w->p->steps[i], &t)));
	else
		show_step(w, i, r, &t);
	if (w->s->record) {
		session_remember(&w->session, r, kernel_source(r->sel.kernel));
		w->session.tour.step = i;
	}
	record_free(*before);
	*before = r;
	return true;
}

/* Every rung of the last step's family, and the vendor library's line where there is one. */
static struct ladder *climb(const struct selection *sel)
{
	struct ladder *l = ladder_new(sel);
	struct library_line line;
	const struct run_options options = { .timeout_s =
		                                     RUNG_LIMIT_S }; /* some rungs are one thread */
	for (unsigned i = 0; i < l->n; i++) {
		const struct selection rung = ladder_selection(l, i);
		struct run_record *r;
		struct err err = { 0 };
		if (run_selection_with(&rung, &options, NULL, &r, &err)) {
			ladder_put(l, r);
			record_free(r);
		} else {
			snprintf(l->rungs[i].why, sizeof l->rungs[i].why, "%.199s", err.msg);
		}
	}
	if (library_lines(sel, NULL, &line, 1) && line.comparable) {
		l->library_ns = line.timing.median_ns;
		memcpy(l->library_name, line.name, sizeof l->library_name);
	}
	ladder_compare(l);
	return l;
}

/* The session as it is after the last step, with the history of all. @last is borrowed. */
static bool write_recording(struct walk *w, struct run_record *last, struct err *err)
{
	struct session s;
	const struct preset_step *step = &w->p->steps[w->session.tour.step];
	session_of_record(last, step->view ? step->view : "occupancy", &s);
	s.usage_known = true;
	s.history = w->session.history;
	s.n_history = w->session.n_history;
	s.tour.preset = w->p;
	s.tour.step = w->session.tour.step;
	snprintf(s.tour.name, sizeof s.tour.name, "%s", w->p->name);
	s.ladder = climb(&last->sel);
	const bool ok = session_save(&s, w->s->record, err);
	ladder_free(s.ladder);
	return ok;
}

static int walk(struct cli *c, const struct state *s, const struct preset *p)
{
	struct walk w = { .c = c, .s = s, .p = p, .steps = c->json ? json_array() : NULL };
	struct err err = { 0 };
	if (s->step > p->n_steps) {
		err_set(&err, ERR_USAGE, "--step: preset %s has %u steps", p->name, p->n_steps);
		json_decref(w.steps);
		return cli_fail(c, &err);
	}
	if (!c->json)
		print_head(c, p);
	/* A single step still needs the last one before it that ends, for its comparisons. */
	unsigned first = s->step > 1 ? (unsigned)s->step - 2 : 0;
	while (first && p->steps[first].stops)
		first--;
	const unsigned end = s->step ? (unsigned)s->step : p->n_steps;
	struct run_record *before = NULL;
	bool ok = true;
	for (unsigned i = first; ok && i < end; i++) {
		if (s->step && i + 1 < end && (i > first || p->steps[i].stops))
			continue;
		if (s->step && i + 1 < end)
			ok = (before = step_record(&w, i, &err)) != NULL;
		else
			ok = walk_step(&w, i, &before, &err);
	}
	if (ok && s->record && before)
		ok = write_recording(&w, before, &err);
	session_forget(&w.session);
	record_free(before);
	if (!ok) {
		json_decref(w.steps);
		return cli_fail(c, &err);
	}
	const int status = w.failed ? CLI_WRONG : CLI_OK;
	if (c->json)
		return cli_emit(c,
		                json_pack("{s:s, s:s, s:b, s:o}", "schema", CLI_SCHEMA, "preset", p->name,
		                          "holds", w.failed == 0, "steps", w.steps),
		                status);
	fprintf(c->out, "%s: ", p->name);
	cli_say(c->out, w.failed ? STYLE_BAD : STYLE_GOOD, "%u of %u steps as expected",
	        w.run - w.failed, w.run);
	if (w.excused)
		cli_say(c->out, STYLE_NORMAL,
		        w.excused == 1 ? "; %u claim not about this GPU" : "; %u claims not about this GPU",
		        w.excused);
	fputc('\n', c->out);
	return status;
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	struct err err = { 0 };
	struct preset *p;
	if (n != 1) {
		err_set(&err, ERR_USAGE, n ? "one preset at a time" : "which preset?");
		err_remedy(&err, "'pmpp-explore list presets' shows them");
		return cli_fail(c, &err);
	}
	if (!preset_load(args[0], &p, &err))
		return cli_fail(c, &err);
	const int status = walk(c, state, p);
	preset_free(p);
	return status;
}

CLI_VERB(
	preset, .order = 4,
	.about = "walk a guided ladder: run each step, say what to notice, test what it claims",
	.usage = "NAME|FILE.yaml [options]",
	.help = "Status: 0 every expectation holds, 1 one does not, 2 bad usage, 3 not possible here.\n"
			"On a real GPU, claims about another GPU's times or occupancy, about PTX instructions\n"
			"that the machine's compiler merges, and about what hardware does not count are shown\n"
			"with the reason and excused.\n\n"
			"  pmpp-explore preset vec_add\n"
			"  pmpp-explore preset reduction --check\n");
