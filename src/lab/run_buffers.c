/* See run_buffers.h. */
#include "run_buffers.h"

#include "base/mem.h"
#include "base/memory_left.h"
#include "base/parallel.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN ((size_t)4096) /* of a buffer in shared memory: whole pages */

static bool changed_in_place(const struct buffer_plan *b)
{
	return b->role == BUF_INOUT || (b->role == BUF_OUT && b->partial);
}

static bool plain_output(const struct buffer_plan *b)
{
	return b->role == BUF_OUT && !b->partial;
}

static bool same_plan(const struct buffer_plan *a, const struct buffer_plan *b)
{
	return a->type == b->type && a->role == b->role && a->partial == b->partial &&
	       a->count == b->count && a->variable == b->variable;
}

bool run_buffers_fit(const struct run_buffers *b, const struct selection *sel,
                     const struct launch_plan *plan)
{
	if (!b->kernel || b->kernel != sel->kernel || sel->kernel->plan_user || !b->intact ||
	    b->seed != sel->seed || b->n != plan->n_buffers ||
	    memcmp(b->params, sel->params, sel->kernel->n_params * sizeof *b->params) != 0)
		return false;
	for (unsigned i = 0; i < b->n; i++)
		if (!same_plan(&b->plan[i], &plan->buffers[i]))
			return false;
	return true;
}

#define USABLE 0.9 /* of the memory that is left */

bool run_buffers_fit_memory(const struct launch_plan *plan, struct err *err)
{
	double want = 0;
	for (unsigned b = 0; b < plan->n_buffers; b++) {
		const double bytes =
			(double)plan->buffers[b].count * (double)elem_size(plan->buffers[b].type);
		want += (changed_in_place(&plan->buffers[b]) ? 2 : 1) * bytes;
		want += 2 * bytes; /* the back end's own, and what it notes about every byte */
	}
	const struct memory_left have = memory_left();
	if (want <= USABLE * have.bytes)
		return true;
	char w[32], h[32];
	err_set(
		err, ERR_UNAVAILABLE,
		"the buffers of this launch, with the copies for running and checking, need %s; %s are %s",
		fmt_bytes(w, sizeof w, want), fmt_bytes(h, sizeof h, have.bytes), have.whose);
	return err_remedy(err, "choose a smaller problem size");
}

/* --- poison --- */

/* The word that repeats. Quiet NaNs with a payload that no arithmetic makes; for whole numbers a
 * pattern that no kernel means. */
static uint32_t poison_of(enum elem_type type)
{
	switch (type) {
	case ELEM_F32: return 0x7fc0dead;
	case ELEM_F64: return 0x7ff8dead;
	case ELEM_F16: return 0x7ead7ead;
	case ELEM_BF16: return 0x7fad7fad;
	default: break;
	}
	return elem_size(type) == 1 ? 0xa5a5a5a5 : elem_size(type) == 2 ? 0xbeefbeef : 0xdeadbeef;
}

bool run_buffers_poison(const struct run_buffers *b, unsigned i, uint32_t *word)
{
	*word = poison_of(b->plan[i].type);
	return plain_output(&b->plan[i]);
}

/* Elements of a range: with fewer, a thread costs more than it saves. */
#define LEAST ((size_t)1 << 20)

struct poisoned {
	void *data;
	const void *read;
	size_t size; /* of an element */
	uint64_t element;
	size_t first[PARALLEL_MOST], left[PARALLEL_MOST]; /* of each range */
};

static struct poisoned poisoned(enum elem_type type, void *data, const void *read)
{
	const uint64_t word = poison_of(type);
	return (struct poisoned){
		.data = data, .read = read, .size = elem_size(type), .element = word << 32 | word
	};
}

static void fill_range(void *ctx, unsigned number, size_t from, size_t to)
{
	const struct poisoned *p = ctx;
	unsigned char *at = (unsigned char *)p->data + from * p->size;
	(void)number;
	for (size_t i = from; i < to; i++, at += p->size)
		memcpy(at, &p->element, p->size);
}

void poison_fill(enum elem_type type, void *data, size_t count)
{
	struct poisoned p = poisoned(type, data, NULL);
	parallel_ranges(count, LEAST, fill_range, &p);
}

/* Counts elements of a type that hold the poison; the first only where there is one. */
#define COUNT_POISON(type)                                       \
	do {                                                         \
		const type *const at = p->read, want = (type)p->element; \
		for (size_t i = from; i < to; i++)                       \
			left += at[i] == want;                               \
		while (left && at[first] != want)                        \
			first++;                                             \
	} while (0)

static void find_range(void *ctx, unsigned number, size_t from, size_t to)
{
	struct poisoned *p = ctx;
	size_t first = from, left = 0;
	if (p->size == 2)
		COUNT_POISON(uint16_t);
	else if (p->size == 4)
		COUNT_POISON(uint32_t);
	else
		COUNT_POISON(uint64_t);
	p->first[number] = first;
	p->left[number] = left;
}

/* A byte has no pattern that cannot be an answer: it is left to the reference alone. */
static size_t find_poison(enum elem_type type, const void *data, size_t count, size_t *left)
{
	struct poisoned p = poisoned(type, NULL, data);
	size_t first = count;
	*left = 0;
	if (p.size == 1)
		return count;
	parallel_ranges(count, LEAST, find_range, &p);
	for (unsigned i = PARALLEL_MOST; i-- > 0;) {
		*left += p.left[i];
		if (p.left[i])
			first = p.first[i];
	}
	return first;
}

size_t poison_first(enum elem_type type, const void *data, size_t count)
{
	size_t left;
	return find_poison(type, data, count, &left);
}

size_t poison_left(enum elem_type type, const void *data, size_t count)
{
	size_t left;
	find_poison(type, data, count, &left);
	return left;
}

/* --- fingerprint --- */

#define CHUNK ((size_t)4 << 20)

/* Four independent streams of multiply and rotate: as quick as memory. */
static uint64_t chunk_fingerprint(const unsigned char *at, size_t bytes)
{
	const uint64_t odd = 0x9e3779b97f4a7c15u;
	uint64_t h[4] = { HASH_SEED, HASH_SEED + 1, HASH_SEED + 2, HASH_SEED + 3 };
	for (; bytes >= 32; bytes -= 32, at += 32) {
		uint64_t w[4];
		memcpy(w, at, 32);
		for (int i = 0; i < 4; i++) {
			h[i] = (h[i] ^ w[i]) * odd;
			h[i] ^= h[i] >> 29;
		}
	}
	return hash_bytes(hash_bytes(HASH_SEED, h, sizeof h), at, bytes);
}

struct fingerprints {
	const unsigned char *data;
	size_t bytes;
	uint64_t *of; /* each chunk */
};

static void fingerprint_range(void *ctx, unsigned number, size_t from, size_t to)
{
	const struct fingerprints *f = ctx;
	(void)number;
	for (size_t c = from; c < to; c++) {
		const size_t rest = f->bytes - c * CHUNK;
		f->of[c] = chunk_fingerprint(f->data + c * CHUNK, rest < CHUNK ? rest : CHUNK);
	}
}

uint64_t buffer_fingerprint(const void *data, size_t bytes)
{
	const size_t chunks = (bytes + CHUNK - 1) / CHUNK;
	struct fingerprints f = { data, bytes, mem_calloc(chunks, sizeof *f.of) };
	parallel_ranges(chunks, 1, fingerprint_range, &f);
	const uint64_t all = hash_bytes(HASH_SEED, f.of, chunks * sizeof *f.of);
	free(f.of);
	return all;
}

/* --- their life --- */

static void fill_buffer(struct run_buffers *b, const struct selection *sel,
                        const struct launch_plan *plan, unsigned i)
{
	const struct buffer_plan *bp = &b->plan[i];
	if (plain_output(bp)) {
		/* in shared memory nobody reads it before the run has written it */
		if (b->memory.data)
			parallel_touch(b->data[i], b->bytes[i]);
		else
			poison_fill(bp->type, b->data[i], bp->count);
		return;
	}
	sel->kernel->fill(plan, sel->params, i, sel->seed, b->data[i]);
	if (changed_in_place(bp)) {
		b->before[i] = mem_alloc(b->bytes[i]);
		parallel_copy(b->before[i], b->data[i], b->bytes[i]);
	} else {
		b->before[i] = b->data[i];
		b->fingerprint[i] = buffer_fingerprint(b->data[i], b->bytes[i]);
	}
}

/* Each at its place of one memory. */
static bool make_shared(struct run_buffers *b, const size_t *at, size_t all, struct err *err)
{
	if (!shared_memory_make(&b->memory, all ? all : ALIGN, "the buffers of this run", err))
		return false;
	for (unsigned i = 0; i < b->n; i++)
		b->data[i] = b->memory.data + at[i];
	return true;
}

bool run_buffers_make(struct run_buffers *b, const struct selection *sel,
                      const struct launch_plan *plan, bool shared, const atomic_bool *cancel,
                      struct err *err)
{
	*b = (struct run_buffers){
		.kernel = sel->kernel, .seed = sel->seed, .n = plan->n_buffers, .intact = true
	};
	memcpy(b->params, sel->params, sizeof b->params);
	memcpy(b->plan, plan->buffers, sizeof b->plan);
	size_t at[KERNEL_MAX_BUFFERS] = { 0 }, all = 0;
	for (unsigned i = 0; i < b->n; i++) {
		const size_t bytes = b->plan[i].count * elem_size(b->plan[i].type);
		b->bytes[i] = bytes;
		at[i] = all;
		all += (bytes + ALIGN - 1) & ~(ALIGN - 1);
	}
	if (shared && !make_shared(b, at, all, err)) {
		*b = (struct run_buffers){ 0 };
		return false;
	}
	for (unsigned i = 0; i < b->n; i++) {
		if (cancel && atomic_load(cancel)) {
			run_buffers_free(b);
			return err_set(err, ERR_CANCELLED, "cancelled before the launch");
		}
		if (!shared)
			b->data[i] = mem_alloc(b->bytes[i]);
		fill_buffer(b, sel, plan, i);
	}
	return true;
}

void run_buffers_free(struct run_buffers *b)
{
	for (unsigned i = 0; i < b->n; i++) {
		if (b->before[i] != b->data[i])
			free(b->before[i]);
		if (!b->memory.data)
			free(b->data[i]);
	}
	shared_memory_drop(&b->memory);
	*b = (struct run_buffers){ 0 };
}

void run_buffers_restore(struct run_buffers *b)
{
	for (unsigned i = 0; i < b->n && b->used; i++) {
		const struct buffer_plan *bp = &b->plan[i];
		if (changed_in_place(bp))
			parallel_copy(b->data[i], b->before[i], b->bytes[i]);
		else if (plain_output(bp) && !b->memory.data)
			poison_fill(bp->type, b->data[i], bp->count);
	}
	b->used = true;
}
