/*
 * Linked into a pmpp-explore of its own (build/replay/model_record) in front of the time model: the
 * file that MODEL_RECORD names gets what the model was given for the last launch. See input_file.h.
 */
#include "input_file.h"

#include "timemodel/kernel_time.h"
#include "timemodel/regions.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The linker gives calls of the two functions to __wrap_..., and theirs to the real ones. */
void __real_regions_build(const struct timing_program *p, const struct gpu_spec *g, double factor,
                          struct run_counts *out);
void __wrap_regions_build(const struct timing_program *p, const struct gpu_spec *g, double factor,
                          struct run_counts *out);
void __real_kernel_time(const struct gpu_spec *g, const struct launch_plan *plan,
                        const struct occ_result *occ, const struct run_counts *counts,
                        struct perf_result *out);
void __wrap_kernel_time(const struct gpu_spec *g, const struct launch_plan *plan,
                        const struct occ_result *occ, const struct run_counts *counts,
                        struct perf_result *out);

static char *input; /* of the last regions_build() */
static size_t input_bytes;

static void write_targets(FILE *f, const struct timing_program *p)
{
	for (unsigned b = 0; b < p->n_blocks; b++)
		if (p->block[b].n_targets)
			fwrite(p->block[b].targets, sizeof(int32_t), p->block[b].n_targets, f);
}

void __wrap_regions_build(const struct timing_program *p, const struct gpu_spec *g, double factor,
                          struct run_counts *out)
{
	static const size_t sizes[] = INPUT_SIZES;
	free(input); /* of the PTX, when machine code comes after it: the time is from that */
	FILE *f = open_memstream(&input, &input_bytes);
	fwrite(sizes, sizeof sizes, 1, f);
	fwrite(p, sizeof *p, 1, f);
	fwrite(p->inst, sizeof *p->inst, p->n_insts, f);
	fwrite(p->counts, sizeof *p->counts, p->n_insts, f);
	fwrite(p->block, sizeof *p->block, p->n_blocks, f);
	write_targets(f, p);
	fwrite(out, sizeof *out, 1, f);
	fwrite(&factor, sizeof factor, 1, f);
	fclose(f);
	__real_regions_build(p, g, factor, out);
}

void __wrap_kernel_time(const struct gpu_spec *g, const struct launch_plan *plan,
                        const struct occ_result *occ, const struct run_counts *counts,
                        struct perf_result *out)
{
	const char *path = getenv("MODEL_RECORD");
	__real_kernel_time(g, plan, occ, counts, out);
	FILE *f = path && input ? fopen(path, "wb") : NULL;
	if (!f)
		return;
	char gpu[32] = { 0 };
	memcpy(gpu, g->id, sizeof gpu);
	fwrite(input, input_bytes, 1, f);
	/* what the emulator puts into its counts after the regions */
	fwrite(counts, sizeof *counts, 1, f);
	fwrite(&plan->grid, sizeof plan->grid, 1, f);
	fwrite(&plan->block, sizeof plan->block, 1, f);
	fwrite(occ, sizeof *occ, 1, f);
	fwrite(gpu, sizeof gpu, 1, f);
	fclose(f);
}
