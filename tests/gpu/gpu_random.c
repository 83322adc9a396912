/*
 * Random legal launches over all families, variants, parameters and inputs: the same for the same
 * seed. What would take a GPU or an emulator too long is drawn again, and so is what is wrong by
 * design.
 */
#include "gpu_launches.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds of one launch. */
#define MOST_BYTES 5e8
#define MOST_FLOP 2e11
#define MOST_PER_THREAD 2e5 /* operations or words, one after another */
#define EMULATED_BLOCKS 264.0
#define MOST_EMULATED 2e9 /* operations and words of so many blocks */
#define TRIES 1000

static double random_unit(uint64_t *state)
{
	return (double)(rand_next(state) >> 11) * 0x1p-53;
}

static uint64_t random_below(uint64_t *state, uint64_t n)
{
	return n ? rand_next(state) % n : 0;
}

/* Between a sixteenth of the default and 256 times it, evenly by orders of magnitude; half of them
 * round numbers, as people choose them. */
static int64_t random_value(const struct param_desc *d, uint64_t *state)
{
	if (d->choices) {
		unsigned n = 1;
		while (d->choices[n] != INT64_MIN)
			n++;
		return d->choices[random_below(state, n)];
	}
	const double usual = d->def > 0 ? (double)d->def : 1;
	const double least = fmax((double)d->min, floor(usual / 16));
	const double most = fmin((double)d->max, usual * 256);
	const double from = log(fmax(least, 1)), to = log(fmax(most, 1));
	double v = exp(from + (to - from) * random_unit(state));
	switch (random_below(state, 4)) {
	case 0: v = exp2(nearbyint(log2(v))); break;
	case 1: v = fmax(1, nearbyint(v / 32)) * 32; break;
	default: break;
	}
	return (int64_t)fmin(most, fmax(least, nearbyint(v)));
}

/* Every variant that is right by design is as likely as any other. */
static const struct kernel_desc *random_variant(uint64_t *state, unsigned *variant)
{
	unsigned n = 0;
	for (size_t f = 0; launch_family(f); f++)
		n += launch_family(f)->n_variants;
	for (;;) {
		uint64_t at = random_below(state, n);
		for (size_t f = 0; launch_family(f); f++) {
			const struct kernel_desc *k = launch_family(f);
			if (at >= k->n_variants) {
				at -= k->n_variants;
				continue;
			}
			char name[128];
			*variant = (unsigned)at;
			snprintf(name, sizeof name, "%s/%s", k->name, k->variants[at].name);
			if (k->variants[at].wrong || (opt.only && !name_is_listed(opt.only, name)) ||
			    name_is_listed(opt.skip, name))
				break;
			return k;
		}
	}
}

static bool is_affordable(const struct kernel_desc *k, unsigned variant, const int64_t *params,
                          const struct launch_plan *plan)
{
	struct kernel_cost cost = { 0 };
	double bytes = 0;
	k->cost(variant, plan, params, &cost);
	for (unsigned b = 0; b < plan->n_buffers; b++)
		bytes += (double)plan->buffers[b].count * (double)elem_size(plan->buffers[b].type);
	const double blocks = (double)plan->grid.x * plan->grid.y * plan->grid.z;
	const double threads = blocks * plan->block.x * plan->block.y * plan->block.z;
	const double work = fmax(cost.flop, fmax(cost.min_bytes, bytes) / 4);
	return bytes <= MOST_BYTES && cost.flop <= MOST_FLOP && work / threads <= MOST_PER_THREAD &&
	       work * fmin(1, EMULATED_BLOCKS / blocks) <= MOST_EMULATED;
}

static bool draw(struct instance *i, uint64_t *state)
{
	const struct kernel_desc *k = random_variant(state, &i->variant);
	kernel_defaults(k, i->params);
	for (unsigned p = 0; p < k->n_params; p++)
		if (kernel_param_used(k, i->variant, p) && k->params[p].kind != PARAM_STREAM)
			i->params[p] = random_value(&k->params[p], state);
	i->kernel = k;
	i->input_seed = 1 + random_below(state, 1000000);
	for (unsigned p = 0; p < k->n_params; p++)
		if (kernel_param_used(k, i->variant, p) && !kernel_param_legal(k, p, i->params[p], NULL))
			return false;
	return k->plan(i->variant, i->params, &i->plan, NULL) &&
	       is_affordable(k, i->variant, i->params, &i->plan);
}

static void print_draw(const struct instance *i)
{
	printf("{\"kernel\":\"%s\",\"variant\":\"%s\",\"params\":{", i->kernel->name,
	       i->kernel->variants[i->variant].name);
	for (unsigned p = 0, first = 1; p < i->kernel->n_params; p++)
		if (kernel_param_used(i->kernel, i->variant, p)) {
			printf("%s\"%s\":%lld", first ? "" : ",", i->kernel->params[p].name,
			       (long long)i->params[p]);
			first = 0;
		}
	printf("},\"input_seed\":%llu,\"random\":%u", (unsigned long long)i->input_seed, opt.seed);
	if (launch_family_file(i->kernel))
		put_text("file", launch_family_file(i->kernel));
	printf("}\n");
}

static bool draw_legal(struct instance *i, uint64_t *state, unsigned point)
{
	for (unsigned tries = 0; tries < TRIES; tries++) {
		*i = (struct instance){ .point = point };
		if (draw(i, state))
			return true;
	}
	fprintf(stderr, "gpu_check: no legal launch in %d draws\n", TRIES);
	return false;
}

static uint64_t first_state(void)
{
	return opt.seed * UINT64_C(2654435761) + 1;
}

unsigned each_random(bool (*f)(struct instance *i, void *ctx), void *ctx)
{
	uint64_t state = first_state();
	unsigned refused = 0, wrong = 0;
	static struct instance i;
	for (unsigned n = 0; n < opt.count && draw_legal(&i, &state, n); n++) {
		struct err err = { 0 };
		if (!instance_build(&i, i.kernel, i.variant, &err)) {
			put_error("run", &err);
			refused++;
		} else {
			wrong += !f(&i, ctx);
		}
		instance_free(&i);
	}
	fprintf(stderr, "gpu_check: %u launches drawn, %u not built, %u not run or not verified\n",
	        opt.count, refused, wrong);
	return 10 * (refused + wrong) > opt.count ? refused + wrong : 0;
}

int do_draw(void)
{
	uint64_t state = first_state();
	static struct instance i;
	for (unsigned n = 0; n < opt.count; n++) {
		if (!draw_legal(&i, &state, n))
			return 1;
		print_draw(&i);
	}
	return opt.count ? 0 : 2;
}
