/* Adds up what each region asks of an SM; see regions.h. */
#include "timemodel/regions.h"

#include "timemodel/constants.h"
#include "timemodel/critical_path.h"
#include "timemodel/held_warp.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>

/* To find the lines of all requests in L1. */
static double tag_cycles(const struct counts *c)
{
	const double requests = fmax(1, (double)c->ld_requests), lines = (double)c->ld_lines / requests;
	return requests * (timing.load_line_cycles * lines + timing.load_clash_cycles * sqrt(lines));
}

/* Passes of L1 for a load. */
static double loaded_cycles(const struct timing_inst *x, const struct counts *c)
{
	const double requests = (double)c->ld_requests + (double)c->local_requests;
	const double tags = x->load_passes > 0 ? tag_cycles(c) : (double)c->ld_lines;
	return fmax(requests * timing.load_request_cycles, fmax(x->load_passes, tags));
}

/* A copy into shared memory, beyond the wavefronts that write it there. */
static double copied_cycles(const struct counts *c)
{
	const double all = (double)c->warp_executed * timing.copy_request_cycles +
	                   (double)c->ld_lines * timing.copy_line_cycles;
	return fmax(0, all - (double)c->shared_st_wavefronts);
}

static void add_inst(struct region *r, const struct timing_inst *x, const struct counts *c)
{
	const double issued = (double)c->warp_executed * x->issued;
	r->issue_slots += issued;
	*(x->by_group ? &r->group_products : &r->products) += (double)c->warp_executed * x->products;
	r->heavy_slots += x->class == INST_INT_MUL ? issued : 0;
	switch (inst_pipe(x->class)) {
	case SM_PIPE_INT: r->int_slots += issued; break;
	case SM_PIPE_FP32: r->fp32_slots += issued; break;
	case SM_PIPE_EITHER: r->either_slots += issued; break;
	case SM_PIPE_FP64: r->fp64_slots += issued; break;
	case SM_PIPE_SFU: r->sfu_slots += issued; break;
	default: break;
	}
	r->barriers += x->class == INST_BARRIER ? (double)c->warp_executed : 0;
	r->load_cycles += x->class == INST_COPY ? copied_cycles(c) : loaded_cycles(x, c);
	r->store_cycles += leaving_cycles(x, c) + local_store_cycles(x);
	r->local_store_cycles += local_store_cycles(x);
	r->load_cycles += x->class == INST_STORE ? 0 : x->local_lines;
	r->load_cycles += x->remote_sectors * (x->class == INST_ATOMIC || x->class == INST_REDUCTION
	                                           ? timing.remote_atomic_cycles
	                                           : timing.remote_sector_cycles);
	r->call_ns += serial_call_ns(x, c);
	if (x->space == MEMORY_TEXTURE || x->space == MEMORY_TEXELS)
		r->texture_cycles +=
			(double)c->warp_executed *
			(x->space == MEMORY_TEXTURE ? timing.texture_port_cycles : timing.texel_port_cycles);
	r->shared_wavefronts += (double)c->shared_st_wavefronts +
	                        fmax(x->shared_passes, (double)c->shared_atom_requests) *
	                            (x->class == INST_SHARED_SWAP ? timing.swap_wavefronts : 1);
	if (x->class == INST_MATCH || x->class == INST_REDUX || x->class == INST_CONSTANT)
		r->value_cycles += timing.value_port_cycles * fmax(x->values, (double)c->warp_executed);
	if (!x->merged)
		r->shared_wavefronts += fmax(
			(double)c->shared_ld_wavefronts,
			x->wide_words == 4 ? timing.wide_load_wavefronts * (double)c->shared_ld_requests : 0);
}

/* The assembler gives what both pipes can do to the one that has less: an addition and a logic
 * operation in turn take the time of one (tests/gpu/micro/pipes.cu: add_xor). */
static void share_out(struct region *r)
{
	const double even = (r->either_slots + r->fp32_slots - r->int_slots) / 2;
	const double to_int = fmax(0, fmin(r->either_slots, even));
	r->int_slots += to_int;
	r->fp32_slots += r->either_slots - to_int;
}

static void scale(struct region *r, double factor)
{
	double *const v[] = { &r->warp_passes,        &r->block_passes,      &r->issue_slots,
		                  &r->int_slots,          &r->fp32_slots,        &r->fp64_slots,
		                  &r->sfu_slots,          &r->load_cycles,       &r->store_cycles,
		                  &r->local_store_cycles, &r->shared_wavefronts, &r->held_line_cycles,
		                  &r->barriers,           &r->products,          &r->group_products,
		                  &r->loop_turns,         &r->heavy_slots,       &r->call_ns,
		                  &r->texture_cycles,     &r->value_cycles };
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		*v[i] *= factor;
}

/* Atomics that all go to one address come one after another, even if the next ones go elsewhere. */
static void add_lockstep(struct atomic_load *a, const struct timing_inst *x, const struct counts *c,
                         double factor)
{
	if (!c->atom_requests || !x->one_address || x->polls)
		return;
	if (x->float_data)
		a->lockstep_float += (double)c->thread_executed * factor;
	else
		a->lockstep_int += (double)c->atom_requests * factor;
}

static void add_loop_turns(const struct hyperblocks *h, struct region *regions)
{
	const struct timing_program *p = h->program;
	for (uint32_t b = 0; b < p->n_blocks; b++) {
		const struct timing_block *x = &p->block[b];
		const struct timing_inst *last = last_inst(p, b);
		if (!last || last->class != INST_BRANCH || x->successor[0] < 0 ||
		    x->successor[0] > (int32_t)b)
			continue;
		regions[h->region_of[x->end - 1]].loop_turns +=
			edge_passes(h, b, (uint32_t)x->successor[0]) / x->copies;
	}
}

static double code_blocks(const struct hyperblocks *h)
{
	double sum = 0;
	for (unsigned k = 0; k < h->n; k++) {
		const struct timing_block *top = &h->program->block[h->hyperblock[k].first];
		sum += top->end > top->first && top->warp_passes > 0;
	}
	return sum;
}

static double code_instructions(const struct timing_program *p)
{
	double sum = 0;
	for (uint32_t b = 0; b < p->n_blocks; b++)
		sum += p->block[b].warp_passes > 0 ? p->block[b].end - p->block[b].first : 0;
	return sum;
}

/* By region, what one pass of a block asks for; nobody waits for a store. Caller frees. */
static struct demand *asked_in_a_pass(const struct gpu_spec *g, const struct run_counts *c)
{
	struct demand *asked = mem_calloc(c->n_regions + 1, sizeof *asked);
	for (unsigned r = 0; r < c->n_regions; r++) {
		const double passes = c->regions[r].block_passes;
		if (passes > 0)
			asked[r] = demand_sum(asked[r], demand_of(g, &c->regions[r]), 1 / passes);
		asked[r].store = 0;
	}
	return asked;
}

/* The critical path of a program of one thread block. */
static double path_of(const struct timing_program *one, const struct gpu_spec *g,
                      const struct load_misses *misses, const struct demand *asked)
{
	struct hyperblocks h;
	double sum = 0;
	hyperblocks_build(&h, one);
	struct path *path = critical_paths(&h, g, misses, asked, &(double){ 0 });
	for (unsigned k = 0; k < h.n; k++)
		for (uint32_t r = h.hyperblock[k].first_region; r < h.hyperblock[k].end_region; r++)
			sum += h.block_passes[h.hyperblock[k].first] * path[r].cycles;
	free(path);
	hyperblocks_free(&h);
	return sum;
}

/* The critical path of the thread block that lasts longest: as if the program were that alone. */
static double longest_block(const struct timing_program *all, const struct gpu_spec *g,
                            const struct load_misses *misses, const struct demand *asked)
{
	struct timing_block *block = mem_calloc(all->n_blocks + 1, sizeof *block);
	struct timing_program one = *all;
	for (unsigned b = 0; b < all->n_blocks; b++) {
		block[b] = all->block[b];
		block[b].warp_passes = block[b].longest_passes;
		block[b].entering_blocks = block[b].longest_passes > 0;
	}
	one.block = block;
	one.warps = all->warps / all->thread_blocks;
	one.thread_blocks = 1;
	one.slowest_warp_insts = all->longest_warp_insts;
	const double sum = path_of(&one, g, misses, asked);
	free(block);
	return sum;
}

/* How often warps leave the loop of block @b, which asks, for what lies behind it: a loop that was
 * unrolled has several of these. */
static double leave_passes(const struct timing_program *p, uint32_t b)
{
	double most = 0;
	for (uint32_t k = b; k < p->n_blocks && p->block[k].asks; k++)
		for (unsigned i = 0; i < 2; i++) {
			const int32_t s = p->block[k].successor[i];
			if (s >= 0 && !p->block[s].asks)
				most = fmax(most, p->block[s].warp_passes);
		}
	return most;
}

/* The critical path of a warp that has to wait for the turns of all others, too. Somebody always
 * looks whose turn it is: nothing is lost between two looks. */
static double all_turns(const struct timing_program *all, const struct gpu_spec *g,
                        const struct load_misses *misses, const struct demand *asked)
{
	const struct timing_turns *t = &all->turns;
	struct timing_block *block = mem_calloc(all->n_blocks + 1, sizeof *block);
	struct timing_program one = *all;
	for (unsigned b = 0; b < all->n_blocks; b++) {
		block[b] = all->block[b];
		const double passes = all->block[b].warp_passes;
		if (b < t->from || b > t->to)
			block[b].warp_passes = passes / all->warps;
		else /* who waits asks once more when its turn has come */
			block[b].warp_passes =
				fmin(t->n, (block[b].asks ? leave_passes(all, b) : passes) * t->share);
		block[b].entering_blocks = block[b].warp_passes > 0;
	}
	struct timing_inst *inst = mem_calloc(all->n_insts + 1, sizeof *inst);
	for (uint32_t i = 0; i < all->n_insts; i++) {
		inst[i] = all->inst[i];
		inst[i].polls &= inst[i].class != INST_LOAD;
	}
	one.inst = inst;
	one.block = block;
	one.warps = one.thread_blocks = 1;
	one.slowest_warp_insts = 0;
	const double sum = path_of(&one, g, misses, asked);
	free(inst);
	free(block);
	return sum;
}

/* A warp's own turns are in its critical path: of the changes of a block's hottest word those of
 * the other warps are left, for which it waits. */
static double swaps_of_others(const struct timing_program *p, double chain)
{
	double own = 0;
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->inst[i].class == INST_SHARED_SWAP)
			own += swap_rounds(&p->inst[i], &p->counts[i]) * (double)p->counts[i].warp_executed /
			       p->warps;
	return fmax(0, chain - own);
}

void regions_build(const struct timing_program *p, const struct gpu_spec *g, double factor,
                   struct run_counts *out)
{
	const double l2 = out->l2_sectors >= 0 ? out->l2_sectors / factor : -1;
	const double dram = out->dram_read_bytes >= 0 ? out->dram_read_bytes / factor : -1;
	struct load_misses misses =
		load_misses_of(&out->total, l2, out->l2_written_sectors / factor, dram);
	misses.own = own_of_dram(p, dram);
	misses.far = out->far_share;
	misses.copied = out->new_memory || !out->of_program;
	misses.blocks = fmin(p->thread_blocks * factor, g->sm_count);
	struct hyperblocks h;
	hyperblocks_build(&h, p);
	out->n_regions = h.n_regions;
	out->regions = mem_calloc(h.n_regions + 1, sizeof *out->regions);
	for (unsigned k = 0; k < h.n; k++)
		for (uint32_t r = h.hyperblock[k].first_region; r < h.hyperblock[k].end_region; r++) {
			const uint32_t top = h.hyperblock[k].first;
			out->regions[r] = (struct region){ .warp_passes = p->block[top].warp_passes,
				                               .block_passes = h.block_passes[top] };
		}
	for (uint32_t i = 0; i < p->n_insts; i++) {
		struct region *r = &out->regions[h.region_of[i]];
		add_inst(r, &p->inst[i], &p->counts[i]);
		r->held_line_cycles += held_line_cycles(p, g, &misses, i);
		add_lockstep(&out->atomics, &p->inst[i], &p->counts[i], factor);
	}
	add_loop_turns(&h, out->regions);
	for (unsigned r = 0; r < h.n_regions; r++)
		share_out(&out->regions[r]);
	struct demand *asked = asked_in_a_pass(g, out);
	struct path *path = critical_paths(&h, g, &misses, asked, &out->load_rounds);
	for (unsigned r = 0; r < h.n_regions; r++) {
		out->regions[r].critical_path_cycles = path[r].cycles;
		out->regions[r].store_wait_cycles = path[r].to_store;
		scale(&out->regions[r], factor);
	}
	out->code_blocks = code_blocks(&h);
	out->code_instructions = code_instructions(h.program);
	out->shared_swap_chain = swaps_of_others(p, out->shared_swap_chain);
	out->longest_block_cycles = longest_block(p, g, &misses, asked);
	if (p->turns.n > 0)
		out->longest_block_cycles =
			fmax(out->longest_block_cycles, all_turns(p, g, &misses, asked));
	free(asked);
	free(path);
	hyperblocks_free(&h);
}
