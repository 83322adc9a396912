/*
 * Runs PTX case files on any back end and says what differs from what they expect.
 *
 * The back end is a parameter: the emulator here, CUDA where there is a GPU. Outputs are compared
 * to the bit (or to the file's tolerance), counts exactly.
 */
#ifndef PMPP_TEST_CASE_RUN_H
#define PMPP_TEST_CASE_RUN_H

#include "backend/backend.h"
#include "case_table.h"

#define CASE_POISON 0xa5

/* The compute capability that a case is written for: 90 = 9.0. */
static inline int case_cc(const struct ptx_case *c)
{
	static const char line[] = "\n.target sm_";
	const char *own = c->table ? NULL : strstr(c->text, line);
	return (int)strtol(own ? own + sizeof line - 1 : c->target + strlen("sm_"), NULL, 10);
}

struct case_target {
	const struct backend_ops *ops;
	struct backend *be;
	const char *setting; /* in messages: "avx2, 2 threads" */
	unsigned threads;
	bool check_races;
	bool hardware; /* counts of SASS: skip those that speak of PTX */
	int cc; /* hardware: its compute capability, 90 = 9.0; cases of later ones are left out */
	const struct text *cubin; /* of the case: its machine code runs, too; NULL = its PTX alone */
	char *fell_back;          /* with a cubin: why it did not, CASE_WHY bytes; "" = it did */
};
#define CASE_WHY 300

struct case_report {
	struct text text;
	unsigned failures;
};

#define CASE_SHOWN 4 /* differences told per setting */
static inline void case_fail(struct case_report *r, const struct ptx_case *c,
                             const struct case_target *t, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static inline void case_fail(struct case_report *r, const struct ptx_case *c,
                             const struct case_target *t, const char *fmt, ...)
{
	va_list ap;
	if (r->failures++ >= CASE_SHOWN)
		return;
	text_add(&r->text, "%s (%s): ", c->path, t->setting);
	va_start(ap, fmt);
	text_add_v(&r->text, fmt, ap);
	va_end(ap);
	text_add(&r->text, "\n");
}

static inline enum elem_type case_elem(enum case_type t)
{
	switch (t) {
	case CT_F32: return ELEM_F32;
	case CT_F16:
	case CT_BF16:
	case CT_U16:
	case CT_S16:
	case CT_B16: return ELEM_F16;
	case CT_S32: return ELEM_I32;
	case CT_U32:
	case CT_B32:
	case CT_PRED: return ELEM_U32;
	case CT_U8:
	case CT_S8:
	case CT_B8: return ELEM_U8;
	default: return ELEM_F64;
	}
}

static inline void case_put(void *data, enum case_type t, size_t i, uint64_t bits)
{
	/* little endian */
	memcpy((char *)data + i * case_types[t].bytes, &bits, case_types[t].bytes);
}
static inline uint64_t case_get(const void *data, enum case_type t, size_t i)
{
	uint64_t bits = 0;
	memcpy(&bits, (const char *)data + i * case_types[t].bytes, case_types[t].bytes);
	return bits;
}

/* One launch of @ptx; the message of a failed run is put into @err. */
static inline bool case_launch_run(const struct ptx_case *c, const struct case_target *t, char *ptx,
                                   const struct launch_plan *plan, void *const *data,
                                   struct run_result *res, struct err *err)
{
	struct entry_usage usage = { .registers = 32, .static_shared_bytes = 0 };
	struct module m = { .ptx = ptx, .ptx_len = strlen(ptx), .n_entries = 1, .entries = &usage };
	char file[80], entry[64], log[1] = "";
	struct run_request req = { .module = &m,
		                       .plan = plan,
		                       .source_file = file,
		                       .caps = CAP_COUNTERS | CAP_PER_LINE,
		                       .timeout_s = c->timeout_s > 0 ? c->timeout_s : 20,
		                       .threads = t->threads,
		                       .check_races = t->check_races ? RACES_ALL : RACES_OFF };
	uint64_t seed[2] = { hash_bytes(HASH_SEED, ptx, m.ptx_len), hash_bytes(1, ptx, m.ptx_len) };
	snprintf(file, sizeof file, "%s.ptx", c->name);
	snprintf(entry, sizeof entry, "%s", plan->entry);
	snprintf(m.key, sizeof m.key, "%016" PRIx64 "%016" PRIx64, seed[0], seed[1]);
	usage.entry = entry;
	m.log = log;
	snprintf(m.compiler, sizeof m.compiler, "by hand");
	for (unsigned i = 0; i < plan->n_buffers; i++)
		req.buffers[i] = (struct run_buffer){
			.data = data[i],
			.bytes = plan->buffers[i].count * elem_size(plan->buffers[i].type),
		};
	struct run_hooks hooks = { 0 };
	*res = (struct run_result){ 0 };
	*err = (struct err){ 0 };
	if (t->cubin) {
		m.cubin = t->cubin->s;
		m.cubin_len = t->cubin->len;
		req.level = RUN_LEVEL_AUTO;
	}
	if (!t->ops->run(t->be, &req, &hooks, res, err))
		return false;
	if (t->cubin && !strstr(res->level, "machine code"))
		snprintf(t->fell_back, CASE_WHY, "%.299s", res->note);
	else if (t->cubin && strstr(res->note, "gives another"))
		return err_set(err, ERR_FAULT, "%.400s", res->note);
	/* a case may be about the value that a division by zero gives */
	const struct run_finding *first = run_findings_fault(&res->found);
	return !first || (c->outcome == CASE_RUNS && !strcmp(first->kind, "division")) ||
	       err_set(err, ERR_FAULT, "%s", first->text);
}

/* A run that had to fail: did it, and does it say what it should? */
static inline void case_check_failure(const struct ptx_case *c, const struct case_target *t,
                                      bool ok, const struct err *err, struct case_report *r)
{
	if (ok) {
		case_fail(r, c, t, "ran, but should have failed");
		return;
	}
	const bool code =
		c->outcome == CASE_FAULTS
			? err->code == ERR_FAULT || err->code == ERR_TIMEOUT
			: err->code == ERR_UNSUPPORTED || err->code == ERR_PARSE || err->code == ERR_USAGE ||
				  (t->hardware && err->code == ERR_UNAVAILABLE); /* by the driver's ptxas */
	if (!code)
		case_fail(r, c, t, "failed with code '%s': %s", err_code_name(err->code), err->msg);
	for (unsigned i = 0; i < c->n_words && !t->hardware; i++)
		if (!strstr(err->msg, c->words[i]))
			case_fail(r, c, t, "the message lacks \"%s\": %s", c->words[i], err->msg);
}

/* The words of `prints`, line by line, are all that the kernel printed. */
static inline void case_check_printed(const struct ptx_case *c, const struct case_target *t,
                                      const struct run_result *res, struct case_report *r)
{
	struct text want = { 0 };
	if (t->hardware) /* printed to standard output there */
		return;
	for (unsigned i = 0; i < c->n_words && c->outcome == CASE_RUNS; i++)
		text_add(&want, "%s\n", c->words[i]);
	const char *got = res->printed ? res->printed : "";
	if (strcmp(got, want.s ? want.s : ""))
		case_fail(r, c, t, "printed:\n%swanted:\n%s", got, want.s ? want.s : "");
	text_free(&want);
}

static inline void case_check_counts(const struct ptx_case *c, const struct case_target *t,
                                     const struct run_counts *counts, struct case_report *r)
{
	for (unsigned i = 0; i < c->n_counts; i++) {
		const struct case_count *k = &c->counts[i];
		const struct counts *in = &counts->total;
		const struct counts none = { 0 };
		if (t->hardware &&
		    (k->ptx_only || !count_known(&counts->of_total, count_find(k->name, strlen(k->name)))))
			continue;
		if (k->line != UINT32_MAX) {
			in = &none;
			for (unsigned l = 0; l < counts->n_lines; l++)
				if (counts->lines[l].line == k->line)
					in = &counts->lines[l].c;
		}
		uint64_t got;
		memcpy(&got, (const char *)in + k->offset, sizeof got);
		if (got == k->value)
			continue;
		if (k->line == UINT32_MAX)
			case_fail(r, c, t, "%s is %" PRIu64 ", expected %" PRIu64, k->name, got, k->value);
		else
			case_fail(r, c, t, "%s of line %u is %" PRIu64 ", expected %" PRIu64, k->name, k->line,
			          got, k->value);
	}
}

static inline void case_compare(const struct ptx_case *c, const struct case_target *t,
                                const struct case_buffer *b, const void *data,
                                struct case_report *r)
{
	char want[64], got[64];
	for (size_t i = 0; i < b->count; i++) {
		const struct case_value *v = &b->expect.v[i % b->expect.n];
		const uint64_t bits = case_get(data, b->type, i);
		if (case_same(b->type, v, bits, &b->within))
			continue;
		case_show(b->type, bits, got, sizeof got);
		case_show(b->type, v->bits, want, sizeof want);
		case_fail(r, c, t, "%s[%zu] is %s, expected %s", b->name, i, got, want);
	}
}

static inline void case_run_module(const struct ptx_case *c, const struct case_target *t,
                                   struct case_report *r)
{
	struct launch_plan plan = { .entry = c->entry,
		                        .grid = c->grid,
		                        .block = c->block,
		                        .dynamic_shared_bytes = c->shared,
		                        .n_buffers = c->n_buffers,
		                        .n_args = c->n_args };
	void *data[KERNEL_MAX_BUFFERS] = { 0 }, *before[KERNEL_MAX_BUFFERS] = { 0 };
	for (unsigned i = 0; i < c->n_buffers; i++) {
		const struct case_buffer *b = &c->buffers[i];
		const size_t bytes = b->count * case_types[b->type].bytes;
		plan.buffers[i] = (struct buffer_plan){ .name = b->name,
			                                    .type = case_elem(b->type),
			                                    .role = b->role,
			                                    .partial = b->partial,
			                                    .count = b->count };
		data[i] = mem_alloc(bytes);
		before[i] = mem_alloc(bytes);
		memset(data[i], CASE_POISON, bytes);
		for (size_t k = 0; b->init.n && k < b->count; k++)
			case_put(data[i], b->type, k, b->init.v[k % b->init.n].bits);
		memcpy(before[i], data[i], bytes);
	}
	memcpy(plan.args, c->args, sizeof plan.args);
	struct run_result res;
	struct err err;
	const bool ok = case_launch_run(c, t, c->text, &plan, data, &res, &err);
	const bool quiet = c->check_races && !t->check_races; /* the race goes unseen */
	if (c->outcome != CASE_RUNS && !quiet) {
		case_check_failure(c, t, ok, &err, r);
	} else if (!ok) {
		case_fail(r, c, t, "%s: %s", err_code_name(err.code), err.msg);
	} else {
		for (unsigned i = 0; i < c->n_buffers; i++) {
			const struct case_buffer *b = &c->buffers[i];
			if (b->expected)
				case_compare(c, t, b, data[i], r);
			else if (b->role == BUF_IN &&
			         memcmp(data[i], before[i], b->count * case_types[b->type].bytes))
				case_fail(r, c, t, "the input '%s' was changed", b->name);
		}
		case_check_counts(c, t, &res.counts, r);
		case_check_printed(c, t, &res, r);
	}
	run_result_free(&res);
	for (unsigned i = 0; i < c->n_buffers; i++) {
		free(data[i]);
		free(before[i]);
	}
}

static inline void case_compare_row(const struct ptx_case *c, const struct case_target *t,
                                    enum case_form form, uint32_t cell, const void *out,
                                    struct case_report *r)
{
	const uint32_t cells = case_shape(c, form).cells;
	const unsigned row = case_row_of(c, form, cell);
	char want[64], got[64], inputs[256] = "";
	size_t column = 0;
	for (unsigned i = 0; i < c->n_columns; i++) {
		const struct case_column *k = &c->columns[i];
		const struct case_value *v = &c->rows[row][i];
		if (!k->out) {
			const size_t at = strlen(inputs);
			case_show(k->type, v->bits, want, sizeof want);
			snprintf(inputs + at, sizeof inputs - at, " %s = %s", k->name, want);
			continue;
		}
		const size_t index = column++ * cells + cell;
		uint64_t cell_bits, bits = 0;
		memcpy(&cell_bits, (const char *)out + index * 8, 8);
		memcpy(&bits, &cell_bits, case_types[k->type].bytes);
		if (case_types[k->type].bytes < 8 &&
		    cell_bits >> 8 * case_types[k->type].bytes !=
		        0xa5a5a5a5a5a5a5a5u >> 8 * case_types[k->type].bytes)
			case_fail(r, c, t, "%s, row %u: the store of %s wrote too many bytes",
			          case_form_names[form], row + 1, k->name);
		if (case_same(k->type, v, bits, &k->within))
			continue;
		case_show(k->type, bits, got, sizeof got);
		case_show(k->type, v->bits, want, sizeof want);
		case_fail(r, c, t, "%s, row %u, lane %u:%s: %s is %s, expected %s", case_form_names[form],
		          row + 1, cell % 32, inputs, k->name, got, want);
	}
}

static inline void case_run_form(const struct ptx_case *c, const struct case_target *t,
                                 enum case_form form, char *ptx, struct case_report *r)
{
	const struct case_shape s = case_shape(c, form);
	uint32_t n_in = 0, n_out = 0;
	for (unsigned i = 0; i < c->n_columns; i++)
		if (c->columns[i].out)
			n_out++;
		else
			n_in++;
	struct launch_plan plan = {
		.entry = case_form_names[form],
		.grid = { s.grid, 1, 1 },
		.block = { s.block, 1, 1 },
		.n_buffers = 2,
		.n_args = 2,
		.buffers = { { .name = "in",
		               .type = ELEM_F64,
		               .role = BUF_IN,
		               .count = (size_t)n_in * s.rows },
		             { .name = "out",
		               .type = ELEM_F64,
		               .role = BUF_OUT,
		               .partial = true,
		               .count = (size_t)n_out * s.cells } },
		.args = { { .kind = ARG_BUFFER, .buffer = 0 }, { .kind = ARG_BUFFER, .buffer = 1 } },
	};
	uint64_t *in = mem_calloc((size_t)n_in * s.rows, 8);
	void *out = mem_alloc((size_t)n_out * s.cells * 8);
	memset(out, CASE_POISON, (size_t)n_out * s.cells * 8);
	for (uint32_t row = 0; row < s.rows; row++)
		for (unsigned i = 0; i < n_in; i++)
			in[i * s.rows + row] = c->rows[row % c->n_rows][i].bits;
	struct run_result res;
	struct err err;
	const bool ok = case_launch_run(c, t, ptx, &plan, (void *[]){ in, out }, &res, &err);
	if (c->outcome != CASE_RUNS)
		case_check_failure(c, t, ok, &err, r);
	else if (!ok)
		case_fail(r, c, t, "%s: %s: %s", case_form_names[form], err_code_name(err.code), err.msg);
	else
		for (uint32_t i = 0; i < s.cells; i++)
			case_compare_row(c, t, form, i, out, r);
	run_result_free(&res);
	free(in);
	free(out);
}

/* The whole case on one back end in one setting. */
static inline void case_run(const struct ptx_case *c, const struct case_target *t,
                            struct case_report *r)
{
	if ((t->check_races && c->racy) || (t->hardware && (c->emulator_only || case_cc(c) > t->cc)))
		return;
	if (!c->table) {
		case_run_module(c, t, r);
		return;
	}
	struct text ptx = { 0 };
	case_wrap(c, &ptx);
	for (unsigned f = 0; f < FORM_COUNT; f++)
		if (!t->hardware || f != FORM_CONSTANT) /* there ptxas computes it, not the GPU */
			case_run_form(c, t, (enum case_form)f, ptx.s, r);
	text_free(&ptx);
}

#endif
