/* The map of a sweep as a snapshot keeps it: its launches that ran, each by its two values; see
 * record_tables.h. What is due or cannot be launched follows from the selection. */
#include "model/record_rows.h"
#include "model/snapshot_reader.h"
#include "model/sweep_map.h"

#include <stdlib.h>

#define T sweep_point
static const struct record_field point_fields[] = {
	FIELD(why, CHARS, .optional = true, .about = "it failed, and this is why"),
	FIELD(time_ns, DOUBLE),
	FIELD(rate, DOUBLE, .about = "in GB/s, GFLOPS, or launches per ms"),
	FIELD(occupancy, DOUBLE, .about = "percent, theoretical"),
	FIELD(registers, UNSIGNED),
	FIELD(spill_bytes, UNSIGNED, .optional = true),
	FIELD(origin, NAME, .names = &origin_names, .about = "of the time"),
	FIELD(basis, NAME, .names = &origin_names, .about = "of the counts under a modelled time"),
	FIELD(bottleneck, CHARS),
	{ .key = "across", .kind = FIELD_OTHER, .schema = "{\"type\": \"integer\"}" },
	{ .key = "down", .kind = FIELD_OTHER, .schema = "{\"type\": \"integer\"}" },
};
static const struct record_table point_table =
	TABLE("map_point", "one launch of a map", point_fields);
#undef T

#define T sweep_map
static bool has_run(const struct sweep_point *p)
{
	return p->state == SWEEP_RAN || p->state == SWEEP_FAILED;
}

static json_t *write_points(const void *x, enum record_form form)
{
	const struct sweep_map *m = x;
	json_t *points = json_array();
	(void)form;
	for (unsigned i = 0; i < sweep_map_points(m); i++) {
		if (!has_run(&m->point[i]))
			continue;
		const unsigned across = i % m->n[SWEEP_ACROSS], down = i / m->n[SWEEP_ACROSS];
		json_t *o = record_write(&point_table, &m->point[i]);
		json_object_set_new(o, "across", json_integer(m->value[SWEEP_ACROSS][across]));
		json_object_set_new(o, "down", json_integer(m->value[SWEEP_DOWN][down]));
		json_array_append_new(points, o);
	}
	return points;
}

/* Where @value stands on an axis; -1 = nowhere: another version has other steps. */
static int place_of(const struct sweep_map *m, int axis, json_int_t value)
{
	for (unsigned i = 0; i < m->n[axis]; i++)
		if (m->value[axis][i] == value)
			return (int)i;
	return -1;
}

static bool read_point(struct reader *r, json_t *o, struct sweep_map *m)
{
	struct sweep_point p = { 0 };
	if (!json_is_object(o) || !record_read(r, o, &point_table, &p))
		return json_is_object(o) ? false : reader_complain(r, "", "an object is needed");
	const json_t *across = json_object_get(o, "across"), *down = json_object_get(o, "down");
	if (!json_is_integer(across) || !json_is_integer(down))
		return reader_complain(r, json_is_integer(across) ? "down" : "across",
		                       "a whole number is needed");
	const int col = place_of(m, SWEEP_ACROSS, json_integer_value(across));
	const int row = place_of(m, SWEEP_DOWN, json_integer_value(down));
	p.state = p.why[0] ? SWEEP_FAILED : SWEEP_RAN;
	if (row >= 0 && col >= 0)
		m->point[(unsigned)row * m->n[SWEEP_ACROSS] + (unsigned)col] = p;
	return true;
}

static bool read_points(struct reader *r, json_t *o, const char *key, void *x)
{
	const size_t depth = r->depth;
	json_t *points = reader_enter(r, o, key, JSON_ARRAY);
	if (!points)
		return false;
	if (json_array_size(points) > SWEEP_SIDE * SWEEP_SIDE)
		return reader_complain(r, "", "this list is too long");
	for (size_t i = 0; i < json_array_size(points); i++)
		if (!read_point(r, json_array_get(points, i), x))
			return false;
	reader_leave(r, depth);
	return true;
}

static const struct record_codec points_codec = { write_points, read_points };

static const struct record_field map_fields[] = {
	NAMED("selection", sel, RECORD, .table = &selection_table,
	      .about = "what all its launches share"),
	FIELD(pair, UNSIGNED, .about = "which two of the parameters, from 0"),
	FIELD(in_bytes, BOOL, .about = "rates are of bytes, not of FLOP"),
	FIELD(rated, BOOL, .about = "the work is known; else rates are launches per ms"),
	CODED("points", &points_codec, .table = &point_table, .about = "launches that ran",
	      .schema = "{\"type\": \"array\", \"items\": {\"$ref\": \"#/definitions/map_point\"}}"),
};
const struct record_table map_table =
	TABLE("map", "a variant's rate over two of its parameters", map_fields);
#undef T

static json_t *write_map(const void *x, enum record_form form)
{
	const struct session *s = x;
	(void)form;
	return s->map ? record_write(&map_table, s->map) : NULL;
}

/* A map that the session's launch is no point of says nothing here. */
static bool read_map(struct reader *r, json_t *doc, const char *key, void *x)
{
	struct session *s = x;
	struct sweep_map told = { 0 };
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, doc, key, JSON_OBJECT);
	if (!o || !record_read_member(r, o, "selection", &selection_table, &told.sel))
		return false;
	json_t *pair = json_object_get(o, "pair");
	struct sweep_map *m =
		sweep_map_new(&told.sel, json_is_integer(pair) ? (unsigned)json_integer_value(pair) : 0);
	const struct selection sel = m->sel;
	const bool ok = record_read(r, o, &map_table, m);
	m->sel = sel;
	if (ok && m->pairs && sweep_map_fits(m, &s->sel)) {
		m->pair %= m->pairs;
		s->map_pair = m->pair;
		s->map = m;
	} else {
		free(m);
	}
	if (ok)
		reader_leave(r, depth);
	return ok;
}

const struct record_codec map_codec = { write_map, read_map };
