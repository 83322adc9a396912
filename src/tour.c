/* Walking a preset; see tour.h. */
#include "tour.h"

#include "base/mem.h"
#include "cli/cli.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 24

bool tour_select(const struct preset *p, unsigned step, struct selection *sel, struct err *err)
{
	const struct preset_step *s = &p->steps[step];
	char *words[MAX_WORDS];
	unsigned n = 0;
	char *run = mem_strdup(s->run);
	char *save = NULL;
	for (char *w = strtok_r(run, " \t\n", &save); w && n < MAX_WORDS; w = strtok_r(NULL, " \t\n", &save))
		words[n++] = w;
	const bool ok = start_parse(n, words, sel, err) &&
	                gpu_load(s->gpu ? s->gpu : p->gpu, &sel->gpu, err);
	free(run);
	if (!ok)
		err_prefix(err, "preset %s, step %u: ", p->name, step + 1);
	return ok;
}

struct figures {
	const struct run_record *now, *before;
};

static bool figure(void *ctx, const char *key, const char *tag, bool before,
                   struct expect_value *out, struct err *err)
{
	const struct figures *f = ctx;
	const struct run_record *r = before ? f->before : f->now;
	*out = (struct expect_value){ 0 };
	if (!r)
		return err_set(err, ERR_USAGE, "there is no step before this one");
	if (!strcmp(key, "verified")) {
		out->num = r->verify == VERIFY_OK;
		return true;
	}
	const enum metric_id id = metric_find(key);
	if (id == METRIC_COUNT)
		return err_set(err, ERR_USAGE, "no metric '%s'", key);
	const struct metric_set *m = &r->metrics;
	struct metric_set *of_tag = NULL;
	if (*tag) {
		struct counts sum;
		if (!counts_of_tag(&r->counts, kernel_source(r->sel.kernel), tag, &sum))
			return err_set(err, ERR_USAGE, "no line of %s.cu is tagged '%s', or none ran",
			               r->sel.kernel->name, tag);
		of_tag = mem_alloc(sizeof *of_tag);
		metrics_clear(of_tag, "not a figure of lines");
		metrics_from_counts(of_tag, &sum, r->counts.origin);
		m = of_tag;
	}
	const struct metric_value *v = &m->v[id];
	const bool known = v->origin != ORIGIN_NONE;
	if (known && metric_catalogue[id].kind == METRIC_TEXT) {
		out->is_text = true;
		snprintf(out->text, sizeof out->text, "%s", v->text);
	} else if (known) {
		out->num = v->num;
	} else {
		err_set(err, ERR_UNAVAILABLE, "%s is n/a: %s", key, v->reason ? v->reason : "not known");
	}
	free(of_tag);
	return known;
}

void tour_check(const struct preset_step *step, const struct run_record *r,
                const struct run_record *before, struct tour_result *out)
{
	struct figures f = { .now = r, .before = before };
	*out = (struct tour_result){ .n = step->n_expect };
	for (unsigned i = 0; i < step->n_expect; i++) {
		struct err err = { 0 };
		out->evaluated[i] = expect_eval(step->expect[i], figure, &f, &out->outcome[i], &err);
		if (!out->evaluated[i])
			snprintf(out->problem[i], sizeof out->problem[i], "%.199s", err.msg);
		out->failed += !out->evaluated[i] || !out->outcome[i].holds;
	}
}
