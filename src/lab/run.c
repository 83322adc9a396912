/*
 * One run from a selection to a record: plan, compile, occupancy, buffers, launch, check, metrics.
 *
 * Runs on the caller's thread. Knows no session, screen or argument.
 */
#include "run.h"
#include "registry.h"

#include "record_time.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/stream_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct occ_input usage_occ_input(const struct usage *u)
{
	return (struct occ_input){
		.regs_per_thread = u->registers,
		.static_shared_bytes = u->static_shared_bytes,
		.barriers = u->barriers,
	};
}

/* --- compile and open --- */

static void close_backend(struct workbench *w)
{
	if (w->ops)
		w->ops->close(w->be);
	w->ops = NULL;
	w->be = NULL;
}

void workbench_close(struct workbench *w)
{
	close_backend(w);
	if (w->has_module)
		module_free(&w->module);
	w->has_module = false;
}

bool workbench_compile(struct workbench *w, const struct selection *sel, const atomic_bool *cancel,
                       struct err *err)
{
	const struct kernel_desc *k = sel->kernel;
	struct build_id id;
	build_id_of(sel, &id);
	if (w->has_module && build_id_equal(&w->id, &id))
		return true;

	struct compile_macro macros[KERNEL_MAX_PARAMS];
	const unsigned n = kernel_macros(k, id.macros, macros);
	char file[64];
	const struct compile_request req = {
		.file = kernel_file(k, file, sizeof file),
		.source = k->device_source ? k->device_source : kernel_source(k),
		.n_macros = n,
		.macros = macros,
		.cc_major = sel->gpu->cc_major,
		.cc_minor = sel->gpu->cc_minor,
		.cancel = cancel,
	};
	struct module m = { 0 };
	if (!compile_module(&req, &m, err))
		return false;
	if (w->has_module)
		module_free(&w->module);
	w->module = m;
	w->id = id;
	w->has_module = true;
	return true;
}

static bool open_backend(struct workbench *w, const struct selection *sel, struct err *err)
{
	const struct backend_ops *ops = backend_find(sel->backend);
	if (!ops)
		return backend_named(sel->backend, err) &&
		       err_set(err, ERR_INTERNAL, "back end '%s' was not chosen", sel->backend);
	if (w->ops == ops && w->be_gpu == sel->gpu)
		return true;
	close_backend(w);
	const struct backend_status *st = backend_probe(ops);
	if (!st->usable) {
		if (err)
			*err = st->err;
		return err_prefix(err, "back end '%s': ", ops->name);
	}
	if (!ops->open(&w->be, sel->gpu, err))
		return false;
	w->ops = ops;
	w->be_gpu = sel->gpu;
	return true;
}

/* --- buffers --- */

/* Memory that a run may take: this machine's, or what a container was given of it (cgroup v2). */
static double memory_here(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	double bytes = pages > 0 && page > 0 ? (double)pages * (double)page : 1e18;
	FILE *f = fopen("/sys/fs/cgroup/memory.max", "r");
	double limit;
	if (f) {
		if (fscanf(f, "%lf", &limit) == 1 && limit > 0 && limit < bytes)
			bytes = limit;
		fclose(f);
	}
	return bytes;
}

static bool changed_in_place(const struct buffer_plan *b)
{
	return b->role == BUF_INOUT || (b->role == BUF_OUT && b->partial);
}

static bool fits_memory(const struct launch_plan *plan, struct err *err)
{
	double want = 0;
	for (unsigned b = 0; b < plan->n_buffers; b++) {
		const double bytes =
			(double)plan->buffers[b].count * (double)elem_size(plan->buffers[b].type);
		want += (changed_in_place(&plan->buffers[b]) ? 2 : 1) * bytes;
		want += 2 * bytes; /* the back end's own, and what it notes about every byte */
	}
	const double have = memory_here();
	if (want <= 0.75 * have)
		return true;
	char w[32], h[32];
	err_set(err, ERR_UNAVAILABLE,
	        "the buffers of this launch, with the copies for running and checking, need %s; "
	        "this machine has %s",
	        fmt_bytes(w, sizeof w, want), fmt_bytes(h, sizeof h, have));
	return err_remedy(err, "choose a smaller problem size");
}

static void make_buffer(struct prepared *p, unsigned b)
{
	const struct buffer_plan *bp = &p->plan.buffers[b];
	p->bytes[b] = bp->count * elem_size(bp->type);
	p->data[b] = mem_alloc(p->bytes[b]);
	if (bp->role == BUF_OUT && !bp->partial) {
		poison_fill(bp->type, p->data[b], bp->count);
		return;
	}
	p->sel.kernel->fill(&p->plan, p->sel.params, b, p->sel.seed, p->data[b]);
	if (changed_in_place(bp)) {
		p->before[b] = mem_alloc(p->bytes[b]);
		memcpy(p->before[b], p->data[b], p->bytes[b]);
	} else {
		p->before[b] = p->data[b];
		p->print[b] = buffer_print(p->data[b], p->bytes[b]);
	}
}

/* As before the first run. An input that was written stays so: verification tells. */
static void restore_buffer(struct prepared *p, unsigned b)
{
	const struct buffer_plan *bp = &p->plan.buffers[b];
	if (changed_in_place(bp))
		memcpy(p->data[b], p->before[b], p->bytes[b]);
	else if (bp->role == BUF_OUT)
		poison_fill(bp->type, p->data[b], bp->count);
}

bool run_prepare(struct prepared *p, struct workbench *w, const struct selection *sel,
                 const atomic_bool *cancel, struct err *err)
{
	*p = (struct prepared){ .sel = *sel, .bench = w };
	if (!selection_plan(sel, &p->plan, err) || !fits_memory(&p->plan, err) ||
	    !workbench_compile(w, sel, cancel, err) || !open_backend(w, sel, err))
		return false;
	const struct entry_usage *e = module_entry(&w->module, p->plan.entry);
	if (!e)
		return err_set(err, ERR_INTERNAL, "%s.cu: no entry '%s' in the compiled module",
		               sel->kernel->name, p->plan.entry);
	p->usage = usage_of(e);
	for (unsigned b = 0; b < p->plan.n_buffers; b++) {
		if (cancel && atomic_load(cancel)) {
			run_release(p);
			return err_set(err, ERR_CANCELLED, "cancelled before the launch");
		}
		make_buffer(p, b);
	}
	return true;
}

void run_release(struct prepared *p)
{
	for (unsigned b = 0; b < p->plan.n_buffers; b++) {
		if (p->before[b] != p->data[b])
			free(p->before[b]);
		free(p->data[b]);
	}
	*p = (struct prepared){ 0 };
}

/* --- record --- */

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
	if (res->counts.origin != ORIGIN_NONE && !res->metrics_final)
		metrics_from_run(m, &res->counts);
	record_time(r);
	/* What hardware said stands above what was derived. */
	for (int i = 0; i < METRIC_COUNT; i++)
		if (res->metrics.v[i].origin == ORIGIN_MEASURED)
			m->v[i] = res->metrics.v[i];
	record_timeline(r);
}

bool run_execute(struct prepared *p, const struct run_options *options,
                 const struct run_hooks *hooks, struct run_record **out, struct err *err)
{
	static const struct run_options all = { 0 };
	const struct run_options *o = options ? options : &all;
	struct workbench *w = p->bench;
	char file[64];
	struct run_request req = {
		.module = &w->module,
		.plan = &p->plan,
		.source_file = kernel_file(p->sel.kernel, file, sizeof file),
		.max_blocks = o->max_blocks,
		.threads = o->threads,
		.check_races = o->check_races,
		.stalls = o->stalls,
		.timeout_s = o->timeout_s,
	};
	for (unsigned b = 0; b < p->plan.n_buffers; b++) {
		if (p->used)
			restore_buffer(p, b);
		req.buffers[b] = (struct run_buffer){ .data = p->data[b], .bytes = p->bytes[b] };
	}

	p->used = true;

	struct run_record *r = mem_zalloc(sizeof *r);
	r->sel = p->sel;
	r->plan = p->plan;
	p->sel.kernel->cost(p->sel.variant, &p->plan, p->sel.params, &r->cost);
	const struct occ_input usage = usage_occ_input(&p->usage);
	session_occ_input(&p->plan, &usage, &r->occ_in);
	if (!occ_compute(p->sel.gpu, &r->occ_in, &r->occ, err)) {
		record_free(r);
		return false;
	}
	if (!r->occ.launchable) {
		err_set(err, ERR_USAGE, "%s cannot launch on %s: %s", p->plan.entry, p->sel.gpu->name,
		        r->occ.why_not);
		err_remedy(err, "choose a smaller block or tile, or another GPU");
		record_free(r);
		return false;
	}
	/* what surrounds the kernel; a GPU does not need to know how long it takes */
	struct launch_plan launches[STREAM_LAUNCHES];
	r->program = mem_alloc(sizeof *r->program);
	kernel_stream_program(p->sel.kernel, p->sel.variant, &p->plan, p->sel.params, 0, 1, r->program);
	if (stream_launches(p->sel.kernel, p->sel.variant, &p->plan, p->sel.params, r->program,
	                    launches, NULL)) {
		req.program = r->program;
		req.launches = launches;
	}
	static const struct run_hooks quiet = { 0 };
	if (!w->ops->run(w->be, &req, hooks ? hooks : &quiet, &r->run, err)) {
		record_free(r);
		return false;
	}
	memcpy(r->module_key, w->module.key, sizeof r->module_key);
	memcpy(r->compiler, w->module.compiler, sizeof r->compiler);
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
	*out = r;
	return true;
}

bool run_selection_with(const struct selection *sel, const struct run_options *options,
                        const struct run_hooks *hooks, struct run_record **out, struct err *err)
{
	struct workbench w = { 0 };
	struct prepared p;
	*out = NULL;
	bool ok = run_prepare(&p, &w, sel, hooks ? hooks->cancel : NULL, err);
	if (ok) {
		ok = run_execute(&p, options, hooks, out, err);
		if (ok && options && options->no_verify && (*out)->verify == VERIFY_NOT_RUN)
			snprintf((*out)->verify_text, sizeof(*out)->verify_text, "not verified");
		else if (ok)
			run_verify(&p, *out);
		run_release(&p);
	}
	workbench_close(&w);
	return ok;
}

unsigned library_lines(const struct selection *sel, const atomic_bool *cancel,
                       struct library_line *out, unsigned max)
{
	const struct backend_ops *ops = backend_find(sel->backend);
	int64_t size[3];
	if (!ops || !ops->library || !kernel_product(sel->kernel, sel->params, size))
		return 0;
	return ops->library((unsigned)size[0], (unsigned)size[1], (unsigned)size[2], cancel, out, max,
	                    NULL);
}

bool run_selection(const struct selection *sel, const struct run_hooks *hooks,
                   struct run_record **out, struct err *err)
{
	return run_selection_with(sel, NULL, hooks, out, err);
}
