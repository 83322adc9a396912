/*
 * Command lines to start from; see user_suggest.h.
 *
 * A first guess follows from names: `n` counts elements, `width` is a side, `radius` is small. It
 * is tried on a few blocks; a buffer that is read or written past its end is made larger, a block
 * that the kernel was not written for gives way to the next usual one, and what takes too long is
 * made smaller, until the launch goes through or all guesses are used up.
 */
#include "userkernel/user_suggest.h"
#include "userkernel/user_meaning.h"
#include "userkernel/user_text.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TRIALS 28
#define MAX_ELEMENTS ((int64_t)1 << 25)

/* --- a guess --- */

struct guess {
	unsigned block[3], grid_dims;
	bool is_size[KERNEL_MAX_ARGS];
	int64_t small[KERNEL_MAX_ARGS];   /* of other whole numbers */
	int64_t size;                     /* of every size */
	unsigned factor[KERNEL_MAX_ARGS]; /* of a buffer */
	unsigned shared;                  /* bytes of dynamic shared memory */
};

static bool is_whole(const struct user_param *p)
{
	return !p->pointer && p->known && p->kind != ARG_BYTES && !elem_is_real(p->elem);
}

static bool is_truth(const struct user_param *p)
{
	return has_word(p->type, 0, strlen(p->type), "bool");
}

static void guess_numbers(const struct user_kernel *k, struct guess *g)
{
	unsigned sizes = 0, whole = 0;
	for (unsigned i = 0; i < k->n_params; i++) {
		const struct user_param *p = &k->params[i];
		unsigned usual = 0;
		if (!is_whole(p))
			continue;
		if (p->choice)
			continue; /* its first value */
		const enum meaning means = name_meaning(p->name, &usual);
		whole += !is_truth(p);
		g->is_size[i] = means == MEANS_SIZE && elem_size(p->elem) >= 4;
		g->small[i] = is_truth(p)              ? 1
		              : means == MEANS_UNKNOWN ? 16
		              : means == MEANS_SMALL   ? (int64_t)usual
		              : means == MEANS_ONE     ? 1
		                                       : 0;
		if (g->is_size[i])
			sizes++;
		else if (elem_size(p->elem) == 1 && g->small[i] > 100)
			g->small[i] = 100;
	}
	/* an only number that nobody knows counts elements; so does K beside M and N */
	for (unsigned i = 0; i < k->n_params; i++)
		if (is_whole(&k->params[i]) && !is_truth(&k->params[i]) && !k->params[i].choice &&
		    elem_size(k->params[i].elem) >= 4 &&
		    ((!sizes && whole == 1 && g->small[i] == 16) ||
		     (sizes >= 1 && (!strcmp(k->params[i].name, "K") || !strcmp(k->params[i].name, "k")))))
			g->is_size[i] = true;
}

static unsigned count_sizes(const struct user_kernel *k, const struct guess *g)
{
	unsigned n = 0;
	for (unsigned i = 0; i < k->n_params; i++)
		n += g->is_size[i];
	return n;
}

static void set_block(const struct user_kernel *k, unsigned choice, struct guess *g)
{
	static const unsigned shapes[3][6][3] = {
		{ { 256, 1, 1 }, { 128, 1, 1 }, { 512, 1, 1 }, { 1024, 1, 1 }, { 64, 1, 1 }, { 32, 1, 1 } },
		{ { 16, 16, 1 }, { 32, 32, 1 }, { 32, 8, 1 }, { 8, 8, 1 }, { 4, 4, 1 }, { 64, 4, 1 } },
		{ { 8, 8, 4 }, { 4, 4, 4 }, { 8, 8, 8 }, { 16, 8, 2 }, { 16, 4, 4 }, { 2, 2, 2 } },
	};
	memcpy(g->block, shapes[k->shape.block_dims - 1][choice], sizeof g->block);
	const unsigned most = k->shape.max_threads ? k->shape.max_threads : 1024;
	while (g->block[0] * g->block[1] * g->block[2] > most) {
		unsigned *largest = &g->block[0];
		for (unsigned i = 1; i < 3; i++)
			largest = g->block[i] >= *largest && g->block[i] > 1 ? &g->block[i] : largest;
		*largest = *largest / 2 ? *largest / 2 : 1;
	}
}

static void first_guess(const struct user_kernel *k, struct guess *g)
{
	*g = (struct guess){ .grid_dims = k->shape.grid_dims > k->shape.block_dims
		                                  ? k->shape.grid_dims
		                                  : k->shape.block_dims };
	for (unsigned i = 0; i < KERNEL_MAX_ARGS; i++)
		g->factor[i] = 1;
	guess_numbers(k, g);
	const unsigned sizes = count_sizes(k, g);
	g->size = sizes > 2 ? 256 : sizes == 2 || (sizes && g->grid_dims > 1) ? 512 : (int64_t)1 << 20;
	set_block(k, 0, g);
	g->shared = k->shape.dynamic_shared ? 16384 : 0;
}

/* --- the line --- */

/* A launch in words: what user_spec points to. */
struct line {
	char grid[160], block[64], shared[24];
	unsigned n;
	char arg[KERNEL_MAX_ARGS][200];
};

static void put_size(char *out, size_t n, int64_t v)
{
	if (v >= 1 << 20 && v % (1 << 20) == 0)
		snprintf(out, n, "%lldM", (long long)(v >> 20));
	else
		snprintf(out, n, "%lld", (long long)v);
}

/* "2*n*m": the elements of a buffer. */
static void buffer_size(const struct user_kernel *k, const struct guess *g, unsigned i, char *out,
                        size_t n)
{
	const struct user_param *p = &k->params[i];
	const unsigned times = g->factor[i] * (p->lanes ? p->lanes : 1);
	size_t at = 0;
	unsigned sides = 0;
	out[0] = '\0';
	for (unsigned s = 0; s < k->n_params && sides < 2; s++)
		if (g->is_size[s]) {
			at += (size_t)snprintf(out + at, n - at, "%s%s", at ? "*" : "", k->params[s].name);
			sides++;
		}
	if (sides == 1 && g->grid_dims > 1)
		memcpy(out + at, "*", 1), memcpy(out + at + 1, out, at), out[2 * at + 1] = '\0';
	if (!sides)
		at += (size_t)snprintf(out + at, n - at, "%s", "1M");
	if (p->is_const && (strstr(p->name, "ptr") || strstr(p->name, "offset")) && at + 4 < n)
		at += (size_t)snprintf(out + at, n - at, "+1"); /* where the last row ends */
	if (times > 1 && at + 16 < n) {
		char tail[120];
		snprintf(tail, sizeof tail, "%s", out);
		snprintf(out, n, strchr(tail, '+') ? "%u*(%s)" : "%u*%s", times, tail);
	}
}

/* Has it a parameter that would be mistaken for the block's size? */
static bool has_named(const struct user_kernel *k, const char *name)
{
	for (unsigned i = 0; i < k->n_params; i++)
		if (!strncmp(k->params[i].name, name, strlen(name)))
			return true;
	return false;
}

/* What a side is divided by: the block's size by name, so that it can be changed. */
static void block_word(const struct user_kernel *k, const struct guess *g, unsigned d, char *out,
                       size_t n)
{
	if (has_named(k, "block"))
		snprintf(out, n, "%u", g->block[d]);
	else
		snprintf(out, n, k->shape.block_dims > 1 ? "block_%c" : "block", "xyz"[d]);
}

/* The sides that x and y run along: by name, else the last and the first; NULL = there is none. */
static void find_sides(const struct user_kernel *k, const struct guess *g, const char *side[2])
{
	const char *first = NULL, *last = NULL;
	side[0] = side[1] = NULL;
	for (unsigned i = 0; i < k->n_params; i++) {
		const char *name = k->params[i].name;
		const int axis = name_axis(name);
		if (!g->is_size[i])
			continue;
		if (axis >= 0 && !side[axis])
			side[axis] = name;
		if (axis < 0 && strcmp(name, "K") != 0 && strcmp(name, "k") != 0) {
			first = first ? first : name;
			last = name;
		}
	}
	side[1] = side[1] ? side[1] : first ? first : side[0];
	side[0] = side[0] ? side[0] : last ? last : side[1];
}

static void grid_words(const struct user_kernel *k, const struct guess *g, char *out, size_t n)
{
	char by_word[24];
	const char *side[2];
	const unsigned sides = count_sizes(k, g);
	size_t at = 0;
	find_sides(k, g, side);
	const bool flat = k->shape.block_dims == 1;
	block_word(k, g, 0, by_word, sizeof by_word);
	if (g->grid_dims == 1) {
		if (!sides)
			snprintf(out, n, "%u", (1u << 20) / g->block[0]);
		else if (sides == 1)
			snprintf(out, n, "%s/%s", side[0], by_word);
		else
			snprintf(out, n, "%s*%s/%s", side[1], side[0], by_word);
		return;
	}
	for (unsigned d = 0; d < g->grid_dims; d++) {
		const char *name = d < 2 ? side[d] : NULL;
		const unsigned by = g->block[d];
		at += (size_t)snprintf(out + at, n - at, d ? "," : "");
		block_word(k, g, d, by_word, sizeof by_word);
		if (!name || d == 2)
			at += (size_t)snprintf(out + at, n - at, "%u", d == 2 ? 4u : 512u / by);
		else if (flat && d == 1)
			at += (size_t)snprintf(out + at, n - at, "%s", name);
		else
			at += (size_t)snprintf(out + at, n - at, "%s/%s", name, by_word);
	}
}

static const char *contents(const struct user_param *p)
{
	return p->structure || !p->is_const ? "zero" : "rand";
}

static void value_words(const struct user_kernel *k, const struct guess *g, unsigned i, char *out,
                        size_t n)
{
	const struct user_param *p = &k->params[i];
	char size[140];
	const char *star = strchr(p->type, '*');
	if (star && strchr(star + 1, '*')) {
		snprintf(out, n, "null");
	} else if (p->pointer && !p->known) {
		buffer_size(k, g, i, size, sizeof size);
		snprintf(out, n, "f32[%s]:zero", size);
	} else if (p->pointer) {
		buffer_size(k, g, i, size, sizeof size);
		snprintf(out, n, "%s[%s]:%s", elem_name(p->elem), size, contents(p));
	} else if (g->is_size[i]) {
		put_size(out, n, g->size);
	} else if (is_whole(p)) {
		put_size(out, n, g->small[i]);
	} else if (p->kind == ARG_BYTES && p->structure) {
		snprintf(out, n, "1");
	} else if (p->kind == ARG_BYTES) {
		size_t at = 0;
		for (unsigned l = 0; l < p->lanes && at + 4 < n; l++)
			at += (size_t)snprintf(out + at, n - at, "%s1", l ? "," : "");
	} else {
		snprintf(out, n, strstr(p->name, "eps") ? "0.001" : "1.5");
	}
}

static void make_line(const struct user_kernel *k, const struct guess *g, struct line *out)
{
	const unsigned *b = g->block;
	memset(out, 0, sizeof *out);
	grid_words(k, g, out->grid, sizeof out->grid);
	if (k->shape.block_dims == 1)
		snprintf(out->block, sizeof out->block, "%u", b[0]);
	else if (k->shape.block_dims == 2)
		snprintf(out->block, sizeof out->block, "%u,%u", b[0], b[1]);
	else
		snprintf(out->block, sizeof out->block, "%u,%u,%u", b[0], b[1], b[2]);
	if (g->shared)
		snprintf(out->shared, sizeof out->shared, "%u", g->shared);
	for (unsigned i = 0; i < k->n_params; i++) {
		const int at = snprintf(out->arg[i], sizeof out->arg[i], "%s=", k->params[i].name);
		value_words(k, g, i, out->arg[i] + at, sizeof out->arg[i] - (size_t)at);
	}
	out->n = k->n_params;
}

static bool plain_word(const char *s)
{
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_-+=,./:%@", *s))
			return false;
	return true;
}

static void put_word(struct text *t, const char *s)
{
	text_add(t, plain_word(s) ? " %s" : " '%s'", s);
}

static void put_line(const struct user_family *o, const struct user_kernel *k, const struct line *l,
                     struct text *t)
{
	text_add(t, "pmpp-explore");
	put_word(t, o->spec.path);
	for (unsigned i = 0; i < o->spec.n_words; i++)
		put_word(t, o->spec.words[i]);
	if (o->spec.define) {
		text_add(t, " --define");
		put_word(t, o->spec.define);
	}
	text_add(t, " --kernel");
	put_word(t, k->name);
	text_add(t, " --grid");
	put_word(t, l->grid);
	text_add(t, " --block");
	put_word(t, l->block);
	if (l->shared[0])
		text_add(t, " --shared %s", l->shared);
	for (unsigned i = 0; i < l->n; i++)
		put_word(t, l->arg[i]);
}

/* --- trying it --- */

static void try_line(const struct user_family *o, const struct user_kernel *k, const struct line *l,
                     struct user_trial *out)
{
	const char *args[KERNEL_MAX_ARGS];
	struct user_spec spec = o->spec;
	for (unsigned i = 0; i < l->n; i++)
		args[i] = l->arg[i];
	spec.kernel = k->name;
	spec.grid = l->grid;
	spec.block = l->block;
	spec.shared = l->shared[0] ? l->shared : NULL;
	spec.n_args = l->n;
	spec.args = args;
	o->try_launch(o, k, &spec, out);
}

/* The parameter that a finding names; n_params = none. */
static unsigned named_buffer(const struct user_kernel *k, const char *name)
{
	unsigned i = 0;
	while (i < k->n_params && strcmp(k->params[i].name, name) != 0)
		i++;
	return i;
}

static int64_t elements(const struct user_kernel *k, const struct guess *g, unsigned i)
{
	const unsigned sizes = count_sizes(k, g);
	const int64_t base = !sizes                            ? 1 << 20
	                     : sizes == 1 && g->grid_dims == 1 ? g->size
	                                                       : g->size * g->size;
	return base * g->factor[i] * (k->params[i].lanes ? k->params[i].lanes : 1);
}

static bool smaller(struct guess *g)
{
	if (g->size <= 64)
		return false;
	g->size = g->size > 4096 ? g->size / 16 : g->size / 2;
	return true;
}

/* Buffer @i becomes larger; every one where the access lies behind them all (i = n_params). */
static bool grow(const struct user_kernel *k, struct guess *g, unsigned i)
{
	bool any = false;
	for (unsigned b = 0; b < k->n_params; b++)
		if (k->params[b].pointer && (b == i || i == k->n_params) &&
		    elements(k, g, b) < MAX_ELEMENTS) {
			g->factor[b] *= 4;
			any = true;
		}
	return any;
}

/* The next guess after what a trial found; false = there is nothing more to try. */
static bool improve(const struct user_kernel *k, const struct user_trial *t, struct guess *g,
                    unsigned *choice)
{
	const unsigned i = named_buffer(k, t->buffer);
	if (t->kind == TRIAL_SLOW)
		return smaller(g);
	if (t->kind == TRIAL_BOUNDS)
		return grow(k, g, i) || (count_sizes(k, g) && smaller(g));
	if (t->kind == TRIAL_SHARED && g->shared && g->shared < 49152) {
		g->shared = g->shared < 32768 ? 32768 : 49152;
		return true;
	}
	if (++*choice >= 6)
		return false;
	set_block(k, *choice, g);
	return true;
}

void user_suggest(const struct user_family *o, const struct user_kernel *k, struct text *t)
{
	struct guess g, best;
	struct line *l = mem_zalloc(sizeof *l);
	struct user_trial trial = { .kind = TRIAL_FINE };
	unsigned choice = 0;
	first_guess(k, &g);
	best = g;
	unsigned least = UINT32_MAX;
	for (unsigned n = 0; o->spec.trial && n < MAX_TRIALS; n++) {
		make_line(k, &g, l);
		try_line(o, k, l, &trial);
		if (trial.kind < least) {
			least = trial.kind;
			best = g;
		}
		if (trial.kind == TRIAL_FINE || trial.kind == TRIAL_IMPOSSIBLE ||
		    !improve(k, &trial, &g, &choice))
			break;
	}
	make_line(k, &best, l);
	put_line(o, k, l, t);
	free(l);
}
