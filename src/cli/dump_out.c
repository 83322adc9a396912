/* What a launch left in its buffers; see dump_out.h. */
#include "cli/dump_out.h"

#include "base/file.h"
#include "model/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 16 /* first elements that are shown */

/* One word: "y", "y=i32", "y-x", "y-@file", "y:npy", "y:npy:out/y.npy". */
struct wish {
	char name[64], other[1024], file[1024];
	bool typed, writes;
	enum elem_type type;
	enum array_form form;
};

/* All there is. */
struct buffers {
	unsigned n;
	const struct buffer_plan *plan;
	void *const *data;
};

static bool read_wish(const char *s, size_t len, struct wish *w, struct err *err)
{
	char word[2200], *form;
	*w = (struct wish){ .name = "" };
	snprintf(word, sizeof word, "%.*s", (int)len, s);
	char *other = strchr(word, '-');
	form = strchr(word, ':');
	if (other && (!form || other < form)) {
		*other++ = '\0';
		snprintf(w->other, sizeof w->other, "%.1023s", other);
		form = NULL;
	}
	if (form) {
		*form++ = '\0';
		char *file = strchr(form, ':');
		if (file)
			*file++ = '\0';
		w->writes = true;
		if (!array_form_find(form, &w->form)) {
			err_set(err, ERR_USAGE, "option '--dump': there is no form '%.40s'", form);
			return err_remedy(err, "text, csv, npy, raw");
		}
		snprintf(w->file, sizeof w->file, "%.1023s", file && *file ? file : "");
	}
	char *type = strchr(word, '=');
	if (type) {
		*type++ = '\0';
		w->typed = true;
		if (!elem_find(type, &w->type)) {
			err_set(err, ERR_USAGE, "option '--dump': there is no type '%.40s'", type);
			return err_remedy(err, "f32 f64 f16 bf16, i8 to i64, u8 to u64");
		}
	}
	snprintf(w->name, sizeof w->name, "%.63s", word);
	if (w->writes && !w->file[0])
		snprintf(w->file, sizeof w->file, "%s.%s", w->name,
		         w->form == ARRAY_TEXT ? "txt" : array_form_name(w->form));
	return true;
}

static int find_buffer(const struct buffers *all, const char *name, struct err *err)
{
	struct text names = { 0 };
	for (unsigned b = 0; b < all->n; b++) {
		if (!strcmp(all->plan[b].name, name)) {
			text_free(&names);
			return (int)b;
		}
		text_add(&names, "%s%s", b ? ", " : "", all->plan[b].name);
	}
	err_set(err, ERR_USAGE, "option '--dump': there is no buffer '%s'", name);
	err_remedy(err, "buffers: %s", names.s ? names.s : "none");
	text_free(&names);
	return -1;
}

bool dump_names(const char *words, unsigned n, const struct buffer_plan *plan, bool *named,
                struct err *err)
{
	const struct buffers all = { n, plan, NULL };
	for (const char *s = words; s && *s;) {
		struct wish w;
		const size_t len = strcspn(s, ",");
		if (!read_wish(s, len, &w, err))
			return false;
		const int b = find_buffer(&all, w.name, err);
		const int k = w.other[0] && w.other[0] != '@' ? find_buffer(&all, w.other, err) : b;
		if (b < 0 || k < 0)
			return false;
		if (named)
			named[b] = named[k] = true;
		s += len + (s[len] == ',');
	}
	return true;
}

bool dump_legal(const char *words, const struct launch_plan *plan, struct err *err)
{
	return dump_names(words, plan->n_buffers, plan->buffers, NULL, err);
}

/* Buffer @b, as the wish has it. */
static struct array array_of(const struct buffers *all, unsigned b, const struct wish *w)
{
	const struct buffer_plan *p = &all->plan[b];
	struct array a = { .type = p->type, .count = p->count, .cols = p->cols, .data = all->data[b] };
	if (w->typed) {
		a.count = a.count * elem_size(a.type) / elem_size(w->type);
		a.cols = a.type == w->type ? a.cols : 0;
		a.type = w->type;
	}
	return a;
}

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static void show_figures(struct dump *d, const char *name, const struct array *a, json_t *o)
{
	struct array_stats s;
	char text[48];
	json_t *first = json_array();
	array_stats(a, &s);
	text_add(&d->shown, "%s: %zu %s", name, a->count, elem_name(a->type));
	if (s.numbers)
		text_add(&d->shown, ", min %.6g, max %.6g, mean %.6g, deviation %.6g", s.min, s.max, s.mean,
		         s.deviation);
	text_add(&d->shown, ", %zu zero, %zu NaN, %zu infinite", s.zeros, s.nans, s.infinities);
	if (s.first_odd < a->count)
		text_add(&d->shown, " (the first at [%zu])", s.first_odd);
	text_add(&d->shown, "\n ");
	for (size_t i = 0; i < a->count && i < HEAD; i++) {
		elem_format(a->type, a->data, i, text, sizeof text);
		text_add(&d->shown, " %s", text);
		json_array_append_new(first, number(elem_get(a->type, a->data, i)));
	}
	text_add(&d->shown, "%s\n", a->count > HEAD ? " ..." : "");
	json_object_set_new(o, "name", json_string(name));
	json_object_set_new(o, "type", json_string(elem_name(a->type)));
	json_object_set_new(o, "count", json_integer((json_int_t)a->count));
	json_object_set_new(o, "min", s.numbers ? number(s.min) : json_null());
	json_object_set_new(o, "max", s.numbers ? number(s.max) : json_null());
	json_object_set_new(o, "mean", s.numbers ? number(s.mean) : json_null());
	json_object_set_new(o, "deviation", s.numbers ? number(s.deviation) : json_null());
	json_object_set_new(o, "zeros", json_integer((json_int_t)s.zeros));
	json_object_set_new(o, "nan", json_integer((json_int_t)s.nans));
	json_object_set_new(o, "inf", json_integer((json_int_t)s.infinities));
	json_object_set_new(o, "first", first);
}

static void show_difference(struct dump *d, const struct array *a, const struct array *b,
                            const char *other, json_t *o)
{
	struct array_difference x;
	char mine[48], theirs[48];
	array_compare(a, b, &x);
	text_add(&d->shown, "  against %s: %zu of %zu differ", other, x.differ, x.compared);
	if (a->count != b->count)
		text_add(&d->shown, " (%zu elements against %zu)", a->count, b->count);
	if (x.differ) {
		elem_format(a->type, a->data, x.largest_at, mine, sizeof mine);
		elem_format(b->type, b->data, x.largest_at, theirs, sizeof theirs);
		text_add(&d->shown, ", the first at [%zu], most at [%zu]: %s against %s", x.first,
		         x.largest_at, mine, theirs);
	}
	text_add(&d->shown, "\n");
	json_object_set_new(o, "difference",
	                    json_pack("{s:s, s:I, s:I, s:o, s:o}", "to", other, "compared",
	                              (json_int_t)x.compared, "differ", (json_int_t)x.differ, "largest",
	                              number(x.largest), "largest_relative",
	                              number(x.largest_relative)));
}

static bool no_contents(struct dump *d, const char *name)
{
	return err_set(&d->err, ERR_UNAVAILABLE, "buffer '%s' could not be read", name);
}

static bool take_one(struct dump *d, const struct wish *w, const struct buffers *all)
{
	const int b = find_buffer(all, w->name, &d->err);
	if (b < 0)
		return false;
	if (!all->data[b])
		return no_contents(d, w->name);
	const struct array a = array_of(all, (unsigned)b, w);
	json_t *o = json_object();
	bool ok = true;
	json_array_append_new(d->json, o);
	show_figures(d, w->name, &a, o);
	if (w->other[0] == '@') {
		struct array file;
		ok = array_read(w->other + 1, a.type, &file, &d->err);
		if (ok) {
			show_difference(d, &a, &file, w->other + 1, o);
			free(file.data);
		}
	} else if (w->other[0]) {
		const int k = find_buffer(all, w->other, &d->err);
		ok = k >= 0 && (all->data[k] || no_contents(d, w->other));
		if (ok) {
			const struct array other = array_of(all, (unsigned)k, w);
			show_difference(d, &a, &other, w->other, o);
		}
	}
	if (w->writes) {
		struct text written = { 0 };
		array_write(&a, w->form, &written);
		ok = file_replace(w->file, written.s ? written.s : "", written.len, &d->err);
		text_free(&written);
		if (ok)
			text_add(&d->shown, "  written to %s\n", w->file);
		json_object_set_new(o, "file", json_string(w->file));
	}
	return ok;
}

void dump_buffers(struct dump *d, unsigned n, const struct buffer_plan *plan, void *const *data)
{
	const struct buffers all = { n, plan, data };
	d->ok = true;
	d->json = json_array();
	for (const char *s = d->words; *s && d->ok;) {
		struct wish w;
		const size_t len = strcspn(s, ",");
		d->ok = read_wish(s, len, &w, &d->err) && take_one(d, &w, &all);
		s += len + (s[len] == ',');
	}
}

void dump_take(void *dump, const struct launch_plan *plan, void *const *data)
{
	dump_buffers(dump, plan->n_buffers, plan->buffers, data);
}

void dump_free(struct dump *d)
{
	text_free(&d->shown);
	json_decref(d->json);
}
