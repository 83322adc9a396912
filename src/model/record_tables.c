/* What a record's fields are called, and what they are; see record_tables.h. */
#include "model/record_tables.h"

#include "model/ladder.h"

#include "base/text.h"

const char *const verify_names[VERIFY_NAMES] = { "not run", "ok", "wrong", "sampled",
	                                             "no reference" };
const char *const origin_names[ORIGIN_COUNT] = {
#define X(id, name, utf8, ascii, about) name,
	ORIGINS(X)
#undef X
};
static const char *const span_kind_names[SPAN_KIND_COUNT] = {
#define X(id, name, about) name,
	SPAN_KINDS(X)
#undef X
};
static const char *const resource_names[PERF_RESOURCE_COUNT] = {
#define X(id, name, about) name,
	PERF_RESOURCES(X)
#undef X
};

/* A member @m of struct T, called @key; the kind and what else there is to say follow. */
#define MEMBER(key_, m) \
	.key = key_, .offset = offsetof(struct T, m), .size = sizeof(((struct T *)0)->m)
/* A member called as in the struct. */
#define FIELD(m, kind_, ...) { MEMBER(#m, m), .kind = FIELD_##kind_, __VA_ARGS__ }
/* The same, and in `run --json` under this key. */
#define SHOWN(m, run_, kind_, ...) \
	{ MEMBER(#m, m), .kind = FIELD_##kind_, .run_key = run_, __VA_ARGS__ }
#define TABLE(name_, about_, fields_) \
	{ .name = name_,                  \
	  .about = about_,                \
	  .size = sizeof(struct T),       \
	  .fields = fields_,              \
	  .n = ARRAY_LEN(fields_) }

#define T occ_input
static const struct record_field occupancy_input_fields[] = {
	FIELD(block_threads, UNSIGNED),
	FIELD(regs_per_thread, UNSIGNED),
	FIELD(static_shared_bytes, UNSIGNED),
	FIELD(dynamic_shared_bytes, UNSIGNED),
	FIELD(barriers, UNSIGNED),
};
const struct record_table occupancy_input_table =
	TABLE("occupancy_input", NULL, occupancy_input_fields);
#undef T

#define T perf_result
static const struct record_field resource_fields[] = {
#define X(id, name, about) { MEMBER(name, resource_ns[PERF_##id]), .kind = FIELD_DOUBLE },
	PERF_RESOURCES(X)
#undef X
};
static const struct record_table resource_table =
	TABLE("resource_ns", "what each resource alone would take", resource_fields);
static const struct record_field perf_fields[] = {
	FIELD(kernel_ns, DOUBLE),
	FIELD(waves, DOUBLE),
	FIELD(tail_factor, DOUBLE),
	{ .key = "resource_ns", .kind = FIELD_RECORD, .table = &resource_table },
	FIELD(bottleneck, NAME, .names = resource_names, .n_names = PERF_RESOURCE_COUNT),
};
const struct record_table perf_table = TABLE("perf", "the time model", perf_fields);
#undef T

#define T check_result
static const struct record_field check_fields[] = {
	FIELD(ok, BOOL),          FIELD(errors, UNSIGNED),      FIELD(first, UNSIGNED),
	FIELD(buffer, UNSIGNED),  FIELD(got, DOUBLE),           FIELD(want, DOUBLE),
	FIELD(tolerance, DOUBLE), FIELD(max_rel_error, DOUBLE), FIELD(note, CHARS),
};
static const struct record_table check_table =
	TABLE("check", "the comparison with the reference on the CPU", check_fields);
#undef T

#define T counts
static const struct record_field raw_count_fields[] = {
#define X(field, ...) FIELD(field, UNSIGNED, .optional = true),
	COUNT_FIELDS(X)
#undef X
};
static const struct record_table raw_counts_table =
	TABLE("raw_counts", "raw counts; one that is not there is zero", raw_count_fields);
#undef T

#define T line_counts
static const struct record_field line_fields[] = {
	FIELD(line, UNSIGNED),
	{ MEMBER("counts", c), .kind = FIELD_RECORD, .table = &raw_counts_table },
};
static const struct record_table line_table = TABLE("line", NULL, line_fields);
#undef T

#define T access_sample
static const struct record_field access_fields[] = {
	FIELD(line, UNSIGNED),
	FIELD(op, CHARS),
	FIELD(bytes_per_lane, UNSIGNED),
	FIELD(store, BOOL),
	FIELD(shared, BOOL),
	FIELD(mask, UNSIGNED),
	FIELD(buffer, INDEX),
	FIELD(executions, UNSIGNED),
	FIELD(offset, VECTOR),
};
static const struct record_table access_table = TABLE("access", NULL, access_fields);
#undef T

#define T mask_step
static const struct record_field step_fields[] = {
	FIELD(line, UNSIGNED),
	FIELD(mask, UNSIGNED),
	FIELD(instructions, UNSIGNED),
};
static const struct record_table step_table = TABLE("step", NULL, step_fields);
#undef T

#define T run_counts
static const struct record_field counts_fields[] = {
	FIELD(blocks_run, UNSIGNED),
	FIELD(blocks_total, UNSIGNED),
	FIELD(steps_cut, BOOL, .about = "the followed warp executed more than is kept"),
	FIELD(dram_read_bytes, DOUBLE),
	FIELD(dram_write_bytes, DOUBLE),
	FIELD(l2_sectors, DOUBLE),
	FIELD(origin, NAME, .names = origin_names, .n_names = ORIGIN_COUNT, .definition = "origin"),
	FIELD(total, RECORD, .table = &raw_counts_table),
	FIELD(lines, LIST, .table = &line_table, .count_offset = offsetof(struct T, n_lines),
	      .most = 100000, .about = "the same per source line"),
	FIELD(accesses, LIST, .table = &access_table, .count_offset = offsetof(struct T, n_accesses),
	      .most = TRACE_MAX_ACCESSES, .about = "one warp's addresses for every memory instruction"),
	FIELD(steps, LIST, .table = &step_table, .count_offset = offsetof(struct T, n_steps),
	      .most = TRACE_MAX_STEPS, .about = "one warp's active lanes, run by run"),
};
static const struct record_table counts_table = TABLE("counts", NULL, counts_fields);
#undef T

#define T span
static const struct record_field span_fields[] = {
	FIELD(name, CHARS),
	FIELD(stream, UNSIGNED),
	FIELD(correlation, UNSIGNED),
	FIELD(start_ns, DOUBLE),
	FIELD(end_ns, DOUBLE),
	FIELD(queued_ns, DOUBLE),
	FIELD(bytes, UNSIGNED),
	FIELD(kind, NAME, .names = span_kind_names, .n_names = SPAN_KIND_COUNT),
};
static const struct record_table span_table = TABLE(
	"span", "something that took time on a GPU or its host, as CUPTI reported it", span_fields);
#undef T

#define T run_timing
static const struct record_field timing_fields[] = {
	SHOWN(n, "launches", UNSIGNED),          SHOWN(median_ns, "median_ns", DOUBLE),
	SHOWN(min_ns, "min_ns", DOUBLE),         SHOWN(max_ns, "max_ns", DOUBLE),
	SHOWN(q1_ns, "q1_ns", DOUBLE),           SHOWN(q3_ns, "q3_ns", DOUBLE),
	SHOWN(l2_flushed, "l2_flushed", BOOL),   SHOWN(from_activity, "from_activity", BOOL),
	SHOWN(event_ns, "event_ns", DOUBLE),     SHOWN(sm_mhz, "sm_mhz", DOUBLE),
	SHOWN(memory_mhz, "memory_mhz", DOUBLE),
};
const struct record_table timing_table =
	TABLE("timing", "kernel time of n launches", timing_fields);
#undef T

#define T run_static
static const struct record_field loaded_fields[] = {
	FIELD(known, BOOL),
	SHOWN(registers, "registers", UNSIGNED),
	SHOWN(static_shared_bytes, "static_shared_bytes", UNSIGNED),
	SHOWN(local_bytes, "local_bytes", UNSIGNED),
	FIELD(const_bytes, UNSIGNED),
	SHOWN(max_threads, "max_threads", UNSIGNED),
	SHOWN(blocks_per_sm, "blocks_per_sm", UNSIGNED),
	SHOWN(jit, "jit", BOOL, .about = "compiled by the driver from PTX"),
};
const struct record_table loaded_table =
	TABLE("loaded", "the loaded function, as the driver reports it", loaded_fields);
#undef T

#define T run_stall
static const struct record_field stall_fields[] = {
	FIELD(reason, CHARS),
	FIELD(warps, DOUBLE),
};
static const struct record_table stall_table = TABLE("stall", NULL, stall_fields);
#undef T

#define T run_result
static const struct record_field measured_fields[] = {
	FIELD(spans_from_events, BOOL),
	SHOWN(counter_passes, "counter_passes", UNSIGNED),
	SHOWN(counters_s, "counters_s", DOUBLE),
	FIELD(program_ns, DOUBLE, .optional = true),
	SHOWN(timing, "time", RECORD, .table = &timing_table),
	SHOWN(loaded, "loaded", RECORD, .table = &loaded_table),
	SHOWN(stalls, "stalls", MAP, .table = &stall_table,
	      .count_offset = offsetof(struct T, n_stalls), .most = RUN_MAX_STALLS,
	      .about = "why warps waited: warps per issue-active cycle by reason"),
};
const struct record_table measured_table = TABLE("measured", "what a GPU told", measured_fields);
#undef T

#define T run_record
static const struct record_field record_fields[] = {
	FIELD(verify_text, CHARS),
	FIELD(module_key, CHARS,
	      .about = "of the compile cache: source, macros, architecture, compiler"),
	FIELD(compiler, CHARS),
	FIELD(spill_bytes, UNSIGNED),
	{ MEMBER("wall_s", run.wall_s), .kind = FIELD_DOUBLE },
	{ MEMBER("note", run.note), .kind = FIELD_CHARS },
	{ MEMBER("level", run.level), .kind = FIELD_CHARS, .younger = true,
	  .about = "whose instructions the emulator counted: PTX or machine code" },
	{ .key = "selection", .kind = FIELD_OTHER, .definition = "selection" },
	FIELD(verify, NAME, .names = verify_names, .n_names = VERIFY_NAMES, .definition = "verify"),
	FIELD(check, RECORD, .table = &check_table),
	{ MEMBER("occupancy_input", occ_in), .kind = FIELD_RECORD, .table = &occupancy_input_table },
	FIELD(perf, RECORD, .table = &perf_table),
	{ .key = "metrics", .kind = FIELD_OTHER, .definition = "metrics" },
	{ MEMBER("counts", run.counts), .kind = FIELD_RECORD, .table = &counts_table },
	{ MEMBER("spans", run.spans), .kind = FIELD_LIST, .table = &span_table,
	  .count_offset = offsetof(struct T, run.n_spans), .most = 1000000 },
	{ .key = "measured", .kind = FIELD_OTHER, .definition = "measured", .optional = true },
};
const struct record_table record_table = TABLE("record", "one run", record_fields);
#undef T

#define T session_tour
static const struct record_field tour_fields[] = {
	FIELD(name, CHARS),    FIELD(step, UNSIGNED),
	FIELD(judged, BOOL),   FIELD(off_path, BOOL),
	FIELD(revealed, BOOL), { .key = "outcomes", .kind = FIELD_OTHER, .definition = "outcomes" },
};
const struct record_table tour_table =
	TABLE("tour", "where in a preset the person was", tour_fields);
#undef T

#define T session
static const struct record_field screen_fields[] = {
	FIELD(view, TEXT, .about = "the focused panel"),
	FIELD(param, UNSIGNED),
	{ MEMBER("line", cursor.row), .kind = FIELD_UNSIGNED },
	{ MEMBER("lens", cursor.detail), .kind = FIELD_BOOL,
	  .about = "the detail of the focused row is open" },
	{ MEMBER("lens_row", cursor.detail_row), .kind = FIELD_UNSIGNED },
	{ MEMBER("timeline_zoom", cursor.zoom), .kind = FIELD_UNSIGNED, .younger = true,
	  .most = VIEW_ZOOM_MAX, .about = "the timeline's axis shows 1/2^zoom of the whole" },
	{ MEMBER("timeline_pan", cursor.pan), .kind = FIELD_UNSIGNED, .younger = true,
	  .about = "quarters of that window, from the start" },
};
const struct record_table screen_table = TABLE("screen", NULL, screen_fields);

static const struct record_field reference_run_fields[] = {
	{ .key = "run", .kind = FIELD_OTHER, .definition = "brief" },
	{ MEMBER("hidden", reference_run_hidden), .kind = FIELD_BOOL },
	{ MEMBER("earlier", reference_run_earlier), .kind = FIELD_BOOL,
	  .about = "recorded with another text of the kernel's file" },
};
const struct record_table reference_run_table =
	TABLE("reference_run", "the last run as recorded on another machine", reference_run_fields);
#undef T

#define T ladder
static const struct record_field library_fields[] = {
	{ MEMBER("name", library_name), .kind = FIELD_CHARS },
	{ MEMBER("time_ns", library_ns), .kind = FIELD_DOUBLE },
};
const struct record_table library_table =
	TABLE("library", "the vendor library's measured time for the same work", library_fields);

static const struct record_field ladder_reference_fields[] = {
	{ MEMBER("machine", reference_machine), .kind = FIELD_CHARS },
	{ MEMBER("library_name", reference_library_name), .kind = FIELD_CHARS },
	{ MEMBER("library_ns", reference_library_ns), .kind = FIELD_DOUBLE },
};
const struct record_table ladder_reference_table =
	TABLE("ladder_reference",
          "where the rungs' ghost_ns were recorded, and the library's time there (0 = none)",
          ladder_reference_fields);
#undef T

static void define_names(json_t *o, const char *name, const char *about, const char *const *names,
                         size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(names[i]));
	json_object_set_new(o, name, json_pack("{s:s, s:o}", "description", about, "enum", list));
}

json_t *record_definitions(void)
{
	static const struct record_table *const all[] = {
		&occupancy_input_table,
		&resource_table,
		&perf_table,
		&check_table,
		&raw_counts_table,
		&line_table,
		&access_table,
		&step_table,
		&counts_table,
		&span_table,
		&timing_table,
		&loaded_table,
		&measured_table,
		&record_table,
		&tour_table,
		&screen_table,
		&reference_run_table,
		&library_table,
		&ladder_reference_table,
	};
	json_t *o = json_object();
	define_names(o, "origin",
	             "measured on a GPU; counted or sampled by the emulator; modelled; the book's "
	             "figure; none: unknown, with the reason",
	             origin_names, ORIGIN_COUNT);
	define_names(o, "verify", "what the comparison with the reference gave", verify_names,
	             VERIFY_NAMES);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		json_object_set_new(o, all[i]->name, record_schema(all[i]));
	return o;
}
