/*
 * Is the answer right? Poisoned outputs, untouched inputs, the kernel's own CPU reference, and the
 * verdict in words. Knows no back end.
 */
#include "run_steps.h"

#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Quiet NaNs with a payload no arithmetic makes; for whole numbers a pattern no kernel means. */
static const unsigned char *poison_of(enum elem_type type)
{
	static const uint32_t f32 = 0x7fc0dead;
	static const uint64_t f64 = 0x7ff8dead00c0ffee, whole = 0xdeadbeefdeadbeef;
	static const uint16_t f16 = 0x7eadu, bf16 = 0x7fadu;
	switch (type) {
	case ELEM_F32: return (const unsigned char *)&f32;
	case ELEM_F64: return (const unsigned char *)&f64;
	case ELEM_F16: return (const unsigned char *)&f16;
	case ELEM_BF16: return (const unsigned char *)&bf16;
	default: break;
	}
	return (const unsigned char *)&whole;
}

void poison_fill(enum elem_type type, void *data, size_t count)
{
	const size_t size = elem_size(type);
	const unsigned char *pattern = poison_of(type);
	unsigned char *at = data;
	for (size_t i = 0; i < count; i++, at += size)
		memcpy(at, pattern, size);
}

/* A byte has no pattern that cannot be an answer: it is left to the reference alone. */
size_t poison_first(enum elem_type type, const void *data, size_t count)
{
	const size_t size = elem_size(type);
	const unsigned char *pattern = poison_of(type);
	const unsigned char *at = data;
	if (size == 1)
		return count;
	for (size_t i = 0; i < count; i++, at += size)
		if (!memcmp(at, pattern, size))
			return i;
	return count;
}

/* "C[3,5]" for a matrix, "C[17]" for a vector. */
static void element_name(const struct buffer_plan *b, size_t i, char *out, size_t n)
{
	if (b->rows && b->cols)
		snprintf(out, n, "%s[%zu,%zu]", b->name, i / b->cols, i % b->cols);
	else
		snprintf(out, n, "%s[%zu]", b->name, i);
}

/* Four independent streams of multiply and rotate: as quick as memory. */
uint64_t buffer_fingerprint(const void *data, size_t bytes)
{
	const uint64_t odd = 0x9e3779b97f4a7c15u;
	uint64_t h[4] = { HASH_SEED, HASH_SEED + 1, HASH_SEED + 2, HASH_SEED + 3 };
	const unsigned char *at = data;
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

/* An input that changed is wrong whatever the outputs say. Where, is found by filling it anew. */
static bool inputs_kept(const struct prepared *p, struct run_record *r)
{
	for (unsigned b = 0; b < p->plan.n_buffers; b++) {
		const struct buffer_plan *bp = &p->plan.buffers[b];
		if (bp->role != BUF_IN || buffer_fingerprint(p->data[b], p->bytes[b]) == p->fingerprint[b])
			continue;
		const size_t size = elem_size(bp->type);
		char *was = mem_alloc(p->bytes[b]);
		p->sel.kernel->fill(&p->plan, p->sel.params, b, p->sel.seed, was);
		size_t i = 0;
		while (i + 1 < bp->count && !memcmp(was + i * size, (char *)p->data[b] + i * size, size))
			i++;
		free(was);
		char name[80];
		element_name(bp, i, name, sizeof name);
		r->check = (struct check_result){ .errors = 1, .first = i, .buffer = b };
		snprintf(r->verify_text, sizeof r->verify_text, "%s: an input of the kernel was written",
		         name);
		return false;
	}
	return true;
}

/* A plain output must be written everywhere. */
static bool outputs_written(const struct prepared *p, struct run_record *r)
{
	for (unsigned b = 0; b < p->plan.n_buffers; b++) {
		const struct buffer_plan *bp = &p->plan.buffers[b];
		if (bp->role != BUF_OUT || bp->partial)
			continue;
		size_t i = poison_first(bp->type, p->data[b], bp->count);
		if (i == bp->count)
			continue;
		char name[80];
		element_name(bp, i, name, sizeof name);
		size_t left = 1;
		const size_t size = elem_size(bp->type);
		for (size_t j = i + 1; j < bp->count; j++)
			left += !memcmp((const char *)p->data[b] + j * size, poison_of(bp->type), size);
		r->check.ok = false;
		if (!r->check.errors)
			r->check.errors = left;
		snprintf(r->verify_text, sizeof r->verify_text,
		         "%s was never written (%zu of %zu elements)", name, left, bp->count);
		return false;
	}
	return true;
}

/* The kernel's own wording (check.note) stands beside this, not in it. */
static void word_check(const struct prepared *p, struct run_record *r)
{
	const struct check_result *c = &r->check;
	char *out = r->verify_text;
	const size_t n = sizeof r->verify_text;
	if (c->ok && !(c->max_rel_error > 0)) {
		snprintf(out, n, "exact");
	} else if (c->ok && c->rel_limit > 0) {
		snprintf(out, n, "max rel. error %.2g (limit %.2g)", c->max_rel_error, c->rel_limit);
	} else if (c->ok) {
		snprintf(out, n, "max rel. error %.2g", c->max_rel_error);
	} else {
		const unsigned b = c->buffer < p->plan.n_buffers ? c->buffer : 0;
		char name[80], got[32], want[32];
		element_name(&p->plan.buffers[b], c->first, name, sizeof name);
		snprintf(out, n, "%s: got %s, want %s (%zu of %zu elements wrong)", name,
		         fmt_num(got, sizeof got, c->got, 9), fmt_num(want, sizeof want, c->want, 9),
		         c->errors, p->plan.buffers[b].count);
	}
}

void run_verify(struct prepared *p, struct run_record *r)
{
	if (r->verify == VERIFY_SAMPLED)
		return;
	r->check = (struct check_result){ 0 };
	if (!inputs_kept(p, r)) {
		r->verify = VERIFY_WRONG;
		return;
	}
	const struct kernel_desc *k = p->sel.kernel;
	if (k->check)
		k->check(p->sel.variant, &p->plan, p->sel.params, p->before, p->data, &r->check);
	else
		r->check.ok = true;
	if (outputs_written(p, r) && k->check)
		word_check(p, r);
	r->verify = !r->check.ok ? VERIFY_WRONG : k->check ? VERIFY_OK : VERIFY_NO_REFERENCE;
	if (r->verify == VERIFY_NO_REFERENCE)
		snprintf(r->verify_text, sizeof r->verify_text, "no reference: the result is not verified");
}
