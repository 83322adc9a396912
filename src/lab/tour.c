/* Walking a preset; see tour.h. */
#include "tour.h"

#include "choose.h"
#include "base/mem.h"
#include "base/text.h"
#include "registry.h"
#include "selection_words.h"

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
	for (char *w = strtok_r(run, " \t\n", &save); w && n < MAX_WORDS;
	     w = strtok_r(NULL, " \t\n", &save))
		words[n++] = w;
	const bool ok =
		select_by_words(n, words, sel, err) && gpu_load(s->gpu ? s->gpu : p->gpu, &sel->gpu, err);
	free(run);
	if (!ok)
		err_prefix(err, "preset %s, step %u: ", p->name, step + 1);
	return ok;
}

/* What an expectation speaks of, beside what is the same wherever it runs. */
enum { ABOUT_GPU = 1, ABOUT_PTX = 2, ABOUT_RACE = 4 };

struct figures {
	const struct run_record *now, *before;
	unsigned about;
};

static unsigned about_key(const char *key)
{
	const enum metric_id id = metric_find(key);
	if (id == METRIC_COUNT)
		return 0;
	switch (metric_catalogue[id].depends) {
	case METRIC_OF_GPU: return ABOUT_GPU;
	case METRIC_OF_CODE: return ABOUT_PTX;
	case METRIC_OF_LAUNCH: break;
	}
	return 0;
}

static bool figure(void *ctx, const char *key, const char *tag, bool before,
                   struct expect_value *out, struct err *err)
{
	struct figures *f = ctx;
	const struct run_record *r = before ? f->before : f->now;
	*out = (struct expect_value){ 0 };
	f->about |= about_key(key);
	if (!r)
		return err_set(err, ERR_USAGE, "there is no step before this one");
	if (!strcmp(key, "verified")) {
		f->about |= r->sel.kernel->variants[r->sel.variant].wrong ? ABOUT_RACE : 0;
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
		if (!counts_of_tag(&r->run.counts, kernel_source(r->sel.kernel), tag, &sum))
			return err_set(err, ERR_USAGE, "no line of %s.cu is tagged '%s', or none ran",
			               r->sel.kernel->name, tag);
		of_tag = mem_alloc(sizeof *of_tag);
		metrics_clear(of_tag, "not a figure of lines");
		metrics_from_counts(of_tag, &sum, &r->run.counts.of_lines, r->run.counts.origin);
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

/* Why an expectation that does not hold says nothing against a run on a real GPU; NULL = it does.
 */
static const char *excuse(unsigned about, const struct gpu_spec *ran, const char *sheet,
                          char out[160])
{
	const struct gpu_spec *like = sheet_of_device(ran->name);
	const bool same = like && sheet && !strcmp(like->id, sheet);
	if (about & ABOUT_RACE)
		return "a race shows itself or does not";
	if ((about & ABOUT_GPU) && !same) {
		snprintf(out, 160, "a claim about the sheet %.60s", sheet ? sheet : "of the step");
		return out;
	}
	if (about & ABOUT_PTX)
		return "a claim about PTX: ptxas merges and predicates instructions";
	return NULL;
}

/* One that does not hold, or cannot be evaluated because of @err, on a device. */
static void forgive(const struct preset *p, unsigned step, unsigned i, const struct figures *f,
                    const struct err *err, struct tour_result *out)
{
	const char *sheet = p->steps[step].gpu ? p->steps[step].gpu : p->gpu;
	const struct expect_value *left = &out->outcome[i].left;
	char text[160], num[32];
	const char *why = NULL;
	if (!f->now->sel.gpu->live)
		return;
	if (out->evaluated[i])
		why = excuse(f->about, f->now->sel.gpu, sheet, text);
	else if (err->code == ERR_UNAVAILABLE)
		why = err->msg;
	if (!why)
		return;
	out->excused[i] = true;
	if (out->evaluated[i])
		snprintf(out->problem[i], sizeof out->problem[i], "%.120s (here %.60s)", why,
		         left->is_text ? left->text : fmt_num(num, sizeof num, left->num, 7));
}

void tour_check(const struct preset *p, unsigned step, const struct run_record *r,
                const struct run_record *before, struct tour_result *out)
{
	const struct preset_step *s = &p->steps[step];
	*out = (struct tour_result){ .n = preset_claims(s) };
	for (unsigned i = 0; i < out->n; i++) {
		struct figures f = { .now = r, .before = before };
		struct err err = { 0 };
		char line[400];
		const char *const claim = preset_claim(s, i, line, sizeof line);
		out->evaluated[i] = expect_eval(claim, figure, &f, &out->outcome[i], &err);
		if (!out->evaluated[i])
			snprintf(out->problem[i], sizeof out->problem[i], "%.199s", err.msg);
		else if (out->outcome[i].holds)
			continue;
		forgive(p, step, i, &f, &err, out);
		out->failed += !out->excused[i];
		out->n_excused += out->excused[i];
	}
}
