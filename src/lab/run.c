/*
 * One run from a selection to a record: launch, check, metrics. See run.h and run_steps.h.
 *
 * Runs on the caller's thread. Knows no session, screen or argument.
 */
#include "run.h"

#include "record_time.h"
#include "registry.h"
#include "run_steps.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/stream_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void launch_metrics(const struct prepared *p, struct metric_set *m)
{
	const struct launch_plan *l = &p->plan;
	const enum origin o = ORIGIN_COUNTED;
	metric_num(m, M_LAUNCH_GRID_BLOCKS, o, (double)l->grid.x * l->grid.y * l->grid.z);
	metric_num(m, M_LAUNCH_BLOCK_THREADS, o, (double)l->block.x * l->block.y * l->block.z);
	metric_num(m, M_LAUNCH_REGISTERS, o, p->usage.registers);
	metric_num(m, M_LAUNCH_SHARED, o,
	           (double)p->usage.static_shared_bytes + (double)l->dynamic_shared_bytes);
	metric_num(m, M_LAUNCH_LOCAL, o, p->usage.stack_bytes);
}

/* Why a value that this back end could not give is missing: its own words, else a general one. */
static const char *why_missing(const struct workbench *w)
{
	const struct backend_info *info = &backend_probe(w->ops)->info;
	for (unsigned bit = 0; bit < ARRAY_LEN(info->missing); bit++)
		if ((1u << bit) == CAP_COUNTERS && info->missing[bit].reason[0])
			return info->missing[bit].reason;
	if (!(info->caps & CAP_TIME))
		return "the emulator has no clock: only a GPU (--backend cuda) measures this";
	return "this back end did not report it";
}

static void derive_metrics(const struct prepared *p, struct run_record *r)
{
	const struct run_result *res = &r->run;
	struct metric_set *m = &r->metrics;
	metrics_clear(m, why_missing(p->bench));
	for (int i = 0; i < METRIC_COUNT; i++)
		if (res->metrics.v[i].origin != ORIGIN_NONE || res->metrics.v[i].reason)
			m->v[i] = res->metrics.v[i];
	launch_metrics(p, m);
	occ_metrics(m, p->sel.gpu, &r->occ, (uint64_t)p->plan.grid.x * p->plan.grid.y * p->plan.grid.z);
	metrics_from_run(m, &res->counts);
	record_time(r);
	/* What hardware said stands above what was derived. */
	for (int i = 0; i < METRIC_COUNT; i++)
		if (res->metrics.v[i].origin == ORIGIN_MEASURED)
			m->v[i] = res->metrics.v[i];
	record_timeline(r);
}

/* Occupancy and the algorithm's cost; false: the GPU cannot hold this launch. */
static bool describe_launch(const struct prepared *p, struct run_record *r, struct err *err)
{
	const struct occ_input usage = usage_occ_input(&p->usage);
	r->sel = p->sel;
	r->plan = p->plan;
	p->sel.kernel->cost(p->sel.variant, &p->plan, p->sel.params, &r->cost);
	session_occ_input(&p->plan, &usage, &r->occ_in);
	if (!occ_compute(p->sel.gpu, &r->occ_in, &r->occ, err))
		return false;
	if (r->occ.launchable)
		return true;
	err_set(err, ERR_USAGE, "%s cannot launch on %s: %s", p->plan.entry, p->sel.gpu->name,
	        r->occ.why_not);
	return err_remedy(err, "choose a smaller block or tile, or another GPU");
}

/* What surrounds the kernel; a GPU does not need to know how long it takes. */
static void describe_program(const struct prepared *p, struct run_record *r,
                             struct launch_plan launches[STREAM_LAUNCHES], struct run_request *req)
{
	const struct selection *sel = &p->sel;
	r->program = mem_alloc(sizeof *r->program);
	kernel_stream_program(sel->kernel, sel->variant, &p->plan, sel->params, 0, 1, r->program);
	if (!stream_launches(sel->kernel, sel->variant, &p->plan, sel->params, r->program, launches,
	                     NULL))
		return;
	req->program = r->program;
	req->launches = launches;
}

static void complete_record(const struct prepared *p, struct run_record *r)
{
	const struct module *m = &p->bench->module;
	memcpy(r->module_key, m->key, sizeof r->module_key);
	memcpy(r->compiler, m->compiler, sizeof r->compiler);
	r->spill_bytes = p->usage.spill_bytes;
	derive_metrics(p, r);
	if (r->run.outputs_complete) {
		r->verify = VERIFY_NOT_RUN;
		snprintf(r->verify_text, sizeof r->verify_text, "not verified yet");
	} else {
		r->verify = VERIFY_SAMPLED;
		snprintf(r->verify_text, sizeof r->verify_text,
		         "not verified: %" PRIu64 " of %" PRIu64 " blocks run", r->run.counts.blocks_run,
		         r->run.counts.blocks_total);
	}
}

/* Of a person's own file. */
static bool user_kernel(const struct prepared *p)
{
	return p->sel.kernel->plan_user != NULL;
}

static void give_buffers(struct run_buffers *b, struct run_request *req)
{
	req->memory = b->memory.data ? &b->memory : NULL;
	for (unsigned i = 0; i < b->n; i++) {
		struct run_buffer *to = &req->buffers[i];
		*to = (struct run_buffer){ .data = b->data[i], .bytes = b->bytes[i] };
		to->before = b->before[i] != b->data[i] ? b->before[i] : NULL;
		to->contents = b->fingerprint[i];
		to->patterned = run_buffers_poison(b, i, &to->pattern);
	}
	run_buffers_restore(b);
	b->intact = false; /* until somebody has looked */
}

bool run_execute(struct prepared *p, const struct run_options *options,
                 const struct run_hooks *hooks, struct run_record **out, struct err *err)
{
	static const struct run_options all = { 0 };
	static const struct run_hooks quiet = { 0 };
	const struct run_options *o = options ? options : &all;
	struct workbench *w = p->bench;
	struct launch_plan launches[STREAM_LAUNCHES];
	char file[64];
	struct run_request req = {
		.module = &w->module,
		.plan = &p->plan,
		.source_file = kernel_file(p->sel.kernel, file, sizeof file),
		.max_blocks = o->max_blocks,
		.threads = o->threads,
		.check_races = o->races != RACES_USUAL ? o->races
		               : user_kernel(p)        ? RACES_SPREAD
		                                       : RACES_OFF,
		.level = o->level,
		.stalls = o->stalls,
		.caps = o->caps,
		.timeout_s = o->timeout_s,
	};
	give_buffers(&p->buffers, &req);

	struct run_record *r = mem_zalloc(sizeof *r);
	if (!describe_launch(p, r, err)) {
		record_free(r);
		return false;
	}
	describe_program(p, r, launches, &req);
	if (!w->ops->run(w->be, &req, hooks ? hooks : &quiet, &r->run, err)) {
		record_free(r);
		return false;
	}
	complete_record(p, r);
	const size_t at = strlen(r->run.note);
	if (p->sel.kernel->guessed)
		snprintf(r->run.note + at, sizeof r->run.note - at, "%snot said, so guessed: %s",
		         at ? "; " : "", p->sel.kernel->guessed);
	if (o->code)
		r->code = run_code(p, hooks ? hooks->cancel : NULL);
	*out = r;
	return true;
}

bool run_selection_with(const struct selection *sel, const struct run_options *options,
                        const struct run_hooks *hooks, struct run_record **out, struct err *err)
{
	struct workbench own = { 0 }, *const w = options && options->bench ? options->bench : &own;
	struct prepared p;
	*out = NULL;
	bool ok = run_prepare(&p, w, sel, hooks ? hooks->cancel : NULL, err);
	if (ok) {
		ok = run_execute(&p, options, hooks, out, err);
		if (ok && options && options->no_verify && (*out)->verify == VERIFY_NOT_RUN)
			snprintf((*out)->verify_text, sizeof(*out)->verify_text, "not verified");
		else if (ok)
			run_verify(&p, *out);
		if (ok && options && options->outputs)
			options->outputs(options->outputs_ctx, &p.plan, p.buffers.data);
		run_release(&p);
	}
	workbench_close(&own);
	return ok;
}

unsigned library_lines(const struct selection *sel, const atomic_bool *cancel,
                       struct library_line *out, unsigned max)
{
	const struct backend_ops *ops = backend_find(sel->backend);
	int64_t size[3];
	struct launch_plan plan;
	if (!ops || !ops->library || !kernel_product(sel->kernel, sel->params, size) ||
	    !sel->kernel->plan(sel->variant, sel->params, &plan, NULL))
		return 0;
	struct kernel_cost cost;
	sel->kernel->cost(sel->variant, &plan, sel->params, &cost);
	return ops->library((unsigned)size[0], (unsigned)size[1], (unsigned)size[2], cost.tensor,
	                    cancel, out, max, NULL);
}

bool run_selection(const struct selection *sel, const struct run_hooks *hooks,
                   struct run_record **out, struct err *err)
{
	return run_selection_with(sel, NULL, hooks, out, err);
}
