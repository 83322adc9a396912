/* Sets up one launch: buffers and variables get device addresses, parameters are laid out, the
 * entry is lowered with all of them known, programs and workers are made. */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "base/value_flags.h"
#include "emu/device.h"
#include "emu/lower/lower.h"
#include "model/occupancy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL_LAUNCH_WARPS 128
#define TOGETHER_MAX_BYTES ((size_t)128 << 20) /* of frames */

struct regions {                         /* of a launch, only needed while it is prepared */
	unsigned buffer[KERNEL_MAX_BUFFERS]; /* region in the arena */
	unsigned params;
	uint64_t param_base, workspace; /* the latter of a cooperative launch; 0 = it is none */
	uint8_t *param_bytes;
};

/* --- memory --- */

static void place_buffers(struct emu_launch *l, struct regions *a)
{
	const struct launch_plan *p = l->req->plan;
	struct arena *ar = &l->device->arena;
	for (unsigned i = 0; i < p->n_buffers; i++) {
		const struct buffer_plan *b = &p->buffers[i];
		if (b->variable)
			continue;
		a->buffer[i] = arena_add(ar, b->name, l->req->buffers[i].bytes, 512);
		struct arena_region *r = &ar->region[a->buffer[i]];
		r->elem_bytes = (unsigned)elem_size(b->type);
		r->elem = elem_name(b->type);
		r->buffer = (int8_t)i;
		r->read_only = b->role == BUF_IN;
		if (b->role == BUF_OUT && !b->partial)
			r->written = mem_zalloc(value_flags_size(r->size));
	}
	a->params = arena_add(ar, "kernel parameters", launch_param_room(l), 512);
	ar->region[a->params].read_only = true;
}

/* Which function of the machine code runs. */
static unsigned sass_number(const struct emu_launch *l)
{
	return (unsigned)(l->sass_func - l->sass->funcs);
}

static bool fill_buffers(struct emu_launch *l, const struct regions *a, struct err *err)
{
	struct arena *ar = &l->device->arena;
	for (unsigned i = 0; i < l->req->plan->n_buffers; i++)
		if (!l->req->plan->buffers[i].variable && !launch_buffer_in(l, a->buffer[i]))
			return err_set(err, ERR_CANCELLED, "%s: kernel '%s': cancelled", l->source_file,
			               l->func->name);
	if (a->param_bytes && launch_param_bytes(l))
		memcpy(arena_at(ar, a->param_base), a->param_bytes, launch_param_bytes(l));
	emu_module_fill(l->module, l->device);
	set_variables_fill(l, a->buffer);
	if (l->sass)
		machine_banks_fill(&l->banks, l->sass, sass_number(l), l->module, ar);
	return true;
}

/* --- limits --- */

/* Without what the system reserves, which is there only where code asks for its place. */
static uint32_t own_shared(const struct grid *g)
{
	return g->shared_bytes - g->reserved_bytes;
}

/* Threads per block that the kernel declares at most (.maxntid, .reqntid). */
static uint64_t declared_threads(const struct ptx_func *f)
{
	if (!f->maxntid[0])
		return 1024;
	return (uint64_t)f->maxntid[0] * (f->maxntid[1] ? f->maxntid[1] : 1) *
	       (f->maxntid[2] ? f->maxntid[2] : 1);
}

static bool check_limits(const struct emu_launch *l, struct err *err)
{
	const struct ptx_func *f = l->func;
	const struct launch_plan *p = l->req->plan;
	const uint64_t max = declared_threads(f);
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
	if (own_shared(&l->grid) > l->device->gpu->smem_per_block_optin_bytes)
		return err_set(err, ERR_USAGE,
		               "%s: kernel '%s': a block needs %u bytes of shared memory; "
		               "%s has at most %u",
		               l->source_file, f->name, own_shared(&l->grid), l->device->gpu->name,
		               l->device->gpu->smem_per_block_optin_bytes);
	return true;
}

static unsigned resident_blocks(const struct emu_launch *l)
{
	const struct entry_usage *u = l->program ? NULL : module_entry(l->req->module, l->func->name);
	const unsigned registers = l->program ? l->program->registers : u ? u->registers : 0;
	struct occ_input in = {
		.block_threads = l->grid.threads,
		.regs_per_thread = registers ? registers : 32,
		.dynamic_shared_bytes = own_shared(&l->grid),
		.barriers = 1,
	};
	struct occ_result out;
	if (!occ_compute(l->device->gpu, &in, &out, NULL) || out.blocks_per_sm == 0)
		return 1;
	return out.blocks_per_sm;
}

static unsigned thread_count(const struct emu_launch *l)
{
	const unsigned cluster = l->grid.cluster_blocks; /* a worker for each of its blocks */
	if (l->grid.racing && !l->grid.together)
		return cluster; /* accesses are looked at in the order in which they happen */
	if (l->grid.together)
		return (unsigned)l->grid.order.n; /* a worker for each block; one thread runs them */
	long n = l->req->threads ? (long)l->req->threads : sysconf(_SC_NPROCESSORS_ONLN);
	if (n < 1)
		n = 1;
	if (n > 256)
		n = 256;
	/* threads cost more than a small launch */
	if (!l->req->threads && l->grid.order.n * l->grid.n_warps <= SMALL_LAUNCH_WARPS)
		return cluster;
	const uint64_t most = l->grid.order.n / cluster;
	return cluster * ((uint64_t)n < most ? (unsigned)n : (unsigned)most);
}

static bool flag_set(const char *name)
{
	const char *v = getenv(name);
	return v && v[0] && strcmp(v, "0") != 0;
}

/* --- preparation --- */

static bool build_image(struct emu_launch *l, const struct regions *a, struct err *err)
{
	struct lower_env env = {
		.plan = l->req->plan,
		.params = a->param_bytes,
		.var_addr = l->module->var_addr,
		.param_base = a->param_base,
		.shared_bytes = own_shared(&l->grid),
		.reserved_bytes = l->grid.reserved_bytes,
		.sm_count = l->device->gpu->sm_count,
		.clock_mhz = l->device->gpu->clock_mhz,
		.workspace = a->workspace,
		.stack_bytes = l->grid.local_bytes,
		.device_runtime = l->runtime != NULL,
		.module = l->module->ptx,
		.ptx = l->func,
		.innermost = l->program != NULL,
		.explicit_cluster = l->grid.order.cluster[0] != 0,
		.cc = 10 * l->device->gpu->cc_major + l->device->gpu->cc_minor,
	};
	memcpy(env.cluster, l->grid.order.cluster, sizeof env.cluster);
	memcpy(env.bank, l->banks.bank, sizeof env.bank);
	if (l->sass ? !lower_sass(&l->image.ir, l->sass, l->sass_func, &env, l->source_file, err)
	            : !lower_ptx(&l->image.ir, l->module->ptx, l->func, &env, l->source_file, err))
		return false;
	if (l->assembled)
		fusions_find(&l->image.ir, l->assembled);
	l->grid.shared_base = l->sass ? lower_sass_shared_base(l->sass->cubin.sm) : 0;
	ir_find_deciding(&l->image.ir);
	ir_find_asking(&l->image.ir);
	ir_find_polls(&l->image.ir);
	ir_find_blind(&l->image.ir);
	ir_find_swaps(&l->image.ir);
	image_build(&l->image, l->req->plan, l->grid.shared_reach,
	            handler_set_choose(getenv("PMPP_EMU_ISA")), l->grid.reference_only,
	            race_blocks_wanted(l));
	return true;
}

/* --- cooperative launches: what grid.sync() counts in --- */

#define WORKSPACE_BYTES 64
static const char workspace_name[] = "the workspace of cooperative groups";

/* Does the kernel's module ask where that is? A kernel's own run of it is cooperative then. */
static bool uses_workspace(const struct ptx_module *m)
{
	for (unsigned i = 0; i < m->n_funcs; i++)
		for (unsigned k = 0; k < m->funcs[i].n_insts; k++)
			for (unsigned o = 0; o < m->funcs[i].insts[k].n_opnds; o++) {
				const struct ptx_operand *x = &m->funcs[i].insts[k].opnd[o];
				if (x->kind == OPND_SPECIAL &&
				    (x->special == SR_ENVREG1 || x->special == SR_ENVREG2))
					return true;
			}
	return false;
}

static bool check_together(const struct emu_launch *l, struct err *err)
{
	const uint64_t most = (uint64_t)l->device->gpu->sm_count * resident_blocks(l);
	if (!l->grid.together || l->grid.order.n <= most)
		return true;
	err_set(err, ERR_USAGE,
	        "%s: kernel '%s': a cooperative launch of %llu blocks; %s holds at most %llu at once",
	        l->source_file, l->func->name, (unsigned long long)l->grid.order.n,
	        l->device->gpu->name, (unsigned long long)most);
	return err_remedy(err, "launch fewer blocks, and let each do more");
}

static bool place_workspace(struct emu_launch *l, struct regions *a, struct err *err)
{
	struct emu_device *d = l->device;
	l->grid.together = l->program->cooperative;
	if (!l->grid.together)
		return true;
	if (!d->workspace) {
		struct arena_region *r = arena_take(&d->arena, 0, WORKSPACE_BYTES, 512);
		if (!r)
			return err_set(err, ERR_UNAVAILABLE, "no room for a cooperative launch");
		r->name = workspace_name;
		r->kind = EMU_MEMORY_VARIABLE;
		d->workspace = r->base;
	}
	a->workspace = d->workspace;
	memset(arena_at(&d->arena, a->workspace), 0, WORKSPACE_BYTES);
	return check_together(l, err);
}

/* Of a kernel's own run: before its memory is mapped. */
static bool add_workspace(struct emu_launch *l, struct regions *a, struct err *err)
{
	l->grid.together = uses_workspace(l->module->ptx);
	if (!l->grid.together)
		return true;
	l->grid.order.n = l->grid.order.total; /* none can be left out */
	const unsigned r = arena_add(&l->device->arena, workspace_name, WORKSPACE_BYTES, 512);
	a->workspace = l->device->arena.region[r].base;
	return check_together(l, err);
}

/* Launches that wait keep their parameters; this one gets an area of its own. */
static uint64_t take_param_area(struct emu_launch *l)
{
	struct emu_device *d = l->device;
	unsigned i = 0;
	while (i + 1 < PARAM_AREAS && d->areas_taken >> i & 1)
		i++;
	l->area = (uint8_t)(1u << i);
	d->areas_taken |= l->area;
	return d->param_area + (uint64_t)i * PARAM_AREA_BYTES;
}

/* On a living device only the parameters are still to be put into memory. */
static bool place_on_device(struct emu_launch *l, struct err *err)
{
	struct regions a = { .param_base = take_param_area(l) + launch_param_shift(l) };
	device_heap_keep(l);
	nested_work_prepare(l);
	if (!place_workspace(l, &a, err))
		return false;
	a.param_bytes = launch_params(l, a.buffer, err);
	if (!a.param_bytes)
		return false;
	memcpy(arena_at(&l->device->arena, a.param_base), a.param_bytes, launch_param_bytes(l));
	if (!l->sass) {
		l->image_key = image_key(l->func, l->req->plan, l->grid.order.cluster, a.param_bytes) ^
		               a.workspace ^ race_blocks_wanted(l) ^ (uint64_t)(l->area - 1) << 32;
	} else {
		machine_banks_fill(&l->module->banks, l->sass, sass_number(l), l->module,
		                   &l->device->arena);
		l->banks = l->module->banks;
		l->image_key = 0; /* constants are folded in: another launch may have others */
	}
	const bool ok =
		(l->image_key && image_cache_take(l->device->images, l->image_key, &l->image)) ||
		build_image(l, &a, err);
	free(a.param_bytes);
	return ok;
}

/* Memory, parameters, programs. */
static bool place_launch(struct emu_launch *l, struct err *err)
{
	struct regions a = { 0 };
	place_buffers(l, &a);
	a.param_base = l->device->arena.region[a.params].base + launch_param_shift(l);
	emu_module_place(l->module, l->module->ptx, l->device);
	if (l->sass)
		machine_banks_add(&l->banks, l->sass, l->module->ptx->n_funcs, &l->device->arena);
	device_heap_add(l);
	const bool ok = set_variables_place(l, a.buffer, err) && add_workspace(l, &a, err) &&
	                arena_map(&l->device->arena, l->spare, err) &&
	                (a.param_bytes = launch_params(l, a.buffer, err)) != NULL &&
	                fill_buffers(l, &a, err) && build_image(l, &a, err);
	free(a.param_bytes);
	if (ok)
		device_heap_open(l);
	return ok;
}

/* Blocks that may wait for later ones take turns, if the GPU would hold them all. */
static bool waits_for_others(const struct emu_launch *l)
{
	const struct grid *g = &l->grid;
	const uint64_t resident = (uint64_t)l->device->gpu->sm_count * l->blocks_per_sm;
	const size_t frames = (size_t)g->n_warps * l->image.frame_bytes;
	return l->image.ir.waits && g->order.n == g->order.total && g->order.n > 1 &&
	       g->order.n <= resident && g->order.n * frames <= TOGETHER_MAX_BYTES;
}

static void build_workers(struct emu_launch *l)
{
	struct grid *g = &l->grid;
	g->local_bytes = l->image.ir.local_bytes + l->image.ir.call_stack_bytes;
	counting_begin(l, l->program ? l->program->counting == EMU_COUNT_ALL
	                             : !flag_set("PMPP_EMU_UNCOUNTED"));
	g->together = g->together || waits_for_others(l);
	race_blocks_prepare(l);
	l->n_workers = thread_count(l);
	l->workers = mem_calloc(l->n_workers, sizeof *l->workers);
	for (unsigned i = 0; i < l->n_workers; i++)
		emu_worker_init(&l->workers[i], g, i);
}

/* Local memory that a thread needs. A function that calls itself, perhaps through a pointer, may
 * need more than the assembler knows of: what the driver gives at least. */
static uint32_t machine_stack(const struct cubin_func *c)
{
	uint32_t need = c->stack_bytes == CUBIN_NO_COUNT ? 0 : c->stack_bytes;
	if (c->frame_bytes > need)
		need = c->frame_bytes;
	for (unsigned i = 0; i < c->n_inner; i++)
		if (strncmp(c->inner[i].name, "$__internal_", strlen("$__internal_")) != 0)
			return need > CALL_STACK_BYTES ? need : CALL_STACK_BYTES;
	return need;
}

/* What a card gives a block: whole units of shared memory. Machine code may load what is left of
 * the last one, 16 bytes at once where 4 are wanted. */
static uint32_t whole_shared(uint32_t bytes, unsigned sm)
{
	const uint32_t unit = sm >= 80 ? 128 : 256;
	return (bytes + unit - 1) / unit * unit;
}

/* Machine code has its own need of memory, and has to take the parameters that the PTX takes. */
static bool find_machine_code(struct emu_launch *l, struct err *err)
{
	const struct sass_func *f = sass_func(l->sass, l->func->name);
	if (!f)
		return err_set(err, ERR_UNAVAILABLE, "%s: there is no machine code of kernel '%s'",
		               l->source_file, l->func->name);
	const struct cubin_func *c = f->cubin;
	bool same = c->n_params == l->func->n_params;
	for (unsigned i = 0; same && i < c->n_params; i++)
		same = c->params[i].offset + l->func->params[i].size <= c->param_bytes;
	if (!same)
		return err_set(err, ERR_UNSUPPORTED,
		               "%s: the machine code of kernel '%s' takes other parameters than its PTX",
		               l->source_file, l->func->name);
	l->sass_func = f;
	struct grid *g = &l->grid;
	const uint32_t reserved = l->sass->cubin.sm >= 90 ? 1024 : 0;
	const uint32_t fixed = c->shared_bytes > reserved ? c->shared_bytes - reserved : 0;
	const uint32_t with = fixed + l->req->plan->dynamic_shared_bytes;
	g->local_bytes = (machine_stack(c) + 15) / 16 * 16;
	g->shared_bytes = with > g->shared_bytes ? with : g->shared_bytes;
	g->shared_reach = whole_shared(g->shared_bytes, l->sass->cubin.sm);
	return true;
}

/* Dimensions and sizes, before anything is placed. */
static void set_grid(struct emu_launch *l)
{
	const struct launch_plan *p = l->req->plan;
	const struct ptx_func *f = l->func;
	struct grid *g = &l->grid;
	const uint32_t fixed = f->static_shared_bytes,
				   with = f->dynamic_shared_offset + p->dynamic_shared_bytes;
	*g = (struct grid){
		.image = &l->image,
		.plan = p,
		.arena = &l->device->arena,
		.textures = &l->device->textures,
		.threads = p->block.x * p->block.y * p->block.z,
		.shared_bytes = with > fixed ? with : fixed,
		.sm_count = l->device->gpu->sm_count,
		.reference_only = flag_set("PMPP_EMU_REFERENCE"),
	};
	g->n_warps = (g->threads + 31) / 32;
	g->order.total = (uint64_t)p->grid.x * p->grid.y * p->grid.z;
	g->order.n = l->req->max_blocks && l->req->max_blocks < g->order.total ? l->req->max_blocks
	                                                                       : g->order.total;
	cluster_set(l);
	if (l->module->ptx->reserved_shared) {
		g->reserved_bytes = l->device->gpu->smem_reserved_per_block_bytes;
		g->shared_bytes = (g->shared_bytes + 15) / 16 * 16 + g->reserved_bytes;
	}
	g->shared_reach = g->shared_bytes;
}

static void start_clock(struct emu_launch *l)
{
	l->blocks_per_sm = resident_blocks(l);
	build_workers(l);
	l->started = launch_clock_s();
	l->deadline = l->started + (l->req->timeout_s > 0 ? l->req->timeout_s : 60);
	l->last_report = l->started;
}

bool emu_launch_prepare_on(struct emu_launch *l, struct emu_device *device,
                           struct emu_module *module, const struct ptx_func *func,
                           const struct run_request *req, const struct run_hooks *hooks,
                           const struct emu_launch_request *program, struct err *err)
{
	l->req = req;
	l->hooks = hooks;
	l->source_file = req->source_file;
	l->device = device;
	l->module = module;
	l->func = func;
	l->program = program;
	set_grid(l);
	l->grid.lenient = !program->strict;
	l->grid.unset_turn = program->other_contents ? 0xa5 : 0;
	l->grid.order.order = program->order;
	if (l->sass && !find_machine_code(l, err))
		return false;
	if (!check_limits(l, err) || !cluster_check(l, err) || !place_on_device(l, err))
		return false;
	start_clock(l);
	return true;
}

bool emu_launch_prepare(struct emu_launch *l, const struct run_request *req,
                        const struct run_hooks *hooks, const struct gpu_spec *gpu,
                        const struct ptx_module *module, struct err *err)
{
	l->req = req;
	l->hooks = hooks;
	l->source_file = req->source_file ? req->source_file : "kernel";
	l->device = &l->own_device;
	l->module = &l->own_module;
	l->module->ptx = module;
	emu_device_open(l->device, gpu);
	l->device->spare = l->spare;
	l->func = ptx_entry(module, req->plan->entry);
	if (!l->func)
		return err_set(err, ERR_USAGE, "%s: there is no kernel '%s' in this module", l->source_file,
		               req->plan->entry);
	set_grid(l);
	if (l->sass && !find_machine_code(l, err))
		return false;
	if (!check_limits(l, err) || !cluster_check(l, err) || !place_launch(l, err))
		return false;
	start_clock(l);
	return true;
}

void emu_launch_free(struct emu_launch *l)
{
	if (l->area)
		l->device->areas_taken &= (uint8_t)~l->area;
	for (unsigned i = 0; l->workers && i < l->n_workers; i++)
		emu_worker_free(&l->workers[i]);
	free(l->workers);
	free(l->runtime);
	free(l->before);
	counting_free(l);
	races_free(l->grid.races);
	free(l->race_block);
	if (l->image_key && l->n_workers) /* it was whole */
		image_cache_put(l->device->images, l->image_key, &l->image);
	else
		image_free(&l->image);
	emu_module_free(&l->own_module);
	emu_device_close(&l->own_device);
}
