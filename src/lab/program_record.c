/* One launch of a program as a run's record, as panels and verbs know it; see program_family.h. */
#include "program_family.h"

#include "base/mem.h"
#include "timemodel/kernel_time.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct occ_input program_launch_usage(const struct program *p, const struct program_launch *l)
{
	const struct program_kernel *k = &p->kernels[l->kernel];
	return (struct occ_input){
		.block_threads = l->block[0] * l->block[1] * l->block[2],
		.regs_per_thread = program_kernel_registers(k),
		.static_shared_bytes = k->static_shared_bytes,
		.dynamic_shared_bytes = l->dynamic_shared_bytes,
		.barriers = 1,
	};
}

/* What was counted in @from is told as @l's, of the same kernel, grid and block. */
static void put_counts(const struct program *p, const struct program_launch *l,
                       const struct program_launch *from, struct run_record *r)
{
	run_counts_copy(&r->run.counts, from->counts);
	r->metrics = *from->metrics;
	snprintf(r->run.level, sizeof r->run.level, "%s", from->level);
	r->run.races = from->races;
	if (from->level_note[0])
		snprintf(r->run.note, sizeof r->run.note, "%s%.200s",
		         strcmp(from->level, "PTX") ? "" : "counts of the PTX, not of machine code: ",
		         from->level_note);
	else if (p->time_origin == ORIGIN_MEASURED)
		snprintf(r->run.note, sizeof r->run.note,
		         "counters and time are of the profiler's replays");
	kernel_time(p->gpu, &r->plan, &r->occ, &r->run.counts, &r->perf);
	if (from == l)
		return;
	if (program_counts_proved(p, l))
		snprintf(r->run.note, sizeof r->run.note,
		         "counted in launch %" PRIu64 "; proved to be this one's counts too", from->number);
	else
		snprintf(r->run.note, sizeof r->run.note,
		         "counted in launch %" PRIu64 ", the first of this kernel, grid and block; "
		         "'launches --launch %" PRIu64 "' counts this one",
		         from->number, l->number);
}

/* A GPU's time is of each launch, whichever one's counters are told. */
static void put_time(const struct program_launch *l, struct run_record *r)
{
	program_launch_time(l, &r->metrics);
	program_launch_timing(l, &r->run.timing);
}

struct run_record *program_record(const struct program *p, uint64_t number,
                                  const struct selection *sel)
{
	const struct program_launch *l = number ? program_launch_numbered(p, number) : NULL;
	if (!l || l->number != number)
		return NULL;
	const struct program_launch *from = program_launch_numbered(p, l->like);
	struct run_record *r = mem_zalloc(sizeof *r);
	r->sel = *sel;
	r->sel.gpu = p->gpu;
	snprintf(r->sel.backend, sizeof r->sel.backend, "%s", p->backend);
	r->plan = (struct launch_plan){
		.entry = sel->kernel->variants[sel->variant].entry, /* outlives the program */
		.grid = { l->grid[0], l->grid[1], l->grid[2] },
		.block = { l->block[0], l->block[1], l->block[2] },
		.dynamic_shared_bytes = l->dynamic_shared_bytes,
	};
	r->occ_in = program_launch_usage(p, l);
	occ_compute(p->gpu, &r->occ_in, &r->occ, NULL);
	if (from && from->counts && from->metrics) {
		put_counts(p, l, from, r);
	} else {
		static const char why[] = "this launch was not counted";
		run_counts_clear(&r->run.counts, why);
		metrics_clear(&r->metrics, why);
		if (from && from->metrics)
			r->metrics = *from->metrics;
	}
	if (p->time_origin == ORIGIN_MEASURED)
		put_time(l, r);
	r->run.wall_s = l->wall_s;
	r->run.outputs_complete = true;
	snprintf(r->compiler, sizeof r->compiler, "as it was built");
	r->verify = VERIFY_NO_REFERENCE;
	snprintf(r->verify_text, sizeof r->verify_text, "the program checks its results itself");
	return r;
}
