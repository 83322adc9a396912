/*
 * Sets up one launch: buffers and variables get device addresses, parameters are laid out, the
 * entry is lowered with all of them known; afterwards copies results back.
 */
#include "emu/vm/launch.h"

#include "emu/count/cache_sim.h"
#include "emu/vm/simd.h"
#include "emu/count/tally.h"
#include "emu/check/trace.h"
#include "base/mem.h"
#include "model/occupancy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct addresses {                       /* of a launch, only needed while it is prepared */
	unsigned buffer[KERNEL_MAX_BUFFERS]; /* region */
	unsigned *var;                       /* region of a global or constant variable */
	unsigned params;
	uint64_t *var_addr;
	uint8_t *param_bytes;
};

/* --- memory --- */

static bool in_arena(const struct ptx_var *v)
{
	return v->space == SPACE_GLOBAL || v->space == SPACE_CONST;
}

static void plan_arena(struct launch *l, struct addresses *a)
{
	const struct launch_plan *p = l->req->plan;
	struct arena *ar = &l->arena;
	for (unsigned i = 0; i < p->n_buffers; i++) {
		const struct buffer_plan *b = &p->buffers[i];
		a->buffer[i] = arena_add(ar, b->name, l->req->buffers[i].bytes, 512);
		struct arena_region *r = &ar->region[a->buffer[i]];
		r->elem_bytes = (unsigned)elem_size(b->type);
		r->elem = elem_name(b->type);
		r->buffer = (int8_t)i;
		r->read_only = b->role == BUF_IN;
		if (b->role == BUF_OUT && !b->partial)
			r->written = mem_zalloc(r->size);
	}
	a->params = arena_add(ar, "kernel parameters", l->func->param_bytes + 1u, 512);
	ar->region[a->params].read_only = true;
	a->var = mem_calloc(l->module->n_vars + 1, sizeof *a->var);
	a->var_addr = mem_calloc(l->module->n_vars + 1, sizeof *a->var_addr);
	for (unsigned i = 0; i < l->module->n_vars; i++) {
		const struct ptx_var *v = &l->module->vars[i];
		if (!in_arena(v)) {
			a->var_addr[i] = v->offset;
			continue;
		}
		a->var[i] = arena_add(ar, v->name, v->size, v->align);
		struct arena_region *r = &ar->region[a->var[i]];
		r->elem_bytes = ptx_type_bytes(v->type) ? ptx_type_bytes(v->type) : 1;
		r->elem = ptx_type_name(v->type);
		r->read_only = v->space == SPACE_CONST;
		a->var_addr[i] = r->base;
	}
}

static bool fill_arena(struct launch *l, const struct addresses *a, struct err *err)
{
	const atomic_bool *cancel = l->hooks ? l->hooks->cancel : NULL;
	struct arena *ar = &l->arena;
	for (unsigned i = 0; i < l->req->plan->n_buffers; i++) {
		const struct arena_region *r = &ar->region[a->buffer[i]];
		if (r->size &&
		    !mem_copy_until(arena_at(ar, r->base), l->req->buffers[i].data, r->size, cancel))
			return err_set(err, ERR_CANCELLED, "%s: kernel '%s': cancelled", l->source_file,
			               l->func->name);
	}
	if (l->func->param_bytes)
		memcpy(arena_at(ar, ar->region[a->params].base), a->param_bytes, l->func->param_bytes);
	for (unsigned i = 0; i < l->module->n_vars; i++) {
		const struct ptx_var *v = &l->module->vars[i];
		if (!in_arena(v) || !v->size)
			continue;
		uint8_t *to = arena_at(ar, a->var_addr[i]);
		if (v->init)
			memcpy(to, v->init, v->size);
		for (unsigned k = 0; k < v->n_relocs; k++) {
			const struct ptx_reloc *r = &v->relocs[k];
			if (r->is_func)
				continue; /* taking it is refused where it is used */
			uint64_t at = a->var_addr[r->symbol] + (uint64_t)r->addend;
			if (r->generic && l->module->vars[r->symbol].space == SPACE_SHARED)
				at += SHARED_WINDOW;
			memcpy(to + r->offset, &at, r->bytes);
		}
	}
	return true;
}

/* --- parameters --- */

static bool fill_params(struct launch *l, struct addresses *a, struct err *err)
{
	const struct launch_plan *p = l->req->plan;
	const struct ptx_func *f = l->func;
	if (p->n_args != f->n_params)
		return err_set(err, ERR_USAGE, "%s: kernel '%s' takes %u parameters, the launch gives %u",
		               l->source_file, f->name, f->n_params, p->n_args);
	a->param_bytes = mem_zalloc(f->param_bytes + 1u);
	for (unsigned i = 0; i < p->n_args; i++) {
		const struct kernel_arg *arg = &p->args[i];
		const struct ptx_param *param = &f->params[i];
		uint64_t address;
		const void *from = &arg->i64;
		unsigned bytes = 4;
		switch (arg->kind) {
		case ARG_BUFFER:
			address = l->arena.region[a->buffer[arg->buffer]].base;
			from = &address;
			bytes = 8;
			break;
		case ARG_I64: bytes = 8; break;
		case ARG_I32: from = &arg->i32; break;
		case ARG_U32: from = &arg->u32; break;
		case ARG_F32: from = &arg->f32; break;
		}
		if (param->size != bytes)
			return err_set(err, ERR_USAGE,
			               "%s: parameter %u of kernel '%s' has %u bytes, the launch gives %u",
			               l->source_file, i + 1, f->name, param->size, bytes);
		memcpy(a->param_bytes + param->offset, from, bytes);
	}
	return true;
}

/* --- limits --- */

static bool legal(const struct launch *l, struct err *err)
{
	const struct ptx_func *f = l->func;
	const struct launch_plan *p = l->req->plan;
	const uint64_t max = f->maxntid[0]
	                         ? (uint64_t)f->maxntid[0] * (f->maxntid[1] ? f->maxntid[1] : 1) *
	                               (f->maxntid[2] ? f->maxntid[2] : 1)
	                         : 1024;
	const uint64_t threads = (uint64_t)p->block.x * p->block.y * p->block.z;
	const uint64_t blocks = (uint64_t)p->grid.x * p->grid.y * p->grid.z;
	if (!threads || !blocks)
		return err_set(err, ERR_USAGE, "%s: kernel '%s': empty grid or block", l->source_file,
		               f->name);
	if (threads > max || threads > 1024)
		return err_set(err, ERR_USAGE,
		               "%s: kernel '%s': a block of %llu threads; at most %llu can "
		               "be launched",
		               l->source_file, f->name, (unsigned long long)threads,
		               (unsigned long long)(max < 1024 ? max : 1024));
	if (l->shared_bytes > l->gpu->smem_per_block_optin_bytes)
		return err_set(err, ERR_USAGE,
		               "%s: kernel '%s': a block needs %u bytes of shared memory; "
		               "%s has at most %u",
		               l->source_file, f->name, l->shared_bytes, l->gpu->name,
		               l->gpu->smem_per_block_optin_bytes);
	return true;
}

static unsigned resident_blocks(const struct launch *l)
{
	const struct entry_usage *u = module_entry(l->req->module, l->func->name);
	struct occ_input in = {
		.block_threads = l->threads,
		.regs_per_thread = u && u->registers ? u->registers : 32,
		.dynamic_shared_bytes = l->shared_bytes,
		.barriers = 1,
	};
	struct occ_result out;
	if (!occ_compute(l->gpu, &in, &out, NULL) || out.blocks_per_sm == 0)
		return 1;
	return out.blocks_per_sm;
}

static unsigned thread_count(const struct launch *l)
{
	long n = l->req->threads ? (long)l->req->threads : sysconf(_SC_NPROCESSORS_ONLN);
	if (n < 1)
		n = 1;
	if (n > 256)
		n = 256;
	return (uint64_t)n < l->order.n ? (unsigned)n : (unsigned)l->order.n;
}

static bool flag_set(const char *name)
{
	const char *v = getenv(name);
	return v && v[0] && strcmp(v, "0") != 0;
}

/* --- preparation --- */

static bool build_image(struct launch *l, struct addresses *a, struct err *err)
{
	const struct ir_env env = {
		.plan = l->req->plan,
		.params = a->param_bytes,
		.var_addr = a->var_addr,
		.param_base = l->arena.region[a->params].base,
		.shared_bytes = l->shared_bytes,
		.local_bytes = l->local_bytes,
		.sm_count = l->gpu->sm_count,
	};
	if (!ir_lower(&l->image.ir, l->module, l->func, &env, l->source_file, err))
		return false;
	image_build(&l->image, l->req->plan, l->shared_bytes,
	            handler_set_choose(getenv("PMPP_EMU_ISA")), l->plain_only);
	return true;
}

static void build_workers(struct launch *l)
{
	const double shared = (double)l->shared_bytes * l->blocks_per_sm;
	const double l1 = l->gpu->l1_bytes - shared;
	l->cache = cache_sim_new(l->gpu, l1 > 16384 ? l1 : 16384, (uint32_t)(l->arena.mapped >> 7),
	                         ceil_div(l->order.n, (uint64_t)l->gpu->sm_count * l->blocks_per_sm));
	l->trace = trace_new(&l->image);
	l->n_workers = thread_count(l);
	l->workers = mem_calloc(l->n_workers, sizeof *l->workers);
	for (unsigned i = 0; i < l->n_workers; i++)
		emu_worker_init(&l->workers[i], l, i);
}

bool launch_prepare(struct launch *l, const struct run_request *req, const struct run_hooks *hooks,
                    const struct gpu_spec *gpu, const struct ptx_module *module, struct err *err)
{
	const struct launch_plan *p = req->plan;
	l->req = req;
	l->hooks = hooks;
	l->gpu = gpu;
	l->module = module;
	l->source_file = req->source_file ? req->source_file : "kernel";
	l->func = ptx_entry(module, p->entry);
	if (!l->func)
		return err_set(err, ERR_USAGE, "%s: there is no kernel '%s' in this module", l->source_file,
		               p->entry);
	l->plain_only = flag_set("PMPP_EMU_PLAIN");
	l->check_all = req->check_races;
	l->threads = p->block.x * p->block.y * p->block.z;
	l->n_warps = (l->threads + 31) / 32;
	const uint32_t fixed = l->func->static_shared_bytes,
				   with = l->func->dynamic_shared_offset + p->dynamic_shared_bytes;
	l->shared_bytes = with > fixed ? with : fixed;
	l->local_bytes = (l->func->local_bytes + 15) / 16 * 16;
	if (!legal(l, err))
		return false;
	l->order.total = (uint64_t)p->grid.x * p->grid.y * p->grid.z;
	l->order.n =
		req->max_blocks && req->max_blocks < l->order.total ? req->max_blocks : l->order.total;
	struct addresses a = { 0 };
	plan_arena(l, &a);
	const bool ok = arena_map(&l->arena, err) && fill_params(l, &a, err) &&
	                fill_arena(l, &a, err) && build_image(l, &a, err);
	free(a.var);
	free(a.var_addr);
	free(a.param_bytes);
	if (!ok)
		return false;
	l->blocks_per_sm = resident_blocks(l);
	build_workers(l);
	l->started = now_s();
	l->deadline = l->started + (req->timeout_s > 0 ? req->timeout_s : 60);
	l->last_report = l->started;
	return true;
}

/* --- results --- */

/* Bytes of buffers and variables: what device traffic cannot exceed if all of it fits into L2. */
static double footprint(const struct launch *l)
{
	double sum = 0;
	for (unsigned i = 0; i < l->arena.n; i++)
		sum += (double)l->arena.region[i].size;
	return sum;
}

static double at_most(double v, double limit)
{
	return v < limit ? v : limit;
}

static void traffic(const struct launch *l, double factor, struct run_counts *c)
{
	for (unsigned i = 0; i < l->n_workers; i++)
		if (l->workers[i].log.overflow) {
			c->dram_read_bytes = c->dram_write_bytes = c->l2_sectors = -1;
			return;
		}
	const struct cache_totals t = cache_sim_totals(l->cache);
	c->l2_sectors = t.l2_sectors * factor;
	c->dram_read_bytes = t.read_bytes * factor;
	c->dram_write_bytes = t.write_bytes * factor;
	if (factor > 1 && footprint(l) <= l->gpu->l2_bytes) {
		/* blocks that did not run would have found most of their data in L2 */
		c->dram_read_bytes = at_most(c->dram_read_bytes, footprint(l));
		c->dram_write_bytes = at_most(c->dram_write_bytes, footprint(l));
	}
}

static void copy_back(const struct launch *l)
{
	for (unsigned i = 0; i < l->arena.n; i++) {
		const struct arena_region *r = &l->arena.region[i];
		if (r->buffer >= 0 && !r->read_only && r->size)
			memcpy(l->req->buffers[r->buffer].data, arena_at(&l->arena, r->base), r->size);
	}
}

void launch_results(struct launch *l, struct run_result *res)
{
	struct run_counts *c = &res->counts;
	const bool sampled = l->order.n < l->order.total;
	const double factor = (double)l->order.total / (double)l->order.n;
	c->origin = sampled ? ORIGIN_SAMPLED : ORIGIN_COUNTED;
	c->blocks_run = l->order.n;
	c->blocks_total = l->order.total;
	traffic(l, factor, c);
	tally(l, factor, c);
	if (sampled) {
		counts_scale(&c->total, factor);
		for (unsigned i = 0; i < c->n_lines; i++)
			counts_scale(&c->lines[i].c, factor);
		for (unsigned i = 0; i < c->n_accesses; i++)
			c->accesses[i].executions =
				(uint64_t)((double)c->accesses[i].executions * factor + 0.5);
		snprintf(res->note, sizeof res->note, "sampled %llu of %llu blocks",
		         (unsigned long long)l->order.n, (unsigned long long)l->order.total);
	}
	copy_back(l);
	res->outputs_complete = !sampled;
	res->wall_s = now_s() - l->started;
}

void launch_free(struct launch *l)
{
	for (unsigned i = 0; l->workers && i < l->n_workers; i++)
		emu_worker_free(&l->workers[i]);
	free(l->workers);
	cache_sim_free(l->cache);
	trace_free(l->trace);
	image_free(&l->image);
	arena_free(&l->arena);
}
