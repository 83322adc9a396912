/*
 * A whole program in the session: ordered, watched, and every launch of it a record. See lab.h.
 * What costs time happens on the program's own thread (program_worker.h).
 */
#include "lab_state.h"
#include "program_family.h"
#include "program_worker.h"

#include "base/mem.h"
#include "model/program_session.h"
#include "runtime/program_again.h"
#include "runtime/sandbox.h"
#include "userkernel/user_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WATCHES 8
#define MAX_KEPT 24 /* launches that can be run again: a process each */

struct lab_program {
	struct program_words words;
	struct program_family *family;
	struct program_worker *worker;
	struct record_config config;
	const struct gpu_spec *live; /* this machine's, on which it is measured; NULL = none */
	struct user_watch *watch[MAX_WATCHES];
	bool newer; /* another GPU may take the place of this one, which nobody asked for */
	bool busy;  /* an order is under way */
};

static void wake_lab(void *ctx)
{
	lab_worker_wake(ctx);
}

bool lab_program(struct lab *lab, const struct program_words *words,
                 const struct record_config *config, const struct gpu_spec *live, bool newer,
                 struct err *err)
{
	struct lab_program *lp = mem_zalloc(sizeof *lp);
	lp->worker = program_worker_new(words, wake_lab, lab->worker);
	if (!lp->worker) {
		free(lp);
		return err_set(err, ERR_IO, "no thread to run the program on");
	}
	program_words_copy(&lp->words, words);
	lp->family = program_family_new(words);
	lp->config = *config;
	lp->live = live;
	lp->newer = newer;
	/* what is kept are processes, and those of a sandbox end with it */
	lp->config.keep = sandbox_is_wanted() ? 0 : MAX_KEPT;
	lab->program = lp;
	struct session *s = &lab->s;
	s->program = mem_zalloc(sizeof *s->program);
	s->program->command = mem_strdup(words->command);
	s->program->from_file = words->recorded;
	program_family_select(lp->family, 0, &s->sel);
	s->sel.variant = 0;
	s->sel.params[0] = 1;
	s->param = 0;
	s->source = "";
	s->plan_ok = false;
	err_clear(&s->plan_err);
	lab->wish.backend[0] = '\0';
	memcpy(s->sel.backend, "emu", sizeof "emu");
	if (live)
		s->sel.gpu = live;
	return true;
}

void lab_program_free(struct lab *lab)
{
	struct lab_program *lp = lab->program;
	if (!lp)
		return;
	for (unsigned i = 0; i < MAX_WATCHES; i++)
		user_watch_free(lp->watch[i]);
	program_worker_free(lp->worker);
	program_words_free(&lp->words);
	session_program_free(lab->s.program);
	lab->s.program = NULL;
	free(lp);
	lab->program = NULL;
}

/* --- orders --- */

void lab_program_run(struct lab *lab)
{
	struct lab_program *lp = lab->program;
	struct session *s = &lab->s;
	const struct program_order order = { .gpu = s->sel.gpu,
		                                 .newer = lp->newer,
		                                 .measured = lp->live && s->sel.gpu == lp->live,
		                                 .config = lp->config };
	for (unsigned i = 0; i < MAX_WATCHES && !lp->watch[i]; i++) {
		const char *path = program_words_file(&lp->words, i);
		if (!path)
			break;
		lp->watch[i] = user_watch_new(path, wake_lab, lab->worker);
	}
	lab->started = lp->busy = true;
	s->state = RUN_RUNNING;
	s->stuck_compile = lp->words.is_source;
	s->progress = 0;
	s->program->launches = s->program->copies = 0;
	free(s->program->output);
	s->program->output = NULL;
	err_clear(&s->run_err);
	program_worker_post(lp->worker, &order);
}

void lab_program_cancel(struct lab *lab)
{
	if (lab->program->busy)
		program_worker_cancel(lab->program->worker);
}

/* --- one launch in the panels --- */

static void show_launch(struct lab *lab, uint64_t number)
{
	struct session *s = &lab->s;
	struct session_program *sp = s->program;
	struct lab_program *lp = lab->program;
	const struct program *p = sp->now;
	memcpy(s->sel.backend, p->backend, sizeof p->backend);
	record_free(s->now);
	record_free(s->before);
	s->now = s->before = NULL;
	sp->launch = number;
	s->opened = p->from_file ? lp->words.command : NULL;
	s->source = program_family_source(lp->family, p, number);
	if (!program_family_select(lp->family, number, &s->sel)) {
		sp->launch = 0;
		s->plan_ok = s->usage_known = s->occ_ok = false;
		return;
	}
	const struct program_launch *l = program_launch_numbered(p, number);
	const struct occ_input usage = program_launch_usage(p, l);
	const struct gpu_spec *wanted = s->sel.gpu;
	s->now = program_record(p, number, &s->sel);
	session_instant(s, &usage);
	s->stale = wanted != p->gpu;
	const struct program_group *was = program_group_before(p, &p->groups[l->group], sp->before);
	if (was)
		s->before = program_record(sp->before, was->first, &s->sel);
}

/* A launch to begin with: of the same kernel as before, else of the group that takes longest. */
static uint64_t launch_to_show(const struct session *s, const char *kernel)
{
	const struct program *p = s->program->now;
	for (size_t i = 0; *kernel && i < p->n_groups; i++)
		if (!strcmp(p->kernels[p->groups[i].kernel].mangled, kernel))
			return p->groups[i].first;
	return p->n_groups ? p->groups[0].first : 0;
}

void lab_launch(struct lab *lab, uint64_t number)
{
	if (lab->program && lab->s.program->now && number && number != lab->s.program->launch)
		show_launch(lab, number);
}

static struct launch_shape shape_of(const struct launch_plan *p)
{
	return (struct launch_shape){
		.grid = { p->grid.x, p->grid.y, p->grid.z },
		.block = { p->block.x, p->block.y, p->block.z },
		.shared_bytes = (unsigned)p->dynamic_shared_bytes,
	};
}

/* The chosen launch with another block, alone, from memory as it was in front of it. */
static void run_again(struct lab *lab)
{
	struct session *s = &lab->s;
	struct program *p = s->program->now;
	const struct program_launch *l = program_launch_numbered(p, s->program->launch);
	const struct occ_input usage = program_launch_usage(p, l);
	session_instant(s, &usage);
	s->stale = true;
	if (!s->plan_ok)
		return;
	const struct program_order order = {
		.of = p,
		.launch = l->number,
		.shape = shape_of(&s->plan),
	};
	lab->program->busy = true;
	s->state = RUN_RUNNING;
	s->progress = 0;
	err_clear(&s->run_err);
	program_worker_post(lab->program->worker, &order);
}

static void take_again(struct lab *lab, struct program_news *n)
{
	struct session *s = &lab->s;
	const uint64_t number = s->program->launch;
	if (!n->whole || !n->program || !n->program->n_launches)
		return;
	struct run_record *r = program_record(n->program, n->program->launches[0].number, &s->sel);
	struct selection own = s->sel;
	program_family_select(lab->program->family, number, &own);
	struct code_listing *code = s->now ? s->now->code : NULL;
	if (code)
		s->now->code = NULL; /* it is the kernel's, whatever its block */
	record_free(s->now);
	record_free(s->before);
	s->now = r;
	s->before = program_record(s->program->now, number, &own);
	s->before->code = code;
	s->stale = false;
	if (n->program->n_findings)
		snprintf(r->run.note, sizeof r->run.note, "%.20s: %.200s", n->program->findings[0].kind,
		         n->program->findings[0].text);
	else
		snprintf(r->run.note, sizeof r->run.note, "this launch alone, memory as in front of it");
}

/* The record on the screen is of that launch, and of that shape. */
static void take_look(struct lab *lab, struct program_news *n)
{
	struct session *s = &lab->s;
	if (!s->now || s->now->data || s->program->launch != n->launch)
		return;
	const struct launch_shape is = shape_of(&s->now->plan);
	if (memcmp(&is, &n->shape, sizeof is) != 0)
		return;
	s->now->data =
		n->data ? n->data : buffer_looks_none("ended on request; r runs the program again");
	n->data = NULL;
}

static void take_code(struct lab *lab, struct program_news *n)
{
	struct session *s = &lab->s;
	if (!s->now || s->now->code || s->program->launch != n->launch)
		return;
	s->now->code = n->code;
	n->code = NULL;
	if (!s->now->code) { /* not asked for once more */
		s->now->code = mem_zalloc(sizeof *s->now->code);
		snprintf(s->now->code->why, sizeof s->now->code->why,
		         "ended on request; r runs the program again");
	}
	if (s->before && !s->before->code) {
		s->before->code = n->code_before;
		n->code_before = NULL;
	}
}

/* The program and launch that the record of before is of, which is another run of the whole. */
static const struct program *program_before(const struct session *s, uint64_t *number)
{
	const struct session_program *sp = s->program;
	const struct program_launch *l = program_launch_numbered(sp->now, sp->launch);
	const struct program_group *was =
		l && sp->before ? program_group_before(sp->now, &sp->now->groups[l->group], sp->before)
						: NULL;
	*number = was ? was->first : 0;
	return was ? sp->before : NULL;
}

/* The machine code of the launch on the screen, listed as soon as there is nothing else to do. */
static bool list_code(struct lab *lab)
{
	struct session *s = &lab->s;
	if (s->now->code)
		return false;
	struct program_order order = {
		.of = s->program->now,
		.launch = s->program->launch,
		.listed = true,
	};
	if (s->before && !s->before->code)
		order.before = program_before(s, &order.launch_before);
	lab->program->busy = true;
	program_worker_post(lab->program->worker, &order);
	return true;
}

void lab_program_for_panel(struct lab *lab)
{
	struct session *s = &lab->s;
	struct program *p = s->program->now;
	if (lab->program->busy || !p || !s->now || s->stale || list_code(lab) ||
	    !(lab_focused_needs(lab) & NEEDS_DATA) || s->now->data)
		return;
	if (!program_kept(p, s->program->launch)) {
		s->now->data = buffer_looks_none(
			p->from_file
				? "a file holds no launch's memory: 'pmpp-explore run PROGRAM --launch N --dump "
				  "NAME'"
			: p->time_origin == ORIGIN_MEASURED
				? "on a GPU no launch's memory is kept; the emulator keeps it: --backend emu"
			: sandbox_is_wanted()
				? "a launch in a sandbox is not kept: its memory is gone"
				: "its memory was not kept: only that of the first launch of a group is, and not "
				  "of all; 'run ... --launch N --dump NAME' keeps the one that you name");
		return;
	}
	const struct program_order order = {
		.of = p,
		.launch = s->program->launch,
		.shape = shape_of(&s->now->plan),
		.looked_at = s->source,
	};
	lab->program->busy = true;
	program_worker_post(lab->program->worker, &order);
}

/* Other macros: another program, once it is compiled. */
static bool recompiled(struct lab *lab)
{
	struct lab_program *lp = lab->program;
	if (!program_family_recompile(lp->family, &lab->s.sel, &lp->words))
		return false;
	program_worker_words(lp->worker, &lp->words);
	free(lab->s.program->command);
	lab->s.program->command = mem_strdup(lp->words.command);
	return true;
}

/* As the run that there is has it, whatever became of an order since. */
static void show_again(struct lab *lab, uint64_t number)
{
	show_launch(lab, number);
	if (lab->program->busy)
		return;
	lab->s.state = RUN_DONE;
	err_clear(&lab->s.run_err);
}

/* The person has changed the selection: another launch, kernel, GPU or macro. */
void lab_program_changed(struct lab *lab)
{
	struct session *s = &lab->s;
	const struct program *p = s->program->now;
	if (p && s->sel.gpu != p->gpu)
		lab->program->newer = false;
	if (!recompiled(lab) && p && s->sel.gpu == p->gpu) {
		const uint64_t wanted = program_family_launch(&s->sel);
		if (wanted == s->program->launch)
			program_family_settle(lab->program->family, &s->sel);
		const char *entry = s->sel.variant < s->sel.kernel->n_variants
		                        ? s->sel.kernel->variants[s->sel.variant].entry
		                        : "";
		const struct program_launch *l =
			s->program->launch ? program_launch_numbered(p, s->program->launch) : NULL;
		if (wanted == s->program->launch && l && strcmp(p->kernels[l->kernel].mangled, entry))
			show_launch(lab, launch_to_show(s, entry));
		else if (wanted == s->program->launch &&
		         program_family_changed(lab->program->family, &s->sel))
			run_again(lab);
		else
			show_again(lab, wanted);
	} else if (lab->started) {
		s->stale = s->now != NULL;
		lab_program_run(lab);
	}
}

/* --- news --- */

static void take_run(struct lab *lab, struct program_news *n)
{
	struct session *s = &lab->s;
	struct session_program *sp = s->program;
	char *kernel = mem_strdup("");
	uint64_t number = 0;
	const struct program_group *shown = sp->now ? program_group_of(sp->now, sp->launch) : NULL;
	struct program *was = sp->now;
	if (shown) {
		free(kernel);
		kernel = mem_strdup(was->kernels[shown->kernel].mangled);
		const struct program_group *is = NULL;
		for (size_t i = 0; !is && i < n->program->n_groups; i++)
			if (program_group_before(n->program, &n->program->groups[i], was) == shown)
				is = &n->program->groups[i];
		const struct program_launch *same = program_launch_numbered(n->program, sp->launch);
		if (is && same && same->number == sp->launch && &n->program->groups[same->group] == is)
			number = same->number;
		else
			number = is ? is->first : 0;
	}
	if (sp->before)
		program_free(sp->before);
	free(sp->before);
	sp->before = was;
	sp->now = n->program;
	n->program = NULL;
	if (lab->program->newer)
		s->sel.gpu = sp->now->gpu;
	program_family_follow(lab->program->family, sp->now);
	show_launch(lab, number ? number : launch_to_show(s, kernel));
	free(kernel);
}

static void take_news(struct lab *lab, struct program_news *n)
{
	struct session *s = &lab->s;
	lab->program->busy = false;
	if (n->looked) {
		take_look(lab, n);
		buffer_looks_free(n->data);
		return;
	}
	if (n->listed) {
		take_code(lab, n);
		code_listing_free(n->code);
		code_listing_free(n->code_before);
		return;
	}
	s->stuck_compile = false;
	/* what was ended half-way takes no whole run's place */
	if (n->again)
		take_again(lab, n);
	else if (n->program && (n->whole || !s->program->now))
		take_run(lab, n);
	if (n->program)
		program_free(n->program);
	free(n->program);
	s->state = n->cancelled ? RUN_CANCELLED : n->whole ? RUN_DONE : RUN_FAILED;
	if (!n->whole)
		s->run_err = n->err;
}

bool lab_program_poll(struct lab *lab)
{
	struct lab_program *lp = lab->program;
	struct session *s = &lab->s;
	struct program_progress progress;
	struct program_news news;
	bool any = false, changed = false;
	if (program_worker_progress(lp->worker, &progress)) {
		any = true;
		s->stuck_compile = lp->words.is_source && !progress.built;
		s->program->launches = progress.launches;
		s->program->copies = progress.copies;
		const struct program *was = s->program->now;
		if (was && was->n_launches)
			s->progress = (double)progress.launches / (double)was->n_launches;
		if (s->progress > 0.99)
			s->progress = 0.99;
		free(s->program->output);
		s->program->output = progress.output;
	}
	if (program_worker_next(lp->worker, &news)) {
		any = true;
		take_news(lab, &news);
	}
	for (unsigned i = 0; i < MAX_WATCHES && lp->watch[i]; i++)
		changed |= user_watch_changed(lp->watch[i]);
	if (changed)
		lab_program_run(lab);
	lab_program_for_panel(lab);
	return any || changed;
}
