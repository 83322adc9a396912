/* Launches by names and types of a kernel's parameters; see user_line.h. */
#include "userkernel/user_line.h"
#include "userkernel/user_meaning.h"
#include "userkernel/user_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- numbers --- */

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
		              : g->contents            ? (int64_t)usual
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

unsigned guess_sizes(const struct user_kernel *k, const struct guess *g)
{
	unsigned n = 0;
	for (unsigned i = 0; i < k->n_params; i++)
		n += g->is_size[i];
	return n;
}

void guess_block(const struct user_kernel *k, unsigned choice, struct guess *g)
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

void guess_first(const struct user_kernel *k, unsigned contents, struct guess *g)
{
	*g = (struct guess){ .contents = contents,
		                 .grid_dims = k->shape.grid_dims > k->shape.block_dims
		                                  ? k->shape.grid_dims
		                                  : k->shape.block_dims };
	for (unsigned i = 0; i < KERNEL_MAX_ARGS; i++)
		g->factor[i] = 1;
	guess_numbers(k, g);
	const unsigned sizes = guess_sizes(k, g);
	g->size = sizes > 2 ? 256 : sizes == 2 || (sizes && g->grid_dims > 1) ? 512 : (int64_t)1 << 20;
	guess_block(k, 0, g);
	g->shared = k->shape.dynamic_shared ? 16384 : 0;
}

/* --- the line --- */

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
	if (g->said || has_named(k, "block"))
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
	const unsigned sides = guess_sizes(k, g);
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

static const char *contents(const struct user_param *p, const struct guess *g)
{
	if (g->contents != AS_USUAL && (!p->known || elem_is_real(p->elem)))
		return "rand";
	if (g->contents != AS_USUAL)
		return g->contents == ALL_DIFFER ? "iota" : "rand(2)";
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
		snprintf(out, n, "%s[%s]:%s", elem_name(p->elem), size, contents(p, g));
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

void line_make(const struct user_kernel *k, const struct guess *g, struct line *out)
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

/* The launch with the words that a person gave in place of guesses. */
struct user_spec line_spec(const struct user_family *o, const struct user_kernel *k, struct line *l)
{
	struct user_spec spec = o->spec;
	unsigned n = l->n;
	spec.kernel = k->name;
	spec.grid = spec.grid ? spec.grid : l->grid;
	spec.block = spec.block ? spec.block : l->block;
	spec.shared = spec.shared ? spec.shared : l->shared[0] ? l->shared : NULL;
	for (unsigned i = 0; i < l->n; i++)
		l->args[i] = l->arg[i];
	for (unsigned g = 0; g < o->spec.n_args; g++) {
		const char *given = o->spec.args[g];
		const size_t name = strcspn(given, "=") + 1;
		unsigned i = 0;
		while (i < l->n && strncmp(l->arg[i], given, name) != 0)
			i++;
		if (i < l->n)
			l->args[i] = given;
		else if (k == o->kernel && n < ARRAY_LEN(l->args))
			l->args[n++] = given; /* a variable */
	}
	spec.n_args = n;
	spec.args = l->args;
	return spec;
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

void line_put(const struct user_family *o, const struct user_spec *spec, struct text *t)
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
	put_word(t, spec->kernel);
	text_add(t, " --grid");
	put_word(t, spec->grid);
	text_add(t, " --block");
	put_word(t, spec->block);
	if (spec->shared) {
		text_add(t, " --shared");
		put_word(t, spec->shared);
	}
	for (unsigned i = 0; i < spec->n_args; i++)
		put_word(t, spec->args[i]);
}
