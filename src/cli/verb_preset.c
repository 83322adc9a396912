/* preset: walk a guided ladder in the terminal, or check every expectation of it. */
#include "cli/cli.h"
#include "model/brief.h"
#include "model/ladder.h"
#include "lab/registry.h"
#include "lab/session_file.h"
#include "lab/tour.h"

#include <stdlib.h>
#include <string.h>

#define RUNG_LIMIT_S 5

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
		{ "--step", OPT_COUNT, &s->step, "N", "only this step" },
		{ "--backend", OPT_TEXT, &s->backend, "NAME", "emu, cuda, or auto (default emu)" },
		{ "--record", OPT_TEXT, &s->record, "FILE",
		  "also write the session: every step's run, and the ladder of the last one" },
		OPTION_JSON(&s->json),
	};
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all);
}

static void paragraph(FILE *f, const char *text)
{
	int col = 0;
	for (const char *p = text; *p;) {
		const size_t n = strcspn(p, " \n");
		if (col && col + (int)n + 1 > 76) {
			fputc('\n', f);
			col = 0;
		}
		if (n) {
			fprintf(f, "%s%.*s", col ? " " : "  ", (int)n, p);
			col += (int)n + 1;
		}
		p += n + (p[n] != '\0');
	}
	fputc('\n', f);
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
		fprintf(c->out, "  %s %-46s %s %s", c->utf8 ? "¶" : "#", b->what,
		        fmt_num(num, sizeof num, b->value, 7), b->unit);
		if (claim < t->n && t->evaluated[claim]) {
			const double ours = t->outcome[claim].left.num;
			fprintf(c->out, "   ours %s%s%s",
			        fmt_num(num, sizeof num, ours * b->value / preset_book_value(b), 7),
			        id == METRIC_COUNT ? "" : " ",
			        id == METRIC_COUNT ? "" : origin_mark(r->metrics.v[id].origin, !c->utf8));
		}
		fputc('\n', c->out);
		if (b->note) {
			fputs("    about this figure:\n", c->out);
			paragraph(c->out, b->note);
		}
	}
}

static void print_checks(struct cli *c, const struct preset_step *s, const struct tour_result *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		const bool ok = t->evaluated[i] && t->outcome[i].holds;
		if (ok && i >= s->n_expect) /* a figure of the book: it stands beside ours */
			continue;
		const char *mark = ok              ? (c->utf8 ? "✓" : "ok")
		                   : t->excused[i] ? (c->utf8 ? "–" : "--")
		                                   : (c->utf8 ? "✗" : "NO");
		char num[32], line[400];
		fprintf(c->out, "  %s %s", mark, preset_claim(s, i, line, sizeof line));
		if (!t->evaluated[i] || t->excused[i])
			fprintf(c->out, "\n      %s", t->problem[i]);
		else if (!ok)
			fprintf(c->out, "   (left side is %s)",
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
	fprintf(c->out, "%u/%u  %s\n  %s  on %s\n", i + 1, w->p->n_steps, s->title, s->run,
	        sel.gpu->name);
	if (!w->s->check) {
		paragraph(c->out, s->say);
		paragraph(c->out, said ? said : "Nothing was found wrong.");
		if (remedy[0])
			paragraph(c->out, remedy);
	}
	const char *sign = holds ? (c->utf8 ? "✓" : "ok") : (c->utf8 ? "✗" : "NO");
	fprintf(c->out, "  %s is caught: %s\n", sign, s->stops);
	if (!holds)
		fprintf(c->out, "      %s\n", said ? said : "nothing was found wrong");
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
	fprintf(c->out, "%u/%u  %s\n  %s  on %s\n", i + 1, w->p->n_steps, s->title, s->run,
	        r->sel.gpu->name);
	if (!w->s->check) {
		paragraph(c->out, s->say);
		if (s->reveal)
			paragraph(c->out, s->reveal);
		print_book(c, s, r, t);
	}
	print_checks(c, s, t);
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
		fprintf(c->out, "%s  (%s)\n\n", p->title, p->chapter);
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
	fprintf(c->out, "%s: %u of %u steps as expected", p->name, w.run - w.failed, w.run);
	if (w.excused)
		fprintf(c->out, "; %u claim%s not about this GPU", w.excused, w.excused == 1 ? "" : "s");
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
