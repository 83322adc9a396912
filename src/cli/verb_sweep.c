/*
 * sweep: one variant over every combination of the listed parameter values, fastest first. What
 * cannot be launched is counted with its first reason. Times come from plain runs.
 */
#include "cli/cli.h"
#include "cli/progress.h"
#include "lab/workbench.h"

#include "base/mem.h"
#include "model/record_tables.h"
#include "model/time_range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 32
#define MAX_POINTS 4096

struct state {
	const char *gpu, *backend;
	uint64_t sample, top;
	bool json;
};

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	const struct option_spec all[] = {
		OPTIONS_ENGINE(s),
		{ "--sample", OPT_COUNT, &s->sample, "N",
		  "emulator: run at most N blocks of each point (default 16; 0 = all, verified)" },
		{ "--top", OPT_ORDINAL, &s->top, "N", "show the N fastest (default 20)" },
		{ "--json", OPT_FLAG, &s->json, NULL, "one JSON object instead of text, every point" },
	};
	s->sample = 16;
	s->top = 20;
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all);
}

/* The values asked for of one parameter. */
struct axis {
	unsigned param, n;
	int64_t value[MAX_VALUES];
};

struct point {
	int64_t params[KERNEL_MAX_PARAMS];
	double time_ns, rate, occupancy;
	unsigned registers, spill_bytes;
	enum origin origin;
	bool wrong;
	char bottleneck[64];
};

struct sweep {
	struct selection sel;
	unsigned n_axes;
	struct axis axes[KERNEL_MAX_PARAMS];
	unsigned n, refused, failed, total;
	unsigned listed; /* combinations asked for; fewer than @total where the person had enough */
	struct point *points;
	char why[200];        /* first refusal */
	char failed_why[200]; /* first failure of a run */
	struct progress progress;
};

/* "BM=64,128": one axis; a single value is set in the selection. */
static bool read_axis(struct sweep *w, const char *arg, struct err *err)
{
	const char *equals = strchr(arg, '=');
	struct axis a = { 0 };
	if (!equals)
		return select_param(arg, &w->sel, err);
	bool ok = true;
	for (const char *v = equals; ok && *v; v += 1 + strcspn(v + 1, ",")) {
		char *one =
			mem_printf("%.*s=%.*s", (int)(equals - arg), arg, (int)strcspn(v + 1, ","), v + 1);
		ok = select_param(one, &w->sel, err);
		free(one);
		if (ok && a.n == MAX_VALUES)
			ok = err_set(err, ERR_USAGE, "%s: at most %d values", arg, MAX_VALUES);
		if (ok) {
			char name[64];
			snprintf(name, sizeof name, "%.*s", (int)(equals - arg), arg);
			a.param = (unsigned)kernel_param_index(w->sel.kernel, name);
			a.value[a.n++] = w->sel.params[a.param];
		}
	}
	if (ok && a.n > 1)
		w->axes[w->n_axes++] = a;
	return ok;
}

/* "BM=64 BN=128": where a point stands on the axes. */
static void axis_text(const struct sweep *w, const int64_t *params, char *out, size_t n)
{
	size_t at = 0;
	out[0] = '\0';
	for (unsigned i = 0; i < w->n_axes && at < n; i++) {
		char value[32];
		const unsigned param = w->axes[i].param;
		kernel_param_format(w->sel.kernel, param, params[param], value, sizeof value);
		const int len = snprintf(out + at, n - at, "%s%s=%s", i ? " " : "",
		                         w->sel.kernel->params[param].name, value);
		at += len > 0 ? (size_t)len : 0;
	}
}

/* What a point came to, while the others run. */
static void tell_point(struct sweep *w, const char *words, const struct point *p, bool utf8)
{
	char time[32], rate[32];
	progress_result(&w->progress, "  %-40s %10s %s %10s GFLOPS%s", words,
	                fmt_ns(time, sizeof time, p->time_ns), origin_mark(p->origin, !utf8),
	                fmt_num(rate, sizeof rate, p->rate, 4), p->wrong ? "  WRONG RESULT" : "");
}

static void measure(struct sweep *w, const struct run_options *options_, bool utf8)
{
	const struct run_hooks hooks = progress_hooks(&w->progress);
	struct run_record *r = NULL;
	struct err err = { 0 };
	char words[160];
	if (progress_cancelled())
		return;
	axis_text(w, w->sel.params, words, sizeof words);
	progress_item(&w->progress, words);
	const bool ran = run_selection_with(&w->sel, options_, &hooks, &r, &err);
	if (!ran)
		progress_done(&w->progress);
	if (!ran && err.code == ERR_CANCELLED)
		return;
	w->total++;
	if (!ran && err.code == ERR_USAGE) {
		if (!w->refused++)
			snprintf(w->why, sizeof w->why, "%.199s", err.msg);
		return;
	}
	if (!ran) {
		if (!w->failed++)
			snprintf(w->failed_why, sizeof w->failed_why, "%.199s", err.msg);
		return;
	}
	struct point *p = &w->points[w->n++];
	*p = (struct point){ .time_ns = metric_get(&r->metrics, M_TIME_KERNEL),
		                 .occupancy = r->occ.pct,
		                 .registers = r->occ_in.regs_per_thread,
		                 .spill_bytes = r->spill_bytes,
		                 .origin = r->metrics.v[M_TIME_KERNEL].origin,
		                 .wrong = r->verify == VERIFY_WRONG };
	memcpy(p->params, w->sel.params, sizeof p->params);
	p->rate = r->cost.flop / p->time_ns;
	snprintf(p->bottleneck, sizeof p->bottleneck, "%s", r->metrics.v[M_TIME_BOTTLENECK].text);
	record_free(r);
	tell_point(w, words, p, utf8);
	progress_done(&w->progress);
}

/* Every combination of the axes from @axis on. */
static void combine(struct sweep *w, unsigned axis, const struct run_options *options_, bool utf8)
{
	if (axis == w->n_axes) {
		measure(w, options_, utf8);
		return;
	}
	for (unsigned i = 0; i < w->axes[axis].n; i++) {
		w->sel.params[w->axes[axis].param] = w->axes[axis].value[i];
		combine(w, axis + 1, options_, utf8);
	}
}

/* PTX knows no spilled registers, so that a modelled time lacks their traffic. A few words outside
 * the loops do not matter. */
#define SPILL_MATTERS 128
static bool too_short(const struct point *p)
{
	return p->origin == ORIGIN_MODELLED && p->spill_bytes > SPILL_MATTERS;
}

/* Times that are known to be too short stand behind all others. */
static int faster(const void *a, const void *b)
{
	const int behind = (int)too_short(a) - (int)too_short(b);
	if (behind)
		return behind;
	const double x = ((const struct point *)a)->time_ns, y = ((const struct point *)b)->time_ns;
	return isnan(x) ? 1 : isnan(y) ? -1 : (x > y) - (x < y);
}

static bool as_quick_as_first(const struct sweep *w, unsigned i)
{
	const struct point *first = &w->points[0], *p = &w->points[i];
	return first->origin == ORIGIN_MODELLED && p->origin == ORIGIN_MODELLED && p->time_ns > 0 &&
	       !too_short(p) && !modelled_times_apart(first->time_ns, p->time_ns, TIME_STEP_VALUE);
}

/* How many others may be the quickest. */
static void print_close(struct cli *c, const struct sweep *w)
{
	unsigned n = 0;
	for (unsigned i = 1; i < w->n; i++)
		n += as_quick_as_first(w, i);
	if (!n)
		return;
	cli_line_in(c, STYLE_WATCH,
	            "%u more are too close to the first for the model to tell which is the quickest",
	            n);
	fputc('\n', c->out);
}

static void print_text(struct cli *c, const struct sweep *w, uint64_t top)
{
	struct table t = { .cols = 6,
		               .said = true,
		               .head = true,
		               .names = { true },
		               .right = { [1] = true, true, true, true },
		               .looks = { [1] = STYLE_BOLD, [5] = STYLE_DIM } };
	cli_line_in(c, STYLE_TITLE, "%s/%s on %s, fastest first", w->sel.kernel->name,
	            w->sel.kernel->variants[w->sel.variant].name, w->sel.gpu->name);
	fputc('\n', c->out);
	table_row(&t, "parameters", "time", "GFLOPS", "occupancy", "registers", "bottleneck");
	bool behind = false;
	for (unsigned i = 0; i < w->n && i < top; i++) {
		const struct point *p = &w->points[i];
		char params[160], time[48], rate[32], occ[32], regs[16], spilled[112];
		axis_text(w, p->params, params, sizeof params);
		fmt_ns(time, sizeof time, p->time_ns);
		snprintf(time + strlen(time), sizeof time - strlen(time), " %s",
		         origin_mark(p->origin, !c->utf8));
		snprintf(occ, sizeof occ, "%.1f %%", p->occupancy);
		snprintf(regs, sizeof regs, "%u", p->registers);
		snprintf(spilled, sizeof spilled, "%s, and %u B spilled: slower than this", p->bottleneck,
		         p->spill_bytes);
		behind = behind || too_short(p);
		table_row(&t, params, time, fmt_num(rate, sizeof rate, p->rate, 4), occ, regs,
		          p->wrong       ? "WRONG RESULT"
		          : too_short(p) ? spilled
		                         : p->bottleneck);
		if (p->wrong)
			table_style(&t, 5, STYLE_BAD);
		else if (too_short(p))
			table_style(&t, 5, STYLE_WATCH);
		else if (!i)
			table_style(&t, 1, STYLE_GOOD);
	}
	table_print(&t, c->out, "  ");
	fputc('\n', c->out);
	print_close(c, w);
	if (behind) {
		cli_line(c, "What spills registers stands last: PTX does not have that traffic, so the "
		            "modelled");
		cli_line(c, "time lacks it. A GPU (--backend cuda) measures it.");
		fputc('\n', c->out);
	}
	cli_line(c, "%u of %u combinations ran", w->n, w->listed);
	if (w->refused)
		cli_line(c, "%u not legal, the first because %s", w->refused, w->why);
	if (w->failed)
		cli_line_in(c, STYLE_BAD, "%u failed, the first because %s", w->failed, w->failed_why);
	if (w->total < w->listed)
		cli_line_in(c, STYLE_WATCH, "%u not run: cancelled", w->listed - w->total);
}

static json_t *sweep_json(const struct sweep *w)
{
	json_t *all = json_array();
	for (unsigned i = 0; i < w->n; i++) {
		const struct point *p = &w->points[i];
		json_t *params = json_object();
		for (unsigned k = 0; k < w->n_axes; k++)
			json_object_set_new(params, w->sel.kernel->params[w->axes[k].param].name,
			                    json_integer(p->params[w->axes[k].param]));
		json_array_append_new(
			all, json_pack("{s:o, s:o, s:o, s:f, s:i, s:i, s:b, s:b, s:s, s:s, s:b}", "params",
		                   params, "time_ns", json_number(p->time_ns), "gflops",
		                   json_number(p->rate), "occupancy_pct", p->occupancy, "registers",
		                   (int)p->registers, "spill_bytes", (int)p->spill_bytes, "too_short",
		                   too_short(p), "close_to_first", as_quick_as_first(w, i), "origin",
		                   origin_name(p->origin), "bottleneck", p->bottleneck, "wrong", p->wrong));
	}
	return json_pack("{s:s, s:s, s:s, s:o, s:i, s:i, s:i, s:o}", "schema", CLI_SCHEMA, "kernel",
	                 w->sel.kernel->name, "variant", w->sel.kernel->variants[w->sel.variant].name,
	                 "gpu", record_write_run(&gpu_table, w->sel.gpu), "combinations",
	                 (int)w->listed, "refused", (int)w->refused, "failed", (int)w->failed, "points",
	                 all);
}

static bool prepare(struct sweep *w, const struct state *s, unsigned n, char **args,
                    struct err *err)
{
	if (!select_by_words(n ? 1 : 0, args, &w->sel, err) ||
	    !select_named_once(w->sel.kernel, n, args, err) ||
	    !choose_gpu_and_backend(s->gpu, s->backend, &w->sel, err))
		return false;
	uint64_t points = 1;
	for (unsigned i = 1; i < n; i++)
		if (!read_axis(w, args[i], err))
			return false;
	for (unsigned i = 0; i < w->n_axes; i++)
		points *= w->axes[i].n;
	if (points > MAX_POINTS) {
		err_set(err, ERR_USAGE, "%llu combinations are more than %d", (unsigned long long)points,
		        MAX_POINTS);
		return err_remedy(err, "list fewer values");
	}
	w->listed = (unsigned)points;
	w->points = mem_calloc(points, sizeof *w->points);
	return true;
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	const struct state *s = state;
	struct err err = { 0 };
	struct sweep w = { .sel = { .seed = 1 } };
	if (!prepare(&w, s, n, args, &err))
		return cli_fail(c, &err);
	progress_begin(&w.progress, w.listed);
	struct workbench bench = { 0 };
	combine(
		&w, 0,
		&(struct run_options){ .max_blocks = s->sample, .bench = &bench, .caps = CAPS_OF_A_ROW },
		c->utf8);
	workbench_close(&bench);
	progress_end(&w.progress);
	qsort(w.points, w.n, sizeof *w.points, faster);
	int status = w.failed || w.total < w.listed ? CLI_WRONG : w.n ? CLI_OK : CLI_USAGE;
	for (unsigned i = 0; i < w.n; i++)
		if (w.points[i].wrong)
			status = CLI_WRONG;
	if (c->json)
		status = cli_emit(c, sweep_json(&w), status);
	else
		print_text(c, &w, s->top);
	free(w.points);
	return status;
}

CLI_VERB(sweep, .order = 6,
         .about = "one variant over every combination of parameter values, fastest first",
         .usage = "KERNEL/VARIANT name=value,value,... [options]",
         .help = "  pmpp-explore sweep sgemm_fast/warp_tile M=2048 N=2048 K=2048 BM=64,128,256 "
                 "BN=64,128,256 TM=4,8 TN=4,8 --gpu rtx4060laptop\n");
