/*
 * Names in nested scopes: one stack of symbols, and hash chains whose newest entry comes first,
 * so that the innermost declaration is found first and closing a scope only pops the stack.
 * Knows nothing of PTX but the shape of register ranges ("%r<10>" declares %r0 .. %r9, ISA 4.4).
 */
#include "ptx/parser.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void names_free(struct names *t)
{
	free(t->syms);
	free(t->buckets);
	*t = (struct names){ 0 };
}

size_t names_open(const struct names *t)
{
	return t->n;
}

void names_close(struct names *t, size_t mark)
{
	while (t->n > mark) {
		const struct sym *s = &t->syms[--t->n];
		t->buckets[s->hash & (t->n_buckets - 1)] = s->next;
	}
}

static void link_bucket(struct names *t, size_t i)
{
	int32_t *bucket = &t->buckets[t->syms[i].hash & (t->n_buckets - 1)];
	t->syms[i].next = *bucket;
	*bucket = (int32_t)i;
}

void names_add(struct names *t, const struct sym *s)
{
	grow_array(&t->syms, t->n, &t->cap, sizeof *t->syms);
	t->syms[t->n] = *s;
	if (t->n >= t->n_buckets) {
		free(t->buckets);
		t->n_buckets = t->n_buckets ? t->n_buckets * 4 : 256;
		t->buckets = mem_calloc(t->n_buckets, sizeof *t->buckets);
		memset(t->buckets, 0xff, t->n_buckets * sizeof *t->buckets);
		for (size_t i = 0; i < t->n; i++)
			link_bucket(t, i);
	}
	link_bucket(t, t->n++);
}

static const struct sym *find_symbol(const struct names *t, const char *name, size_t len,
                                     uint32_t hash, bool range)
{
	if (!t->n_buckets)
		return NULL;
	for (int32_t i = t->buckets[hash & (t->n_buckets - 1)]; i >= 0; i = t->syms[i].next) {
		const struct sym *s = &t->syms[i];
		if (s->hash == hash && s->len == len && (s->count != 0) == range &&
		    memcmp(s->name, name, len) == 0)
			return s;
	}
	return NULL;
}

const struct sym *names_find(const struct names *t, const char *name, size_t len, uint32_t hash)
{
	return find_symbol(t, name, len, hash, false);
}

/* A name as it stands, or the member of a range; *member is its number. */
static const struct sym *find_member(const struct names *t, const struct token *tok,
                                     uint32_t *member)
{
	const struct sym *exact = find_symbol(t, tok->s, tok->len, tok->hash, false);
	uint32_t digits = tok->len - tok->prefix_len;
	*member = 0;
	if (digits == 0 || digits > 9 || (digits > 1 && tok->s[tok->prefix_len] == '0'))
		return exact;
	uint32_t number = 0;
	for (uint32_t i = tok->prefix_len; i < tok->len; i++)
		number = number * 10 + (uint32_t)(tok->s[i] - '0');
	const struct sym *range = find_symbol(t, tok->s, tok->prefix_len, tok->prefix_hash, true);
	if (!range || number >= range->count || (exact && exact > range))
		return exact;
	*member = number;
	return range;
}

/* "%v.x" or "%v.r": an element of a vector register (PTX ISA 6.4.3). */
static const struct sym *find_element(const struct names *t, const struct token *tok,
                                      uint32_t *member)
{
	static const char letters[] = "xyzwrgba";
	if (tok->len < 3 || tok->s[tok->len - 2] != '.')
		return NULL;
	const char *at = memchr(letters, tok->s[tok->len - 1], sizeof letters - 1);
	if (!at)
		return NULL;
	struct token whole = *tok;
	tok_cut(&whole, tok->len - 2);
	whole.hash ^= ELEMENT_HASH;
	whole.prefix_hash ^= ELEMENT_HASH;
	const uint32_t lane = (uint32_t)(at - letters) & 3;
	const struct sym *s = find_member(t, &whole, member);
	if (!s || lane >= s->lanes)
		return NULL;
	*member = *member * s->lanes + lane;
	return s;
}

const struct sym *names_find_token(const struct names *t, const struct token *tok, uint32_t *member)
{
	const struct sym *s = find_member(t, tok, member);
	if (!s)
		return find_element(t, tok, member);
	if (s->kind == SYM_VECTOR)
		*member *= s->lanes;
	return s;
}
