/*
 * The life of a lab: start, stop, the person's own file, and news in the order they come. See
 * lab.h.
 *
 * Does not draw, parse arguments, compile or run.
 */
#include "lab_state.h"
#include "choose.h"
#include "registry.h"

#include "base/mem.h"
#include "base/monotonic.h"
#include "model/brief.h"
#include "model/ladder.h"
#include "userkernel/user_file.h"
#include "userkernel/user_watch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool lab_new(struct lab **out, const char *gpu, const char *backend, lab_panels *panels,
             struct err *err)
{
	if (!choose_device(&gpu, &backend, err))
		return false;
	const char *where = backend ? backend : "auto";
	struct lab *lab = mem_zalloc(sizeof *lab);
	struct session *s = &lab->s;
	if (!backend_named(where, err) || !gpu_load(gpu ? gpu : LAB_DEFAULT_GPU, &s->sel.gpu, err)) {
		free(lab);
		return false;
	}
	lab->wish.gpu_given = gpu != NULL;
	lab_wish_backend(lab, where);
	s->sel.seed = 1;
	struct lab_panel first;
	lab->panels = panels;
	s->view = panels && panels("", &first) ? first.name : "";
	lab->usage = usage_table_new();
	if (!lab_worker_new(&lab->worker, lab->usage, err)) {
		usage_table_free(lab->usage);
		free(lab);
		return false;
	}
	lab_select(lab, kernel_at(0), 0);
	*out = lab;
	return true;
}

bool lab_free(struct lab *lab)
{
	if (!lab)
		return true;
	user_watch_free(lab->watch);
	if (!lab_reload_free(lab)) /* it still looks at things: they are left to the process's end */
		return false;
	lab_program_free(lab);
	const bool all_read = lab_files_free(lab);
	const bool ended = lab_worker_free(lab->worker) && all_read;
	if (ended) /* else it may still be looked at */
		usage_table_free(lab->usage);
	record_free(lab->s.now);
	record_free(lab->s.before);
	ladder_free(lab->s.ladder);
	free(lab->s.map);
	session_forget(&lab->s);
	preset_free(lab->preset);
	free(lab->opened);
	free(lab);
	return ended;
}

struct session *lab_session(struct lab *lab)
{
	return &lab->s;
}

static void file_changed(void *worker)
{
	lab_worker_wake(worker);
}

void lab_start(struct lab *lab)
{
	if (lab->program) {
		lab_program_run(lab);
		return;
	}
	const char *path = user_file_path(lab->s.sel.kernel);
	if (path && !lab->watch)
		lab->watch = user_watch_new(path, file_changed, lab->worker);
	lab_open_cancel(lab); /* the person has chosen something else */
	lab->started = true;
	lab_changed(lab, true);
}

void lab_rerun(struct lab *lab)
{
	if (lab->program)
		lab_program_run(lab);
	else if (user_file_path(lab->s.sel.kernel))
		lab_reload_begin(lab, true);
	else
		lab_start(lab);
}

void lab_cancel(struct lab *lab)
{
	if (lab->program) {
		lab_program_cancel(lab);
		return;
	}
	lab_reload_cancel(lab);
	lab_open_cancel(lab);
	if (lab->awaited.serial)
		lab_worker_cancel(lab->worker);
	lab->cancelled = true;
}

int lab_wake_fd(struct lab *lab)
{
	return lab_worker_fd(lab->worker);
}

#define PACE_S 1 /* before which nothing is said of what is left */
#define THOUSANDTHS 1000

/* How quickly the run's blocks are done, and how long the rest takes; the sample before them tells
 * nothing of it. */
static void pace(struct lab *lab, double part)
{
	struct session *s = &lab->s;
	const double now = clock_now_s(), rest = (part - SAMPLE_SHARE) / (1 - SAMPLE_SHARE);
	const struct dim3u *g = &s->plan.grid;
	const double blocks = s->plan_ok ? (double)g->x * g->y * g->z : 0;
	s->pace_of_blocks = blocks > 0 && blocks < UINT_MAX && !strcmp(s->sel.backend, "emu");
	const double pieces = s->pace_of_blocks ? blocks : THOUSANDTHS;
	if (part < s->progress || !(s->progress > 0))
		pace_end(&s->pace);
	if (rest >= 0 && (!(s->pace.from_s > 0) || now - s->pace.from_s > PACE_S))
		pace_note(&s->pace, (unsigned)(rest * pieces), (unsigned)((1 - rest) * pieces), now);
	if (!s->pace_of_blocks)
		s->pace.per_s = 0; /* a rate of thousandths says nothing */
}

bool lab_poll(struct lab *lab)
{
	struct news n;
	bool any = false;
	lab_worker_drain(lab->worker);
	any = lab_files_poll(lab);
	if (lab->program)
		return lab_program_poll(lab) || any;
	while (lab_worker_next(lab->worker, &n)) {
		lab_take_news(lab, &n);
		any = true;
	}
	if (lab->s.state == RUN_RUNNING && !lab->s.opening) {
		double p = lab_worker_progress(lab->worker);
		any = any || p > lab->s.progress || p < lab->s.progress;
		pace(lab, p);
		lab->s.progress = p;
	}
	if (lab->watch && user_watch_changed(lab->watch) && user_file_path(lab->s.sel.kernel))
		lab_reload_begin(lab, false);
	bool start;
	any |= lab_reload_take(lab, &start);
	if (start)
		lab_start(lab);
	lab_order_for_panel(lab);
	return any;
}

void lab_focus(struct lab *lab)
{
	if (lab->program)
		lab_program_for_panel(lab);
	else
		lab_order_for_panel(lab);
}
