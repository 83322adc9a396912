/*
 * Hardware: what only a real GPU tells about a run: the spread of its time, the clocks, the loaded
 * function, and why warps waited (Nsight Compute's "warp state"; PMPP 4.6).
 *
 * Everything here is measured; a run in the emulator has none of it, and the panel says so, and
 * shows what was recorded on another machine.
 */
#include "ui/view.h"

#include "base/text.h"
#include "model/brief.h"

#include <stdio.h>
#include <string.h>

#define SHOWS                                                                                     \
	"Here after a run on a GPU: the spread of the kernel time, the clocks, the loaded function, " \
	"and the reasons for which warps waited."

#define LEAST_REASONS 6 /* rows of them, under what was recorded */

/* What the commonest reasons mean and what helps; others are shown by name alone. */
static const struct {
	const char *reason, *means;
} meanings[] = {
	{ "long_scoreboard", "waits for global or local memory: more warps, fewer or wider loads" },
	{ "short_scoreboard", "waits for shared memory or special functions" },
	{ "barrier", "waits at __syncthreads(): smaller blocks, or more of them per SM" },
	{ "math_pipe_throttle", "the arithmetic pipe is busy: this is what one wants" },
	{ "mio_throttle", "the queue of shared-memory and special instructions is full" },
	{ "lg_throttle", "the queue of global loads and stores is full: wider accesses" },
	{ "wait", "fixed latency of the instruction before" },
	{ "not_selected", "ready, but another warp was chosen: enough warps are there" },
	{ "selected", "issuing: not a wait" },
	{ "branch_resolving", "waits for a branch target" },
	{ "dispatch_stall", "held by the dispatcher" },
	{ "drain", "waits for stores at the end of the kernel" },
	{ "imc_miss", "waits for the constant cache" },
	{ "membar", "waits at a memory fence" },
	{ "no_instruction", "waits for the instruction cache" },
	{ "sleeping", "asked to sleep" },
	{ "tex_throttle", "the texture queue is full" },
	{ "gmma", "waits for the warpgroup matrix unit" },
};

static const char *meaning(const char *reason)
{
	for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
		if (!strcmp(meanings[i].reason, reason))
			return meanings[i].means;
	return "";
}

static int times(const struct run_result *hw, struct canvas *c, int row)
{
	const struct run_timing *t = &hw->timing;
	char median[32], lo[32], hi[32], q1[32], q3[32];
	if (!t->n) {
		canvas_text(c, row, 2, STYLE_DIM, "time     n/a: it was not measured");
		return row + 2;
	}
	fmt_ns(median, sizeof median, t->median_ns);
	fmt_ns(lo, sizeof lo, t->min_ns);
	fmt_ns(hi, sizeof hi, t->max_ns);
	fmt_ns(q1, sizeof q1, t->q1_ns);
	fmt_ns(q3, sizeof q3, t->q3_ns);
	int col = canvas_text(c, row, 2, STYLE_NORMAL, "time     ");
	col = canvas_printf(c, row, col, STYLE_BOLD, "%s ●", median);
	canvas_printf(c, row++, col, STYLE_DIM, "   median of %u, %s to %s, half of them %s to %s",
	              t->n, lo, hi, q1, q3);
	canvas_printf(c, row++, 11, STYLE_DIM, "%s, L2 %s before every launch",
	              t->from_activity ? "start and end stamps of the kernel" : "CUDA events",
	              t->l2_flushed ? "flushed" : "left warm");
	if (t->sm_mhz > 0)
		canvas_printf(c, row++, 2, STYLE_NORMAL, "clocks   SM %.0f MHz, memory %.0f MHz", t->sm_mhz,
		              t->memory_mhz);
	return row + 1;
}

static int loaded(const struct run_record *r, struct canvas *c, int row)
{
	const struct run_static *f = &r->run.loaded;
	if (!f->known)
		return row;
	canvas_printf(c, row++, 2, STYLE_NORMAL,
	              "loaded   %u registers, %u B shared, %u B local, at most %u threads%s",
	              f->registers, f->static_shared_bytes, f->local_bytes, f->max_threads,
	              f->jit ? ", compiled by the driver" : "");
	const bool same = f->blocks_per_sm == r->occ.blocks_per_sm;
	canvas_printf(c, row, 2, same ? STYLE_GOOD : STYLE_BAD, "%s", same ? "✓" : "✗");
	canvas_printf(c, row++, 11, STYLE_NORMAL, "the driver says %u blocks per SM, our arithmetic %u",
	              f->blocks_per_sm, r->occ.blocks_per_sm);
	return row + 1;
}

static void stalls(const struct run_record *r, struct canvas *c, int row)
{
	const struct run_result *hw = &r->run;
	unsigned order[RUN_MAX_STALLS];
	double sum = 0;
	if (!hw->n_stalls) {
		const struct metric_value *counted = &r->metrics.v[M_INST_WARP];
		const bool refused = counted->origin == ORIGIN_NONE && counted->reason;
		struct text why = { 0 };
		text_add(&why, "stalls   n/a: %s", refused ? counted->reason : "not read with this run");
		canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_DIM, why.s);
		text_free(&why);
		return;
	}
	for (unsigned i = 0; i < hw->n_stalls; i++) {
		sum += hw->stalls[i].warps > 0 ? hw->stalls[i].warps : 0;
		unsigned k = i;
		for (; k > 0 && hw->stalls[order[k - 1]].warps < hw->stalls[i].warps; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	canvas_text(c, row++, 2, STYLE_DIM, "why warps waited: warps in that state per issuing cycle");
	for (unsigned i = 0; i < hw->n_stalls && row < c->rows; i++, row++) {
		const struct run_stall *s = &hw->stalls[order[i]];
		if (!(s->warps > 0.005))
			break;
		canvas_text(c, row, 2, i ? STYLE_NORMAL : STYLE_BOLD, s->reason);
		canvas_right(c, row, 29, STYLE_BOLD, "%.2f", s->warps);
		canvas_bar(c, row, 31, 12, sum > 0 ? s->warps / sum : 0, STYLE_BAR);
		canvas_text_n(c, row, 45, c->cols - 46, STYLE_DIM, meaning(s->reason));
	}
}

/* What a GPU measured of this launch, recorded there, beside the figures of this run: the time,
 * what differs, what does not. */
static int recorded(const struct session *s, struct canvas *c, int row)
{
	const struct run_brief *g = session_reference_run(s);
	const int here = c->cols < 110 ? c->cols - 4 : 106, there = here - 18;
	if (!g || there < 40 || row + 2 >= c->rows)
		return row;
	canvas_printf(c, row, 2, STYLE_DIM, "recorded on %s", g->sel.gpu->name);
	canvas_right(c, row, there - 1, STYLE_DIM, "there");
	canvas_right(c, row++, here - 1, STYLE_DIM, "here");
	/* the reasons below have room too */
	const int last = c->rows - (c->rows - row > 16 ? LEAST_REASONS + 2 : 0);
	for (int pass = 0; pass < 3; pass++)
		for (int i = 0; i < METRIC_COUNT && row < last; i++) {
			const enum metric_id id = (enum metric_id)i;
			char is[96], was[96];
			if (g->metrics.v[id].origin != ORIGIN_MEASURED)
				continue;
			metric_format(&g->metrics, id, was, sizeof was);
			metric_format(&s->now->metrics, id, is, sizeof is);
			if (pass != (id == M_TIME_KERNEL ? 0 : strcmp(is, was) ? 1 : 2))
				continue;
			canvas_text_n(c, row, 2, there - 20, STYLE_NORMAL, metric_catalogue[id].title);
			canvas_right(c, row, there - 1, STYLE_BOLD, "%.16s", was);
			canvas_text(c, row, there, STYLE_DIM, origin_mark(ORIGIN_MEASURED, c->ascii));
			canvas_right(c, row, here - 1, STYLE_NORMAL, "%.16s", is);
			canvas_text(c, row++, here, STYLE_DIM,
			            origin_mark(s->now->metrics.v[id].origin, c->ascii));
		}
	return row + 1;
}

/* Which counts a card gives differently each time, and why. */
static int variation(const struct session *s, struct canvas *c, int row)
{
	const struct run_variation *v = &s->now->run.counts.variation;
	char words[1024];
	if (!variation_any(v) || row + 1 >= c->rows)
		return row;
	canvas_text_n(c, row++, 2, c->cols - 3, STYLE_DIM, "a card may count differently:");
	for (unsigned w = variation_next(v, 0); w < VARIATION_WHYS && row + 1 < c->rows;
	     w = variation_next(v, w + 1)) {
		row += canvas_wrap(c, row, 4, c->rows - row, c->cols - 6, STYLE_NORMAL,
		                   variation_text((enum variation_why)w));
		if (row < c->rows)
			row += canvas_wrap(c, row, 6, c->rows - row, c->cols - 8, STYLE_DIM,
			                   variation_counts_text(v, w, words, sizeof words));
	}
	return row + 1;
}

/* What cannot be known here, and how true to a card the run was; then what was recorded elsewhere,
 * and the reasons that a GPU tells apart. */
static void without_gpu(const struct session *s, struct canvas *c)
{
	int row = 2 + canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_DIM,
	                          "n/a: this run was made by the emulator, which has no clock and no "
	                          "pipes. On a machine with an NVIDIA GPU, press b and choose cuda; "
	                          "`pmpp-explore doctor` says what is missing here.");
	char words[1024];
	if (s->now->run.counts.fidelity.known && row + 1 < c->rows)
		row +=
			1 + canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_NORMAL,
		                    run_fidelity_text(&s->now->run.counts.fidelity, words, sizeof words));
	row = variation(s, c, row);
	row = recorded(s, c, row);
	if (row + 1 >= c->rows)
		return;
	canvas_text_n(c, row++, 2, c->cols - 3, STYLE_DIM, "for what a warp waits, as a GPU counts it");
	for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
		if (text_rows(meanings[i].means, c->cols - 23) > c->rows - row)
			break; /* whole ones only */
		canvas_text(c, row, 2, STYLE_NORMAL, meanings[i].reason);
		row += canvas_wrap(c, row, 22, c->rows - row, c->cols - 23, STYLE_DIM, meanings[i].means);
	}
}

static void draw(const struct session *s, struct canvas *c)
{
	if (panel_waiting(s, c, SHOWS))
		return;
	const struct run_result *hw = &s->now->run;
	if (!hw->timing.n && !hw->loaded.known && !hw->n_stalls) {
		without_gpu(s, c);
		return;
	}
	int row = times(hw, c, 1);
	row = loaded(s->now, c, row);
	struct canvas above = canvas_sub(c, 0, 0, c->rows - (hw->counter_passes > 0), c->cols);
	stalls(s->now, &above, row);
	if (hw->counter_passes)
		canvas_right(c, c->rows - 1, c->cols - 1, STYLE_DIM, "counters: %u passes, %.2f s",
		             hw->counter_passes, hw->counters_s);
}

const struct view_desc view_hardware = {
	.name = "hardware",
	.title = "Hardware",
	.brief = "HW",
	.order = 11,
	.about = "what only a GPU tells: spread of the time, clocks, why warps waited",
	.draw = draw,
	.needs = NEEDS_STALLS,
	.scope = VIEW_OF_KERNEL,
	.place = VIEW_ALONE,
};
