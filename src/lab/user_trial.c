/* A launch on trial; see user_trial.h. */
#include "lab/user_trial.h"

#include "lab/choose.h"
#include "lab/run.h"
#include "model/session.h"

#include <stdio.h>
#include <string.h>

#define BLOCKS 24
#define LIMIT_S 2.0
/* A run of all blocks may be so much, in instructions of warps: a second or a few where they touch
 * memory here and there. All of them are tried then, and the first screen waits for no more.
 * Counted, not timed: a busy machine is told the same lines as an idle one. */
#define WHOLE_WARP_INSTS 1e8
#define WHOLE_LIMIT_S 20.0

/* ", 12 bytes past the end of x (1024 f32)": the buffer's name; shared memory has none. */
static void read_finding(const char *text, struct user_trial *out)
{
	static const char past[] = "the end of ";
	const char *at = strstr(text, past);
	if (!strstr(text, "out of bounds"))
		return;
	if (strstr(text, "shared memory")) {
		if (out->kind < TRIAL_SHARED)
			out->kind = TRIAL_SHARED;
		return;
	}
	out->kind = TRIAL_BOUNDS;
	if (at)
		snprintf(out->buffer, sizeof out->buffer, "%.*s", (int)strcspn(at + sizeof past - 1, " "),
		         at + sizeof past - 1);
}

static void judge(const struct run_record *r, struct user_trial *out)
{
	out->kind = run_findings_fault(&r->run.found) ? TRIAL_FOUND : TRIAL_FINE;
	for (unsigned i = 0; i < r->run.found.n; i++)
		if (out->kind < TRIAL_BOUNDS)
			read_finding(r->run.found.finding[i].text, out);
	if (out->kind < TRIAL_SLOW && (double)r->run.counts.total.warp_executed > WHOLE_WARP_INSTS)
		out->kind = TRIAL_SLOW;
}

void user_trial_run(const struct kernel_desc *k, struct user_trial *out)
{
	struct selection sel = { .seed = 1 };
	struct run_record *r;
	struct err err = { 0 };
	struct run_options options = {
		.max_blocks = BLOCKS, .level = RUN_LEVEL_PTX, .no_verify = true, .timeout_s = LIMIT_S
	};
	*out = (struct user_trial){ .kind = TRIAL_IMPOSSIBLE };
	if (!choose_gpu_and_backend(NULL, "emu", &sel, &err))
		return;
	sel.kernel = k;
	kernel_defaults(k, sel.params);
	bool ran = run_selection_with(&sel, &options, NULL, &r, &err);
	if (ran) {
		const bool partly = r->run.counts.blocks_run < r->run.counts.blocks_total;
		judge(r, out);
		record_free(r);
		if (!partly || out->kind != TRIAL_FINE)
			return;
		/* the last block may do what none of the others does */
		options.max_blocks = 0;
		options.timeout_s = WHOLE_LIMIT_S;
		ran = run_selection_with(&sel, &options, NULL, &r, &err);
		if (ran) {
			judge(r, out);
			record_free(r);
		}
	}
	if (ran)
		return;
	if (err.code == ERR_TIMEOUT || strstr(err.msg, "buffers of this launch")) {
		out->kind = TRIAL_SLOW;
	} else if (err.code == ERR_FAULT || err.code == ERR_USAGE) {
		out->kind = TRIAL_FAULT;
		read_finding(err.msg, out);
	}
}
