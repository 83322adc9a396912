/* What was noted while a launch ran, as findings in words. */
#include "emu/launch/fault_text.h"
#include "emu/device.h"
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Do two messages of races at one line name the same other line? */
static bool same_pair(const char *a, const char *b)
{
	const char *x = strstr(a, " of line "), *y = strstr(b, " of line ");
	return x && y && strtoul(x + 9, NULL, 10) == strtoul(y + 9, NULL, 10);
}

static const char *finding_kind(enum fault_kind kind)
{
	static const char *const kinds[] = {
		[FAULT_BOUNDS] = "out-of-bounds",
		[FAULT_ALIGN] = "misaligned",
		[FAULT_READ_ONLY] = "read-only",
		[FAULT_UNINITIALISED] = "uninitialised",
		[FAULT_UNDEFINED] = "undefined",
		[FAULT_RACE] = "race",
		[FAULT_BARRIER_DIVERGED] = "barrier",
		[FAULT_WARP_DIVERGED] = "barrier",
		[FAULT_WARP_UNNAMED] = "barrier",
		[FAULT_WARP_UNREAD] = "undefined",
		[FAULT_BARRIER_ENDED] = "barrier",
		[FAULT_BARRIER_STUCK] = "barrier",
		[FAULT_TRAP] = "trap",
		[FAULT_DIVISION] = "division",
		[FAULT_TEXTURE] = "texture",
		[FAULT_SURFACE_BOUNDS] = "out-of-bounds",
		[FAULT_INDEX] = "switch",
		[FAULT_STACK] = "stack",
		[FAULT_ASSERT] = "assert",
		[FAULT_FREE] = "free",
		[FAULT_FUNCTION] = "function-pointer",
		[FAULT_TENSOR_MAP] = "tensor-map",
		[FAULT_TENSOR_START] = "illegal-instruction",
		[FAULT_TENSOR_BEFORE] = "illegal-instruction",
		[FAULT_NO_CLUSTER] = "illegal-instruction",
		[FAULT_ENDLESS] = "timeout",
	};
	return kind < ARRAY_LEN(kinds) && kinds[kind] ? kinds[kind] : "failed";
}

#define MAX_RACES (RUN_MAX_FINDINGS - 6) /* told first, they leave room for the rest */

static unsigned races_in(const struct run_findings *all)
{
	unsigned n = 0;
	for (unsigned i = 0; i < all->n; i++)
		n += !strcmp(all->finding[i].kind, finding_kind(FAULT_RACE));
	return n;
}

static bool is_customary(const struct emu_launch *l, const struct emu_fault *f)
{
	return race_custom(l, f) || f->kind == FAULT_BARRIER_ENDED;
}

/* Of one kind at one line only the first is kept; of races, every pair of lines. */
static void add_finding(struct run_findings *all, const struct emu_launch *l,
                        const struct emu_fault *f, uint64_t times)
{
	struct err text = { 0 };
	fault_report(l, f, &text);
	const bool customary = is_customary(l, f);
	const struct ir_inst *in = &l->image.ir.insts[l->image.ir.ops[f->xop].pc];
	const struct arena_region *r = arena_near(&l->device->arena, f->address);
	const uint64_t allocation = r && f->space == SPACE_GLOBAL ? r->serial : 0;
	const bool fresh =
		allocation && f->kind == FAULT_UNINITIALISED && !f->atomic && r->kind == EMU_MEMORY_DEVICE;
	const bool of_order = race_of_order(l, f);
	const bool one_warp = fault_in_warp(f);
	for (unsigned i = 0; i < all->n; i++)
		if (!strcmp(all->finding[i].kind, finding_kind(f->kind)) &&
		    all->finding[i].line == in->line && all->finding[i].customary == customary &&
		    all->finding[i].of_order == of_order && all->finding[i].fresh == fresh &&
		    all->finding[i].one_warp == (of_order && one_warp) &&
		    (f->kind != FAULT_RACE || same_pair(all->finding[i].text, text.msg))) {
			all->finding[i].times += times;
			return;
		}
	if (all->n == RUN_MAX_FINDINGS || (f->kind == FAULT_RACE && races_in(all) == MAX_RACES)) {
		all->lost++;
		return;
	}
	struct run_finding *out = &all->finding[all->n++];
	*out = (struct run_finding){ .line = in->line,
		                         .times = times,
		                         .customary = customary,
		                         .shared = f->space == SPACE_SHARED,
		                         .of_order = of_order,
		                         .one_warp = of_order && one_warp,
		                         .fresh = fresh,
		                         .allocation = allocation,
		                         .address = f->space == SPACE_GLOBAL ? f->address : 0 };
	snprintf(out->kind, sizeof out->kind, "%s", finding_kind(f->kind));
	snprintf(out->text, sizeof out->text, "%.511s", text.msg);
	snprintf(out->remedy, sizeof out->remedy, "%.255s", text.remedy);
	snprintf(out->file, sizeof out->file, "%.255s", l->source_file);
}

struct adding {
	struct run_findings *all;
	const struct emu_launch *l;
};

static void add_undefined(void *ctx, const struct emu_fault *f)
{
	const struct adding *to = ctx;
	add_finding(to->all, to->l, f, 1);
}

void emu_launch_unset(const struct emu_launch *l, struct run_findings *all)
{
	char name[80];
	for (unsigned at = 0; unset_constants_next(l, &at, name, sizeof name);) {
		if (all->n == RUN_MAX_FINDINGS) {
			all->lost++;
			continue;
		}
		struct run_finding *out = &all->finding[all->n++];
		*out = (struct run_finding){ .kind = "never-set", .times = 1, .customary = true };
		snprintf(out->text, sizeof out->text,
		         "%s: %s: uses the constant '%s', which the program has not set: it holds zeros",
		         l->source_file, l->func->name, name);
		snprintf(out->remedy, sizeof out->remedy,
		         "cudaMemcpyToSymbol(%s, ...) in front of the launch, if that is not meant", name);
		snprintf(out->file, sizeof out->file, "%.255s", l->source_file);
	}
}

struct noted {
	const struct emu_fault *fault;
	uint64_t times;
	unsigned number; /* as they were noted by one worker */
	bool customary;
};

/* Races first: they explain much of the rest; of them, faults before remarks. Then by the blocks,
 * whoever ran them. */
static int by_block(const void *a, const void *b)
{
	const struct noted *x = a, *y = b;
	const int race = (y->fault->kind == FAULT_RACE) - (x->fault->kind == FAULT_RACE);
	const uint64_t k = x->fault->block, m = y->fault->block;
	const int block = (k > m) - (k < m), remark = x->customary - y->customary;
	const int number = (x->number > y->number) - (x->number < y->number);
	return race ? race : remark ? remark : block ? block : number;
}

static void add_noted(const struct emu_launch *l, struct run_findings *all)
{
	struct noted *noted = mem_calloc((size_t)l->n_workers * WORKER_MAX_NOTED + 1, sizeof *noted);
	size_t n = 0;
	for (unsigned k = 0; k < l->n_workers; k++) {
		const struct worker *wk = &l->workers[k];
		for (unsigned i = 0; i < wk->n_noted; i++)
			noted[n++] =
				(struct noted){ &wk->noted[i], wk->times[i], i, is_customary(l, &wk->noted[i]) };
	}
	qsort(noted, n, sizeof *noted, by_block);
	for (size_t i = 0; i < n; i++)
		add_finding(all, l, noted[i].fault, noted[i].times);
	free(noted);
}

void emu_launch_findings(const struct emu_launch *l, struct run_findings *all)
{
	*all = (struct run_findings){ .n = 0 };
	add_noted(l, all);
	launch_undefined_reads(l, add_undefined, &(struct adding){ all, l });
	for (unsigned k = 0; k < l->n_workers; k++) {
		all->lost += l->workers[k].lost;
		if (l->workers[k].fault.kind != FAULT_NONE)
			add_finding(all, l, &l->workers[k].fault, 1);
	}
}
