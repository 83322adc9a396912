/*
 * The emulator as a back end (backend.h): parses the module once, runs launches of it.
 *
 * Environment, for tests and measurements: PMPP_EMU_ISA=sse|avx2|avx512 limits the instruction-set
 * level, PMPP_EMU_REFERENCE=1 runs every block in the reference program, PMPP_EMU_UNCOUNTED=1 works
 * as for launches of a program that nobody looks at: outputs and faults, no counts.
 */
#include "backend/backend.h"

#include "emu/launch/launch.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct backend {
	const struct gpu_spec *gpu;
	/* the module that ran last */
	bool parsed;
	uint64_t hash;
	size_t length;
	struct ptx_module module;
	struct arena_spare spare; /* of the launch before */
	struct machine_code code;
};

static void lacks_capability(struct backend_info *info, unsigned bit, const char *reason,
                             const char *remedy)
{
	snprintf(info->missing[bit].reason, sizeof info->missing[bit].reason, "%s", reason);
	snprintf(info->missing[bit].remedy, sizeof info->missing[bit].remedy, "%s", remedy);
}

static bool emu_probe(struct backend_info *info, struct err *err)
{
	(void)err;
	*info = (struct backend_info){ .caps = CAP_COUNTERS | CAP_PER_LINE };
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	cores = cores < 1 ? 1 : cores;
	snprintf(info->title, sizeof info->title, "PTX emulator, %ld thread%s, %s", cores,
	         cores == 1 ? "" : "s", handler_set_choose(getenv("PMPP_EMU_ISA"))->title);
	lacks_capability(info, 0, "the emulator counts events; it has no GPU's clock",
	                 "times are modelled from the counts; the cuda back end measures them");
	lacks_capability(info, 1, "registers and shared memory come from the compiler, not from a run",
	                 "");
	lacks_capability(info, 3, "one launch has no timeline",
	                 "the stream model draws one; the cuda back end records one");
	return true;
}

static bool emu_open(struct backend **be, const struct gpu_spec *gpu, struct err *err)
{
	if (!gpu || !gpu->sm_count)
		return err_set(err, ERR_USAGE, "emulator: the GPU sheet gives no number of SMs");
	*be = mem_zalloc(sizeof **be);
	(*be)->gpu = gpu;
	return true;
}

static bool parse_module(struct backend *be, const struct run_request *req, struct err *err)
{
	const char *text = req->module->ptx;
	if (!text)
		return err_set(err, ERR_INTERNAL, "emulator: the module has no PTX");
	const size_t length = strlen(text);
	const uint64_t hash = hash_bytes(HASH_SEED, text, length);
	if (be->parsed && be->hash == hash && be->length == length)
		return true;
	if (be->parsed)
		ptx_free(&be->module);
	be->parsed = ptx_parse(text, req->source_file ? req->source_file : "kernel", &be->module, err);
	be->hash = hash;
	be->length = length;
	return be->parsed;
}

static void keep_printed(void *ctx, const char *text, size_t n)
{
	struct run_result *res = ctx;
	const size_t have = res->printed_bytes < RUN_MAX_PRINTED ? res->printed_bytes : RUN_MAX_PRINTED;
	const size_t room = RUN_MAX_PRINTED - have, more = n < room ? n : room;
	res->printed_bytes += n;
	res->printed = mem_realloc(res->printed, have + more + 1, 1);
	memcpy(res->printed + have, text, more);
	res->printed[have + more] = '\0';
}

/* Counts of the machine code in place of the PTX's; @b: the buffers as they were. */
static bool add_machine_code(struct backend *be, struct machine_buffers *b,
                             const struct run_request *req, const struct run_hooks *hooks,
                             struct run_result *res, struct err *err)
{
	struct err why = { 0 };
	snprintf(res->level, sizeof res->level, "PTX");
	if (req->level == RUN_LEVEL_PTX ||
	    machine_run(&be->code, b, &be->spare, req, hooks, be->gpu, &be->module, res, &why))
		return true;
	if (req->level == RUN_LEVEL_SASS || why.code == ERR_CANCELLED) {
		if (err)
			*err = why;
		return err_prefix(err, "machine code: ");
	}
	const size_t n = strlen(res->note);
	snprintf(res->note + n, sizeof res->note - n, "%scounts of the PTX, not of machine code: %s",
	         n ? "; " : "", why.msg);
	return true;
}

/* A launch that came to no end, or to a bad one: a race that was seen before it may be why. */
static void add_race_before(const struct emu_launch *l, struct err *err)
{
	struct run_findings found = { 0 };
	char remedy[sizeof err->remedy];
	if (err->code != ERR_FAULT && err->code != ERR_TIMEOUT)
		return;
	emu_launch_findings(l, &found);
	for (unsigned i = 0; i < found.n; i++) {
		const struct run_finding *f = &found.finding[i];
		if (strcmp(f->kind, "race") || f->customary)
			continue;
		snprintf(remedy, sizeof remedy, "%s", err->remedy);
		err_remedy(err, "%s; before that: %s: %s", remedy, f->text, f->remedy);
		return;
	}
}

static bool emu_run(struct backend *be, const struct run_request *req,
                    const struct run_hooks *hooks, struct run_result *res, struct err *err)
{
	*res = (struct run_result){ 0 };
	run_counts_clear(&res->counts, "no cache simulation and no counter for this run");
	count_set_unknown(&res->counts.of_total, COUNT_achieved_occupancy_pct,
	                  "the emulator has no hardware counter for it");
	metrics_clear(&res->metrics, "the emulator has no hardware counter for it");
	if (!parse_module(be, req, err))
		return false;
	struct machine_buffers before = { .data = { NULL } };
	struct emu_launch l = { .spare = &be->spare };
	if (req->level != RUN_LEVEL_PTX) {
		machine_buffers_save(&before, req);
		if (machine_code_find(&be->code, req->module, hooks ? hooks->cancel : NULL, NULL))
			l.assembled = &be->code.module; /* else machine_run() says why not */
	}
	bool ok = emu_launch_prepare(&l, req, hooks, be->gpu, &be->module, err);
	if (ok) {
		ok = emu_launch_run(&l, err);
		if (!ok)
			add_race_before(&l, err);
		res->printed_bytes += emu_launch_printed(&l, keep_printed, res);
	}
	if (ok) {
		emu_launch_results(&l, res);
		emu_launch_findings(&l, &res->found);
		if (hooks && hooks->progress)
			hooks->progress(hooks->ctx, 1.0);
	}
	emu_launch_free(&l);
	ok = ok && add_machine_code(be, &before, req, hooks, res, err);
	machine_buffers_free(&before, req);
	return ok;
}

static void emu_rest(struct backend *be)
{
	arena_spare_free(&be->spare);
}

static void emu_close(struct backend *be)
{
	if (be && be->parsed)
		ptx_free(&be->module);
	if (be) {
		arena_spare_free(&be->spare);
		machine_code_free(&be->code);
	}
	free(be);
}

const struct backend_ops backend_emu = {
	.name = "emu",
	.probe = emu_probe,
	.open = emu_open,
	.run = emu_run,
	.rest = emu_rest,
	.close = emu_close,
	.examine = emu_examine,
};
