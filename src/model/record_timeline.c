/* The stream program's timeline as `run --json` shows it; see record_tables.h. */
#include "model/record_rows.h"
#include "model/record_tables.h"

#define T stream_outcome
static const struct record_field outcome_fields[] = {
	DERIVED("origin", origin, NAME, .names = &origin_names),
	DERIVED("makespan_ns", makespan_ns, DOUBLE),
	DERIVED("model.makespan_ns", modelled_ns, DOUBLE),
	DERIVED("model.h2d_gbs", modelled_gbs[0], DOUBLE),
	DERIVED("model.d2h_gbs", modelled_gbs[1], DOUBLE),
};
static const struct record_table outcome_table = TABLE("outcome", NULL, outcome_fields);
#undef T

#define T stream_init
static const struct record_field init_fields[] = {
	DERIVED("origin", origin, NAME, .names = &origin_names), DERIVED("total_ns", total_ns, DOUBLE),
#define X(id, name) DERIVED(name "_ns", ns[INIT_##id], DOUBLE),
	STREAM_INITS(X)
#undef X
};
static const struct record_table init_table = TABLE("init", NULL, init_fields);
#undef T

/* An operation that takes time, and when it did. */
struct timeline_step {
	struct stream_op op;
	struct stream_span span;
};

#define T timeline_step
static json_t *engine(const void *x, enum record_form form)
{
	(void)form;
	return json_string(stream_engine_name(((const struct timeline_step *)x)->span.engine));
}

static bool is_copy(const void *x)
{
	return ((const struct timeline_step *)x)->op.kind != SOP_KERNEL;
}

static const struct record_field step_fields[] = {
	DERIVED("name", op.name, CHARS),
	COMPUTED("engine", engine),
	DERIVED("stream", op.stream, UNSIGNED),
	DERIVED("start_ns", span.start_ns, DOUBLE),
	DERIVED("end_ns", span.end_ns, DOUBLE),
	DERIVED("bytes", op.bytes, UNSIGNED),
	DERIVED("pinned", op.pinned, BOOL, .there = is_copy),
};
static const struct record_table step_table = TABLE("operation", NULL, step_fields);
#undef T

#define T run_record
static json_t *from_events(const void *x, enum record_form form)
{
	const struct run_record *r = x;
	(void)form;
	return json_boolean(r->timeline->origin == ORIGIN_MEASURED && r->run.spans_from_events);
}

static json_t *operations(const void *x, enum record_form form)
{
	const struct run_record *r = x;
	json_t *list = json_array();
	(void)form;
	for (unsigned i = 0; i < r->program->n_ops; i++) {
		const struct timeline_step step = { r->program->ops[i], r->timeline->spans[i] };
		if (stream_is_work(&step.op))
			json_array_append_new(list, record_write_run(&step_table, &step));
	}
	return list;
}

static const struct record_field timeline_fields[] = {
	DERIVED("", timeline, POINTER, .table = &outcome_table),
	COMPUTED("from_events", from_events),
	DERIVED("unrecorded_ns", run.program_ns, DOUBLE, .optional = true),
	DERIVED("init", init, RECORD, .table = &init_table),
	COMPUTED("operations", operations),
};
static const struct record_table timeline_table = TABLE("timeline", NULL, timeline_fields);
#undef T

/* Times from the first call on. */
static json_t *write_timeline(const void *x, enum record_form form)
{
	const struct run_record *r = x;
	(void)form;
	return r->program && r->timeline ? record_write_run(&timeline_table, r) : NULL;
}

const struct record_codec timeline_codec = { .write = write_timeline };
