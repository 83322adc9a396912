/*
 * Records to frames and back; see record.h. Both ends are one build, so a record without pointers
 * travels as it lies in memory; whatever is read is put into its legal range before it is used.
 */
#include "runtime/record.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LINES 262144u
#define MAX_REGIONS 65536u
#define MAX_CODE 1000000u /* instructions of a kernel */

/* A whole struct of known size. */
static bool get_struct(struct wire_msg *m, void *out, size_t bytes)
{
	size_t n;
	const void *from = wire_get_blob(m, &n);
	if (!from || n != bytes || m->bad) {
		m->bad = true;
		memset(out, 0, bytes);
		return false;
	}
	memcpy(out, from, bytes);
	return true;
}

#define TERMINATE(text) ((text)[sizeof(text) - 1] = '\0')

/* A byte that came in place of a truth value. */
static void make_legal(bool *b)
{
	unsigned char byte;
	memcpy(&byte, b, 1);
	*b = byte != 0;
}

void record_put_config(struct wire_msg *m, const struct record_config *c,
                       const struct gpu_spec *gpu)
{
	wire_begin(m, RECORD_CONFIG);
	wire_put_u32(m, RECORD_VERSION);
	wire_put_blob(m, c, sizeof *c);
	wire_put_blob(m, gpu, sizeof *gpu);
}

bool record_get_config(struct wire_msg *m, struct record_config *c, struct gpu_spec *gpu)
{
	return m->type == RECORD_CONFIG && wire_get_u32(m) == RECORD_VERSION &&
	       get_struct(m, c, sizeof *c) && get_struct(m, gpu, sizeof *gpu) && wire_end(m);
}

void record_put_module(struct wire_msg *m, const struct record_module *r, const char *ptx, size_t n)
{
	wire_begin(m, RECORD_MODULE);
	wire_put_blob(m, r, sizeof *r);
	wire_put_blob(m, ptx, n);
}

bool record_get_module(struct wire_msg *m, struct record_module *r, const char **ptx, size_t *n)
{
	if (!get_struct(m, r, sizeof *r))
		return false;
	*ptx = wire_get_blob(m, n);
	return wire_end(m);
}

static void terminate_kernel(struct record_kernel *r)
{
	TERMINATE(r->name);
	TERMINATE(r->signature);
	TERMINATE(r->file);
}

static void make_launch_legal(struct record_launch *r)
{
	TERMINATE(r->level);
	TERMINATE(r->note);
	TERMINATE(r->races.why);
	make_legal(&r->cooperative);
	if (r->counted > RECORD_FAILED)
		r->counted = RECORD_FAILED;
}

static void make_copy_legal(struct record_copy *r)
{
	make_legal(&r->pinned);
	make_legal(&r->async);
	make_legal(&r->set);
	if (r->direction > RECORD_H2H)
		r->direction = RECORD_D2D;
}

static void make_event_legal(struct record_event *r)
{
	make_legal(&r->wait);
}

static void make_finding_legal(struct record_finding *r)
{
	TERMINATE(r->kind);
	TERMINATE(r->text);
	TERMINATE(r->remedy);
	make_legal(&r->error);
	TERMINATE(r->file);
}

static void make_memory_legal(struct record_memory *r)
{
	TERMINATE(r->variable);
	make_legal(&r->constant);
}

static void make_refusal_legal(struct record_refusal *r)
{
	TERMINATE(r->detail);
	if (r->what > RECORD_REFUSED_SOME)
		r->what = RECORD_REFUSED_SOME;
}

static void make_seen_legal(struct record_seen *s)
{
	make_legal(&s->pinned);
	make_legal(&s->async);
	make_legal(&s->cooperative);
	make_legal(&s->by_kernel);
	make_legal(&s->fault);
	make_legal(&s->launches);
	make_legal(&s->runtime);
	if (s->direction > RECORD_H2H)
		s->direction = RECORD_D2D;
	if (s->end_ns < s->start_ns || !s->start_ns) /* begun, not ended */
		s->start_ns = s->end_ns = 0;
}

#define RECORD_DEFINE(name, type, legal)                                      \
	void record_put_##name(struct wire_msg *m, const struct record_##name *r) \
	{                                                                         \
		wire_begin(m, type);                                                  \
		wire_put_blob(m, r, sizeof *r);                                       \
	}                                                                         \
	bool record_get_##name(struct wire_msg *m, struct record_##name *r)       \
	{                                                                         \
		const bool ok = get_struct(m, r, sizeof *r) && wire_end(m);           \
		legal(r);                                                             \
		return ok;                                                            \
	}
RECORD_STRUCTS(RECORD_DEFINE)
#undef RECORD_DEFINE

void record_put_keeper(struct wire_msg *m, uint64_t number)
{
	wire_begin(m, RECORD_KEEPER);
	wire_put_u64(m, number);
}

bool record_get_keeper(struct wire_msg *m, uint64_t *number)
{
	*number = wire_get_u64(m);
	return wire_end(m) && m->fd >= 0;
}

void record_put_again(struct wire_msg *m, const struct record_again *r)
{
	wire_begin(m, RECORD_AGAIN);
	wire_put_blob(m, r, sizeof *r);
	for (unsigned i = 0; i < r->n_set; i++)
		wire_put_blob(m, r->set[i].data, r->set[i].bytes);
}

bool record_get_again(struct wire_msg *m, struct record_again *r)
{
	if (m->type != RECORD_AGAIN || !get_struct(m, r, sizeof *r))
		return false;
	make_legal(&r->uncounted);
	make_legal(&r->before);
	if (r->n_set > RECORD_MAX_RANGES || r->n_wanted > RECORD_MAX_RANGES)
		return false;
	for (unsigned i = 0; i < r->n_set; i++) {
		size_t n;
		r->set[i].data = wire_get_blob(m, &n);
		m->bad |= n != r->set[i].bytes;
	}
	for (unsigned i = 0; i < r->n_wanted; i++)
		r->wanted[i].data = NULL;
	return wire_end(m);
}

void record_put_contents(struct wire_msg *m, const struct record_range *r)
{
	wire_begin(m, RECORD_CONTENTS);
	wire_put_u64(m, r->address);
	wire_put_u64(m, r->bytes);
}

bool record_get_contents(struct wire_msg *m, struct record_range *r)
{
	*r = (struct record_range){ .address = wire_get_u64(m), .bytes = wire_get_u64(m) };
	return wire_end(m) && m->fd >= 0;
}

void record_put_code_request(struct wire_msg *m, const struct record_code_request *r)
{
	wire_begin(m, RECORD_CODE);
	wire_put_u32(m, r->id);
	wire_put_u32(m, r->cc);
	wire_put_blob(m, r->cubin, r->cubin ? r->cubin_bytes : 0);
	wire_put_blob(m, r->ptx, r->ptx ? r->ptx_bytes : 0);
}

bool record_get_code_request(struct wire_msg *m, struct record_code_request *r)
{
	r->id = wire_get_u32(m);
	r->cc = wire_get_u32(m);
	r->cubin = wire_get_blob(m, &r->cubin_bytes);
	r->ptx = wire_get_blob(m, &r->ptx_bytes);
	if (!r->cubin_bytes)
		r->cubin = NULL;
	return m->type == RECORD_CODE && wire_end(m);
}

void record_put_code(struct wire_msg *m, const struct record_code *r)
{
	wire_begin(m, RECORD_CODE);
	wire_put_str(m, r->why);
	wire_put_blob(m, r->cubin, r->cubin ? r->cubin_bytes : 0);
	wire_put_blob(m, r->listing, r->listing ? r->listing_bytes : 0);
}

bool record_get_code(struct wire_msg *m, struct record_code *r)
{
	wire_get_str(m, r->why, sizeof r->why);
	r->cubin = wire_get_blob(m, &r->cubin_bytes);
	r->listing = wire_get_blob(m, &r->listing_bytes);
	return m->type == RECORD_CODE && wire_end(m);
}

void record_put_seen(struct wire_msg *m, const struct record_seen *s, size_t n)
{
	wire_begin(m, RECORD_SEEN);
	wire_put_blob(m, s, n * sizeof *s);
}

bool record_get_seen(struct wire_msg *m, struct record_seen **s, size_t *n)
{
	size_t bytes;
	const void *from = wire_get_blob(m, &bytes);
	*s = NULL;
	*n = bytes / sizeof **s;
	if (m->type != RECORD_SEEN || m->bad || !wire_end(m) || !*n || bytes % sizeof **s)
		return false;
	*s = mem_alloc(bytes);
	memcpy(*s, from, bytes);
	for (size_t i = 0; i < *n; i++)
		make_seen_legal(&(*s)[i]);
	return true;
}

/* --- counts: a struct, then its tables --- */

static void put_table(struct wire_msg *m, const void *rows, unsigned n, size_t row_bytes)
{
	wire_put_blob(m, rows, n * row_bytes);
}

/* A copy of the table; NULL when it is empty or its size does not fit @n rows. */
static void *get_table(struct wire_msg *m, unsigned n, unsigned most, size_t row_bytes)
{
	size_t bytes;
	const void *rows = wire_get_blob(m, &bytes);
	if (m->bad || n > most || bytes != n * row_bytes) {
		m->bad = true;
		return NULL;
	}
	void *copy = mem_alloc(bytes ? bytes : 1);
	memcpy(copy, rows, bytes);
	return copy;
}

void record_put_counts(struct wire_msg *m, uint64_t number, const struct run_counts *c)
{
	wire_begin(m, RECORD_COUNTS);
	wire_put_u64(m, number);
	wire_put_blob(m, c, sizeof *c);
	put_table(m, c->lines, c->n_lines, sizeof *c->lines);
	put_table(m, c->accesses, c->n_accesses, sizeof *c->accesses);
	put_table(m, c->steps, c->n_steps, sizeof *c->steps);
	put_table(m, c->code, c->n_code, sizeof *c->code);
	put_table(m, c->regions, c->n_regions, sizeof *c->regions);
}

static void make_counts_legal(struct run_counts *c)
{
	if (c->origin != ORIGIN_COUNTED)
		c->origin = ORIGIN_SAMPLED;
	make_legal(&c->steps_cut);
	make_legal(&c->ptx_known);
	make_legal(&c->mix_known);
	make_legal(&c->of_program);
	make_legal(&c->code_kept);
	make_legal(&c->in_graph);
	make_legal(&c->new_memory);
	make_legal(&c->fidelity.known);
	make_legal(&c->fidelity.reaches);
	TERMINATE(c->fidelity.functions);
	TERMINATE(c->fidelity.hints);
	for (unsigned i = 0; i < c->n_accesses; i++) {
		struct access_sample *a = &c->accesses[i];
		TERMINATE(a->op);
		make_legal(&a->store);
		make_legal(&a->shared);
		a->buffer = -1; /* a program's memory is no buffer of a plan */
	}
}

bool record_get_counts(struct wire_msg *m, uint64_t *number, struct run_counts *c)
{
	*number = wire_get_u64(m);
	if (!get_struct(m, c, sizeof *c))
		return false;
	/* reasons are texts of the other process */
	memset(c->of_total.why, 0, sizeof c->of_total.why);
	memset(c->of_lines.why, 0, sizeof c->of_lines.why);
	c->lines = get_table(m, c->n_lines, MAX_LINES, sizeof *c->lines);
	c->accesses = get_table(m, c->n_accesses, TRACE_MAX_ACCESSES, sizeof *c->accesses);
	c->steps = get_table(m, c->n_steps, TRACE_MAX_STEPS, sizeof *c->steps);
	c->code = get_table(m, c->n_code, MAX_CODE, sizeof *c->code);
	c->regions = get_table(m, c->n_regions, MAX_REGIONS, sizeof *c->regions);
	if (!m->bad && wire_end(m)) {
		make_counts_legal(c);
		return true;
	}
	free(c->lines);
	free(c->accesses);
	free(c->steps);
	free(c->code);
	free(c->regions);
	memset(c, 0, sizeof *c);
	return false;
}
