/*
 * Blocks on SMs: the grid dealt wave by wave, to the tail. See view.h.
 *
 * A model: every block takes the same time (PMPP 4.3).
 */
#include "ui/view.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>

/* A grid dealt to the SMs wave by wave, every block taking as long as any other. */
struct waves {
	unsigned sms, per_sm;
	double blocks, full; /* blocks of the grid; waves that fill the GPU */
	double rest;         /* blocks of the last, partly filled wave; 0 = none */
	double count;        /* waves as time: full + 1 if there is a rest */
	double kernel_ns, wave_ns;
};

static bool waves_of(const struct run_record *r, struct waves *w)
{
	const struct launch_plan *p = &r->plan;
	*w = (struct waves){ .sms = r->sel.gpu->sm_count, .per_sm = r->occ.blocks_per_sm };
	w->blocks = (double)p->grid.x * p->grid.y * p->grid.z;
	w->kernel_ns = metric_get(&r->metrics, M_TIME_KERNEL);
	const double wave = (double)w->sms * w->per_sm;
	if (!(wave > 0) || !(w->blocks > 0) || !(w->kernel_ns > 0))
		return false;
	w->full = floor(w->blocks / wave);
	w->rest = w->blocks - w->full * wave;
	w->count = w->full + (w->rest > 0);
	w->wave_ns = w->kernel_ns / w->count;
	return true;
}

/* Share of the block places of SMs @from ... @to - 1 that are taken during @wave. */
static double filled(const struct waves *w, double wave, unsigned from, unsigned to)
{
	if (wave < w->full)
		return 1;
	/* the last ones are dealt in turn: SM i gets one more when i < rest mod SMs */
	const double each = floor(w->rest / w->sms);
	const double more = w->rest - each * w->sms;
	const double extra = fmin(fmax(more - from, 0), to - from);
	return (each * (to - from) + extra) / ((double)w->per_sm * (to - from));
}

static uint32_t fill_char(double share, double wave)
{
	if (share >= 0.999)
		return fmod(wave, 2) < 1 ? 0x2588 : 0x2593;
	return share >= 0.5 ? 0x2592 : share > 0 ? 0x2591 : ' ';
}

static void draw_wave(struct canvas *c, int row, const struct time_axis *a, const struct waves *w,
                      unsigned sm, unsigned to_sm)
{
	/* one cell, one moment: waves narrower than a column cannot be told apart, and need not be */
	for (int col = 0; col < a->cols; col++) {
		const double t = a->from + (col + 0.5) * a->ns_per_col;
		const double wave = fmin(floor(t / w->wave_ns), w->count - 1);
		const double share = filled(w, wave, sm, to_sm);
		canvas_cell(c, row, a->left + col, share >= 0.999 ? STYLE_GOOD : STYLE_WATCH,
		            fill_char(share, wave));
	}
}

void panel_waves(const struct session *s, struct canvas *c)
{
	struct waves w;
	char num[32], time[32];
	if (!waves_of(s->now, &w)) {
		canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_WATCH,
		            "n/a: the kernel's time or its blocks per SM are not known");
		return;
	}
	const struct time_axis a = time_axis_of(s, w.kernel_ns, 13, 2, c->cols);
	time_axis_draw(&a, s, c, 1);
	const int room = c->rows - 2 - 5 > 1 ? c->rows - 2 - 5 : 1;
	const unsigned group = (w.sms + (unsigned)room - 1) / (unsigned)room;
	int row = 2;
	for (unsigned sm = 0; sm < w.sms && row < c->rows; sm += group, row++) {
		const unsigned to = sm + group < w.sms ? sm + group : w.sms;
		if (group > 1)
			canvas_printf(c, row, 2, STYLE_DIM, "SM %u-%u", sm, to - 1);
		else
			canvas_printf(c, row, 2, STYLE_DIM, "SM %u", sm);
		draw_wave(c, row, &a, &w, sm, to);
	}
	const double exact = w.blocks / ((double)w.sms * w.per_sm);
	const enum origin o = s->now->metrics.v[M_TIME_KERNEL].origin;
	row++;
	int col = canvas_printf(c, row, 2, STYLE_BOLD, "%.2f waves", exact);
	canvas_printf(c, row++, col, STYLE_NORMAL, ": %s blocks on %u SMs × %u   kernel %s %s",
	              fmt_count(num, sizeof num, w.blocks), w.sms, w.per_sm,
	              fmt_ns(time, sizeof time, w.kernel_ns), origin_mark(o, c->ascii));
	if (w.rest > 0) {
		const double wave = (double)w.sms * w.per_sm;
		canvas_printf(c, row++, 2, STYLE_WATCH,
		              "tail: the last wave is %.0f %% full; %.0f %% of the "
		              "kernel's block places stay empty",
		              100 * w.rest / wave, 100 * (w.count - exact) / w.count);
	} else {
		canvas_text(c, row++, 2, STYLE_GOOD, "no tail: the last wave is full");
	}
	canvas_text_n(c, row, 2, c->cols - 3, STYLE_DIM,
	              "~ blocks are taken to be alike; Esc goes back to copies and streams");
}
