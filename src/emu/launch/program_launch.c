/* One launch of a whole program; see emu/device.h. */
#include "emu/device.h"

#include "emu/launch/fault_text.h"
#include "emu/launch/launch.h"
#include "emu/launch/program_function.h"

#include <stdio.h>
#include <string.h>

/* --- what was noted on the way --- */

static const char *finding_kind(enum fault_kind kind)
{
	switch (kind) {
	case FAULT_BOUNDS: return "out-of-bounds";
	case FAULT_ALIGN: return "misaligned";
	case FAULT_READ_ONLY: return "read-only";
	case FAULT_UNINITIALISED: return "uninitialised";
	case FAULT_RACE: return "race";
	case FAULT_BARRIER_DIVERGED:
	case FAULT_BARRIER_STUCK: return "barrier";
	case FAULT_TRAP: return "trap";
	case FAULT_TEXTURE: return "texture";
	case FAULT_SURFACE_BOUNDS: return "out-of-bounds";
	case FAULT_INDEX: return "switch";
	case FAULT_STACK: return "stack";
	case FAULT_ASSERT: return "assert";
	case FAULT_FREE: return "free";
	case FAULT_FUNCTION: return "function-pointer";
	case FAULT_NONE: break;
	}
	return "failed";
}

static void add_finding(struct emu_findings *all, const struct emu_launch *l,
                        const struct emu_fault *f, uint64_t times)
{
	struct err text = { 0 };
	fault_report(l, f, &text);
	const struct ir_inst *in = &l->image.ir.insts[l->image.ir.ops[f->xop].pc];
	for (unsigned i = 0; i < all->n; i++)
		if (!strcmp(all->finding[i].kind, finding_kind(f->kind)) &&
		    all->finding[i].line == in->line) {
			all->finding[i].times += times;
			return;
		}
	if (all->n == EMU_MAX_FINDINGS) {
		all->lost++;
		return;
	}
	struct emu_finding *out = &all->finding[all->n++];
	*out = (struct emu_finding){ .line = in->line, .times = times };
	snprintf(out->kind, sizeof out->kind, "%s", finding_kind(f->kind));
	snprintf(out->text, sizeof out->text, "%.511s", text.msg);
	snprintf(out->remedy, sizeof out->remedy, "%.255s", text.remedy);
	snprintf(out->file, sizeof out->file, "%.255s", l->source_file);
	const struct arena_region *r = arena_near(&l->device->arena, f->address);
	out->allocation = r && f->space == SPACE_GLOBAL ? r->serial : 0;
}

static void collect(const struct emu_launch *l, struct emu_findings *all)
{
	for (unsigned k = 0; k < l->n_workers; k++) {
		const struct worker *wk = &l->workers[k];
		for (unsigned i = 0; i < wk->n_noted; i++)
			add_finding(all, l, &wk->noted[i], wk->times[i]);
		all->lost += wk->lost;
		if (wk->fault.kind != FAULT_NONE)
			add_finding(all, l, &wk->fault, 1);
	}
}

/* --- the launch --- */

bool emu_launch(struct emu_device *d, const struct emu_launch_request *req,
                const struct run_hooks *hooks, struct run_result *res,
                struct emu_findings *findings, struct err *err)
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
		.check_races = req->check_races,
		.timeout_s = req->timeout_s > 0 ? req->timeout_s : 1e9,
	};
	struct emu_launch l = { .sass = req->machine_code ? &f->module->code : NULL };
	memset(res, 0, sizeof *res);
	memset(findings, 0, sizeof *findings);
	res->counts.dram_read_bytes = res->counts.dram_write_bytes = res->counts.l2_sectors = -1;
	bool ok = emu_launch_prepare_on(&l, d, f->module, f->func, &run, hooks, req, err);
	if (ok) {
		ok = emu_launch_run(&l, err);
		if (req->print)
			emu_launch_printed(&l, req->print, req->print_ctx);
		collect(&l, findings);
	}
	if (ok)
		emu_launch_results(&l, res);
	emu_launch_free(&l);
	return ok;
}
