/* JSON to session: the document and what surrounds its records; see snapshot.h. */
#include "model/brief.h"
#include "model/ladder.h"
#include "model/snapshot_reader.h"

#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_brief(struct reader *r, json_t *o, struct run_brief *x)
{
	const size_t depth = r->depth;
	const int verify = reader_name(r, o, "verify", verify_names, VERIFY_NAMES);
	if (verify < 0 || !snapshot_launch(r, o, &x->sel) ||
	    !reader_chars(r, o, "source", x->source, sizeof x->source) ||
	    !snapshot_metrics(r, o, &x->metrics))
		return false;
	x->verify = (enum verify_state)verify;
	struct gpu_spec named = { 0 }; /* which sheet, without its figures */
	json_t *gpu = reader_enter(r, o, "gpu", JSON_OBJECT);
	if (!gpu || !reader_chars(r, gpu, "id", named.id, sizeof named.id) ||
	    !reader_chars(r, gpu, "name", named.name, sizeof named.name) ||
	    !reader_bool(r, gpu, "live", &named.live))
		return false;
	x->sel.gpu = gpu_intern(&named);
	reader_leave(r, depth);
	return true;
}

/* Both are younger than the first snapshots. */
static bool read_briefs(struct reader *r, json_t *doc, struct session *s)
{
	if (json_object_get(doc, "history")) {
		json_t *all = reader_enter(r, doc, "history", JSON_ARRAY);
		if (!all || json_array_size(all) > HISTORY_MAX)
			return all && reader_complain(r, "", "this list is too long");
		if (json_array_size(all))
			s->history = mem_calloc(json_array_size(all), sizeof *s->history);
		for (; s->n_history < json_array_size(all); s->n_history++)
			if (!read_brief(r, json_array_get(all, s->n_history), &s->history[s->n_history]))
				return false;
		reader_leave(r, 0);
	}
	if (json_object_get(doc, "ghost")) {
		json_t *o = reader_enter(r, doc, "ghost", JSON_OBJECT);
		s->reference_run = mem_calloc(1, sizeof *s->reference_run);
		json_t *run = o ? reader_enter(r, o, "run", JSON_OBJECT) : NULL;
		if (!run || !read_brief(r, run, s->reference_run))
			return false;
		reader_leave(r, 0);
		if (!record_read_member(r, doc, "ghost", &reference_run_table, s))
			return false;
	}
	return true;
}

static bool check_version(struct reader *r, json_t *doc)
{
	const char *schema = json_string_value(json_object_get(doc, "schema"));
	if (!schema || strcmp(schema, SNAPSHOT_SCHEMA) != 0)
		return err_set(r->err, ERR_PARSE, "%s: not a snapshot of this program", r->origin);
	const json_int_t version = json_integer_value(json_object_get(doc, "version"));
	if (version > SNAPSHOT_VERSION) {
		err_set(r->err, ERR_PARSE,
		        "%s: a snapshot of version %lld, written by pmpp-explore %s; "
		        "this program reads up to version %d",
		        r->origin, (long long)version,
		        json_string_value(json_object_get(doc, "tool"))
		            ? json_string_value(json_object_get(doc, "tool"))
		            : "(unknown)",
		        SNAPSHOT_VERSION);
		return err_remedy(r->err, "open it with a newer pmpp-explore");
	}
	return version >= 1 || reader_complain(r, "version", "a whole number from 1 on is needed");
}

static bool read_source(struct reader *r, json_t *doc, struct session *s, char *note, size_t n)
{
	json_t *o = reader_enter(r, doc, "source", JSON_OBJECT);
	const char *text = o ? reader_text(r, o, "text") : NULL;
	if (!text)
		return false;
	const char *ours = names_of(r)->source(s->sel.kernel);
	const bool same = ours && !strcmp(ours, text);
	s->source = same ? ours : intern(text);
	snprintf(note, n, "%s",
	         same ? ""
	              : "the kernel's source has changed since this snapshot; the "
	                "panels show the snapshot's own");
	reader_leave(r, 0);
	return true;
}

static bool read_screen(struct reader *r, json_t *doc, struct session *s)
{
	if (!record_read_member(r, doc, "screen", &screen_table, s))
		return false;
	s->param = s->param < s->sel.kernel->n_params ? s->param : 0;
	return true;
}

/* Where in a preset the session was; whoever opens it loads the preset by its name. */
static bool read_tour(struct reader *r, json_t *doc, struct session_tour *x)
{
	if (!json_object_get(doc, "tour"))
		return true;
	json_t *o = reader_enter(r, doc, "tour", JSON_OBJECT);
	bool ok = o && record_read(r, o, &tour_table, x);
	const json_t *outcomes = json_object_get(o, "outcomes");
	for (size_t i = 0; ok && i < json_array_size(outcomes) && i < ARRAY_LEN(x->holds); i++) {
		json_t *each = json_array_get(outcomes, i);
		ok = reader_bool(r, each, "holds", &x->holds[i]) &&
		     reader_chars(r, each, "found", x->found[i], sizeof x->found[i]);
		x->n++;
	}
	reader_leave(r, 0);
	return ok;
}

static bool read_rung(struct reader *r, json_t *o, struct ladder *l)
{
	const char *name = reader_text(r, o, "variant");
	unsigned i = 0;
	while (name && i < l->n && strcmp(l->rungs[i].variant->name, name) != 0)
		i++;
	if (!name || i == l->n) /* a variant that this program does not have is no rung of it */
		return name != NULL;
	struct ladder_rung *rung = &l->rungs[i];
	if (json_object_get(o, "ghost_ns") && !reader_number(r, o, "ghost_ns", &rung->reference_ns))
		return false;
	if (json_object_get(o, "book") && !reader_chars(r, o, "book", rung->book, sizeof rung->book))
		return false;
	if (json_object_get(o, "why"))
		return reader_chars(r, o, "why", rung->why, sizeof rung->why);
	struct run_record x = { .sel = ladder_selection(l, i) };
	const int verify = reader_name(r, o, "verify", verify_names, VERIFY_NAMES);
	if (verify < 0 || !record_read_member(r, o, "perf", &perf_table, &x.perf) ||
	    !snapshot_metrics(r, o, &x.metrics))
		return false;
	if (!selection_plan(&x.sel, &x.plan, NULL))
		return reader_complain(r, "variant", "this program cannot plan the launch");
	x.sel.kernel->cost(x.sel.variant, &x.plan, x.sel.params, &x.cost);
	x.verify = (enum verify_state)verify;
	return ladder_put(l, &x);
}

/* A ladder of other parameters than the session's says nothing here. */
static bool read_ladder(struct reader *r, json_t *doc, struct session *s)
{
	struct selection sel = { 0 };
	if (!json_object_get(doc, "ladder"))
		return true;
	json_t *o = reader_enter(r, doc, "ladder", JSON_OBJECT);
	if (!o || !snapshot_selection(r, o, &sel))
		return false;
	struct ladder *l = ladder_new(&sel);
	if ((json_object_get(o, "library") &&
	     !record_read_member(r, o, "library", &library_table, l)) ||
	    (json_object_get(o, "ghost") &&
	     !record_read_member(r, o, "ghost", &ladder_reference_table, l))) {
		ladder_free(l);
		return false;
	}
	json_t *rungs = reader_enter(r, o, "rungs", JSON_ARRAY);
	bool ok = rungs && (json_array_size(rungs) <= LADDER_MAX ||
	                    reader_complain(r, "", "this list is too long"));
	for (size_t i = 0; ok && i < json_array_size(rungs); i++)
		ok = read_rung(r, json_array_get(rungs, i), l);
	ladder_compare(l);
	if (ok && ladder_fits(l, &s->sel))
		s->ladder = l;
	else
		ladder_free(l);
	if (ok)
		reader_leave(r, 0);
	return ok;
}

static bool read_instant(struct reader *r, json_t *doc, struct session *s)
{
	struct occ_input usage;
	int64_t whole = 0;
	if (!json_object_get(doc, "occupancy_input")) {
		session_instant(s, NULL);
		return true;
	}
	if (!record_read_member(r, doc, "occupancy_input", &occupancy_input_table, &usage) ||
	    !reader_whole(r, doc, "spill_bytes", 0, UINT32_MAX, &whole))
		return false;
	s->spill_bytes = (unsigned)whole;
	session_instant(s, &usage);
	return true;
}

static bool read_document(struct reader *r, json_t *doc, struct session *s, char *note, size_t n)
{
	if (!check_version(r, doc) || !snapshot_selection(r, doc, &s->sel) ||
	    !read_source(r, doc, s, note, n) || !read_screen(r, doc, s) ||
	    !read_tour(r, doc, &s->tour) || !read_ladder(r, doc, s) || !read_instant(r, doc, s) ||
	    !snapshot_record(r, doc, "now", &s->now) ||
	    !snapshot_record(r, doc, "before", &s->before) || !read_briefs(r, doc, s))
		return false;
	s->state = s->now ? RUN_DONE : RUN_NONE;
	s->stale = s->now && !selection_equal(&s->now->sel, &s->sel);
	return true;
}

bool snapshot_read(const char *text, size_t len, const char *origin,
                   const struct snapshot_names *names, struct session *s, char *note, size_t n,
                   struct err *err)
{
	struct reader r = { .origin = origin, .err = err, .context = names };
	json_error_t at;
	*s = (struct session){ 0 };
	json_t *doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, &at);
	if (!doc) {
		err_set(err, ERR_PARSE, "%s:%d:%d: %s", origin, at.line, at.column, at.text);
		return err_remedy(err, "the file is damaged or cut off; nothing of it was opened");
	}
	const bool ok = read_document(&r, doc, s, note, n);
	json_decref(doc);
	if (!ok) {
		record_free(s->now);
		record_free(s->before);
		ladder_free(s->ladder);
		session_forget(s);
		*s = (struct session){ 0 };
	}
	return ok;
}
