/*
 * The session: what a person has chosen and what came of it. See lab.h.
 *
 * Every change does three things: the instant part (plan, occupancy, sweep) on the spot, an order
 * to the worker, and nothing else. Records come back through lab_poll(). Does not draw, parse
 * arguments, compile or run.
 */
#include "lab.h"
#include "lab_worker.h"
#include "lab/reference_run.h"
#include "ladder_book.h"
#include "userkernel/user_file.h"
#include "userkernel/user_watch.h"
#include "session_file.h"
#include "tour.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/ladder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct lab {
	struct session s;
	struct usage_table *usage;
	struct lab_worker *worker;
	bool started;
	char wanted[16];          /* "auto" or "cuda" until the worker has decided; "" = decided */
	bool gpu_given;           /* the person named a GPU: the decision must respect it */
	uint64_t serial;          /* of the newest order */
	uint64_t rung;            /* serial of the rung that is being run; 0 = none */
	uint64_t rungs;           /* serial of the newest; they are counted apart */
	bool no_rungs;            /* the person cancelled one */
	bool stalls;              /* the newest order asks why warps waited */
	bool sampled_now;         /* `now` is this order's own sample: its successor replaces it */
	struct preset *preset;    /* the tour's; the session only borrows it */
	char *opened;             /* path of the snapshot the session came from */
	struct user_watch *watch; /* on a person's own file; NULL = none yet */
};

/* --- the instant part --- */

static void instant(struct lab *a)
{
	struct session *s = &a->s;
	struct build_id id;
	struct usage u;
	struct launch_plan plan;

	build_id_of(&s->sel, &id);
	if (!selection_plan(&s->sel, &plan, NULL) || !usage_find(a->usage, &id, plan.entry, &u)) {
		session_instant(s, NULL);
		return;
	}
	const struct occ_input in = usage_occ_input(&u);
	s->spill_bytes = u.spill_bytes;
	session_instant(s, &in);
}

static bool on_step(const struct lab *a, unsigned step, const struct selection *is);

/* The ladder of what is selected now; rungs that are the same runs stay. */
static void ladder_follow(struct session *s)
{
	if (!s->ladder || ladder_fits(s->ladder, &s->sel))
		return;
	struct ladder *l = ladder_new(&s->sel);
	ladder_adopt(l, s->ladder);
	ladder_free(s->ladder);
	reference_runs_of_ladder(l);
	ladder_book(l);
	s->ladder = l;
}

static bool looks_at(const struct session *s, const char *view)
{
	return s->view && !strcmp(s->view, view);
}

/* Plans, shows, and orders a run of what is selected now. */
static void changed(struct lab *a, bool at_once)
{
	struct session *s = &a->s;
	instant(a);
	s->stale = s->now && !selection_equal(&s->now->sel, &s->sel);
	s->tour.off_path = a->preset && !on_step(a, s->tour.step, &s->sel);
	s->opened = NULL; /* from here on it is this person's session */
	s->progress = 0;
	s->stuck_compile = false;
	err_clear(&s->run_err);
	ladder_follow(s);
	if (s->ladder)
		s->ladder->running = -1;
	a->rung = 0; /* the order below takes its place */
	a->no_rungs = false;
	if (!a->started)
		return;
	a->serial++;
	a->sampled_now = false;
	if (!s->plan_ok) {
		lab_worker_cancel(a->worker);
		s->state = RUN_NONE;
		return;
	}
	struct work_order order = {
		.serial = a->serial,
		.sel = s->sel,
		.gpu_given = a->gpu_given,
		.at_once = at_once,
		.stalls = looks_at(s, "hardware"),
	};
	a->stalls = order.stalls;
	memcpy(order.wanted, a->wanted, sizeof order.wanted);
	s->state = RUN_RUNNING;
	s->stuck_compile = !s->usage_known;
	lab_worker_post(a->worker, &order);
}

/* The emulator needs no decision; its name stands until another one is decided on. */
static void want(struct lab *a, const char *backend)
{
	const char *until_then = strcmp(backend, "auto") ? backend : "emu";
	const char *wanted = strcmp(backend, "emu") ? backend : "";
	snprintf(a->wanted, sizeof a->wanted, "%s", wanted);
	snprintf(a->s.sel.backend, sizeof a->s.sel.backend, "%s", until_then);
}

/* --- selection --- */

/* The knob people come for: the block size, else the tile. */
static unsigned first_knob(const struct kernel_desc *k, unsigned variant)
{
	static const char *const names[] = { "block", "TILE", "block_x", "T" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const int p = kernel_param_index(k, names[i]);
		if (p >= 0 && kernel_param_used(k, variant, (unsigned)p))
			return (unsigned)p;
	}
	return 0;
}

static void select_kernel(struct session *s, const struct kernel_desc *k, unsigned variant)
{
	if (s->sel.kernel != k) {
		s->param = first_knob(k, variant < k->n_variants ? variant : 0);
		memset(s->sel.params, 0, sizeof s->sel.params);
		kernel_defaults(k, s->sel.params);
		s->source = kernel_source(k);
	}
	s->sel.kernel = k;
	s->sel.variant = variant < k->n_variants ? variant : 0;
	/* The focused parameter must be one that this variant has. */
	if (s->param >= k->n_params)
		s->param = 0;
	for (unsigned i = 0; i < k->n_params && !kernel_param_used(k, s->sel.variant, s->param); i++)
		s->param = (s->param + 1) % k->n_params;
	s->line = 0;
	s->lens = false;
}

void lab_select(struct lab *a, const struct kernel_desc *k, unsigned variant)
{
	select_kernel(&a->s, k, variant);
	changed(a, true);
}

void lab_param(struct lab *a, unsigned param, int64_t value)
{
	if (param >= a->s.sel.kernel->n_params)
		return;
	a->s.sel.params[param] = value;
	changed(a, false);
}

void lab_gpu(struct lab *a, const struct gpu_spec *g)
{
	a->s.sel.gpu = g;
	a->gpu_given = true;
	/* A sheet that is not the device's can only be emulated. */
	if (strcmp(a->s.sel.backend, "emu"))
		want(a, "auto");
	changed(a, false);
}

void lab_backend(struct lab *a, const char *name)
{
	/* A device brings its own sheet. */
	if (strcmp(name, "emu") && strcmp(name, "auto"))
		a->gpu_given = false;
	want(a, name);
	changed(a, false);
}

void lab_seed(struct lab *a, uint64_t seed)
{
	a->s.sel.seed = seed;
	changed(a, false);
}

/* --- life --- */

bool lab_new(struct lab **out, const char *gpu, const char *backend, struct err *err)
{
	if (!choose_device(&gpu, &backend, err))
		return false;
	const char *where = backend ? backend : "auto";
	struct lab *a = mem_zalloc(sizeof *a);
	struct session *s = &a->s;
	if (!backend_named(where, err) || !gpu_load(gpu ? gpu : LAB_DEFAULT_GPU, &s->sel.gpu, err)) {
		free(a);
		return false;
	}
	a->gpu_given = gpu != NULL;
	want(a, where);
	s->sel.seed = 1;
	s->view = view_count() ? view_at(0)->name : "";
	a->usage = usage_table_new();
	if (!lab_worker_new(&a->worker, a->usage, err)) {
		usage_table_free(a->usage);
		free(a);
		return false;
	}
	lab_select(a, kernel_at(0), 0);
	*out = a;
	return true;
}

bool lab_free(struct lab *a)
{
	if (!a)
		return true;
	user_watch_free(a->watch);
	const bool ended = lab_worker_free(a->worker);
	if (ended) /* else it may still be looked at */
		usage_table_free(a->usage);
	record_free(a->s.now);
	record_free(a->s.before);
	ladder_free(a->s.ladder);
	session_forget(&a->s);
	preset_free(a->preset);
	free(a->opened);
	free(a);
	return ended;
}

struct session *lab_session(struct lab *a)
{
	return &a->s;
}

static void file_changed(void *worker)
{
	lab_worker_wake(worker);
}

void lab_start(struct lab *a)
{
	const char *own = user_file_path(a->s.sel.kernel);
	if (own && !a->watch)
		a->watch = user_watch_new(own, file_changed, a->worker);
	a->started = true;
	changed(a, true);
}

enum reloaded { RELOAD_SAME, RELOAD_NEW, RELOAD_FAILED };
/* Reads a person's own file again; its kernel with the values so far is selected if it changed. */
static enum reloaded reload(struct lab *a)
{
	struct session *s = &a->s;
	const struct selection old = s->sel;
	const struct kernel_desc *k;
	struct err err = { 0 };
	if (!user_file_reload(old.kernel, &k, &err)) {
		lab_worker_cancel(a->worker);
		a->serial++; /* what is under way belongs to the file as it was */
		s->state = RUN_FAILED;
		s->run_err = err;
		return RELOAD_FAILED;
	}
	if (k == old.kernel)
		return RELOAD_SAME;
	const char *focus = s->param < old.kernel->n_params ? old.kernel->params[s->param].name : "";
	const unsigned line = s->line;
	select_kernel(s, k, old.variant);
	s->line = line;
	for (unsigned i = 0; i < k->n_params; i++) {
		const int was = kernel_param_index(old.kernel, k->params[i].name);
		if (was >= 0)
			s->sel.params[i] = old.params[was];
		if (!strcmp(k->params[i].name, focus))
			s->param = i;
	}
	return RELOAD_NEW;
}

void lab_rerun(struct lab *a)
{
	if (reload(a) != RELOAD_FAILED)
		lab_start(a);
}

void lab_cancel(struct lab *a)
{
	if (a->s.state == RUN_RUNNING || a->rung)
		lab_worker_cancel(a->worker);
	a->no_rungs = true;
}

int lab_wake_fd(struct lab *a)
{
	return lab_worker_fd(a->worker);
}

/* --- the ladder --- */

/* The next rung that has not run, when its panel is looked at and nothing else is to be done. */
static void ladder_climb(struct lab *a)
{
	struct session *s = &a->s;
	if (!a->started || a->rung || a->no_rungs || a->wanted[0] || s->opened ||
	    s->state == RUN_RUNNING || !looks_at(s, "ladder"))
		return;
	if (!s->ladder) {
		s->ladder = ladder_new(&s->sel);
		if (s->before)
			ladder_put(s->ladder, s->before);
		if (s->now)
			ladder_put(s->ladder, s->now);
		reference_runs_of_ladder(s->ladder);
		ladder_book(s->ladder);
	}
	struct ladder *l = s->ladder;
	while ((l->running = ladder_missing(l)) >= 0) {
		struct ladder_rung *r = &l->rungs[l->running];
		struct work_order order = { .sel = ladder_selection(l, (unsigned)l->running),
			                        .gpu_given = true,
			                        .at_once = true,
			                        .rung = true };
		struct launch_plan plan;
		struct err err = { 0 };
		if (!selection_plan(&order.sel, &plan, &err)) {
			snprintf(r->why, sizeof r->why, "%.199s", err.msg);
			continue;
		}
		a->rung = order.serial = ++a->rungs;
		lab_worker_post(a->worker, &order);
		return;
	}
	if (l->library_asked)
		return;
	const struct work_order order = {
		.serial = ++a->rungs, .sel = l->sel, .at_once = true, .rung = true, .library = true
	};
	a->rung = order.serial;
	lab_worker_post(a->worker, &order);
}

/* News of a rung; a result that comes too late for its order may still belong to the ladder. */
static void take_rung(struct lab *a, struct news *n)
{
	struct ladder *l = a->s.ladder;
	const bool awaited = a->rung && n->serial == a->rung;
	if (n->kind == NEWS_USAGE)
		instant(a);
	if (n->record && l)
		ladder_put(l, n->record);
	record_free(n->record);
	if (!awaited || !n->final)
		return;
	if (n->kind == NEWS_LIBRARY) {
		l->library_asked = true;
		if (n->library.name[0] && n->library.comparable) {
			l->library_ns = n->library.timing.median_ns;
			memcpy(l->library_name, n->library.name, sizeof l->library_name);
			ladder_compare(l);
		}
	}
	if (n->kind == NEWS_FAILED)
		snprintf(l->rungs[l->running].why, sizeof l->rungs[0].why, "%.199s", n->err.msg);
	l->running = -1;
	a->rung = 0;
}

/* Stall reasons cost passes, so they are read from the first time on that their panel is looked at.
 */
static void ask_stalls(struct lab *a)
{
	const struct session *s = &a->s;
	if (a->started && !a->stalls && !s->opened && s->state == RUN_DONE && s->now && !s->stale &&
	    s->now->run.timing.n && !s->now->run.n_stalls && looks_at(s, "hardware"))
		changed(a, true);
}

void lab_focus(struct lab *a)
{
	ladder_climb(a);
	ask_stalls(a);
}

/* --- presets --- */

/* Is the selection still what the step asked for? Where it runs is the person's own choice. */
static bool on_step(const struct lab *a, unsigned step, const struct selection *is)
{
	struct selection sel = *is;
	return tour_select(a->preset, step, &sel, NULL) && selection_equal(&sel, is);
}

/* Holds the newest record against the step that asked for it. */
static void tour_judge(struct lab *a)
{
	struct session *s = &a->s;
	struct session_tour *t = &s->tour;
	if (!a->preset || !s->now || s->stale || !on_step(a, t->step, &s->now->sel))
		return;
	const bool comparable = s->before && t->step && on_step(a, t->step - 1, &s->before->sel);
	struct tour_result r;
	tour_check(a->preset, t->step, s->now, comparable ? s->before : NULL, &r);
	t->n = r.n;
	for (unsigned i = 0; i < r.n; i++) {
		char num[32];
		t->holds[i] = r.excused[i] || (r.evaluated[i] && r.outcome[i].holds);
		if (t->holds[i] && !r.excused[i])
			t->found[i][0] = '\0';
		else if (r.excused[i] || !r.evaluated[i])
			snprintf(t->found[i], sizeof t->found[i], "%.95s", r.problem[i]);
		else
			snprintf(t->found[i], sizeof t->found[i], "it is %.80s",
			         r.outcome[i].left.is_text
			             ? r.outcome[i].left.text
			             : fmt_num(num, sizeof num, r.outcome[i].left.num, 7));
	}
	t->judged = true;
}

/* A step whose lesson is that the run is stopped: is this the stop it speaks of? */
static void tour_judge_stop(struct lab *a, const struct err *why)
{
	struct session_tour *t = &a->s.tour;
	if (!a->preset || t->off_path || !a->preset->steps[t->step].stops)
		return;
	t->n = 1;
	t->holds[0] = strstr(why->msg, a->preset->steps[t->step].stops) != NULL;
	snprintf(t->found[0], sizeof t->found[0], "%.95s", t->holds[0] ? "" : why->msg);
	t->judged = true;
}

static bool take_step(struct lab *a, unsigned step, struct err *err)
{
	struct session *s = &a->s;
	struct selection sel = s->sel;
	if (!tour_select(a->preset, step, &sel, err))
		return false;
	select_kernel(s, sel.kernel, sel.variant);
	memcpy(s->sel.params, sel.params, sizeof sel.params);
	if (strcmp(s->sel.backend, "emu") == 0) /* a device keeps its own sheet */
		s->sel.gpu = sel.gpu;
	a->gpu_given = true;
	if (a->preset->steps[step].stops) /* a GPU would hang or answer anything */
		want(a, "emu");
	s->tour = (struct session_tour){ .preset = a->preset, .step = step };
	memcpy(s->tour.name, a->preset->name, sizeof s->tour.name);
	const struct view_desc *view = view_find(a->preset->steps[step].view);
	if (view)
		s->view = view->name;
	changed(a, true);
	return true;
}

bool lab_tour(struct lab *a, const char *name, struct err *err)
{
	struct preset *p;
	if (!preset_load(name, &p, err))
		return false;
	struct preset *old = a->preset;
	a->preset = p;
	if (!take_step(a, 0, err)) {
		a->preset = old;
		preset_free(p);
		return false;
	}
	preset_free(old);
	return true;
}

bool lab_tour_step(struct lab *a, int direction, struct err *err)
{
	struct session_tour *t = &a->s.tour;
	if (!a->preset)
		return err_set(err, ERR_USAGE, "no preset is being walked: p chooses one");
	/* off the path, either key first comes back to the step itself */
	if (direction < 0 && t->off_path)
		return take_step(a, t->step, err);
	if (direction < 0 && t->step == 0)
		return err_set(err, ERR_USAGE, "this is the first step of %s", a->preset->name);
	if (direction > 0 && t->step + 1 >= a->preset->n_steps)
		return err_set(err, ERR_USAGE, "this was the last step of %s", a->preset->name);
	return take_step(a, direction > 0 ? t->step + 1 : t->step - 1, err);
}

bool lab_tour_reveal(struct lab *a, struct err *err)
{
	struct session_tour *t = &a->s.tour;
	if (!a->preset || !a->preset->steps[t->step].reveal)
		return err_set(err, ERR_USAGE, "this step hides nothing");
	t->revealed = true;
	return true;
}

/* --- snapshots --- */

bool lab_export(struct lab *a, char *name, size_t n, struct err *err)
{
	session_file_name(&a->s, (long long)time(NULL), name, n);
	return session_save(&a->s, name, err);
}

/* A snapshot names its preset; where this program has none of that name the tour is over. */
static void resume_tour(struct lab *a)
{
	struct session_tour *t = &a->s.tour;
	preset_free(a->preset);
	a->preset = NULL;
	if (t->name[0] && preset_load(t->name, &a->preset, NULL) && t->step < a->preset->n_steps)
		t->preset = a->preset;
	else
		*t = (struct session_tour){ 0 };
}

bool lab_open(struct lab *a, const char *path, char *note, size_t n, struct err *err)
{
	struct session read;
	if (!session_open(path, &read, note, n, err))
		return false;
	lab_worker_cancel(a->worker);
	record_free(a->s.now);
	record_free(a->s.before);
	ladder_free(a->s.ladder);
	session_forget(&a->s);
	free(a->opened);
	a->opened = mem_strdup(path);
	a->s = read;
	a->s.opened = a->opened;
	resume_tour(a);
	a->serial++; /* whatever is under way is not this session's */
	a->rung = 0;
	a->wanted[0] = '\0';
	a->gpu_given = true;
	a->started = true;
	return true;
}

/* --- what came of it --- */

/* `before` is the last record of another selection, so that deltas say what a change did. */
static void take_record(struct lab *a, struct news *n)
{
	struct session *s = &a->s;
	struct run_record *r = n->record;
	const bool current = n->serial == a->serial;
	if (s->ladder)
		ladder_put(s->ladder, r);
	if (!current && !n->final) { /* a sample of something no longer wanted */
		record_free(r);
		return;
	}
	if (s->now && (a->sampled_now || selection_equal(&s->now->sel, &r->sel))) {
		record_free(s->now);
	} else {
		record_free(s->before);
		s->before = s->now;
	}
	s->now = r;
	if (n->final)
		session_remember(s, r, kernel_source(r->sel.kernel));
	reference_run_of_session(s);
	s->stale = !selection_equal(&r->sel, &s->sel);
	if (!current)
		return;
	a->sampled_now = !n->final;
	if (n->final) {
		s->state = RUN_DONE;
		tour_judge(a);
	}
}

static void take_backend(struct lab *a, const struct news *n)
{
	struct session *s = &a->s;
	if (!a->wanted[0])
		return;
	a->wanted[0] = '\0';
	memcpy(s->sel.backend, n->sel.backend, sizeof s->sel.backend);
	if (!a->gpu_given)
		s->sel.gpu = n->sel.gpu;
	instant(a);
}

static void take(struct lab *a, struct news *n)
{
	struct session *s = &a->s;
	const bool current = n->serial == a->serial;
	if (n->rung) {
		take_rung(a, n);
		return;
	}
	switch (n->kind) {
	case NEWS_BACKEND: take_backend(a, n); break;
	case NEWS_USAGE:
		instant(a);
		if (current)
			s->stuck_compile = false;
		break;
	case NEWS_RECORD: take_record(a, n); break;
	case NEWS_FAILED:
		if (current) {
			s->state = RUN_FAILED;
			s->run_err = n->err;
			tour_judge_stop(a, &n->err);
		}
		break;
	case NEWS_LIBRARY: break; /* comes for rungs only */
	case NEWS_CANCELLED:
		if (current)
			s->state = RUN_CANCELLED;
		break;
	}
	if (current && s->state != RUN_RUNNING)
		s->stuck_compile = false;
}

bool lab_poll(struct lab *a)
{
	struct news n;
	bool any = false;
	lab_worker_drain(a->worker);
	while (lab_worker_next(a->worker, &n)) {
		take(a, &n);
		any = true;
	}
	if (a->s.state == RUN_RUNNING) {
		double p = lab_worker_progress(a->worker);
		any = any || p > a->s.progress || p < a->s.progress;
		a->s.progress = p;
	}
	if (a->watch && user_watch_changed(a->watch) && user_file_path(a->s.sel.kernel)) {
		const enum reloaded now = reload(a);
		if (now == RELOAD_NEW)
			lab_start(a);
		any |= now != RELOAD_SAME;
	}
	ladder_climb(a);
	return any;
}
