/* From what a launch left behind to a run's result: traffic, counts, outputs. */
#include "emu/launch/launch.h"

#include "emu/device.h"
#include "emu/launch/kept.h"
#include "emu/launch/tally.h"
#include "emu/timing/timing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECTOR_BYTES 32.0
#define ALL_TRY \
	0.98 /* of the lanes that came to a compare-and-swap: a few may have had nothing to do */

/* The host's own memory, which no cache follows: all of it, if the launch asked for so much. */
static void add_host_memory(const struct emu_launch *l, struct run_counts *c)
{
	if (c->host_read_bytes < 0)
		return; /* nothing is known */
	c->host_read_bytes += fmin(l->host_read, SECTOR_BYTES * (double)c->total.ld_sectors);
	c->host_write_bytes += fmin(l->host_written, SECTOR_BYTES * (double)c->total.st_sectors);
}

/* Of a block, on average. */
static double shared_swap_chain(const struct emu_launch *l)
{
	double sum = 0;
	for (unsigned i = 0; i < l->n_workers; i++)
		sum += (double)l->workers[i].swap_words.chain;
	return sum / fmax(1, (double)counted_blocks(l));
}

static void fill_atomics(const struct emu_launch *l, double factor, struct run_counts *c)
{
	if (!l->grid.collisions)
		return;
	const struct collision_totals t = collision_log_totals(l->grid.collisions);
	c->atomics = (struct atomic_load){
		.unit_passes = t.unit_passes * factor,
		.float_passes = t.float_passes * factor,
		.look_lines = collision_log_look_lines(l->grid.collisions) * factor,
		.swap_tries = t.swap_tries,
		.swaps = t.swaps,
	};
}

/* Where lanes find that there is nothing to change, as in a maximum, or most put there what stands
 * there, those that do change it are few however many blocks there are. */
static void contest(const struct emu_launch *l, double factor, struct atomic_load *a)
{
	const bool all_try = a->swap_tries * factor >= ALL_TRY * a->swap_candidates;
	a->settles = !all_try || 2 * a->swaps * factor < a->swap_candidates;
	if (!a->settles)
		a->swaps *= factor;
	if (a->swaps <= 1 || l->sass) /* beside machine code stand its PTX's atomics */
		return;
	const double warps = l->grid.n_warps;
	struct swap_contest c = {
		.concurrent_warps = (double)l->device->gpu->sm_count * l->blocks_per_sm * warps,
		.block_warps = warps,
		.sms = l->device->gpu->sm_count,
		.clock_ghz = l->device->gpu->clock_mhz * 1e-3,
		.settles = a->settles,
		.all_try = all_try && a->settles,
	};
	collision_log_wishes(l->grid.collisions, &c);
	c.lanes *= factor;
	c.stands_for *= factor;
	c.sampled_of = factor;
	a->contest_ns = swap_contest_ns(&c);
}

static void scale_fidelity(double factor, struct run_counts *c)
{
	struct run_fidelity *f = &c->fidelity;
	f->approximate = (uint64_t)((double)f->approximate * factor + 0.5);
	f->skipped = (uint64_t)((double)f->skipped * factor + 0.5);
	f->exact = c->total.warp_executed - f->approximate - f->skipped;
}

static void note_unset(const struct emu_launch *l, struct run_result *res)
{
	char name[80];
	for (unsigned at = 0; unset_constants_next(l, &at, name, sizeof name);) {
		const size_t n = strlen(res->note);
		snprintf(res->note + n, sizeof res->note - n,
		         "%sconstant '%s' was never set: the kernel finds zeros there; %s=... sets it",
		         n ? "; " : "", name, name);
	}
}

void emu_launch_results(struct emu_launch *l, struct run_result *res)
{
	struct run_counts *c = &res->counts;
	const uint64_t ran = counted_blocks(l), all = l->grid.order.total;
	const bool sampled = ran < all;
	const double factor = (double)all / (double)ran;
	c->origin = sampled ? ORIGIN_SAMPLED : ORIGIN_COUNTED;
	c->blocks_run = ran;
	c->blocks_total = all;
	counts_set_emulated(&c->of_total, l->sass ? l->sass->cubin.sm : 0);
	counts_set_emulated(&c->of_lines, l->sass ? l->sass->cubin.sm : 0);
	c->pages_host = l->pages_host;
	c->pages_fresh = l->pages_fresh;
	c->page_rounds_host = l->page_rounds_host;
	c->page_rounds_fresh = l->page_rounds_fresh;
	c->pages_first = l->pages_first;
	c->spins = l->image.ir.waits;
	c->shared_swap_chain = shared_swap_chain(l);
	c->of_program = l->program != NULL;
	c->code_kept = l->program && l->program->code_kept;
	c->in_graph = l->program && l->program->in_graph;
	kept_tell(l, c);
	const struct constant_lines lines = constant_lines(&l->image.ir, l->sass_func);
	c->launch_lines = lines.of_launch;
	c->constant_lines = lines.of_memory + headers_waited_for(&l->image.ir);
	fill_atomics(l, factor, c);
	tally(l, factor, c);
	contest(l, factor, &c->atomics);
	if (sampled) {
		counts_scale(&c->total, factor);
		scale_fidelity(factor, c);
		code_mix_scale(&c->mix, factor);
		for (unsigned i = 0; i < c->n_lines; i++)
			counts_scale(&c->lines[i].c, factor);
		for (unsigned i = 0; i < c->n_code; i++) {
			c->code[i].warps = (uint64_t)((double)c->code[i].warps * factor + 0.5);
			c->code[i].lanes = (uint64_t)((double)c->code[i].lanes * factor + 0.5);
		}
		for (unsigned i = 0; i < c->n_accesses; i++)
			c->accesses[i].executions =
				(uint64_t)((double)c->accesses[i].executions * factor + 0.5);
		snprintf(res->note, sizeof res->note, "sampled %llu of %llu blocks",
		         (unsigned long long)ran, (unsigned long long)all);
	}
	add_host_memory(l, c);
	if (!l->program)
		note_unset(l, res);
	race_blocks_tell(l, &res->races);
	launch_buffers_out(l);
	res->outputs_complete = !sampled;
	res->wall_s = launch_clock_s() - l->started;
}
