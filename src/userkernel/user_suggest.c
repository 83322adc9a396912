/*
 * Command lines to start from; see user_suggest.h.
 *
 * A first guess follows from names: `n` counts elements, `width` is a side, `radius` is small. It
 * is tried on a few blocks; a buffer that is read or written past its end is made larger, a block
 * that the kernel was not written for gives way to the next usual one, and what takes too long is
 * made smaller, until the launch goes through or all guesses are used up.
 */
#include "userkernel/user_suggest.h"
#include "userkernel/user_line.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TRIALS 28
#define FEW_TRIALS 4 /* of contents that a kernel may not be made for */
#define MAX_ELEMENTS ((int64_t)1 << 25)

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
	const unsigned sizes = guess_sizes(k, g);
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

/* The block as a person gave it, where that is numbers. */
static void given_block(const struct user_family *o, struct guess *g)
{
	const char *at = o->spec.block;
	g->said = at != NULL;
	for (unsigned i = 0; at && i < 3; i++) {
		char *end;
		const unsigned long v = strtoul(at, &end, 10);
		g->block[i] = v && v <= 1024 ? (unsigned)v : 1;
		at = *end ? end + 1 : NULL;
		for (unsigned k = i + 1; !at && k < 3; k++)
			g->block[k] = 1;
	}
}

/* The next guess after what a trial found; false = there is nothing more to try. */
static bool improve(const struct user_family *o, const struct user_kernel *k,
                    const struct user_trial *t, struct guess *g, unsigned *choice)
{
	const unsigned i = named_buffer(k, t->buffer);
	if (t->kind == TRIAL_SLOW)
		return smaller(g);
	if (t->kind == TRIAL_BOUNDS)
		return grow(k, g, i) || (guess_sizes(k, g) && smaller(g));
	if (t->kind == TRIAL_SHARED && g->shared && g->shared < 49152) {
		g->shared = g->shared < 32768 ? 32768 : 49152;
		return true;
	}
	if (o->spec.block || ++*choice >= 6)
		return false;
	guess_block(k, *choice, g);
	return true;
}

/* Tries guesses from @g on; @g, @l: the best of them; returns what came of it. */
static enum user_trial_kind try_guesses(const struct user_family *o, const struct user_kernel *k,
                                        unsigned trials, struct guess *g, struct line *l)
{
	struct guess best = *g;
	struct user_trial trial = { .kind = TRIAL_FINE };
	unsigned choice = 0;
	enum user_trial_kind least = TRIAL_IMPOSSIBLE;
	for (unsigned n = 0; o->spec.trial && n < trials; n++) {
		line_make(k, g, l);
		const struct user_spec spec = line_spec(o, k, l);
		o->try_launch(o, k, &spec, &trial);
		if (trial.kind < least) {
			least = trial.kind;
			best = *g;
		}
		if (trial.kind == TRIAL_FINE || trial.kind == TRIAL_IMPOSSIBLE ||
		    !improve(o, k, &trial, g, &choice))
			break;
	}
	*g = best;
	line_make(k, g, l);
	return least;
}

static void first_guess(const struct user_family *o, const struct user_kernel *k, unsigned contents,
                        struct guess *g)
{
	guess_first(k, contents, g);
	given_block(o, g);
}

void user_suggest(const struct user_family *o, const struct user_kernel *k, struct text *t)
{
	struct line *l = mem_zalloc(sizeof *l);
	struct guess g;
	first_guess(o, k, AS_USUAL, &g);
	try_guesses(o, k, MAX_TRIALS, &g, l);
	const struct user_spec spec = line_spec(o, k, l);
	line_put(o, &spec, t);
	free(l);
}

/* Contents that show most: what a kernel does wrong may need them. */
static enum user_trial_kind telling_guess(const struct user_family *o, const struct user_kernel *k,
                                          struct line *l)
{
	struct guess g, other;
	first_guess(o, k, ALL_DIFFER, &g);
	const enum user_trial_kind came = try_guesses(o, k, FEW_TRIALS, &g, l);
	other = g;
	other.contents = ZEROS_AND_ONES;
	if (came == TRIAL_FINE && try_guesses(o, k, 1, &other, l) != TRIAL_FOUND)
		line_make(k, &g, l);
	if (came <= TRIAL_FOUND)
		return came;
	first_guess(o, k, AS_USUAL, &g);
	return try_guesses(o, k, MAX_TRIALS, &g, l);
}

void *user_guess(const struct user_family *o, struct user_spec *spec, struct text *names,
                 struct text *line)
{
	const struct user_kernel *k = o->kernel;
	struct line *l = mem_zalloc(sizeof *l);
	/* a launch that was said runs, whatever comes of it; sizes that do not fit are else no news */
	const bool said = o->spec.grid && o->spec.block;
	const enum user_trial_kind came = telling_guess(o, k, l);
	if (came > TRIAL_SLOW && !said) {
		free(l);
		return NULL;
	}
	*spec = line_spec(o, k, l);
	const bool guessed[3] = { !o->spec.grid, !o->spec.block, !o->spec.shared && l->shared[0] };
	static const char *const option[3] = { "--grid", "--block", "--shared" };
	for (unsigned i = 0; i < 3; i++)
		if (guessed[i])
			text_add(names, "%s%s", names->len ? ", " : "", option[i]);
	for (unsigned i = 0; i < k->n_params; i++)
		if (spec->args[i] == l->arg[i])
			text_add(names, "%s%s", names->len ? ", " : "", k->params[i].name);
	line_put(o, spec, line);
	return l;
}
