/* The table of a run's record and of what a GPU told; see record_tables.h. */
#include "model/record_rows.h"
#include "model/snapshot_reader.h"

#include "base/mem.h"

#include <string.h>

static const char *const resources[PERF_RESOURCE_COUNT] = {
#define X(id, name, about) name,
	PERF_RESOURCES(X)
#undef X
};
static const struct record_names resource_names = { .names = resources, .n = PERF_RESOURCE_COUNT };

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

#define T occ_limit
static json_t *limit_blocks(const void *x, enum record_form form)
{
	const unsigned blocks = ((const struct occ_limit *)x)->blocks;
	(void)form;
	return blocks == OCC_UNLIMITED ? json_null() : json_integer(blocks);
}

static const struct record_field limit_fields[] = {
	DERIVED("name", name, TEXT),     DERIVED("needs", needs, DOUBLE),
	DERIVED("has", has, DOUBLE),     COMPUTED("blocks", limit_blocks),
	DERIVED("limits", limits, BOOL), DERIVED("arithmetic", arithmetic, CHARS),
};
static const struct record_table limit_table = TABLE("limit", NULL, limit_fields);
#undef T

#define T occ_result
static json_t *carveout_blocks(const void *x, enum record_form form)
{
	const unsigned blocks = ((const struct occ_result *)x)->carveout_blocks;
	(void)form;
	return blocks == OCC_UNLIMITED ? json_null() : json_integer(blocks);
}

static const struct record_field limits_fields[] = {
	DERIVED("limits", limits, ARRAY, .table = &limit_table, .whole = true),
	DERIVED("limiters", limiters, CHARS),
	DERIVED("carveout.bytes", carveout_bytes, UNSIGNED),
	COMPUTED("carveout.blocks", carveout_blocks),
	DERIVED("book.blocks_per_sm", book_blocks, UNSIGNED),
	DERIVED("book.pct", book_pct, DOUBLE),
	DERIVED("book.note", book_note, CHARS),
};
const struct record_table limits_table = TABLE("occupancy", NULL, limits_fields);
#undef T

#define T perf_result
static const struct record_field resource_fields[] = {
/* those behind latency came later */
#define X(id, name, about) \
	NAMED(name, resource_ns[PERF_##id], DOUBLE, .younger = PERF_##id > PERF_LATENCY),
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
	FIELD(bottleneck, NAME, .names = &resource_names),
};
const struct record_table perf_table = TABLE("perf", "the time model", perf_fields);
#undef T

#define T check_result
static const struct record_field check_fields[] = {
	SHOWN(note, "note", CHARS), FIELD(ok, BOOL),          FIELD(errors, UNSIGNED),
	FIELD(first, UNSIGNED),     FIELD(buffer, UNSIGNED),  FIELD(got, DOUBLE),
	FIELD(want, DOUBLE),        FIELD(tolerance, DOUBLE), FIELD(max_rel_error, DOUBLE),
};
static const struct record_table check_table =
	TABLE("check", "the comparison with the reference on the CPU", check_fields);
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

#define T run_finding
static const struct record_field finding_fields[] = {
	SHOWN(kind, "kind", CHARS), SHOWN(text, "text", CHARS),    SHOWN(remedy, "remedy", CHARS),
	SHOWN(file, "file", CHARS), SHOWN(line, "line", UNSIGNED), SHOWN(times, "times", UNSIGNED),
};
static const struct record_table finding_table =
	TABLE("finding", "what a kernel did wrong", finding_fields);
#undef T

#define T run_races
static const struct record_field races_fields[] = {
	NAMED("blocks_checked", blocks, UNSIGNED, .run_key = "blocks_checked"),
	NAMED("blocks", of, UNSIGNED, .run_key = "blocks"),
	SHOWN(why, "why", CHARS, .optional = true, .about = "why not in all of them"),
};
const struct record_table races_table = TABLE("races", "where races were looked for", races_fields);
#undef T

#define T run_fidelity
static const struct record_field fidelity_fields[] = {
	SHOWN(known, "known", BOOL, .about = "the emulator ran it"),
	SHOWN(exact, "exact", UNSIGNED, .about = "warp instructions, as the next two"),
	SHOWN(approximate, "approximate", UNSIGNED, .about = "nearest value; a card's may differ"),
	SHOWN(skipped, "skipped", UNSIGNED, .about = "hints without effect in the emulator"),
	SHOWN(functions, "functions", CHARS, .about = "which are approximate, and a card's bound"),
	SHOWN(hints, "hints", CHARS, .about = "which were skipped"),
	SHOWN(reaches, "reaches", BOOL,
	      .about = "an approximate value may have reached a branch, a guard or an address"),
	SHOWN(line, "line", UNSIGNED, .about = "of the source, where it may first; 0 = unknown"),
};
const struct record_table fidelity_table =
	TABLE("fidelity", "how true a run in the emulator is to a card's", fidelity_fields);
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
	      .count_offset = offsetof(struct T, n_stalls),
	      .about = "why warps waited: warps per issue-active cycle by reason"),
};
const struct record_table measured_table = TABLE("measured", "what a GPU told", measured_fields);

static const struct record_field told_fields[] = {
	{ .key = "measured", .kind = FIELD_RECORD, .table = &measured_table },
	NAMED("lines", counts.lines, LIST, .table = &line_table,
	      .count_offset = offsetof(struct T, counts.n_lines), .most = RUN_MAX_LINES),
	FIELD(spans, LIST, .table = &span_table, .count_offset = offsetof(struct T, n_spans),
	      .most = RUN_MAX_SPANS),
	FIELD(note, CHARS),
};
const struct record_table told_table = TABLE("told", NULL, told_fields);
#undef T

#define T launch_plan
static const struct record_field launch_fields[] = {
	DERIVED("entry", entry, TEXT),
	DERIVED("grid", grid, VECTOR),
	DERIVED("block", block, VECTOR),
	DERIVED("dynamic_shared_bytes", dynamic_shared_bytes, UNSIGNED),
};
static const struct record_table launch_table = TABLE("launch", NULL, launch_fields);
#undef T

/* --- a record --- */

#define T run_record

static json_t *write_metrics(const void *x, enum record_form form)
{
	return record_metrics(&((const struct run_record *)x)->metrics, form);
}

static bool read_metrics(struct reader *r, json_t *o, const char *key, void *x)
{
	return record_read_metrics(r, o, key, &((struct run_record *)x)->metrics);
}

static const struct record_codec metrics_codec = { write_metrics, read_metrics };

static json_t *verified(const void *x, enum record_form form)
{
	(void)form;
	return json_boolean(((const struct run_record *)x)->verify == VERIFY_OK);
}

static bool compared(const struct run_record *r)
{
	return r->verify == VERIFY_OK || r->verify == VERIFY_WRONG;
}

static json_t *max_rel_error(const void *x, enum record_form form)
{
	const struct run_record *r = x;
	(void)form;
	return compared(r) ? json_number(r->check.max_rel_error) : json_null();
}

static json_t *errors(const void *x, enum record_form form)
{
	const struct run_record *r = x;
	(void)form;
	return compared(r) ? json_whole(r->check.errors) : json_null();
}

static json_t *first_error(const void *x, enum record_form form)
{
	const struct run_record *r = x;
	const struct check_result *c = &r->check;
	(void)form;
	if (r->verify != VERIFY_WRONG)
		return NULL;
	return json_pack("{s:o, s:o, s:o, s:o}", "buffer", json_utf8(r->plan.buffers[c->buffer].name),
	                 "index", json_whole(c->first), "got", json_number(c->got), "want",
	                 json_number(c->want));
}

static bool is_measured(const void *x)
{
	return run_result_measured(&((const struct run_record *)x)->run);
}

static bool has_code(const void *x)
{
	return ((const struct run_record *)x)->code;
}

static bool has_findings(const void *x)
{
	return ((const struct run_record *)x)->run.found.n;
}

static bool looked_for_races(const void *x)
{
	return ((const struct run_record *)x)->run.races.of;
}

static bool has_fidelity(const void *x)
{
	return ((const struct run_record *)x)->run.counts.fidelity.known;
}

static json_t *write_printed(const void *x, enum record_form form)
{
	const char *text = ((const struct run_record *)x)->run.printed;
	(void)form;
	return text ? json_utf8(text) : NULL;
}

static bool read_printed(struct reader *r, json_t *o, const char *key, void *x)
{
	struct run_result *run = &((struct run_record *)x)->run;
	const char *text = reader_text(r, o, key);
	if (text && strlen(text) > RUN_MAX_PRINTED)
		return reader_complain(r, key, "longer than a kernel's output is kept");
	run->printed = text ? mem_strdup(text) : NULL;
	run->printed_bytes = text ? strlen(text) : 0;
	return text;
}

static bool varies(const void *x)
{
	return variation_any(&((const struct run_record *)x)->run.counts.variation);
}

static bool has_printed(const void *x)
{
	return ((const struct run_record *)x)->run.printed;
}

static const struct record_codec printed_codec = { write_printed, read_printed };

static const struct record_field record_fields[] = {
	NAMED("selection", sel, RECORD, .run_key = "", .table = &selection_table),
	COMPUTED("verified", verified),
	SHOWN(verify, "check.state", NAME, .names = &verify_names),
	SHOWN(verify_text, "check.text", CHARS),
	SHOWN(check, "check", RECORD, .table = &check_table),
	COMPUTED("check.max_rel_error", max_rel_error),
	COMPUTED("check.errors", errors),
	COMPUTED("check.first", first_error),
	DERIVED("launch", plan, RECORD, .table = &launch_table),
	CODED("metrics", &metrics_codec, METRICS_SCHEMA),
	DERIVED("occupancy", occ, RECORD, .table = &limits_table),
	NAMED("occupancy_input", occ_in, RECORD, .table = &occupancy_input_table),
	FIELD(perf, RECORD, .table = &perf_table),
	SHOWN(compiler, "compiler.name", CHARS),
	SHOWN(module_key, "compiler.key", CHARS,
	      .about = "of the compile cache: source, macros, architecture, compiler"),
	SHOWN(spill_bytes, "compiler.spill_bytes", UNSIGNED),
	NAMED("wall_s", run.wall_s, DOUBLE, .run_key = "run.wall_s"),
	NAMED("counts", run.counts, RECORD, .run_key = "run", .table = &counts_table),
	NAMED("note", run.note, CHARS, .run_key = "run.note"),
	NAMED("level", run.level, CHARS, .run_key = "run.level", .optional = true,
	      .about = "whose instructions the emulator counted: PTX or machine code"),
	FIELD(code, POINTER, .there = has_code, .table = &code_table),
	NAMED("faults", run.found.finding, ARRAY, .run_key = "run.faults", .table = &finding_table,
	      .count_offset = offsetof(struct T, run.found.n), .there = has_findings),
	NAMED("races", run.races, RECORD, .run_key = "run.races", .table = &races_table,
	      .there = looked_for_races),
	NAMED("fidelity", run.counts.fidelity, RECORD, .run_key = "run.fidelity",
	      .table = &fidelity_table, .there = has_fidelity),
	{ .key = "varies",
	  .run_key = "run.varies",
	  .kind = FIELD_CODED,
	  .codec = &variation_codec,
	  .there = varies,
	  .about = "what a card may count differently, and why",
	  .schema =
	      "{\"type\": \"array\", \"items\": {\"type\": \"object\", \"required\": [\"why\", "
	      "\"line\", \"metrics\"], \"properties\": {\"why\": {\"type\": \"string\"}, \"text\": "
	      "{\"type\": \"string\"}, \"line\": {\"type\": \"integer\", \"minimum\": 0}, "
	      "\"metrics\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}}}}}" },
	{ .key = "printed",
	  .run_key = "run.printed",
	  .kind = FIELD_CODED,
	  .codec = &printed_codec,
	  .there = has_printed,
	  .about = "by the kernel",
	  .schema = "{\"type\": \"string\"}" },
	NAMED("spans", run.spans, LIST, .table = &span_table,
	      .count_offset = offsetof(struct T, run.n_spans), .most = 1000000),
	NAMED("measured", run, RECORD, .run_key = "measured", .table = &measured_table,
	      .there = is_measured),
	{ .run_key = "timeline", .kind = FIELD_CODED, .codec = &timeline_codec },
};
const struct record_table record_table =
	TABLE("record", "one run", record_fields, .finish = snapshot_derive);

static const struct record_field rung_record_fields[] = {
	FIELD(verify, NAME, .names = &verify_names),
	FIELD(perf, RECORD, .table = &perf_table),
	CODED("metrics", &metrics_codec, METRICS_SCHEMA),
};
const struct record_table rung_record_table = TABLE("rung_record", NULL, rung_record_fields);
#undef T
