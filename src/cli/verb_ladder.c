/*
 * ladder: every variant of a family in order, with its rate and what moved. Times come from plain
 * runs, never from profiled ones.
 */
#include "cli/cli.h"

#include "base/lang.h"
#include "cli/progress.h"
#include "lab/reference_run.h"
#include "lab/ladder_book.h"
#include "lab/workbench.h"
#include "model/ladder.h"
#include "model/record_tables.h"

#include <math.h>
#include <string.h>

struct state {
	const char *gpu, *backend;
	const char *level;
	bool json, csv, no_verify;
	uint64_t sample;
	double timeout_s;
};

/* A rung of a large product takes minutes; the watchdog is for loops that never end. */
#define RUNG_TIMEOUT_S 1800

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	const struct option_spec all[] = {
		OPTIONS_ENGINE(s),
		{ "--sample", OPT_COUNT, &s->sample, "N",
		  "emulator: run at most N blocks of each rung, spread over the grid; not verified" },
		{ "--no-verify", OPT_FLAG, &s->no_verify, NULL,
		  "do not compare with the CPU reference, which takes long for large products" },
		{ "--level", OPT_TEXT, &s->level, "LEVEL",
		  "emulator: count ptx (default); sass: machine code, as a card does; or auto" },
		{ "--timeout", OPT_SECONDS, &s->timeout_s, "S",
		  "end a rung after S seconds (default 1800)" },
		OPTION_JSON(&s->json),
		{ "--csv", OPT_FLAG, &s->csv, NULL, "comma-separated values instead of text" },
	};
	s->timeout_s = RUNG_TIMEOUT_S;
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all);
}

static const char *number_text(char *out, size_t n, double v, int digits, const char *none)
{
	if (isnan(v))
		snprintf(out, n, "%s", none);
	else
		fmt_num(out, n, v, digits);
	return out;
}

static const char *time_text(char *out, size_t n, double ns)
{
	if (isnan(ns))
		snprintf(out, n, "n/a");
	else
		fmt_ns(out, n, ns);
	return out;
}

/* Runs one rung with those of the person's parameters that it has. Its status: a launch that is
 * refused is no failure of the ladder, one that ran and failed is. */
static int climb(struct ladder_rung *rung, const struct selection *sel,
                 const struct run_options *options_, struct progress *progress)
{
	const struct run_hooks hooks = progress_hooks(progress);
	struct run_record *r = NULL;
	struct err err = { 0 };
	if (run_selection_with(sel, options_, &hooks, &r, &err)) {
		rung->record = r;
		return r->verify == VERIFY_WRONG ? CLI_WRONG : CLI_OK;
	}
	snprintf(rung->why, sizeof rung->why, "%.199s", err.msg);
	return err.code == ERR_USAGE ? CLI_OK : err_exit_status(err.code);
}

/* What a rung came to, while the others run. */
static void tell_rung(struct progress *p, struct ladder *l, const struct ladder_rung *r, bool utf8)
{
	char time[32], rate[32];
	ladder_compare(l);
	if (r->record)
		progress_result(p, "  %-18s %10s %s %10s %s%s", r->variant->name,
		                time_text(time, sizeof time, r->time_ns),
		                origin_mark(r->record->metrics.v[M_TIME_KERNEL].origin, !utf8),
		                number_text(rate, sizeof rate, r->rate, 4, "n/a"),
		                l->in_bytes ? "GB/s" : "GFLOPS",
		                r->record->verify == VERIFY_WRONG ? "  WRONG RESULT" : "");
	else
		progress_result(p, "  %-18s %s", r->variant->name, r->why);
}

/* Every rung until the person has enough; the worst status. */
static int climb_all(struct ladder *l, const struct run_options *options_, bool utf8)
{
	struct progress progress;
	int status = CLI_OK;
	progress_begin(&progress, l->n);
	for (unsigned i = 0; i < l->n; i++) {
		struct ladder_rung *r = &l->rungs[i];
		const struct selection rung = ladder_selection(l, i);
		if (progress_cancelled()) {
			snprintf(r->why, sizeof r->why, "not run: cancelled");
			status = CLI_WRONG;
			continue;
		}
		progress_item(&progress, r->variant->name);
		const int of_rung = climb(r, &rung, options_, &progress);
		if (r->record)
			l->in_bytes = ladder_in_bytes(&r->record->cost);
		tell_rung(&progress, l, r, utf8);
		progress_done(&progress);
		if (status == CLI_OK)
			status = of_rung;
	}
	progress_end(&progress);
	return status;
}

#define MAX_LIBRARY 4
#define NOTABLE 0.02 /* of a time: less is no change to speak of */

static void print_library(struct cli *c, const struct library_line *lines, unsigned n, double flop)
{
	char time[32], rate[32];
	for (unsigned i = 0; i < n; i++)
		fprintf(c->out, "  %s  %s %s  %s GFLOPS  (%s: %s)\n", lines[i].name,
		        fmt_ns(time, sizeof time, lines[i].timing.median_ns),
		        origin_mark(ORIGIN_MEASURED, !c->utf8),
		        fmt_num(rate, sizeof rate, flop / lines[i].timing.median_ns, 4), lines[i].about,
		        lines[i].comparable ? "comparable with our kernels" : "another precision");
}

/* What a real GPU gave for the same rungs, and what the sources print for them. */
static void print_elsewhere(struct cli *c, const struct ladder *l)
{
	char time[32];
	unsigned recorded = 0, printed = 0;
	for (unsigned i = 0; i < l->n; i++) {
		if (!(l->rungs[i].reference_ns > 0))
			continue;
		if (!recorded++)
			cli_say(c->out, STYLE_NORMAL,
			        "\nRecorded %s on %s:", origin_mark(ORIGIN_MEASURED, !c->utf8),
			        l->reference_machine);
		fprintf(c->out, "%s %s %s", recorded > 1 ? "," : "", l->rungs[i].variant->name,
		        fmt_ns(time, sizeof time, l->rungs[i].reference_ns));
	}
	if (l->reference_library_ns > 0)
		fprintf(c->out, "%s %s %s", recorded ? "," : "\nRecorded:", l->reference_library_name,
		        fmt_ns(time, sizeof time, l->reference_library_ns));
	if (recorded || l->reference_library_ns > 0)
		fputc('\n', c->out);
	for (unsigned i = 0; i < l->n; i++)
		if (l->rungs[i].book[0]) {
			if (!printed++)
				cli_line(c, "\nPrinted by the sources %s:", origin_mark(ORIGIN_BOOK, !c->utf8));
			fprintf(c->out, "  %s: %s\n", l->rungs[i].variant->name, lang_text(l->rungs[i].book));
		}
}

/* Faster than the rung before, slower, wrong, or not there: each also has its word or its sign. */
static void style_rung(struct table *t, const struct ladder_rung *r)
{
	if (!r->apart)
		table_style(t, 6, STYLE_DIM);
	else if (r->speedup_previous >= 1 + NOTABLE)
		table_style(t, 6, STYLE_GOOD);
	else if (r->speedup_previous <= 1 - NOTABLE)
		table_style(t, 6, STYLE_WATCH);
	if (!r->record) {
		table_style(t, 1, STYLE_DIM);
		table_style(t, 7, STYLE_BAD);
	} else if (r->record->verify == VERIFY_WRONG) {
		table_style(t, 1, STYLE_BAD);
	}
}

/* "1.07 ?": too close for the model to tell which is the quicker. */
static const char *step_text(char *out, size_t n, const struct ladder_rung *r)
{
	number_text(out, n, r->speedup_previous, 3, "-");
	if (isfinite(r->speedup_previous) && !r->apart)
		snprintf(out + strlen(out), n - strlen(out), " ?");
	return out;
}

static void print_text(struct cli *c, const struct ladder *l, const char *params)
{
	cli_name(c->out, STYLE_TITLE, l->kernel->name);
	fprintf(c->out, "  %s  %s\n\n", params, l->gpu->name);
	struct table t = { .cols = 8,
		               .said = true,
		               .head = true,
		               .looks = { [1] = STYLE_BOLD, [7] = STYLE_DIM },
		               .names = { true },
		               .right = { [1] = true, true, true, true, true, true } };
	table_row(&t, "variant", "time", l->in_bytes ? "GB/s" : "GFLOPS", "% of peak", "% of cuBLAS",
	          "x first", "x previous", "what moved");
	for (unsigned i = 0; i < l->n; i++) {
		const struct ladder_rung *r = &l->rungs[i];
		char time[32], rate[32], roof[32], lib[32], first[32], prev[32];
		const enum origin o = r->record ? r->record->metrics.v[M_TIME_KERNEL].origin : ORIGIN_NONE;
		time_text(time, sizeof time, r->time_ns);
		snprintf(time + strlen(time), sizeof time - strlen(time), " %s", origin_mark(o, !c->utf8));
		table_row(&t, r->variant->name, time, number_text(rate, sizeof rate, r->rate, 4, "n/a"),
		          number_text(roof, sizeof roof, r->pct_of_roof, 3, "n/a"),
		          number_text(lib, sizeof lib, r->pct_of_library, 3, "n/a"),
		          number_text(first, sizeof first, r->speedup_first, 3, "-"),
		          step_text(prev, sizeof prev, r), r->record ? r->moved : r->why);
		style_rung(&t, r);
	}
	table_print(&t, c->out, "  ");
	print_elsewhere(c, l);
}

/* The rungs whose results nobody compared. */
static void print_unverified(struct cli *c, const struct ladder *l)
{
	unsigned n = 0;
	for (unsigned i = 0; i < l->n; i++) {
		const struct run_record *r = l->rungs[i].record;
		n += r && r->verify != VERIFY_OK && r->verify != VERIFY_WRONG;
	}
	if (n)
		cli_line_in(c, STYLE_WATCH, "  %u of %u results not verified", n, l->n);
}

/* The rungs that have no figures, so that nobody overlooks them. */
static void print_failed(struct cli *c, const struct ladder *l)
{
	unsigned n = 0;
	for (unsigned i = 0; i < l->n; i++)
		n += !l->rungs[i].record;
	if (n)
		cli_line_in(c, STYLE_BAD, "  %u of %u rungs have no figures: their rows say why", n, l->n);
}

static void print_csv(struct cli *c, const struct ladder *l)
{
	fprintf(c->out,
	        "variant,time_ns,origin,%s,pct_of_peak,speedup_first,speedup_previous,moved,"
	        "recorded_ns,printed\n",
	        l->in_bytes ? "gbs" : "gflops");
	for (unsigned i = 0; i < l->n; i++) {
		const struct ladder_rung *r = &l->rungs[i];
		const enum origin o = r->record ? r->record->metrics.v[M_TIME_KERNEL].origin : ORIGIN_NONE;
		const double v[] = { r->rate, r->pct_of_roof, r->speedup_first, r->speedup_previous };
		char num[32];
		fprintf(c->out, "%s,%s,%s", r->variant->name,
		        number_text(num, sizeof num, r->time_ns, 9, ""), origin_name(o));
		for (size_t k = 0; k < ARRAY_LEN(v); k++)
			fprintf(c->out, ",%s", number_text(num, sizeof num, v[k], 9, ""));
		fputc(',', c->out);
		print_csv_field(c->out, r->record ? r->moved : r->why);
		fprintf(c->out, ",%s,",
		        number_text(num, sizeof num, r->reference_ns > 0 ? r->reference_ns : NAN, 9, ""));
		print_csv_field(c->out, r->book);
		fputc('\n', c->out);
	}
}

static json_t *library_json(const struct library_line *lines, unsigned n)
{
	json_t *all = json_array();
	for (unsigned i = 0; i < n; i++)
		json_array_append_new(
			all, json_pack("{s:s, s:s, s:b, s:o, s:s}", "name", lines[i].name, "about",
		                   lines[i].about, "comparable", lines[i].comparable, "time_ns",
		                   json_number(lines[i].timing.median_ns), "origin", "measured"));
	return all;
}

static json_t *ladder_json(const struct ladder *l, const struct library_line *lines, unsigned n)
{
	json_t *rungs = json_array();
	for (unsigned i = 0; i < l->n; i++) {
		const struct ladder_rung *r = &l->rungs[i];
		json_t *o =
			json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s}", "variant", r->variant->name,
		              "title", r->variant->title, "time_ns", json_number(r->time_ns),
		              l->in_bytes ? "gbs" : "gflops", json_number(r->rate), "pct_of_peak",
		              json_number(r->pct_of_roof), "speedup_first", json_number(r->speedup_first),
		              "speedup_previous", json_number(r->speedup_previous), "moved", r->moved);
		const struct selection rung = ladder_selection(l, i);
		json_object_set_new(o, "params", record_params(&rung));
		json_object_set_new(o, "apart", json_boolean(r->apart));
		json_object_set_new(o, "pct_of_library", json_number(r->pct_of_library));
		if (r->reference_ns > 0)
			json_object_set_new(o, "recorded",
			                    json_pack("{s:s, s:o}", "gpu", l->reference_machine, "time_ns",
			                              json_number(r->reference_ns)));
		if (r->book[0])
			json_object_set_new(o, "printed", json_string(r->book));
		if (r->record) {
			json_object_set_new(
				o, "origin", json_string(origin_name(r->record->metrics.v[M_TIME_KERNEL].origin)));
			json_object_set_new(o, "verified", json_boolean(r->record->verify == VERIFY_OK));
			json_object_set_new(o, "metrics", record_metrics(&r->record->metrics, FORM_RUN));
		} else {
			json_object_set_new(o, "error", json_string(r->why));
		}
		json_array_append_new(rungs, o);
	}
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "schema", CLI_SCHEMA, "ladder", l->kernel->name,
	                 "gpu", record_write_run(&gpu_table, l->gpu), "rungs", rungs, "library",
	                 library_json(lines, n));
}

static double flop_of(const struct ladder *l)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->rungs[i].record)
			return l->rungs[i].record->cost.flop;
	return NAN;
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	struct state *s = state;
	struct err err = { 0 };
	struct selection sel = { .seed = 1 };
	struct workbench bench = { 0 };
	struct run_options options_ = { .max_blocks = s->sample,
		                            .bench = &bench,
		                            .caps = CAPS_OF_A_ROW,
		                            .no_verify = s->no_verify,
		                            .timeout_s = s->timeout_s };
	if (!select_ladder(n, args, &sel, &err) ||
	    !choose_gpu_and_backend(s->gpu, s->backend, &sel, &err) ||
	    (s->level && !cli_level_here(s->level, sel.backend, &options_.level, &err)))
		return cli_fail(c, &err);
	struct ladder *l = ladder_new(&sel);
	int status = climb_all(l, &options_, c->utf8);
	workbench_close(&bench);
	char params[256];
	struct library_line lines[MAX_LIBRARY];
	const unsigned n_lines = library_lines(&sel, NULL, lines, MAX_LIBRARY);
	if (n_lines && lines[0].comparable)
		l->library_ns = lines[0].timing.median_ns;
	ladder_compare(l);
	reference_runs_of_ladder(l);
	ladder_book(l);
	params_text(&sel, params, sizeof params);
	if (s->json)
		status = cli_emit(c, ladder_json(l, lines, n_lines), status);
	else if (s->csv)
		print_csv(c, l);
	else
		print_text(c, l, params);
	if (!s->json && !s->csv) {
		print_unverified(c, l);
		print_failed(c, l);
		print_library(c, lines, n_lines, flop_of(l));
	}
	ladder_free(l);
	return status;
}

CLI_VERB(
	ladder, .order = 5,
	.about = "every variant of a kernel in order: time, rate, speed-up, and the metric that moved",
	.usage = "KERNEL [name=value ...] [options]",
	.help = "A parameter applies to every variant that has it. Ctrl-C ends it and keeps the rungs\n"
			"that have run. Status: 1 a wrong result, or a rung that failed or was cancelled.\n\n"
			"  pmpp-explore ladder sgemm M=256 N=256 K=256 --gpu h100\n");
