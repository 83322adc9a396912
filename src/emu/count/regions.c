/* Adds up what each stretch asks of an SM; see regions.h, machine.h and chain.h. */
#include "emu/count/regions.h"

#include "emu/count/chain.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>

/* Passes beyond the first of an average execution. */
static float replays(const struct counts *c)
{
	const double shared = (double)c->shared_ld_requests, global = (double)c->ld_requests;
	if (shared > 0)
		return (float)((double)c->shared_ld_wavefronts / shared - 1);
	return global > 0 ? (float)((double)c->ld_lines / global - 1) : 0;
}

static void add_op(struct region *r, const struct machine_op *m, const struct counts *c)
{
	const double slots = (double)c->warp_executed * m->slots;
	const double global = (double)c->ld_requests + (double)c->local_requests;
	r->slots += slots;
	r->int_slots += (double)c->warp_executed * m->int_slots;
	r->fp32_slots += (double)c->warp_executed * m->fp32_slots;
	r->fp64_slots += m->pipe == MP_FP64 ? slots : 0;
	r->sfu_slots += m->pipe == MP_SFU ? slots : 0;
	r->load_cycles += fmax(global * LOAD_REQUEST_CYCLES, (double)c->ld_lines);
	r->store_lines += (double)c->st_lines + (double)c->atom_sectors;
	r->shared_waves += (double)c->shared_st_wavefronts + (double)c->shared_atom_requests;
	if (!m->merged) /* 16 bytes per lane take two passes even if all lanes read the same */
		r->shared_waves += fmax((double)c->shared_ld_wavefronts,
		                        m->words == 4 ? 2.0 * (double)c->shared_ld_requests : 0);
}

static void scale(struct region *r, double f)
{
	double *const v[] = { &r->passes,      &r->block_passes, &r->slots,     &r->int_slots,
		                  &r->fp32_slots,  &r->fp64_slots,   &r->sfu_slots, &r->load_cycles,
		                  &r->store_lines, &r->shared_waves };
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		*v[i] *= f;
}

void regions_build(const struct launch *l, const struct counts *of_op, double factor,
                   struct run_counts *out)
{
	const struct ir *ir = &l->image.ir;
	struct machine m;
	machine_build(&m, ir);
	double *passes = mem_calloc(ir->n_blocks + 1, sizeof *passes);
	float *again = mem_calloc(ir->n_ops + 1, sizeof *again);
	for (unsigned b = 0; b < ir->n_blocks; b++)
		passes[b] = (double)of_op[ir->blocks[b].first].warp_executed;
	for (uint32_t o = 0; o < ir->n_ops; o++)
		again[o] = ir->ops[o].first ? replays(&of_op[o]) : 0;
	struct chain_input in = {
		.ir = ir,
		.machine = &m,
		.gpu = l->gpu,
		.passes = passes,
		.replays = again,
		.warps = (double)l->order.n * l->n_warps,
		.blocks = (double)l->order.n,
	};
	in.dram_bytes = out->dram_read_bytes >= 0 ? out->dram_read_bytes / factor : -1;
	counts_misses(&out->total, out->l2_sectors >= 0 ? out->l2_sectors / factor : -1, in.dram_bytes,
	              &in.l1_miss, &in.l2_miss);
	struct chain c;
	chain_build(&c, &in);
	out->n_regions = c.n;
	out->regions = mem_calloc(c.n + 1, sizeof *out->regions);
	for (unsigned i = 0; i < c.n; i++)
		out->regions[i] = (struct region){ .passes = c.stretch[i].passes,
			                               .block_passes = c.stretch[i].block_passes,
			                               .chain_cycles = c.stretch[i].cycles };
	out->serial_float = out->serial_int = 0;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		if (!ir->ops[o].first)
			continue;
		add_op(&out->regions[c.of_op[o]], &m.op[o], &of_op[o]);
		if (!of_op[o].atom_requests || !m.op[o].one_address)
			continue;
		const enum ptx_type type = ir->ops[o].type;
		if (type >= PTX_F16 && type <= PTX_F64)
			out->serial_float += (double)of_op[o].thread_executed * factor;
		else
			out->serial_int += (double)of_op[o].atom_requests * factor;
	}
	for (unsigned i = 0; i < c.n; i++)
		scale(&out->regions[i], factor);
	chain_free(&c);
	machine_free(&m);
	free(passes);
	free(again);
}
