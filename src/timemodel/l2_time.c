/* What L2 has to do; see l2_time.h. */
#include "timemodel/l2_time.h"

#include "timemodel/constants.h"

#include <math.h>

#define SECTOR_BYTES 32.0

/* --- atomics on global memory --- */

/*
 * A compare-and-swap holds only if it comes with the value that the last one left. All lanes that
 * want a word try again and again until each has held once: of @lanes together, so many tries for
 * each that holds, in which a unit of L2 takes one pass each. At least, the news of a change goes
 * round before the next.
 */
double swaps_ns(const struct atomic_load *a, double lanes)
{
	const struct swap_contest *s = &a->contest;
	const double pass_ns = timing.atomic_pass_ns * s->passes;
	/* Lanes that come later find nothing to change: the first value is all that many try for. Half
	 * of those who still want a word give up with each change they hear of. */
	if (a->settles) {
		const double tries = a->look_tries > 0 ? a->look_tries : lanes * a->unit_share;
		return timing.swap_first_tries * tries * pass_ns +
		       log2(fmax(1, lanes * a->word_share)) * timing.swap_round_trip_ns;
	}
	lanes = fmax(1, fmin(lanes, a->swaps));
	/* half of the lanes that want a word; less where they are many, as the winners' warps are back
	 * before the others, and, of several words, when most lanes have made their last change */
	const double all = 1 - timing.swap_last_share * (1 - s->hottest) * lanes / a->swaps;
	const double tries = all * fmin(0.5 * (lanes * s->squares + a->unit_swaps),
	                                timing.swap_tries * pow(lanes, SWAP_CONTEST_POWER) * s->powers);
	/* lanes of a warp that want other words wait for those of a hot one, update by update */
	const double others = 1 - (fmin(32, s->lanes) - 1) / 31;
	const double held_up = (1 - lanes / a->swaps) * others;
	const double contenders = lanes * a->word_swaps / a->swaps;
	return fmax(tries * pass_ns * (1 + held_up * s->hottest),
	            a->word_swaps * fmin(1, contenders) * timing.swap_round_trip_ns * (1 + held_up));
}

/* Each address changes so often, one change after the other; where most find nothing to change,
 * they come to look. */
double atomics_ns(const struct atomic_load *a)
{
	return fmax(fmax(a->unit_passes, a->lockstep_int) * timing.atomic_pass_ns,
	            fmax(fmax(a->float_passes, a->lockstep_float) * timing.atomic_float_pass_ns,
	                 a->settles ? a->look_lines * timing.look_line_ns : 0));
}

/* Of the sectors that stores write to, what each leaves empty. */
static double left_empty(const struct counts *t)
{
	return fmax(0, (double)t->st_sectors - (double)t->st_bytes / SECTOR_BYTES);
}

/* Lanes store words that are some way apart: those between them come with the next instructions. */
bool stores_by_words(const struct counts *t)
{
	return left_empty(t) > (double)t->st_lines;
}

/* Sectors that come to be in L2 by a store of a part of them: a piece of a row begins with one, and
 * ends with one. */
static double begun_sectors(const struct run_counts *c)
{
	const struct counts *t = &c->total;
	const double whole = fmax(0, (double)t->st_sectors - 2 * left_empty(t));
	const double all = fmin(c->dram_write_bytes / SECTOR_BYTES, (double)t->st_sectors);
	return stores_by_words(t) || !(all > whole) ? 0 : all - whole;
}

/* What L2 has to do, in the times of a sector of a whole line. Where the caches were not followed,
 * L1 is taken to hold nothing. */
static double l2_sector_times(const struct run_counts *c)
{
	const struct counts *t = &c->total;
	if (!(c->l2_sectors >= 0))
		return fmax((double)(t->ld_sectors + t->st_sectors + t->atom_sectors),
		            timing.l2_request_sectors *
		                (double)(t->ld_lines + t->st_lines + t->atom_requests));
	const double stores = fmin((double)t->st_lines, c->l2_requests);
	/* of sectors that are stored in part only those parts */
	const double empty = left_empty(t), written = fmax(0, c->l2_written_sectors - empty);
	return fmax(fmax(0, c->l2_sectors - empty) + timing.l2_write_extra * written,
	            timing.l2_request_sectors * (c->l2_requests - stores) +
	                timing.l2_store_sectors * stores + timing.l2_begun_sectors * begun_sectors(c));
}

double l2_ns(const struct gpu_spec *g, const struct run_counts *c)
{
	return l2_sector_times(c) * SECTOR_BYTES / g->l2_gbs;
}

double stored_lines_ns(const struct gpu_spec *g, const struct run_counts *c)
{
	return fmin((double)c->total.st_lines, c->l2_requests) * timing.l2_store_sectors *
	       SECTOR_BYTES / g->l2_gbs;
}
