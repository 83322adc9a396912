/* What was run: the GPU's sheet, kernel and parameters; and metrics. See snapshot_reader.h. */
#include "model/snapshot_reader.h"

#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_figure(struct reader *r, json_t *o, const char *name, double least, double most,
                        double *v)
{
	if (!reader_number(r, o, name, v))
		return false;
	return (*v >= least && *v <= most) || reader_complain(r, name, "this figure is out of range");
}

static bool read_gpu(struct reader *r, json_t *from, struct gpu_spec *x)
{
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, "gpu", JSON_OBJECT);
	bool ok = o && reader_chars(r, o, "id", x->id, sizeof x->id) &&
	          reader_chars(r, o, "name", x->name, sizeof x->name) &&
	          reader_chars(r, o, "arch", x->arch, sizeof x->arch) &&
	          reader_chars(r, o, "chip", x->chip, sizeof x->chip) &&
	          reader_bool(r, o, "live", &x->live);
	double v;
#define X(type, field, least, most, about)                                     \
	ok = ok && read_figure(r, o, #field, (double)(least), (double)(most), &v); \
	if (ok)                                                                    \
		x->field = (__typeof__(x->field))v;
	GPU_FIGURES(X)
#undef X
#define X(type, field, least, most, about)                         \
	if (json_object_get(o, #field)) {                              \
		ok = ok && read_figure(r, o, #field, (least), (most), &v); \
		x->field = ok ? v : 0;                                     \
	}
	GPU_LINK_FIGURES(X)
#undef X
	json_t *sources = ok ? reader_enter(r, o, "sources", JSON_ARRAY) : NULL;
	ok = sources != NULL;
	x->n_sources = 0;
	for (size_t i = 0; ok && i < json_array_size(sources) && i < GPU_MAX_SOURCES; i++) {
		json_t *s = json_array_get(sources, i);
		ok = reader_chars(r, s, "figures", x->sources[i].figures, sizeof x->sources[i].figures) &&
		     reader_chars(r, s, "text", x->sources[i].text, sizeof x->sources[i].text);
		x->n_sources++;
	}
	reader_leave(r, depth);
	return ok;
}

#define OWN_WORDS_MAX 64
/* A person's own kernel: made again from what the snapshot carries of it. */
static bool read_own(struct reader *r, json_t *from, const struct kernel_desc **k)
{
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, "own", JSON_OBJECT);
	const char *file = o ? reader_text(r, o, "file") : NULL;
	const char *source = file ? reader_text(r, o, "source") : NULL;
	json_t *list = source ? reader_enter(r, o, "launch", JSON_ARRAY) : NULL;
	const char *words[OWN_WORDS_MAX];
	struct err why = { 0 };
	if (!list)
		return false;
	const size_t n = json_array_size(list);
	for (size_t i = 0; i < n && i < OWN_WORDS_MAX; i++)
		if (!(words[i] = json_string_value(json_array_get(list, i))))
			return reader_complain(r, "", "words are needed");
	if (n > OWN_WORDS_MAX)
		return reader_complain(r, "", "this list is too long");
	if (!names_of(r)->restore_user)
		return reader_complain(r, "", "kernels of one's own are not known here");
	*k = names_of(r)->restore_user(file, source, (unsigned)n, words, &why);
	if (!*k) {
		reader_complain(r, "", "this launch is refused");
		return err_remedy(r->err, "%s", why.msg);
	}
	reader_leave(r, depth);
	return true;
}

bool snapshot_launch(struct reader *r, json_t *o, struct selection *sel)
{
	const char *kernel = reader_text(r, o, "kernel");
	const char *variant = kernel ? reader_text(r, o, "variant") : NULL;
	json_t *params = variant ? json_object_get(o, "params") : NULL;
	int64_t seed = 0;
	if (!variant || !reader_whole(r, o, "seed", 0, INT64_MAX, &seed) ||
	    !reader_chars(r, o, "backend", sel->backend, sizeof sel->backend))
		return false;
	sel->seed = (uint64_t)seed;
	if (!json_object_get(o, "own"))
		sel->kernel = names_of(r)->kernel(kernel);
	else if (!read_own(r, o, &sel->kernel))
		return false;
	const int v = sel->kernel ? kernel_variant_index(sel->kernel, variant) : -1;
	if (v < 0) {
		reader_complain(r, sel->kernel ? "variant" : "kernel",
		                "this program has none of that name");
		return err_remedy(r->err, "open the snapshot with a version that has %s/%s", kernel,
		                  variant);
	}
	sel->variant = (unsigned)v;
	kernel_defaults(sel->kernel, sel->params);
	for (unsigned i = 0; i < sel->kernel->n_params; i++) {
		const json_t *value = json_object_get(params, sel->kernel->params[i].name);
		if (json_is_integer(value))
			sel->params[i] = json_integer_value(value);
		else if (value)
			return reader_complain(r, "params", "whole numbers are needed");
	}
	return true;
}

bool snapshot_selection(struct reader *r, json_t *from, struct selection *sel)
{
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, "selection", JSON_OBJECT);
	struct gpu_spec gpu = { 0 };
	if (!o || !snapshot_launch(r, o, sel) || !read_gpu(r, o, &gpu))
		return false;
	sel->gpu = gpu_intern(&gpu);
	reader_leave(r, depth);
	return true;
}

static bool read_metric(struct reader *r, json_t *o, enum metric_id id, struct metric_value *v)
{
	const int origin = reader_name(r, o, "origin", origin_names, ORIGIN_COUNT);
	int64_t whole;
	if (origin < 0)
		return false;
	v->origin = (enum origin)origin;
	if (v->origin == ORIGIN_NONE) {
		v->reason = intern(json_string_value(json_object_get(o, "reason")));
		return true;
	}
	if (metric_catalogue[id].kind == METRIC_TEXT)
		return reader_chars(r, o, "value", v->text, sizeof v->text);
	if (v->origin == ORIGIN_SAMPLED) {
		if (!reader_whole(r, o, "sampled", 0, INT64_MAX, &whole))
			return false;
		v->sampled = (uint64_t)whole;
		if (!reader_whole(r, o, "of", 0, INT64_MAX, &whole))
			return false;
		v->of = (uint64_t)whole;
	}
	return reader_number(r, o, "value", &v->num);
}

bool snapshot_metrics(struct reader *r, json_t *from, struct metric_set *m)
{
	const size_t depth = r->depth;
	json_t *all = reader_enter(r, from, "metrics", JSON_OBJECT);
	bool ok = all != NULL;
	metrics_clear(m, "the snapshot has no such metric");
	for (int i = 0; ok && i < METRIC_COUNT; i++) {
		const char *key = metric_catalogue[i].key;
		const size_t here = r->depth;
		if (!json_object_get(all, key))
			continue;
		json_t *o = reader_enter(r, all, key, JSON_OBJECT);
		ok = o && read_metric(r, o, (enum metric_id)i, &m->v[i]);
		if (ok)
			reader_leave(r, here);
	}
	if (ok)
		reader_leave(r, depth);
	return ok;
}
