/* One launch of a whole program; see emu/device.h. */
#include "emu/device.h"

#include "emu/launch/kept.h"
#include "emu/launch/known_launch.h"
#include "emu/launch/launch.h"
#include "emu/launch/program_function.h"

#include <stdio.h>
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

bool emu_launch(struct emu_device *d, const struct emu_launch_request *req,
                const struct run_hooks *hooks, struct run_result *res,
                struct run_findings *findings, struct err *err)
{
	const struct emu_function *f = req->function;
	const char *file = emu_function_file(f);
	const struct launch_plan plan = {
		.entry = f->func->name,
		.grid = { req->grid[0], req->grid[1], req->grid[2] },
		.block = { req->block[0], req->block[1], req->block[2] },
		.dynamic_shared_bytes = req->dynamic_shared_bytes,
	};
	const struct run_request run = {
		.plan = &plan,
		.source_file = file ? file : f->module->name,
		.threads = req->threads,
		.max_blocks = req->max_blocks,
		.check_races = req->check_races,
		.timeout_s = req->timeout_s > 0 ? req->timeout_s : 1e9,
	};
	struct emu_launch l = { .sass = req->machine_code ? &f->module->code : NULL, .results = res };
	memset(res, 0, sizeof *res);
	memset(findings, 0, sizeof *findings);
	res->counts.dram_read_bytes = res->counts.dram_write_bytes = res->counts.l2_sectors = -1;
	res->counts.host_read_bytes = res->counts.host_write_bytes = -1;
	kept_look(d);
	struct known_launch *known =
		req->machine_code || req->other_contents || req->backwards || req->max_blocks
			? NULL
			: known_launch_of(d, req);
	if (known && req->counting == EMU_COUNT_NONE && known_launch_repeats(d, known)) {
		res->same_as = known_launch_number(known);
		res->counts_as = known_launch_counts(known);
		known_launch_touches(d, known);
		kept_end(d);
		return true;
	}
	bool ok = emu_launch_prepare_on(&l, d, f->module, f->func, &run, hooks, req, err);
	if (ok) {
		ok = emu_launch_run(&l, err);
		if (req->print)
			emu_launch_printed(&l, req->print, req->print_ctx);
		emu_launch_findings(&l, findings);
	}
	if (l.workers)
		kept_note(&l);
	if (known && l.workers)
		known_launch_note(d, known, &l, ok && !findings->n && !l.runtime);
	if (ok)
		take_outcome(&l, findings, res);
	kept_end(d);
	res->counts_as = known ? known_launch_counts(known) : 0;
	res->in_any_order = known && known_launch_in_any_order(known);
	emu_launch_free(&l);
	return ok;
}
