/*
 * diff: two results side by side: what moved, the most telling first, with origin, percent, and why
 * two values cannot be compared. A side is a snapshot, the output of `run --json`, or a kernel that
 * is run now. Files are read as JSON, by the names of metrics: kernels this program does not have
 * are fine.
 */
#include "cli/cli.h"
#include "cli/diff_side.h"
#include "cli/program_start.h"
#include "ui/canvas.h"

#include "base/file.h"
#include "base/lang.h"
#include "model/record_tables.h"
#include "model/snapshot.h"
#include "model/time_range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As diff(1): 0 the same, 1 different, 2 trouble. */
enum { DIFF_SAME = 0, DIFF_MOVED = 1, DIFF_TROUBLE = 2 };
/* More than rounding of printed numbers. */
#define SAME_RELATIVE 1e-12

struct state {
	const char *gpu, *backend;
	uint64_t seed;
	bool json, csv, all;
};

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	const struct option_spec all[] = {
		OPTION_JSON(&s->json),
		{ "--csv", OPT_FLAG, &s->csv, NULL, "a table for a spreadsheet instead of text" },
		{ "--all", OPT_FLAG, &s->all, NULL, "also what is the same on both sides" },
		{ "--gpu", OPT_TEXT, &s->gpu, "SHEET",
		  "of kernels to run: GPU to answer for (default " LAB_DEFAULT_GPU ")" },
		{ "--backend", OPT_TEXT, &s->backend, "NAME",
		  "of kernels to run: emu, cuda, or auto (default)" },
		{ "--seed", OPT_COUNT, &s->seed, "N", "of kernels to run: seed of the inputs (default 1)" },
	};
	s->seed = 1;
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all);
}

/* --- sides --- */

static bool run_now(struct diff_side *d, const struct state *s, unsigned n, char **params,
                    struct err *err)
{
	struct selection sel = { .seed = s->seed };
	struct run_record *r;
	const enum run_level level = RUN_LEVEL_AUTO; /* as `run` */
	if (!select_by_name(d->name, &sel, err))
		return false;
	for (unsigned i = 0; i < n; i++) {
		char name[64];
		snprintf(name, sizeof name, "%.*s", (int)strcspn(params[i], "="), params[i]);
		const int p = kernel_param_index(sel.kernel, name);
		const bool mine = p >= 0 && kernel_param_used(sel.kernel, sel.variant, (unsigned)p);
		if (mine && !select_param(params[i], &sel, err))
			return false;
	}
	if (!choose_gpu_and_backend(s->gpu, s->backend, &sel, err) ||
	    !run_selection_with(&sel, &(struct run_options){ .level = level }, NULL, &r, err))
		return err_prefix(err, "%s: ", d->name);
	d->doc = json_record(r); /* the same form as a file's */
	record_free(r);
	return diff_side_take(d, err);
}

/* A parameter that neither side has is a mistake. */
static bool params_known(const struct diff_side side[2], unsigned n, char **params, struct err *err)
{
	for (unsigned i = 0; i < n; i++) {
		bool known = false;
		struct selection sel = { 0 };
		for (unsigned k = 0; k < 2; k++) {
			char name[64];
			snprintf(name, sizeof name, "%.*s", (int)strcspn(params[i], "="), params[i]);
			if (!word_names_kernel(side[k].name) || !select_by_name(side[k].name, &sel, err))
				continue;
			const int p = kernel_param_index(sel.kernel, name);
			known |= p >= 0 && kernel_param_used(sel.kernel, sel.variant, (unsigned)p);
		}
		if (known && strchr(params[i], '='))
			continue;
		return sel.kernel
		           ? select_param(params[i], &sel, err)
		           : err_set(err, ERR_USAGE, "'%s': only kernels that are run now take parameters",
		                     params[i]);
	}
	return true;
}

/* --- differences --- */

struct change {
	enum metric_id id;
	bool moved;
	double pct;     /* NAN: cannot be said */
	double weight;  /* sorts */
	char note[160]; /* why not comparable, or what to mind */
};

static enum time_step step_between(const struct diff_side side[2])
{
	return strcmp(side[0].kernel, side[1].kernel) ? TIME_STEP_VARIANT : TIME_STEP_VALUE;
}

/* What a person asks first. */
static double head_start(enum metric_id id)
{
	switch (id) {
	case M_TIME_KERNEL: return 4000;
	case M_ROOF_ACHIEVED: return 3000;
	case M_TIME_BOTTLENECK: return 2000;
	case M_ROOF_BOUND: return 1000;
	default: return 0;
	}
}

static void compare(const struct diff_side side[2], enum metric_id id, struct change *c)
{
	const struct metric_value *a = &side[0].m.v[id], *b = &side[1].m.v[id];
	const char *ua = side[0].unit[id], *ub = side[1].unit[id];
	*c = (struct change){ .id = id, .pct = NAN };
	if (a->origin == ORIGIN_NONE && b->origin == ORIGIN_NONE)
		return;
	if (a->origin == ORIGIN_NONE || b->origin == ORIGIN_NONE) {
		const bool left = a->origin == ORIGIN_NONE;
		c->moved = true;
		c->weight = -1; /* last */
		snprintf(c->note, sizeof c->note, "%s has none: %.120s", left ? "A" : "B",
		         left ? a->reason : b->reason);
		return;
	}
	if (ua && ub && strcmp(ua, ub) != 0) {
		c->moved = true;
		c->weight = -1;
		snprintf(c->note, sizeof c->note, "not comparable: units '%.40s' and '%.40s'", ua, ub);
		return;
	}
	if (a->origin != b->origin)
		snprintf(c->note, sizeof c->note, "origins differ: %s and %s", origin_name(a->origin),
		         origin_name(b->origin));
	else if (id == M_TIME_KERNEL && !times_apart(&side[0].m, &side[1].m, step_between(side)))
		snprintf(c->note, sizeof c->note, "too close for the model to tell which is the quicker");
	if (metric_catalogue[id].kind == METRIC_TEXT) {
		c->moved = strcmp(a->text, b->text) != 0;
		c->weight = log(2) + head_start(id);
		return;
	}
	const double difference = b->num - a->num, size = fmax(fabs(a->num), fabs(b->num));
	c->moved = fabs(difference) > SAME_RELATIVE * size;
	if (a->num != 0)
		c->pct = 100 * difference / fabs(a->num);
	/* by the factor; from or to 0 counts like a factor of a thousand */
	const bool factor = a->num > 0 && b->num > 0;
	c->weight = (factor ? fabs(log(b->num / a->num)) : log(1000)) + head_start(id);
}

static int by_weight(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	if (x->moved != y->moved)
		return x->moved ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (int)x->id - (int)y->id;
}

/* --- forms --- */

/* "kernel", "sgemm/naive", "sgemm/tiled" where the two sides were not the same thing. */
struct setting {
	const char *name, *a, *b;
};
static unsigned settings(const struct diff_side side[2], struct setting out[5])
{
	const struct setting all[] = {
		{ "kernel", side[0].kernel, side[1].kernel },
		{ "parameters", side[0].params, side[1].params },
		{ "gpu", side[0].gpu, side[1].gpu },
		{ "back end", side[0].backend, side[1].backend },
		{ "result", side[0].result, side[1].result },
	};
	unsigned n = 0;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (strcmp(all[i].a, all[i].b) != 0)
			out[n++] = all[i];
	return n;
}

static void change_text(const struct diff_side side[2], const struct change *c, char *out, size_t n)
{
	const double a = side[0].m.v[c->id].num, b = side[1].m.v[c->id].num;
	char num[32];
	out[0] = '\0';
	if (!c->moved || metric_catalogue[c->id].kind == METRIC_TEXT || !isfinite(c->pct))
		return;
	if (a > 0 && b > 0 && (b / a >= 10 || a / b >= 10))
		snprintf(out, n, "%s %s", b > a ? "x" : "/",
		         fmt_num(num, sizeof num, b > a ? b / a : a / b, 4));
	else
		snprintf(out, n, "%+.3g %%", c->pct);
}

/* 1: B is better, -1: worse, 0: neither can be said. Only what is judged by everybody. */
static int change_is_better(const struct diff_side side[2], enum metric_id id)
{
	const struct metric_set *a = &side[0].m, *b = &side[1].m;
	const int sign = id == M_TIME_KERNEL ? -1 : id == M_ROOF_ACHIEVED ? 1 : 0;
	if (!sign || !metric_known(a, id) || !metric_known(b, id))
		return 0;
	const double was = metric_get(a, id), is = metric_get(b, id);
	return was == is || !times_apart(a, b, step_between(side)) ? 0 : (is > was ? sign : -sign);
}

static void print_text(struct cli *c, const struct state *s, const struct diff_side side[2],
                       const struct change *all, unsigned moved)
{
	struct setting set[5];
	struct table t = {
		.cols = 8,
		.said = true,
		.names = { [6] = true },
		.right = { false, true, false, true, false, true },
		.looks = { [2] = STYLE_DIM, STYLE_NORMAL, STYLE_DIM, STYLE_BOLD, STYLE_DIM, STYLE_WATCH }
	};
	const unsigned n = settings(side, set);
	for (unsigned i = 0; i < 2; i++) {
		cli_name(c->out, STYLE_TITLE, i ? "B" : "A");
		fprintf(c->out, "  %s   %s, %s, %s\n", side[i].name, side[i].kernel, side[i].gpu,
		        side[i].backend);
	}
	for (unsigned i = 0; i < n; i++)
		fprintf(c->out, "   %s: %s -> %s\n", lang_text(set[i].name), lang_text(set[i].a),
		        lang_text(set[i].b));
	fputc('\n', c->out);
	cli_line_in(c, STYLE_TITLE, moved == 1 ? "%u metric moved" : "%u metrics moved", moved);
	for (unsigned i = 0; i < METRIC_COUNT && (s->all || all[i].moved); i++) {
		const enum metric_id id = all[i].id;
		char a[96], b[96], change[40];
		if (side[0].m.v[id].origin == ORIGIN_NONE && side[1].m.v[id].origin == ORIGIN_NONE)
			continue;
		metric_format(&side[0].m, id, a, sizeof a);
		metric_format(&side[1].m, id, b, sizeof b);
		change_text(side, &all[i], change, sizeof change);
		table_row(&t, metric_catalogue[id].title, a, origin_mark(side[0].m.v[id].origin, !c->utf8),
		          b, origin_mark(side[1].m.v[id].origin, !c->utf8), change,
		          metric_catalogue[id].key, all[i].note);
		const int better = change_is_better(side, id);
		if (better)
			table_style(&t, 5, better > 0 ? STYLE_GOOD : STYLE_BAD);
	}
	table_print(&t, c->out, "");
}

static void csv_value(FILE *f, const struct metric_set *m, enum metric_id id)
{
	char num[40];
	const struct metric_value *v = &m->v[id];
	if (v->origin != ORIGIN_NONE)
		print_csv_field(f, metric_catalogue[id].kind == METRIC_TEXT
		                       ? v->text
		                       : fmt_num(num, sizeof num, v->num, 15));
	fprintf(f, ",%s,", origin_name(v->origin));
}

static void print_csv(struct cli *c, const struct state *s, const struct diff_side side[2],
                      const struct change *all)
{
	fputs("metric,unit,a,a_origin,b,b_origin,change_pct,note\n", c->out);
	for (unsigned i = 0; i < METRIC_COUNT && (s->all || all[i].moved); i++) {
		char num[40];
		fprintf(c->out, "%s,%s,", metric_catalogue[all[i].id].key,
		        metric_catalogue[all[i].id].unit);
		csv_value(c->out, &side[0].m, all[i].id);
		csv_value(c->out, &side[1].m, all[i].id);
		fprintf(c->out, "%s,", isfinite(all[i].pct) ? fmt_num(num, sizeof num, all[i].pct, 6) : "");
		print_csv_field(c->out, all[i].note);
		fputc('\n', c->out);
	}
}

static json_t *json_side(const struct diff_side *d)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "name", d->name, "kernel", d->kernel,
	                 "parameters", d->params, "gpu", d->gpu, "backend", d->backend, "result",
	                 d->result);
}

static int print_json(struct cli *c, const struct state *s, const struct diff_side side[2],
                      const struct change *all, unsigned moved, int status)
{
	json_t *o = json_object(), *list = json_array(), *differ = json_array();
	struct setting set[5];
	const unsigned n = settings(side, set);
	json_object_set_new(o, "schema", json_string(CLI_SCHEMA));
	json_object_set_new(o, "version", json_string(PMPP_VERSION));
	json_object_set_new(o, "a", json_side(&side[0]));
	json_object_set_new(o, "b", json_side(&side[1]));
	json_object_set_new(o, "same", json_boolean(status == DIFF_SAME));
	json_object_set_new(o, "moved", json_integer(moved));
	for (unsigned i = 0; i < n; i++)
		json_array_append_new(differ, json_pack("{s:s, s:s, s:s}", "name", set[i].name, "a",
		                                        set[i].a, "b", set[i].b));
	json_object_set_new(o, "settings", differ);
	for (unsigned i = 0; i < METRIC_COUNT && (s->all || all[i].moved); i++) {
		json_t *m = json_object();
		json_object_set_new(m, "metric", json_string(metric_catalogue[all[i].id].key));
		json_object_set_new(m, "moved", json_boolean(all[i].moved));
		json_object_set_new(m, "a", record_metric(&side[0].m, all[i].id, FORM_RUN));
		json_object_set_new(m, "b", record_metric(&side[1].m, all[i].id, FORM_RUN));
		json_object_set_new(m, "change_pct", json_number(all[i].pct));
		json_object_set_new(m, "note", json_string(all[i].note));
		json_array_append_new(list, m);
	}
	json_object_set_new(o, "metrics", list);
	return cli_emit(c, o, status);
}

/* --- the verb --- */

static bool is_file(const char *word)
{
	return !word_names_kernel(word) && file_looks_like_path(word, ".json");
}

static int trouble(struct cli *c, struct diff_side side[2], const struct err *err)
{
	json_decref(side[0].doc);
	json_decref(side[1].doc);
	cli_fail(c, err);
	return DIFF_TROUBLE;
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	const struct state *s = state;
	struct err err = { 0 };
	struct diff_side side[2] = { { .name = "" }, { .name = "" } };
	if (n < 2 || strchr(args[0], '=') || strchr(args[1], '=')) {
		err_set(&err, ERR_USAGE, "diff needs two sides");
		err_remedy(&err, "two of: a snapshot, the output of 'run --json', a kernel; "
		                 "for example diff sgemm/naive sgemm/tiled");
		return trouble(c, side, &err);
	}
	if (program_is_side(args[0]) && program_is_side(args[1]))
		return program_diff(c, s->gpu, n, args);
	side[0].name = args[0];
	side[1].name = args[1];
	if (is_file(args[0]) && is_file(args[1]) && (s->gpu || s->backend)) {
		err_set(&err, ERR_USAGE, "%s is for kernels to run; both sides are files",
		        s->gpu ? "--gpu" : "--backend");
		return trouble(c, side, &err);
	}
	if (!params_known(side, n - 2, args + 2, &err))
		return trouble(c, side, &err);
	for (unsigned i = 0; i < 2; i++)
		if (!(is_file(args[i]) ? diff_side_read(&side[i], c->err, &err)
		                       : run_now(&side[i], s, n - 2, args + 2, &err)))
			return trouble(c, side, &err);

	struct change all[METRIC_COUNT];
	unsigned moved = 0;
	for (int i = 0; i < METRIC_COUNT; i++) {
		compare(side, (enum metric_id)i, &all[i]);
		moved += all[i].moved;
	}
	qsort(all, METRIC_COUNT, sizeof *all, by_weight);
	int status = moved || strcmp(side[0].result, side[1].result) ? DIFF_MOVED : DIFF_SAME;
	if (c->json)
		status = print_json(c, s, side, all, moved, status);
	else if (s->csv)
		print_csv(c, s, side, all);
	else
		print_text(c, s, side, all, moved);
	json_decref(side[0].doc);
	json_decref(side[1].doc);
	return status;
}

CLI_VERB(
	diff, .order = 7, .about = "two results side by side: what moved, the most telling first",
	.usage =
		"A B [name=value ...] [options]   (each a SNAPSHOT.json, a RUN.json, or KERNEL[/VARIANT])"
		" | "
		"PROG.cu OTHER.cu [nvcc options] [-- arguments]",
	.help =
		"Files are snapshots (key e, verb export) or the output of 'run --json'. Kernels are run\n"
		"now, with the parameters given. Time and what decides it come first, then metrics by the\n"
		"factor they moved by.\n"
		"Two whole programs, or what 'launches --json' wrote of them, are compared kernel by\n"
		"kernel.\n"
		"Status: 0 the same, 1 different, 2 trouble.\n\n"
		"  pmpp-explore diff before.json after.json\n"
		"  pmpp-explore diff sgemm/naive sgemm/tiled M=512 N=512 K=512 --csv\n",
	.of_programs = true);
