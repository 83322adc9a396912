/* One launch of a whole program, at one go or in steps; see emu/device.h. */
#include "emu/device.h"

#include "emu/launch/kept.h"
#include "emu/launch/known_launch.h"
#include "emu/launch/launch.h"
#include "emu/launch/program_function.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_results(struct emu_launch *l, struct run_result *res)
{
	if (l->program->counting == EMU_COUNT_ALL && !l->counted)
		emu_launch_results(l, res);
	else
		res->wall_s = launch_clock_s() - l->started;
}

/* A launch that ran to its end: its results, what its kernel asked for. */
static void take_outcome(struct emu_launch *l, struct run_findings *findings,
                         struct run_result *res)
{
	const struct emu_launch_request *req = l->program;
	if (req->counting == EMU_COUNT_ALL && !req->machine_code && !req->counted_before)
		emu_launch_unset(l, findings);
	take_results(l, res);
	nested_work_tell(l);
}

/* A loop that looks at memory once a turn is no longer. */
#define SEGMENTS_OF_A_LOOK 16

struct emu_running {
	struct emu_launch l;
	struct emu_launch_request req;
	struct launch_plan plan;
	struct run_request run;
	struct run_hooks hooks;
	struct known_launch *known; /* NULL = nothing is noted of it */
	bool ran, ok;
	struct err err;
	struct worker_past *past; /* by worker, when it was asked last; NULL = it was not */
	uint64_t done;
};

static struct emu_running *running_new(const struct emu_launch_request *req,
                                       const struct run_hooks *hooks, struct run_result *res)
{
	struct emu_running *r = mem_zalloc(sizeof *r);
	const struct emu_function *f = req->function;
	const char *file = emu_function_file(f);
	r->req = *req;
	if (hooks)
		r->hooks = *hooks;
	r->plan = (struct launch_plan){
		.entry = f->func->name,
		.grid = { req->grid[0], req->grid[1], req->grid[2] },
		.block = { req->block[0], req->block[1], req->block[2] },
		.dynamic_shared_bytes = req->dynamic_shared_bytes,
	};
	r->run = (struct run_request){
		.plan = &r->plan,
		.source_file = file ? file : f->module->name,
		.threads = req->threads,
		.max_blocks = req->max_blocks,
		.check_races = req->check_races,
		.timeout_s = req->timeout_s > 0 ? req->timeout_s : 1e9,
	};
	r->l.sass = req->machine_code ? &f->module->code : NULL;
	r->l.assembled = !req->machine_code && f->module->cubin ? &f->module->code : NULL;
	r->l.results = res;
	return r;
}

bool emu_launch_begin(struct emu_device *d, const struct emu_launch_request *req,
                      const struct run_hooks *hooks, struct run_result *res,
                      struct emu_running **out)
{
	const struct emu_function *f = req->function;
	memset(res, 0, sizeof *res);
	res->counts.dram_read_bytes = res->counts.dram_write_bytes = res->counts.l2_sectors = -1;
	res->counts.host_read_bytes = res->counts.host_write_bytes = -1;
	kept_look(d);
	struct known_launch *known =
		req->machine_code || req->other_contents || req->order || req->max_blocks || d->n_apart
			? NULL
			: known_launch_of(d, req);
	if (known && req->counting == EMU_COUNT_NONE && known_launch_repeats(d, known)) {
		res->same_as = known_launch_number(known);
		res->counts_as = known_launch_counts(known);
		known_launch_touches(d, known);
		return false;
	}
	struct emu_running *r = *out = running_new(req, hooks, res);
	r->known = known;
	r->ok =
		emu_launch_prepare_on(&r->l, d, f->module, f->func, &r->run, &r->hooks, &r->req, &r->err);
	if (r->ok)
		fresh_memory_begin(&r->l);
	return true;
}

void emu_running_go(struct emu_running *r)
{
	r->ran = r->ok;
	r->ok = r->ok && emu_launch_run(&r->l, &r->err);
}

/* What nothing had written is read once only as such. */
static bool no_faults(const struct run_findings *findings)
{
	bool none = !findings->lost;
	for (unsigned i = 0; i < findings->n; i++)
		none &= findings->finding[i].fresh;
	return none;
}

/* Memory that it may have written; nothing is known of launches before it. */
static void end_apart(struct emu_running *r)
{
	struct emu_device *d = r->l.device;
	for (unsigned i = 0; i < d->arena.n; i++)
		arena_changed(&d->arena, i);
	d->n_apart--;
}

bool emu_running_end(struct emu_running *r, struct run_findings *findings, struct err *err)
{
	struct emu_launch *l = &r->l;
	struct run_result *res = l->results;
	struct known_launch *known = r->known;
	memset(findings, 0, sizeof *findings);
	if (r->ran) {
		if (r->req.print)
			emu_launch_printed(l, r->req.print, r->req.print_ctx);
		emu_launch_findings(l, findings);
	}
	fresh_memory_end(l);
	if (l->apart)
		end_apart(r);
	else if (l->workers)
		kept_note(l);
	if (!known && l->workers)
		known_launch_wrote(l->device, l);
	if (known && l->workers)
		known_launch_note(l->device, known, l, r->ok && no_faults(findings) && !l->runtime);
	if (r->ok)
		take_outcome(l, findings, res);
	res->counts_as = known ? known_launch_counts(known) : 0;
	res->in_any_order = known && known_launch_in_any_order(known);
	emu_launch_free(l);
	const bool ok = r->ok;
	if (!ok)
		*err = r->err;
	free(r->past);
	free(r);
	return ok;
}

bool emu_launch(struct emu_device *d, const struct emu_launch_request *req,
                const struct run_hooks *hooks, struct run_result *res,
                struct run_findings *findings, struct err *err)
{
	struct emu_running *r;
	memset(findings, 0, sizeof *findings);
	if (!emu_launch_begin(d, req, hooks, res, &r))
		return true;
	emu_running_go(r);
	return emu_running_end(r, findings, err);
}

/* --- a launch that others overtake --- */

bool emu_running_may_wait(const struct emu_running *r)
{
	const struct emu_launch *l = &r->l;
	return r->ok && l->image.ir.waits && (l->grid.together || l->n_workers == 1) && !l->sass &&
	       l->image_key && l->device->n_apart < PARAM_AREAS - 1;
}

void emu_running_apart(struct emu_running *r)
{
	r->l.apart = true;
	r->l.device->n_apart++;
	r->known = NULL;
}

/* What a block's worker did so far, in segments that warps went through. */
struct worker_past {
	uint64_t all, looks, work;
};

static bool is_work(const struct xop *x)
{
	return x->kind == X_ST || x->kind == X_RED || (x->kind == X_ATOM && !x->polls) ||
	       x->kind == X_SYSTEM;
}

/* What a warp does that goes through segment @s once. */
static struct worker_past one_pass(const struct image *im, unsigned s)
{
	struct worker_past p = { .all = 1 };
	for (uint32_t o = im->segments[s].first; o < im->segments[s].end; o++) {
		p.looks |= im->ir.ops[o].polls;
		p.work |= is_work(&im->ir.ops[o]);
	}
	return p;
}

static void add_segment(struct worker_past *all, const struct emu_launch *l, unsigned s)
{
	const struct worker_past once = one_pass(&l->image, s);
	for (unsigned i = 0; i < l->n_workers; i++) {
		const struct segment_count *c = &l->workers[i].segments[s];
		const uint64_t times = segment_full(c) + c->warps;
		all[i].all += times;
		all[i].looks += once.looks * times;
		all[i].work += once.work * times;
	}
}

bool emu_running_only_looked(struct emu_running *r)
{
	const struct emu_launch *l = &r->l;
	struct worker_past *now = mem_calloc(l->n_workers, sizeof *now);
	bool only = r->past && atomic_load(&l->done) == r->done;
	for (unsigned s = 0; s < l->image.n_segments; s++)
		add_segment(now, l, s);
	for (unsigned i = 0; only && i < l->n_workers; i++) {
		const struct worker_past *was = &r->past[i];
		only = now[i].work == was->work &&
		       now[i].all - was->all <= SEGMENTS_OF_A_LOOK * (now[i].looks - was->looks);
	}
	free(r->past);
	r->past = now;
	r->done = atomic_load(&l->done);
	return only;
}
