/* The tables of a session as a snapshot keeps it, ladder and tour too; see record_tables.h. */
#include "model/brief.h"
#include "model/ladder.h"
#include "model/record_rows.h"
#include "model/snapshot_reader.h"

#include "base/intern.h"

#include <stdio.h>
#include <string.h>

#define T tour_outcome
static const struct record_field outcome_fields[] = {
	FIELD(holds, BOOL),
	FIELD(is, DOUBLE, .younger = true, .about = "what the claim's left side came to"),
	FIELD(found, CHARS),
};
static const struct record_table outcome_table = TABLE("outcome", NULL, outcome_fields);
#undef T

#define T session_tour
static const struct record_field tour_fields[] = {
	FIELD(name, CHARS),
	FIELD(step, UNSIGNED),
	FIELD(judged, BOOL),
	FIELD(off_path, BOOL),
	FIELD(revealed, BOOL),
	FIELD(outcomes, ARRAY, .table = &outcome_table, .count_offset = offsetof(struct T, n),
	      .younger = true),
};
const struct record_table tour_table =
	TABLE("tour", "where in a preset the person was", tour_fields);
#undef T

/* --- a ladder --- */

#define T ladder_rung
static json_t *write_variant(const void *x, enum record_form form)
{
	(void)form;
	return json_string(((const struct ladder_rung *)x)->variant->name);
}

static bool has_run(const void *x)
{
	return ((const struct ladder_rung *)x)->record;
}

static bool has_not_run(const void *x)
{
	return !has_run(x);
}

static const struct record_codec variant_codec = { .write = write_variant };

static const struct record_field rung_fields[] = {
	CODED("variant", &variant_codec, .schema = "{\"type\": \"string\"}"),
	FIELD(why, CHARS, .there = has_not_run,
	      .about = "why there is no run of it; empty: it has not run yet"),
	FIELD(book, CHARS, .optional = true,
	      .about = "times and rates that the sources print for this variant"),
	NAMED("ghost_ns", reference_ns, DOUBLE, .optional = true),
	NAMED("", record, POINTER, .there = has_run, .table = &rung_record_table),
};
static const struct record_table rung_table =
	TABLE("rung", NULL, rung_fields,
          .rules = "{\"oneOf\": [{\"required\": [\"why\"]}, "
                   "{\"required\": [\"verify\", \"perf\", \"metrics\"]}]}");
#undef T

#define T ladder
static bool has_library(const void *x)
{
	return ((const struct ladder *)x)->library_ns > 0;
}

static bool has_reference(const void *x)
{
	return ((const struct ladder *)x)->reference_machine[0];
}

/* What follows from a rung's selection. */
static bool put_rung(struct reader *r, struct ladder *l, unsigned i, struct run_record *x)
{
	x->sel = ladder_selection(l, i);
	if (!selection_plan(&x->sel, &x->plan, NULL))
		return reader_complain(r, "variant", "this program cannot plan the launch");
	x->sel.kernel->cost(x->sel.variant, &x->plan, x->sel.params, &x->cost);
	return ladder_put(l, x);
}

/* A variant that this program does not have is no rung of it. */
static bool read_rung(struct reader *r, json_t *o, struct ladder *l)
{
	struct ladder_rung rung = { 0 };
	const char *name = reader_text(r, o, "variant");
	unsigned i = 0;
	while (name && i < l->n && strcmp(l->rungs[i].variant->name, name) != 0)
		i++;
	if (!name || i == l->n)
		return name != NULL;
	bool ok = record_read(r, o, &rung_table, &rung);
	if (ok && !rung.record && !json_object_get(o, "why"))
		ok = reader_complain(r, "verify", "is missing");
	struct run_record *x = rung.record;
	rung.variant = l->rungs[i].variant;
	rung.record = NULL;
	if (ok)
		l->rungs[i] = rung;
	ok = ok && (!x || put_rung(r, l, i, x));
	record_free(x);
	return ok;
}

static bool read_rungs(struct reader *r, json_t *o, const char *key, void *x)
{
	const size_t depth = r->depth;
	json_t *rungs = reader_enter(r, o, key, JSON_ARRAY);
	if (!rungs)
		return false;
	if (json_array_size(rungs) > LADDER_MAX)
		return reader_complain(r, "", "this list is too long");
	for (size_t i = 0; i < json_array_size(rungs); i++)
		if (!read_rung(r, json_array_get(rungs, i), x))
			return false;
	reader_leave(r, depth);
	return true;
}

static const struct record_field library_fields[] = {
	NAMED("name", library_name, CHARS),
	NAMED("time_ns", library_ns, DOUBLE),
};
static const struct record_table library_table =
	TABLE("library", "the vendor library's measured time for the same work", library_fields);

static const struct record_field reference_fields[] = {
	NAMED("machine", reference_machine, CHARS),
	NAMED("library_name", reference_library_name, CHARS),
	NAMED("library_ns", reference_library_ns, DOUBLE),
};
static const struct record_table ladder_reference_table =
	TABLE("ladder_reference",
          "where the rungs' ghost_ns were recorded, and the library's time there (0 = none)",
          reference_fields);

static const struct record_codec rungs_codec = { .read = read_rungs };

static const struct record_field ladder_fields[] = {
	NAMED("selection", sel, RECORD, .table = &selection_table),
	{ .key = "library", .kind = FIELD_RECORD, .table = &library_table, .there = has_library },
	{ .key = "ghost",
	  .kind = FIELD_RECORD,
	  .table = &ladder_reference_table,
	  .there = has_reference },
	FIELD(rungs, ARRAY, .table = &rung_table, .count_offset = offsetof(struct T, n),
	      .codec = &rungs_codec),
};
static const struct record_table ladder_table = TABLE(
	"ladder", "the family's variants in order, each run with the same parameters", ladder_fields);
#undef T

/* --- a session --- */

#define T session_written
static const struct record_field written_fields[] = {
	FIELD(by, CHARS, .about = "the person's name on the machine, and the machine's"),
	FIELD(at, CHARS, .about = "the time, UTC"),
};
static const struct record_table written_table =
	TABLE("written", "who wrote this, and when", written_fields);
#undef T

#define T session
static bool is_written(const void *x)
{
	return ((const struct session *)x)->written.at[0];
}

static json_t *write_ladder(const void *x, enum record_form form)
{
	const struct session *s = x;
	(void)form;
	return s->ladder ? record_write(&ladder_table, s->ladder) : NULL;
}

/* A ladder of other parameters than the session's says nothing here. */
static bool read_ladder(struct reader *r, json_t *doc, const char *key, void *x)
{
	struct session *s = x;
	struct selection sel = { 0 };
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, doc, key, JSON_OBJECT);
	if (!o || !record_read_member(r, o, "selection", &selection_table, &sel))
		return false;
	struct ladder *l = ladder_new(&sel);
	const bool ok = record_read(r, o, &ladder_table, l);
	ladder_compare(l);
	if (ok && ladder_fits(l, &s->sel))
		s->ladder = l;
	else
		ladder_free(l);
	if (ok)
		reader_leave(r, depth);
	return ok;
}

static json_t *write_source(const void *x, enum record_form form)
{
	const struct session *s = x;
	const char *source = s->source ? s->source : "";
	char hash[17];
	(void)form;
	source_hash(source, hash);
	return json_pack("{s:s, s:o}", "hash", hash, "text", json_utf8(source));
}

static bool read_source(struct reader *r, json_t *doc, const char *key, void *x)
{
	struct session *s = x;
	const struct snapshot_reading *reading = r->context;
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, doc, key, JSON_OBJECT);
	const char *text = o ? reader_text(r, o, "text") : NULL;
	if (!text)
		return false;
	const char *ours = reading->names->source(s->sel.kernel);
	const bool same = ours && !strcmp(ours, text);
	s->source = same ? ours : intern(text);
	snprintf(reading->note, reading->note_size, "%s",
	         same ? ""
	              : "the kernel's source has changed since this snapshot; the "
	                "panels show the snapshot's own");
	reader_leave(r, depth);
	return true;
}

static bool has_reference_run(const void *x)
{
	return ((const struct session *)x)->reference_run;
}

static bool has_tour(const void *x)
{
	return ((const struct session *)x)->tour.preset;
}

static bool has_ladder(const void *x)
{
	return ((const struct session *)x)->ladder;
}

static bool has_map(const void *x)
{
	return ((const struct session *)x)->map;
}

static bool has_usage(const void *x)
{
	return ((const struct session *)x)->usage_known;
}

static const struct record_codec ladder_codec = { write_ladder, read_ladder };
static const struct record_codec source_codec = { write_source, read_source };

static const struct record_field screen_fields[] = {
	FIELD(view, TEXT, .about = "the focused panel"),
	FIELD(param, UNSIGNED),
	NAMED("line", cursor.row, UNSIGNED),
	NAMED("lens", cursor.detail, BOOL, .about = "the detail of the focused row is open"),
	NAMED("lens_row", cursor.detail_row, UNSIGNED),
	NAMED("timeline_zoom", cursor.zoom, UNSIGNED, .younger = true, .most = VIEW_ZOOM_MAX,
	      .about = "the timeline's axis shows 1/2^zoom of the whole"),
	NAMED("timeline_pan", cursor.pan, UNSIGNED, .younger = true, .most = 4u << VIEW_ZOOM_MAX,
	      .about = "quarters of that window, from the start"),
};
const struct record_table screen_table = TABLE("screen", NULL, screen_fields);

static const struct record_field reference_run_fields[] = {
	NAMED("run", reference_run, POINTER, .table = &brief_table, .there = has_reference_run),
	NAMED("hidden", reference_run_hidden, BOOL),
	NAMED("earlier", reference_run_earlier, BOOL,
	      .about = "recorded with another text of the kernel's file"),
};
static const struct record_table reference_run_table =
	TABLE("reference_run", "the last run as recorded on another machine", reference_run_fields,
          .rules = "{\"required\": [\"run\", \"hidden\", \"earlier\"]}");

/* The instant part follows; `now` may be of an older selection. */
static bool finish_session(struct reader *r, json_t *doc, void *x)
{
	struct session *s = x;
	const struct occ_input usage = s->occ_in;
	(void)r;
	s->param = s->param < s->sel.kernel->n_params ? s->param : 0;
	session_instant(s, json_object_get(doc, "occupancy_input") ? &usage : NULL);
	s->state = s->now ? RUN_DONE : RUN_NONE;
	s->stale = s->now && !selection_equal(&s->now->sel, &s->sel);
	return true;
}

static const struct record_field session_fields[] = {
	{ .key = "schema", .kind = FIELD_OTHER, .schema = "{\"const\": \"pmpp-explore/snapshot\"}" },
	{ .key = "version", .kind = FIELD_OTHER, .schema = "{\"const\": 1}" },
	{ .key = "tool",
	  .kind = FIELD_OTHER,
	  .schema = "{\"type\": \"string\"}",
	  .about = "version of the program that wrote this" },
	FIELD(written, RECORD, .table = &written_table, .there = is_written),
	{ .key = "digest",
	  .kind = FIELD_OTHER,
	  .younger = true,
	  .schema = "{\"type\": \"string\", \"pattern\": \"^sha256:[0-9a-f]{64}$\"}",
	  .about =
	      "of all the rest, as compact JSON with sorted keys and 17 digits; shows a change, not "
	      "who made it" },
	NAMED("selection", sel, RECORD, .table = &selection_table),
	CODED("source", &source_codec,
	      .about = "the kernel's file, so that line tables show the text that was run",
	      .schema = "{\"type\": \"object\", \"required\": [\"hash\", \"text\"], "
	                "\"properties\": {\"hash\": {\"type\": \"string\", "
	                "\"pattern\": \"^[0-9a-f]{16}$\"}, \"text\": {\"type\": \"string\"}}}"),
	{ .key = "screen", .kind = FIELD_RECORD, .table = &screen_table },
	FIELD(now, POINTER, .table = &record_table, .about = "the last run"),
	FIELD(before, POINTER, .table = &record_table, .about = "the run before it, for comparison"),
	FIELD(history, LIST, .table = &brief_table, .count_offset = offsetof(struct T, n_history),
	      .most = HISTORY_MAX, .younger = true,
	      .about = "every run of the session in brief, the newest last"),
	{ .key = "ghost",
	  .kind = FIELD_RECORD,
	  .table = &reference_run_table,
	  .there = has_reference_run },
	NAMED("tour", tour, RECORD, .table = &tour_table, .there = has_tour),
	CODED("ladder", &ladder_codec, .table = &ladder_table, .there = has_ladder),
	CODED("map", &map_codec, .table = &map_table, .there = has_map),
	NAMED("occupancy_input", occ_in, RECORD, .table = &occupancy_input_table, .there = has_usage),
	FIELD(spill_bytes, UNSIGNED, .there = has_usage),
};
const struct record_table session_table = TABLE(
	"session",
	"One session: what was chosen, what came of it, and where the person was looking. Unknown keys "
	"are ignored by readers; a change that old readers cannot ignore raises `version`. Times are "
	"in nanoseconds, null is a number that is not known.",
	session_fields, .finish = finish_session);
#undef T

json_t *snapshot_schema(void)
{
	json_t *o = json_pack("{s:s, s:s}", "$schema", "http://json-schema.org/draft-07/schema#",
	                      "title", "pmpp-explore snapshot, version 1");
	json_t *rest = record_schema(&session_table), *definitions = json_object();
	json_object_update(o, rest);
	json_decref(rest);
	record_definitions(&session_table, definitions);
	json_object_set_new(o, "definitions", definitions);
	return o;
}
