/*
 * Runs the time model on what build/replay/model_record has written, without the emulator:
 *
 *     model_replay [--regions] FILE...
 *
 * One line of JSON a file: the modelled time, the resource that decides, and each resource's time;
 * with --regions also what each region asks for.
 * Thousands of launches take seconds. Exit status 1 if a file cannot be read or was written by
 * a build with other structures.
 */
#include "input_file.h"

#include "timemodel/kernel_time.h"
#include "timemodel/regions.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool take(FILE *f, void *to, size_t size, size_t n)
{
	return fread(to, size, n, f) == n;
}

static bool take_program(FILE *f, struct input_file *in)
{
	struct timing_program *p = &in->program;
	if (!take(f, p, sizeof *p, 1))
		return false;
	struct timing_inst *inst = mem_calloc(p->n_insts + 1, sizeof *inst);
	struct counts *counts = mem_calloc(p->n_insts + 1, sizeof *counts);
	struct timing_block *block = mem_calloc(p->n_blocks + 1, sizeof *block);
	p->inst = inst;
	p->counts = counts;
	p->block = block;
	if (!take(f, inst, sizeof *inst, p->n_insts) || !take(f, counts, sizeof *counts, p->n_insts) ||
	    !take(f, block, sizeof *block, p->n_blocks))
		return false;
	unsigned n = 0;
	for (unsigned b = 0; b < p->n_blocks; b++)
		n += block[b].n_targets;
	in->targets = mem_calloc(n + 1, sizeof *in->targets);
	n = 0;
	for (unsigned b = 0; b < p->n_blocks; b++) {
		block[b].targets = &in->targets[n];
		n += block[b].n_targets;
	}
	return take(f, in->targets, sizeof *in->targets, n);
}

static bool take_input(FILE *f, struct input_file *in)
{
	static const size_t sizes[] = INPUT_SIZES;
	size_t found[sizeof sizes / sizeof *sizes];
	struct run_counts after;
	if (!take(f, found, sizeof found, 1) || memcmp(found, sizes, sizeof sizes) ||
	    !take_program(f, in) || !take(f, &in->counts, sizeof in->counts, 1) ||
	    !take(f, &in->factor, sizeof in->factor, 1) || !take(f, &after, sizeof after, 1) ||
	    !take(f, &in->grid, sizeof in->grid, 1) || !take(f, &in->block, sizeof in->block, 1) ||
	    !take(f, &in->occ, sizeof in->occ, 1) || !take(f, in->gpu, sizeof in->gpu, 1))
		return false;
	regions_build(&in->program, gpu_find(in->gpu), in->factor, &in->counts);
	/* the whole launch's, as the model was given them */
	after.regions = in->counts.regions;
	after.n_regions = in->counts.n_regions;
	after.code_blocks = in->counts.code_blocks;
	after.longest_block_cycles = in->counts.longest_block_cycles;
	after.atomics.lockstep_float = in->counts.atomics.lockstep_float;
	after.atomics.lockstep_int = in->counts.atomics.lockstep_int;
	in->counts = after;
	return true;
}

static void print_regions(const struct run_counts *c)
{
	printf(
		", \"l2_sectors\": %.0f, \"l2_requests\": %.0f, \"dram_read\": %.0f, \"dram_write\": %.0f, "
		"\"regions\": [",
		c->l2_sectors, c->l2_requests, c->dram_read_bytes, c->dram_write_bytes);
	for (unsigned i = 0; i < c->n_regions; i++) {
		const struct region *r = &c->regions[i];
		printf("%s{\"warps\": %.0f, \"blocks\": %.0f, \"cycles\": %.1f, \"issue\": %.0f, "
		       "\"int\": %.0f, \"fp32\": %.0f, \"load\": %.0f, \"store\": %.0f, "
		       "\"shared\": %.0f, \"held\": %.0f}",
		       i ? ", " : "", r->warp_passes, r->block_passes, r->critical_path_cycles,
		       r->issue_slots, r->int_slots, r->fp32_slots, r->load_cycles, r->store_cycles,
		       r->shared_wavefronts, r->held_line_cycles);
	}
	printf("]");
}

static void print_loads(const struct timing_program *p)
{
	const char *between = "";
	printf(", \"loads\": [");
	for (unsigned i = 0; i < p->n_insts; i++) {
		const struct timing_inst *x = &p->inst[i];
		const struct counts *c = &p->counts[i];
		if (!c->ld_requests && (!c->local_requests || x->class != INST_LOAD))
			continue;
		printf("%s{\"at\": %u, \"requests\": %.0f, \"lines\": %.0f, \"sectors\": %.0f, "
		       "\"local\": %.0f, \"local_lines\": %.0f, \"passes\": %.0f, \"l2_lines\": %.3f, "
		       "\"dram_lines\": %.3f, \"l2\": %.3f, \"dram\": %.3f}",
		       between, i, (double)c->ld_requests, (double)c->ld_lines, (double)c->ld_sectors,
		       (double)c->local_requests, x->local_lines, x->load_passes, x->origin.l2_lines,
		       x->origin.dram_lines, x->origin.l2, x->origin.dram);
		between = ", ";
	}
	printf("]");
}

static bool replay(const char *path, bool regions)
{
	struct input_file in = { 0 };
	struct perf_result perf;
	FILE *f = fopen(path, "rb");
	const bool ok = f && take_input(f, &in);
	if (ok) {
		const struct launch_plan plan = { .grid = in.grid, .block = in.block };
		kernel_time(gpu_find(in.gpu), &plan, &in.occ, &in.counts, &perf);
		printf("{\"file\": \"%s\", \"kernel_ns\": %.3f, \"bottleneck\": \"%s\", "
		       "\"thread_blocks\": %.0f, \"threads\": %u, \"resident\": %u, \"basic_blocks\": %.0f",
		       path, perf.kernel_ns, perf_resource_name(perf.bottleneck),
		       (double)in.grid.x * in.grid.y * in.grid.z, in.block.x * in.block.y * in.block.z,
		       in.occ.blocks_per_sm, in.counts.code_blocks);
		for (unsigned r = 0; r < PERF_RESOURCE_COUNT; r++)
			printf(", \"%s\": %.1f", perf_resource_name((enum perf_resource)r),
			       perf.resource_ns[r]);
		if (regions) {
			print_regions(&in.counts);
			print_loads(&in.program);
		}
		printf("}\n");
	} else {
		fprintf(stderr, "model_replay: %s: not a file of this build's model_record\n", path);
	}
	if (f)
		fclose(f);
	free((void *)in.program.inst);
	free((void *)in.program.counts);
	free((void *)in.program.block);
	free(in.targets);
	if (ok)
		free(in.counts.regions);
	return ok;
}

int main(int argc, char **argv)
{
	const bool regions = argc > 1 && !strcmp(argv[1], "--regions");
	bool ok = true;
	for (int i = regions ? 2 : 1; i < argc; i++)
		ok = replay(argv[i], regions) && ok;
	return ok ? 0 : 1;
}
