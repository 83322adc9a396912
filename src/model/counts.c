/*
 * Event counts: adding, scaling, copying, and which of them are known; see counts.h.
 * Refuses to know how anything was counted.
 */
#include "model/counts.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR_BYTES 32.0

unsigned counts_line_place(const struct line_counts *lines, unsigned n, uint32_t line)
{
	unsigned low = 0, high = n;
	while (low < high) {
		const unsigned middle = low + (high - low) / 2;
		if (lines[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t counts_active_lanes(const struct counts *c)
{
	return c->thread_executed + c->branch_idle_lanes;
}

void counts_add(struct counts *to, const struct counts *from)
{
#define X(field, ...) to->field += from->field;
	COUNT_FIELDS(X)
#undef X
}

static uint64_t scaled(uint64_t v, double factor)
{
	double r = nearbyint((double)v * factor);
	if (!(r > 0))
		return 0;
	return r < 0x1p64 ? (uint64_t)r : UINT64_MAX;
}

void counts_scale(struct counts *c, double factor)
{
	if (factor == 1)
		return; /* exact also beyond 2^53 */
#define X(field, ...) c->field = scaled(c->field, factor);
	COUNT_FIELDS(X)
#undef X
}

void code_mix_scale(struct code_mix *m, double factor)
{
	for (unsigned k = 0; k < CODE_CLASS_COUNT && factor != 1; k++)
		m->by_class[k] = scaled(m->by_class[k], factor);
	for (unsigned k = 0; k < CODE_PIPE_COUNT && factor != 1; k++)
		m->by_pipe[k] = scaled(m->by_pipe[k], factor);
}

/* --- fields by number --- */

static const struct {
	const char *name, *zero;
	size_t offset; /* in struct counts, of a figure in struct run_counts */
	bool by_line;
} fields[COUNT_ID_COUNT] = {
#define YES true
#define NO false
#define X(field, about, zero_, by_line_)                          \
	[COUNT_##field] = { .name = #field,                           \
		                .zero = zero_,                            \
		                .offset = offsetof(struct counts, field), \
		                .by_line = by_line_ },
	COUNT_FIELDS(X)
#undef X
#undef YES
#undef NO
#define X(field, about) \
	[COUNT_##field] = { .name = #field, .zero = "", .offset = offsetof(struct run_counts, field) },
		LAUNCH_FIGURES(X)
#undef X
};
_Static_assert(COUNT_ID_COUNT <= 64, "struct counted has a bit per count");

const char *count_name(enum count_id id)
{
	return (unsigned)id < COUNT_ID_COUNT ? fields[id].name : "?";
}

const char *count_zero(enum count_id id)
{
	return (unsigned)id < COUNT_ID_COUNT ? fields[id].zero : "";
}

enum count_id count_find(const char *name, size_t len)
{
	enum count_id id = 0;
	while (id < COUNT_ID_COUNT &&
	       (strlen(fields[id].name) != len || memcmp(fields[id].name, name, len) != 0))
		id++;
	return id;
}

uint64_t count_get(const struct counts *c, enum count_id id)
{
	uint64_t v;
	memcpy(&v, (const char *)c + fields[id].offset, sizeof v);
	return v;
}

void count_put(struct counts *c, enum count_id id, uint64_t value)
{
	memcpy((char *)c + fields[id].offset, &value, sizeof value);
}

double run_counts_figure(const struct run_counts *r, enum count_id id)
{
	double v;
	memcpy(&v, (const char *)r + fields[id].offset, sizeof v);
	return v >= 0 ? v : (double)NAN;
}

void run_counts_set_figure(struct run_counts *r, enum count_id id, double value)
{
	memcpy((char *)r + fields[id].offset, &value, sizeof value);
}

/* --- what is known --- */

bool count_known(const struct counted *k, enum count_id id)
{
	return (unsigned)id < COUNT_FIELD_COUNT && k->fields >> id & 1;
}

bool run_counts_known(const struct run_counts *r, enum count_id id)
{
	return id < COUNT_FIELD_COUNT ? count_known(&r->of_total, id)
	                              : !isnan(run_counts_figure(r, id));
}

/* PTX has no such thing. */
static const enum count_id of_machine_code[] = {
	COUNT_uniform_inst,
	COUNT_reg_reads,
	COUNT_reg_kept,
	COUNT_reg_conflicts,
};
#define BANKS_SM 90 /* whose banks of registers were measured */

static const char *why_by_itself(const struct counted *k, enum count_id id)
{
	if (!k->fields)
		return "nothing was counted in this run";
	if (id == COUNT_reg_conflicts && count_known(k, COUNT_reg_reads))
		return "banks of registers were measured on an H200: --gpu h200";
	for (size_t i = 0; i < ARRAY_LEN(of_machine_code); i++)
		if (id == of_machine_code[i])
			return "only machine code tells it that the emulator runs: --level sass";
	return "nothing was counted in this run";
}

const char *count_why(const struct counted *k, enum count_id id)
{
	return (unsigned)id < COUNT_ID_COUNT && k->why[id] ? k->why[id] : why_by_itself(k, id);
}

void count_set_known(struct counted *k, enum count_id id)
{
	k->fields |= 1ull << id;
	k->why[id] = NULL;
}

void count_set_unknown(struct counted *k, enum count_id id, const char *why)
{
	k->fields &= ~(1ull << id);
	k->why[id] = why;
}

void counts_set_known(struct counted *k)
{
	for (enum count_id id = 0; id < COUNT_FIELD_COUNT; id++)
		count_set_known(k, id);
}

void counts_set_emulated(struct counted *k, unsigned sm)
{
	counts_set_known(k);
	for (size_t i = 0; i < ARRAY_LEN(of_machine_code) && !sm; i++)
		count_set_unknown(k, of_machine_code[i], NULL);
	if (sm != BANKS_SM)
		count_set_unknown(k, COUNT_reg_conflicts, NULL);
}

void counts_set_hardware_lines(struct counted *k)
{
	for (enum count_id id = 0; id < COUNT_FIELD_COUNT; id++)
		if (fields[id].by_line)
			count_set_known(k, id);
		else
			count_set_unknown(k, id, "hardware does not count it by line; the emulator does");
}

void run_counts_clear(struct run_counts *r, const char *why)
{
	*r = (struct run_counts){ 0 };
	for (enum count_id id = 0; id < COUNT_ID_COUNT; id++)
		r->of_total.why[id] = r->of_lines.why[id] = why;
	for (enum count_id id = COUNT_FIELD_COUNT; id < COUNT_ID_COUNT; id++)
		run_counts_set_figure(r, id, (double)NAN);
}

/* --- ownership --- */

void run_counts_free(struct run_counts *r)
{
	if (!r)
		return;
	free(r->lines);
	free(r->accesses);
	free(r->steps);
	free(r->code);
	free(r->regions);
	run_counts_clear(r, NULL);
}

const struct code_count *run_counts_code_at(const struct run_counts *r, uint32_t offset)
{
	unsigned low = 0, high = r->n_code;
	while (low < high) {
		const unsigned mid = low + (high - low) / 2;
		if (r->code[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low < r->n_code && r->code[low].offset == offset ? &r->code[low] : NULL;
}

void run_counts_take_code(struct run_counts *to, struct run_counts *own)
{
	struct line_counts *lines = to->lines;
	const unsigned n_lines = to->n_lines;
	free(to->code);
	to->ptx = to->total;
	to->ptx_known = true;
	for (enum count_id id = 0; id < COUNT_FIELD_COUNT; id++)
		if (count_known(&own->of_total, id)) {
			count_set_known(&to->of_total, id);
			count_set_known(&to->of_lines, id);
		}
	to->mix_known = own->mix_known;
	to->mix = own->mix;
	to->fidelity = own->fidelity;
	variation_add(&to->variation, &own->variation);
	to->code = own->code;
	to->n_code = own->n_code;
	own->code = NULL;
	own->n_code = 0;
	to->atom_wavefronts = own->atom_wavefronts;
	to->total = own->total;
	struct region *regions = to->regions;
	to->regions = own->regions;
	to->n_regions = own->n_regions;
	to->longest_block_cycles = own->longest_block_cycles;
	to->launch_lines = own->launch_lines;
	to->constant_lines = own->constant_lines;
	own->regions = regions;
	to->lines = own->lines;
	to->n_lines = own->n_lines;
	own->lines = lines;
	own->n_lines = n_lines;
}

static void *copy_array(const void *from, size_t n, size_t size)
{
	if (!n)
		return NULL;
	void *to = mem_calloc(n, size);
	memcpy(to, from, n * size);
	return to;
}

void run_counts_copy(struct run_counts *to, const struct run_counts *from)
{
	*to = *from;
	to->lines = copy_array(from->lines, from->n_lines, sizeof *from->lines);
	to->accesses = copy_array(from->accesses, from->n_accesses, sizeof *from->accesses);
	to->steps = copy_array(from->steps, from->n_steps, sizeof *from->steps);
	to->code = copy_array(from->code, from->n_code, sizeof *from->code);
	to->regions = copy_array(from->regions, from->n_regions, sizeof *from->regions);
}
