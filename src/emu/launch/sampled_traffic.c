/* See sampled_traffic.h. */
#include "emu/launch/sampled_traffic.h"

#include "emu/check/check.h"
#include "model/access_shape.h"

#include <math.h>

#define LINE_BYTES 128
#define SECTOR_BYTES 32.0
/* Only the first wave of a launch finds nothing in L2: a sample is like the others if there are at
 * least so many. */
#define WAVES_TO_WARM 4
#define STORED_ONCE 1.05

static double resident_blocks(const struct emu_launch *l)
{
	return (double)l->device->gpu->sm_count * l->blocks_per_sm;
}

/* A plain output is written, not read. */
static bool is_read(const struct emu_launch *l, const struct arena_region *r)
{
	const struct buffer_plan *b = r->buffer >= 0 ? &l->grid.plan->buffers[r->buffer] : NULL;
	return !b || b->role != BUF_OUT || b->partial;
}

/* The smallest buffer that is read and larger than @than, or the next one of that size. */
static const struct arena_region *next_in_size(const struct emu_launch *l,
                                               const struct arena_region *than)
{
	const struct arena_region *least = NULL;
	for (unsigned i = 0; i < l->device->arena.n; i++) {
		const struct arena_region *r = &l->device->arena.region[i];
		if (r->buffer < 0 || r->outside || !is_read(l, r) ||
		    (than && (r->size < than->size || (r->size == than->size && r <= than))))
			continue;
		if (!least || r->size < least->size)
			least = r;
	}
	return least;
}

void sampled_traffic_begin(struct emu_launch *l, uint32_t lines)
{
	const struct block_order *o = &l->grid.order;
	if (o->n == o->total)
		return;
	cache_sim_follow_first(l->grid.cache, lines);
	if ((double)o->total < WAVES_TO_WARM * resident_blocks(l))
		return;
	double left = l->device->gpu->l2_bytes / 2.0; /* the rest is for what streams by, and copies */
	for (const struct arena_region *r = next_in_size(l, NULL); r && left > 0;
	     r = next_in_size(l, r)) {
		const uint64_t first = (r->base - l->device->arena.base) / LINE_BYTES;
		const double part = fmin(left, (double)r->size);
		if (!cache_sim_warm(l->grid.cache, (uint32_t)first, (uint32_t)ceil(part / LINE_BYTES),
		                    WARM_FOUND, 1))
			return;
		l->warm_bytes += part;
		left -= part;
	}
}

/* Has a block that ran used it? A program has memory that this launch does not know. */
static bool is_used(const struct emu_launch *l, unsigned region, unsigned how)
{
	bool used = !l->program;
	for (unsigned i = 0; i < l->n_workers; i++)
		used |= (l->workers[i].touched[region] & how) != 0;
	return used;
}

/* Bytes of what a launch can read and write: buffers, variables, and the local memory of all
 * threads that are resident together. */
struct footprint {
	double read, written, local;
};

static struct footprint footprint_of(const struct emu_launch *l)
{
	struct footprint f = { .local = fmin((double)l->grid.order.total, resident_blocks(l)) *
		                            l->grid.n_warps * 32 * l->grid.local_bytes };
	for (unsigned i = 0; i < l->device->arena.n; i++) {
		const struct arena_region *r = &l->device->arena.region[i];
		f.read += is_read(l, r) && is_used(l, i, TOUCH_READ) ? (double)r->size : 0;
		f.written += !r->read_only && is_used(l, i, TOUCH_WRITE) ? (double)r->size : 0;
	}
	return f;
}

static double local_load_sectors(const struct emu_launch *l)
{
	const struct ir *ir = &l->image.ir;
	double sum = 0;
	for (uint32_t o = 0; o < ir->n_ops; o++)
		for (unsigned k = 0; k < l->n_workers && ir->ops[o].kind == X_LD && ir->ops[o].mem >= 0;
		     k++)
			sum += (double)l->workers[k].mem[ir->ops[o].mem].local_sectors;
	return sum;
}

/*
 * What is read for the first time is so once, whoever does: @footprint at most. All others ask for
 * what was there before, and as many find it no more as in the sample.
 */
static double all_reads(const struct cache_totals *t, double factor, double footprint)
{
	const double read = t->read_bytes + t->found_bytes;
	const double first = fmin(t->first_bytes * factor, footprint);
	const double fetched =
		t->missed_sectors > 0 ? read / t->missed_sectors : 1; /* a sector asked */
	const double asked = t->l2_sectors - t->l2_written;
	const double asked_again = asked - t->first_bytes / fetched;
	const double all_again = asked * factor - first / fetched;
	return first + (asked_again > 0 ? (read - t->first_bytes) * all_again / asked_again : 0);
}

/* Bytes of DRAM of all blocks; fresh: the share of the sample's reads that the other blocks would
 * make anew. */
struct dram_traffic {
	double read, written, fresh;
};

/* Bytes that come to L2 until a sector is full that store @a, one lane a sector, stores one element
 * of: lanes take the buffer's rows, and who comes next takes the next element of all of them. */
static double bytes_to_fill(const struct access_sample *a, double written)
{
	const struct access_shape sh = access_shape(a);
	const double stride = fabs((double)sh.stride), elem = a->bytes_per_lane;
	if ((sh.pattern != ACCESS_STRIDED && sh.pattern != ACCESS_COLUMNS) || stride < SECTOR_BYTES)
		return INFINITY;
	return written / stride * (SECTOR_BYTES + elem) * (SECTOR_BYTES / elem);
}

/* In a row of blocks: are all that the grid stores whole sectors by then? Each byte is stored
 * once, by instructions like those that were seen. */
static bool strides_fill(const struct emu_launch *l, double stored, double written)
{
	const struct trace *t = l->grid.trace;
	double most = 0;
	for (unsigned i = 0; t && i < t->n_accesses; i++)
		if (t->accesses[i].store && !t->accesses[i].shared)
			most = fmax(most, bytes_to_fill(&t->accesses[i], written));
	const bool once = stored < STORED_ONCE * written && stored > written / STORED_ONCE;
	return most > 0 && most < l->device->gpu->l2_bytes / 2.0 && once;
}

/*
 * What a block leaves of a sector its neighbours take: not the ones of the sample, but those beside
 * it, in its row of blocks or the next. If L2 holds what comes until then, nothing is read more
 * often than it is asked for, nor written more often than it is stored. In a row of blocks only
 * stores are known to meet.
 */
static void share_with_neighbours(const struct emu_launch *l, const struct counts *asked,
                                  double factor, double filled, const struct footprint *f,
                                  struct dram_traffic *d)
{
	const struct dim3u *grid = &l->req->plan->grid;
	const double of_block = (d->read + d->written) / (double)l->grid.order.total;
	const bool row = grid->y <= 1 && grid->z <= 1;
	if (asked->bulk_ld_requests > 0 ||
	    (row ? !strides_fill(l, (double)asked->st_bytes * factor, f->written)
	         : of_block * grid->x > l->device->gpu->l2_bytes / 2.0))
		return;
	const double atomics = SECTOR_BYTES * (double)asked->atom_sectors;
	const double loads = (double)asked->ld_bytes + atomics;
	const double stores = (double)asked->st_bytes + atomics;
	const double written = fmin(d->written, fmax(f->written + f->local, stores * factor));
	if (!row)
		d->read = fmin(d->read, fmax(f->read + f->local, loads * factor));
	else if (d->written > 0)
		d->read -= filled * (1 - written / d->written);
	d->written = written;
}

static struct dram_traffic dram_traffic_of(const struct emu_launch *l, const struct cache_totals *t,
                                           const struct counts *asked, double factor)
{
	struct dram_traffic d = { .read = t->read_bytes * factor,
		                      .written = (t->write_bytes + t->late_write_bytes) * factor,
		                      .fresh = 1 };
	if (!(factor > 1))
		return d;
	const struct footprint f = footprint_of(l);
	const double l2 = l->device->gpu->l2_bytes;
	const double most = (t->read_bytes + t->found_bytes) * factor;
	/* blocks that did not run would have found most of their data in L2, if it holds all */
	if (f.read + f.local <= l2 || l->counted) /* no warm L2 was made for the first blocks */
		d.read = all_reads(t, factor, f.read + f.local);
	else
		d.read += fmin(t->found_bytes * factor, l->warm_bytes);
	if (f.read + f.local <= l2 / fmax(1, l->device->gpu->l2_partitions))
		d.read = fmin(d.read, f.read);
	if (f.written + f.local <= l2)
		d.written = fmin(d.written, f.written);
	/* Local memory that does not stay there until the next block takes its place, nor in L1 until
	 * it is read again: a sample has less of it at a time. */
	if (f.local > l2) {
		d.written = fmax(d.written, t->l2_local * SECTOR_BYTES * factor);
		d.read = fmax(d.read, local_load_sectors(l) * SECTOR_BYTES * factor);
	}
	share_with_neighbours(l, asked, factor, t->filled_bytes * factor, &f, &d);
	d.fresh = most > 0 ? d.read / most : 1;
	return d;
}

double sampled_traffic_fill(const struct emu_launch *l, double factor, struct run_counts *c)
{
	const struct cache_totals t = cache_sim_totals(l->grid.cache);
	const struct dram_traffic dram = dram_traffic_of(l, &t, &c->total, factor);
	for (unsigned i = 0; i < l->n_workers; i++)
		if (l->workers[i].log.overflow)
			return dram.fresh; /* the figures stay unknown */
	c->l2_sectors = t.l2_sectors * factor;
	c->dram_read_bytes = dram.read;
	c->dram_write_bytes = dram.written;
	c->host_read_bytes = t.host_read_bytes * factor;
	c->host_write_bytes = t.host_write_bytes * factor;
	c->l2_local_sectors = t.l2_local * factor;
	c->l2_written_sectors = t.l2_written * factor;
	c->l2_requests = t.l2_requests * factor;
	c->l2_load_requests = t.load_requests * factor;
	c->l2_load_lines = t.load_lines * factor;
	const double bytes = t.read_bytes + t.write_bytes + t.late_write_bytes;
	const double accesses = t.memory_accesses + t.late_write_bytes / LINE_BYTES;
	c->dram_accesses = bytes > 0 ? accesses / bytes * (dram.read + dram.written) : 0;
	return dram.fresh;
}
