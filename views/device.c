/*
 * Device: the GPU sheet that every figure rests on, each with its source.
 *
 * Shows the list of model/gpu.h as it is; asks no driver.
 */
#include "ui/view.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

struct figure {
	const char *field, *about;
	double value;
};

static double of_int(int v)
{
	return v;
}

static double of_uint(unsigned v)
{
	return v;
}

static double of_float(double v)
{
	return v;
}

#define INT of_int
#define UINT of_uint
#define FLOAT of_float
#define X(type, name, least, most, what) +1
enum { N_FIGURES = 0 GPU_FIGURES(X) };
#undef X

static void figures(const struct gpu_spec *g, struct figure f[N_FIGURES])
{
	const struct figure all[N_FIGURES] = {
#define X(type, name, least, most, what) { .field = #name, .about = what, .value = type(g->name) },
		GPU_FIGURES(X)
#undef X
	};
	memcpy(f, all, sizeof all);
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);
	return n >= m && !strcmp(s + n - m, end);
}

/* The unit is in the field's name. */
static void shown(const struct figure *f, char *out, size_t n)
{
	char num[48];
	if (!strcmp(f->field, "dram_bytes")) {
		fmt_gb(out, n, f->value);
	} else if (ends_in(f->field, "_bytes")) {
		fmt_bytes(out, n, f->value);
	} else if (ends_in(f->field, "_ns")) {
		fmt_ns(out, n, f->value);
	} else if (ends_in(f->field, "_gflops") && !(f->value > 0)) {
		snprintf(out, n, "none");
	} else if (ends_in(f->field, "_gbs")) {
		fmt_num(num, sizeof num, f->value, 5);
		snprintf(out, n, "%s GB/s", num);
	} else {
		fmt_count(num, sizeof num, f->value);
		snprintf(out, n, "%s%s", num,
		         ends_in(f->field, "_gflops") ? " GFLOPS"
		         : ends_in(f->field, "_mhz")  ? " MHz"
		                                      : "");
	}
}

static unsigned n_rows(const struct session *s)
{
	(void)s;
	return N_FIGURES;
}

static void draw(const struct session *s, struct canvas *c)
{
	const struct gpu_spec *g = s->sel.gpu;
	struct figure f[N_FIGURES];
	figures(g, f);
	int row = c->rows >= 12 ? 1 : 0;
	int col = canvas_text(c, row, 2, STYLE_TITLE, g->name);
	col = canvas_printf(c, row, col, STYLE_DIM, "   %s %s · cc %d.%d · ", g->arch, g->chip,
	                    g->cc_major, g->cc_minor);
	const char *from =
		g->live ? "read from this machine's GPU" : "from its sheet; every figure has a source";
	if (!g->live && utf8_columns(from) > c->cols - 1 - col)
		from = "from its sheet";
	canvas_text_n(c, row, col, c->cols - 1 - col, g->live ? STYLE_GOOD : STYLE_DIM, from);
	row += c->rows >= 12 ? 2 : 1;
	bool pick = panel_focused(s, "device");
	unsigned at = pick ? (s->cursor.row < N_FIGURES ? s->cursor.row : N_FIGURES - 1) : 0;
	int value = c->cols >= 70 ? 55 : c->cols - 2;
	/* what vouches for the focused figure, in full, at the foot */
	const char *source = gpu_source_of(g, f[at].field);
	char why[400];
	snprintf(why, sizeof why, "%s: %s", f[at].field,
	         source    ? source
	         : g->live ? "asked of the driver"
	                   : "no source is named");
	int foot = pick && c->rows >= 14 ? text_rows(why, c->cols - 4) : 0;
	int window = c->rows - row - (foot ? foot + 1 : 0);
	unsigned top = panel_scroll(N_FIGURES, at, window);
	for (int r = 0; r < window && top + (unsigned)r < N_FIGURES; r++) {
		const struct figure *fig = &f[top + (unsigned)r];
		char text[64];
		bool here = pick && top + (unsigned)r == at;
		shown(fig, text, sizeof text);
		canvas_hit(c, row + r, 0, 1, c->cols, HIT_ROW, top + (unsigned)r);
		if (here)
			canvas_text(c, row + r, 0, STYLE_KNOB, "▸");
		canvas_text_n(c, row + r, 2, value - 18, here ? STYLE_BOLD : STYLE_NORMAL, fig->about);
		canvas_right(c, row + r, value, STYLE_BOLD, "%s", text);
		source = gpu_source_of(g, fig->field);
		if (value + 12 < c->cols)
			canvas_text_n(c, row + r, value + 2, c->cols - value - 8, STYLE_DIM,
			              source    ? source
			              : g->live ? "asked of the driver"
			                        : "");
	}
	panel_scroll_marks(c, row, window, top, N_FIGURES);
	if (foot)
		canvas_wrap(c, row + window + 1, 2, foot, c->cols - 4, STYLE_DIM, why);
}

const struct view_desc view_device = {
	.name = "device",
	.title = "Device",
	.brief = "Dev",
	.order = 9,
	.about = "the GPU's sheet, every figure with its source",
	.draw = draw,
	.rows = n_rows,
	.place = VIEW_ALONE,
};
