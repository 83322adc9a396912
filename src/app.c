/*
 * The session: what a person has chosen and what came of it. See app.h.
 *
 * Every change does three things: the instant part (plan, occupancy, sweep) on the spot, an order
 * to the worker, and nothing else. Records come back through app_poll(). Does not draw, parse
 * arguments, compile or run.
 */
#include "app.h"
#include "app_worker.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct app {
	struct session s;
	struct usage_table *usage;
	struct worker *worker;
	bool started;
	char wanted[16];  /* "auto" or "cuda" until the worker has decided; "" = decided */
	bool gpu_given;   /* the person named a GPU: the decision must respect it */
	uint64_t serial;  /* of the newest order */
	bool sampled_now; /* `now` is this order's own sample: its successor replaces it */
};

/* --- the instant part ----------------------------------------------------------------------- */

static void instant(struct app *a)
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

/* Plans, shows, and orders a run of what is selected now. */
static void changed(struct app *a, bool at_once)
{
	struct session *s = &a->s;
	instant(a);
	s->stale = s->now && !selection_equal(&s->now->sel, &s->sel);
	s->progress = 0;
	s->stuck_compile = false;
	err_clear(&s->run_err);
	if (!a->started)
		return;
	a->serial++;
	a->sampled_now = false;
	if (!s->plan_ok) {
		worker_cancel(a->worker);
		s->state = RUN_NONE;
		return;
	}
	struct work_order order = {
		.serial = a->serial, .sel = s->sel, .gpu_given = a->gpu_given, .at_once = at_once,
	};
	memcpy(order.wanted, a->wanted, sizeof order.wanted);
	s->state = RUN_RUNNING;
	s->stuck_compile = !s->usage_known;
	worker_post(a->worker, &order);
}

/* The emulator needs no decision; its name stands until another one is decided on. */
static void want(struct app *a, const char *backend)
{
	const char *until_then = strcmp(backend, "auto") ? backend : "emu";
	const char *wanted = strcmp(backend, "emu") ? backend : "";
	snprintf(a->wanted, sizeof a->wanted, "%s", wanted);
	snprintf(a->s.sel.backend, sizeof a->s.sel.backend, "%s", until_then);
}

/* --- selection ------------------------------------------------------------------------------ */

static void select_kernel(struct session *s, const struct kernel_desc *k, unsigned variant)
{
	if (s->sel.kernel != k) {
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

void app_select(struct app *a, const struct kernel_desc *k, unsigned variant)
{
	select_kernel(&a->s, k, variant);
	changed(a, true);
}

void app_param(struct app *a, unsigned param, int64_t value)
{
	if (param >= a->s.sel.kernel->n_params)
		return;
	a->s.sel.params[param] = value;
	changed(a, false);
}

void app_gpu(struct app *a, const struct gpu_spec *g)
{
	a->s.sel.gpu = *g;
	a->gpu_given = true;
	/* A sheet that is not the device's can only be emulated. */
	if (strcmp(a->s.sel.backend, "emu"))
		want(a, "auto");
	changed(a, false);
}

void app_backend(struct app *a, const char *name)
{
	/* A device brings its own sheet. */
	if (strcmp(name, "emu") && strcmp(name, "auto"))
		a->gpu_given = false;
	want(a, name);
	changed(a, false);
}

void app_seed(struct app *a, uint64_t seed)
{
	a->s.sel.seed = seed;
	changed(a, false);
}

/* --- life ----------------------------------------------------------------------------------- */

bool app_new(struct app **out, const char *gpu, const char *backend, struct err *err)
{
	const char *where = backend ? backend : "auto";
	struct app *a = mem_zalloc(sizeof *a);
	struct session *s = &a->s;
	if (!backend_named(where, err) || !gpu_load(gpu ? gpu : APP_DEFAULT_GPU, &s->sel.gpu, err)) {
		free(a);
		return false;
	}
	a->gpu_given = gpu != NULL;
	want(a, where);
	s->sel.seed = 1;
	s->view = view_count() ? view_at(0)->name : "";
	a->usage = usage_table_new();
	if (!worker_new(&a->worker, a->usage, err)) {
		usage_table_free(a->usage);
		free(a);
		return false;
	}
	app_select(a, kernel_at(0), 0);
	*out = a;
	return true;
}

void app_free(struct app *a)
{
	if (!a)
		return;
	worker_free(a->worker);
	usage_table_free(a->usage);
	record_free(a->s.now);
	record_free(a->s.before);
	free(a);
}

struct session *app_session(struct app *a)
{
	return &a->s;
}

void app_start(struct app *a)
{
	a->started = true;
	changed(a, true);
}

void app_cancel(struct app *a)
{
	if (a->s.state == RUN_RUNNING)
		worker_cancel(a->worker);
}

int app_wake_fd(struct app *a)
{
	return worker_fd(a->worker);
}

/* --- what came of it ------------------------------------------------------------------------ */

/* `before` is the last record of another selection, so that deltas say what a change did. */
static void take_record(struct app *a, struct news *n)
{
	struct session *s = &a->s;
	struct run_record *r = n->record;
	const bool current = n->serial == a->serial;
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
	s->stale = !selection_equal(&r->sel, &s->sel);
	if (!current)
		return;
	a->sampled_now = !n->final;
	if (n->final)
		s->state = RUN_DONE;
}

static void take_backend(struct app *a, const struct news *n)
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

static void take(struct app *a, struct news *n)
{
	struct session *s = &a->s;
	const bool current = n->serial == a->serial;
	switch (n->kind) {
	case NEWS_BACKEND:
		take_backend(a, n);
		break;
	case NEWS_USAGE:
		instant(a);
		if (current)
			s->stuck_compile = false;
		break;
	case NEWS_RECORD:
		take_record(a, n);
		break;
	case NEWS_FAILED:
		if (current) {
			s->state = RUN_FAILED;
			s->run_err = n->err;
		}
		break;
	case NEWS_CANCELLED:
		if (current)
			s->state = RUN_CANCELLED;
		break;
	}
	if (current && s->state != RUN_RUNNING)
		s->stuck_compile = false;
}

bool app_poll(struct app *a)
{
	struct news n;
	bool any = false;
	worker_drain(a->worker);
	while (worker_next(a->worker, &n)) {
		take(a, &n);
		any = true;
	}
	if (a->s.state == RUN_RUNNING) {
		double p = worker_progress(a->worker);
		any = any || p > a->s.progress || p < a->s.progress;
		a->s.progress = p;
	}
	return any;
}
