/* The tables of what was counted, and of spans; names of enums that more tables have. */
#include "model/record_rows.h"
#include "model/record_tables.h"

static const char *const origins[ORIGIN_COUNT] = {
#define X(id, name, utf8, ascii, about) name,
	ORIGINS(X)
#undef X
};
const struct record_names origin_names = {
	.definition = "origin",
	.about = "measured on a GPU; counted or sampled by the emulator; modelled; the book's "
			 "figure; none: unknown, with the reason",
	.names = origins,
	.n = ORIGIN_COUNT,
};
static const char *const verify_states[] = { "not run", "ok", "wrong", "sampled", "no reference" };
const struct record_names verify_names = {
	.definition = "verify",
	.about = "what the comparison with the reference gave",
	.names = verify_states,
	.n = ARRAY_LEN(verify_states),
};
static const char *const span_kinds[SPAN_KIND_COUNT] = { SPAN_KINDS(LIST_NAME) };
static const struct record_names span_kind_names = { .names = span_kinds, .n = SPAN_KIND_COUNT };

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
	NAMED("counts", c, RECORD, .table = &raw_counts_table),
};
const struct record_table line_table = TABLE("line", NULL, line_fields);
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

#define T code_count
static const struct record_field code_count_fields[] = {
	FIELD(offset, UNSIGNED),
	FIELD(warps, UNSIGNED),
	FIELD(lanes, UNSIGNED),
};
static const struct record_table code_count_table =
	TABLE("code_count", "how often an instruction of the machine code ran", code_count_fields);
#undef T

#define T run_counts
static bool has_code_counts(const void *x)
{
	return ((const struct run_counts *)x)->n_code;
}

static bool has_ptx_counts(const void *x)
{
	return ((const struct run_counts *)x)->ptx_known;
}

static const struct record_field counts_fields[] = {
	SHOWN(blocks_run, "blocks_run", UNSIGNED),
	SHOWN(blocks_total, "blocks", UNSIGNED),
	FIELD(steps_cut, BOOL, .about = "the followed warp executed more than is kept"),
	FIELD(dram_read_bytes, DOUBLE),
	FIELD(dram_write_bytes, DOUBLE),
	FIELD(host_read_bytes, DOUBLE, .younger = true),
	FIELD(host_write_bytes, DOUBLE, .younger = true),
	FIELD(l2_sectors, DOUBLE),
	FIELD(origin, NAME, .names = &origin_names),
	FIELD(total, RECORD, .table = &raw_counts_table),
	FIELD(lines, LIST, .table = &line_table, .count_offset = offsetof(struct T, n_lines),
	      .most = 100000, .about = "the same per source line"),
	FIELD(accesses, LIST, .table = &access_table, .count_offset = offsetof(struct T, n_accesses),
	      .most = TRACE_MAX_ACCESSES, .about = "one warp's addresses for every memory instruction"),
	FIELD(steps, LIST, .table = &step_table, .count_offset = offsetof(struct T, n_steps),
	      .most = TRACE_MAX_STEPS, .about = "one warp's active lanes, run by run"),
	FIELD(code, LIST, .table = &code_count_table, .count_offset = offsetof(struct T, n_code),
	      .most = CODE_MAX_INSTS, .there = has_code_counts),
	FIELD(ptx_known, BOOL, .optional = true, .about = "total is of machine code; ptx: of its PTX"),
	FIELD(ptx, RECORD, .table = &raw_counts_table, .there = has_ptx_counts),
};
const struct record_table counts_table = TABLE("counts", NULL, counts_fields);
#undef T

#define T span
static const struct record_field span_fields[] = {
	FIELD(name, CHARS),           FIELD(stream, UNSIGNED),
	FIELD(correlation, UNSIGNED), FIELD(start_ns, DOUBLE),
	FIELD(end_ns, DOUBLE),        FIELD(queued_ns, DOUBLE),
	FIELD(bytes, UNSIGNED),       FIELD(kind, NAME, .names = &span_kind_names),
};
const struct record_table span_table = TABLE(
	"span", "something that took time on a GPU or its host, as CUPTI reported it", span_fields);
#undef T
