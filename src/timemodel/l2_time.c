/* What L2 has to do; see l2_time.h. */
#include "timemodel/l2_time.h"

#include "timemodel/constants.h"

#include <math.h>

#define SECTOR_BYTES 32.0

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

double uneven_ns(const struct gpu_spec *g, const struct run_counts *c)
{
	const double slices = timing.l2_half_slices, lines = c->l2_load_lines;
	if (!(c->l2_sectors >= 0) || !(lines > 0))
		return 0;
	const double of_slice = lines / slices;
	const double excess = fmin(sqrt(2 * log(slices) * of_slice), timing.l2_slice_excess);
	/* who is the first to want a line wants those beside it, which lie in all slices */
	const double again = fmax(0, c->l2_load_requests - lines);
	const double ns = again * timing.l2_request_sectors * SECTOR_BYTES / g->l2_gbs;
	return ns * excess / of_slice;
}

double stored_lines_ns(const struct gpu_spec *g, const struct run_counts *c)
{
	const double lines = fmin((double)c->total.st_lines, c->l2_requests);
	const double sectors = fmin((double)c->total.st_sectors, c->l2_written_sectors);
	return fmax(lines * timing.l2_store_sectors, sectors * (1 + timing.l2_write_extra)) *
	       SECTOR_BYTES / g->l2_gbs;
}
