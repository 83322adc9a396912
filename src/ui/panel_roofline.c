/*
 * The roofline as a picture: what the memory and the pipes of this GPU allow, what they forbid, and
 * where the runs stand.
 *
 * Bright: the roof that holds for this kernel. Dotted above and below it: L2, shared memory and the
 * other precisions, where there is room. What lies over the roof is shaded; the line from the point
 * up to it says how much is left. The only arithmetic here is the logarithm of the axes.
 */
#include "ui/roofline_plot.h"
#include "ui/roofline_runs.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MANY_ROWS 14  /* of the plot, from which the other roofs are drawn */
#define SHADED 0x2591 /* "░" */

/* Grows the axes so that @p is on the plot, at most to 1e-3..1e5 FLOP/byte. */
static void include(struct axes *a, struct point p)
{
	if (!roofline_drawable(p))
		return;
	double lx = log10(p.x), ly = log10(p.y);
	if (lx - 0.15 < a->x0)
		a->x0 = fmax(lx - 0.15, -3);
	if (lx + 0.6 > a->x1)
		a->x1 = fmin(lx + 0.6, 5);
	if (ly - 0.2 < a->y0)
		a->y0 = fmax(ly - 0.2, -3);
	if (ly + 0.2 > a->y1)
		a->y1 = fmin(ly + 0.2, 8);
}

static void ticks(const struct axes *a, struct canvas *c)
{
	const struct plot *p = &a->p;
	char text[32];
	int row, col, last = -100, labelled = -1;
	for (int r = 0; r < p->rows; r++)
		canvas_cell(c, p->row + r, p->col - 1, STYLE_DIM, 0x2502);
	canvas_cell(c, p->row + p->rows, p->col - 1, STYLE_DIM, 0x2514);
	canvas_hline(c, p->row + p->rows, p->col, p->cols, STYLE_DIM);
	for (int e = (int)ceil(a->y0); e <= (int)floor(a->y1); e++) {
		/* on a low plot two decades may share a row */
		if (!plot_cell(p, 0, roofline_y(a, pow(10, e)), &row, &col) || row == labelled)
			continue;
		labelled = row;
		if (e >= 6) /* "1 M": the labels have eight columns */
			snprintf(text, sizeof text, "%g M", pow(10, e - 6));
		else if (e >= 0)
			fmt_count(text, sizeof text, pow(10, e));
		else
			fmt_num(text, sizeof text, pow(10, e), 3);
		canvas_right(c, row, p->col - 2, STYLE_DIM, "%s", text);
		canvas_cell(c, row, p->col - 1, STYLE_DIM, 0x2524);
	}
	/* as many marks per decade as keep six columns apart */
	static const double marks[] = { 1, 2, 5, 3 };
	double decade = p->cols / (a->x1 - a->x0);
	size_t first = decade >= 20 ? 0 : decade >= 14 ? 3 : 4;
	for (int e = (int)floor(a->x0); e <= (int)ceil(a->x1); e++) {
		for (size_t i = 0; i < 3; i++) {
			if (i && first == 4)
				break;
			if (i == 2 && first == 3)
				break;
			double v = (i == 1 && first == 3 ? marks[3] : marks[i]) * pow(10, e);
			if (!plot_cell(p, roofline_x(a, v), 0, &row, &col))
				continue;
			fmt_num(text, sizeof text, v, 3);
			int width = utf8_columns(text), at = col - width / 2;
			if (at < last + 2 || at + width > p->col + p->cols || decade < 4)
				continue;
			canvas_cell(c, p->row + p->rows, col, STYLE_DIM, 0x252c);
			canvas_text(c, p->row + p->rows + 1, at, STYLE_DIM, text);
			last = at + width;
		}
	}
}

/* The roofs beside the one that holds: another precision's, flat from the slope of DRAM on, and
 * the slopes of the memories on chip. 0 = not drawn. */
struct other_roofs {
	struct {
		const char *pipe;
		double gflops;
	} flat[2];
	struct {
		const char *memory;
		double gbs;
	} slope[2];
};

/* 32 banks of 4 bytes, each once a clock, on every SM (CUDA guide, shared memory). */
static double shared_gbs(const struct gpu_spec *g)
{
	return 32 * 4 * g->sm_count * g->clock_mhz / 1e3;
}

static struct other_roofs other_roofs_of(const struct axes *a, const struct gpu_spec *g,
                                         bool fp32_holds)
{
	struct other_roofs o = { .flat = { { "FP16 tensor", g->fp16_tensor_gflops },
		                               { fp32_holds ? "FP64" : "FP32",
		                                 fp32_holds ? g->fp64_gflops : g->fp32_gflops } },
		                     .slope = { { "L2", g->l2_gbs > 1.2 * g->dram_gbs ? g->l2_gbs : 0 },
		                                { "shared", shared_gbs(g) } } };
	for (size_t i = 0; i < ARRAY_LEN(o.flat); i++)
		if (!(o.flat[i].gflops > 0) || fabs(log10(o.flat[i].gflops / a->peak)) < 0.05)
			o.flat[i].gflops = 0;
	return o;
}

/* Every line before the first word, so that none runs through one. */
static void roof_lines(const struct axes *a, const struct other_roofs *o)
{
	const double x0 = pow(10, a->x0), ridge = a->peak / a->gbs;
	struct plot p = a->p;
	p.style = STYLE_DIM;
	for (size_t i = 0; i < ARRAY_LEN(o->flat); i++)
		if (o->flat[i].gflops > 0)
			roofline_dotted(&p, roofline_x(a, o->flat[i].gflops / a->gbs),
			                roofline_y(a, o->flat[i].gflops), 1, roofline_y(a, o->flat[i].gflops),
			                4);
	for (size_t i = 0; i < ARRAY_LEN(o->slope); i++)
		if (o->slope[i].gbs > 0)
			roofline_dotted(&p, 0, roofline_y(a, x0 * o->slope[i].gbs),
			                roofline_x(a, a->peak / o->slope[i].gbs), roofline_y(a, a->peak), 4);
	p.style = STYLE_BAR;
	const double dot = 1.0 / (4 * p.rows);
	for (int i = 0; i < (p.c->ascii ? 1 : 2); i++) { /* two dots thick */
		plot_line(&p, a->x0 < log10(ridge) ? 0 : roofline_x(a, ridge),
		          roofline_y(a, fmin(a->peak, x0 * a->gbs)) - i * dot, roofline_x(a, ridge),
		          roofline_y(a, a->peak) - i * dot);
		plot_line(&p, roofline_x(a, ridge), roofline_y(a, a->peak) - i * dot, 1,
		          roofline_y(a, a->peak) - i * dot);
	}
}

/* A slope's name in its middle, above it; with another slope over it, below. */
static void slope_name(const struct axes *a, struct canvas *c, const char *name, double gbs,
                       bool below)
{
	char text[64], number[32];
	int row, col;
	fmt_count(number, sizeof number, gbs);
	snprintf(text, sizeof text, "%s %s GB/s", name, number);
	const double x = pow(10, (a->x0 + log10(a->peak / gbs)) / 2);
	if (!plot_cell(&a->p, roofline_x(a, x), roofline_y(a, x * gbs), &row, &col))
		return;
	if (below)
		roofline_label(a, c, row + 1, col + 1, STYLE_DIM, text);
	else
		roofline_label(a, c, row > a->p.row + 1 ? row - 1 : row, col - utf8_columns(text) - 3,
		               STYLE_DIM, text);
}

/* A flat roof's name over its right end, or under it. */
static void roof_name(const struct axes *a, struct canvas *c, const char *text, double gflops)
{
	const int right = a->p.col + a->p.cols, width = utf8_columns(text);
	int row, col;
	if (!plot_cell(&a->p, 1, roofline_y(a, gflops), &row, &col))
		return;
	if (row > a->p.row && roofline_free(c, row - 1, right - width - 1, width + 1))
		canvas_right(c, row - 1, right, STYLE_DIM, "%s", text);
	else if (row + 1 < a->p.row + a->p.rows &&
	         roofline_free(c, row + 1, right - width - 1, width + 1))
		canvas_right(c, row + 1, right, STYLE_DIM, "%s", text);
}

static void roof_names(const struct axes *a, struct canvas *c, const char *pipe,
                       const struct other_roofs *o)
{
	char text[96], number[32];
	snprintf(text, sizeof text, "%s roof %s GFLOPS", pipe,
	         fmt_count(number, sizeof number, a->peak));
	roof_name(a, c, text, a->peak);
	for (size_t i = 0; i < ARRAY_LEN(o->flat); i++) {
		snprintf(text, sizeof text, "%s %s", o->flat[i].pipe,
		         fmt_count(number, sizeof number, o->flat[i].gflops));
		if (o->flat[i].gflops > 0)
			roof_name(a, c, text, o->flat[i].gflops);
	}
	slope_name(a, c, "DRAM", a->gbs, o->slope[0].gbs > 0);
	for (size_t i = 0; i < ARRAY_LEN(o->slope); i++)
		if (o->slope[i].gbs > 0)
			slope_name(a, c, o->slope[i].memory, o->slope[i].gbs, false);
}

/* Is there no text? Shading may touch a line, but no word. */
static bool wordless(const struct canvas *c, const struct plot *p, int row, int col)
{
	if (col < p->col || col >= p->col + p->cols)
		return true;
	const uint32_t ch = roofline_at(c, row, col)->ch;
	return ch == ' ' || ch == SHADED || (ch >= 0x2800 && ch <= 0x28ff);
}

/* What no kernel can reach from DRAM: shaded, but for what is written there and a blank on either
 * side of it. */
static void forbidden(const struct axes *a, struct canvas *c)
{
	const struct plot *p = &a->p;
	for (int k = 0; k < p->cols; k++) {
		const double x = a->x0 + (k + 0.5) / p->cols * (a->x1 - a->x0);
		int roof, col;
		if (!plot_cell(p, (k + 0.5) / p->cols, roofline_y(a, fmin(a->peak, pow(10, x) * a->gbs)),
		               &roof, &col))
			continue;
		for (int row = p->row; row < roof; row++) {
			const int at = p->col + k;
			if (c->ascii && (at + 2 * row) % 4)
				continue;
			if (roofline_free(c, row, at, 1) && wordless(c, p, row, at - 1) &&
			    wordless(c, p, row, at + 1))
				canvas_cell(c, row, at, STYLE_SHADE, SHADED);
		}
	}
}

/* From the point up to the roof: "4.1× left". */
static void what_is_left(const struct axes *a, struct canvas *c, struct point now)
{
	int row, col, roof, same;
	char text[48], number[32];
	if (!roofline_drawable(now))
		return;
	const double could = fmin(a->peak, now.x * a->gbs);
	if (could < 1.2 * now.y ||
	    !plot_cell(&a->p, roofline_x(a, now.x), roofline_y(a, now.y), &row, &col) ||
	    !plot_cell(&a->p, roofline_x(a, now.x), roofline_y(a, could), &roof, &same))
		return;
	for (int r = roof + 1; r < row; r++)
		if (roofline_free(c, r, col, 1))
			canvas_cell(c, r, col, STYLE_KNOB, 0x2506);
	if (row - roof < 3)
		return;
	snprintf(text, sizeof text, "%s× left", fmt_num(number, sizeof number, could / now.y, 2));
	roofline_label(a, c, (row + roof) / 2, col, STYLE_KNOB, text);
}

static bool fp64(const struct metric_set *m)
{
	double d = m ? metric_get(m, M_FLOP_FP64) : NAN, f = m ? metric_get(m, M_FLOP_FP32) : NAN;
	return isfinite(d) && d > 0 && !(d < f);
}

void panel_roofline(const struct session *s, struct canvas *c, int row, int rows)
{
	const struct gpu_spec *g = s->sel.gpu;
	const struct metric_set *m = panel_metrics(s);
	const bool dp = fp64(m);
	const enum tensor_input tensor = m && s->now ? s->now->cost.tensor : TENSOR_NONE;
	struct axes a = { .peak =
		                  dp ? g->fp64_gflops : roof_peak_gflops(g, tensor ? &s->now->cost : NULL),
		              .gbs = g->dram_gbs };
	if (!(a.peak > 0) || !(a.gbs > 0) || rows < 5 || c->cols < 24)
		return;
	double ridge = log10(a.peak / a.gbs);
	a.x0 = fmin(-1, ridge - 1.5);
	a.x1 = fmax(2, ridge + 0.8);
	a.y1 = log10(a.peak) + 0.35;
	a.y0 = fmin(log10(a.gbs) + a.x0 - 0.1, a.y1 - 2);
	struct roofline_runs runs;
	roofline_runs_of(s, &runs);
	include(&a, runs.now);
	include(&a, runs.before);
	include(&a, runs.book);
	include(&a, runs.reference);
	for (unsigned i = 0; i < runs.n; i++)
		include(&a, runs.run[i]);
	const bool many = rows - 3 >= MANY_ROWS;
	if (many && g->fp16_tensor_gflops > 0)
		a.y1 = fmax(a.y1, log10(g->fp16_tensor_gflops) + 0.35);
	/* a row above the roof for its name */
	if (rows > 5)
		a.y1 = fmax(a.y1, log10(a.peak) + 1.6 * (log10(a.peak) - a.y0) / (rows - 5));
	a.p =
		(struct plot){ .c = c, .row = row + 1, .col = 10, .rows = rows - 3, .cols = c->cols - 12 };
	canvas_text(c, row, 2, STYLE_DIM, "GFLOPS");
	canvas_right(c, row, c->cols - 2, STYLE_DIM, "FLOP per byte →");
	ticks(&a, c);
	struct other_roofs others = { 0 };
	if (many)
		others = other_roofs_of(&a, g, !dp && !tensor);
	roof_lines(&a, &others);
	roofline_dots(&a, &runs, c);
	roof_names(&a, c,
	           dp                      ? "FP64"
	           : tensor == TENSOR_F16  ? "FP16 tensor"
	           : tensor == TENSOR_TF32 ? "TF32 tensor"
	                                   : "FP32",
	           &others);
	what_is_left(&a, c, runs.now);
	roofline_names(s, &a, &runs, c);
	forbidden(&a, c);
}
