/* What L2 holds between launches; see l2_kept.h. */
#include "emu/count/l2_kept.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ranges that are remembered; the one touched longest ago gives way. */
#define MOST_RANGES 64
/*
 * A range is there as a whole while it and all that came after it fill this share of L2, and gone
 * at that one; between the two, a part of it is. L2 does not replace the oldest line exactly: on an
 * H200, of 24, 28, 32, 40 and 48 MiB that were read, twice their size in L2's 60 MiB, 94, 85, 69,
 * 25 and 3 % were there for the next kernel.
 */
#define ALL_THERE 0.8
#define ALL_GONE 1.6

/* Of 1, 4, 8 and 16 MiB that came from the host, pinned or not, 45, 31, 5 and 0 % were there. */
#define HOST_SHARE 0.55
#define HOST_GONE_BYTES (9 << 20)
/* What a kernel wrote, and the same blocks read: 0 (scale, swapped) to 1 (row) of what is added to
 * the time where other blocks do (tests/gpu/micro/before.cu). */
#define OWN_FAR 0.5

struct range {
	uint64_t base, end, stamp;
	double cost; /* bytes of L2 */
	double most; /* the share that is there at the best */
	double far;  /* of that, what is far from who reads it next */
};
struct l2_kept {
	double l2_bytes;
	/* Bytes of L2 that a byte takes. What SMs read has a copy in each partition; what they write is
	 * in one, but holds less than all of it: of 40, 48, 56 and 64 MiB, 90, 53, 35 and 28 %. */
	double takes[L2_TOUCHES];
	uint64_t stamp;
	unsigned n;
	struct range range[MOST_RANGES];
};

struct l2_kept *l2_kept_new(const struct gpu_spec *gpu)
{
	struct l2_kept *k = mem_zalloc(sizeof *k);
	const bool halves = gpu->l2_partitions > 1;
	k->l2_bytes = gpu->l2_bytes;
	k->takes[L2_READ] = halves ? gpu->l2_partitions : 1;
	k->takes[L2_WRITTEN] = k->takes[L2_SET] = halves ? 1.4 : 1;
	k->takes[L2_COPIED_FROM] = halves ? 1.5 : 1;
	k->takes[L2_COPIED_TO] = halves ? 2 : 1;
	k->takes[L2_FROM_HOST] = k->takes[L2_SENT] = 1;
	return k;
}

void l2_kept_free(struct l2_kept *k)
{
	free(k);
}

void l2_kept_begin(struct l2_kept *k)
{
	k->stamp++;
}

static void forget(struct l2_kept *k, unsigned i)
{
	memmove(&k->range[i], &k->range[i + 1], (k->n - i - 1) * sizeof *k->range);
	k->n--;
}

/* What of a range lies in [base, end) goes; its longer rest stays. */
static void cut(struct range *r, uint64_t base, uint64_t end)
{
	const double per_byte = r->cost / (double)(r->end - r->base);
	const uint64_t before = base > r->base ? base - r->base : 0;
	const uint64_t behind = r->end > end ? r->end - end : 0;
	if (before >= behind)
		r->end = r->base + before;
	else
		r->base = r->end - behind;
	r->cost = per_byte * (double)(before >= behind ? before : behind);
}

void l2_kept_drop(struct l2_kept *k, uint64_t base, uint64_t bytes)
{
	for (unsigned i = k->n; i--;) {
		struct range *r = &k->range[i];
		if (r->end <= base || r->base >= base + bytes)
			continue;
		cut(r, base, base + bytes);
		if (r->end <= r->base)
			forget(k, i);
	}
}

void l2_kept_touch(struct l2_kept *k, uint64_t base, uint64_t bytes, enum l2_touch how)
{
	if (!bytes)
		return;
	l2_kept_drop(k, base, bytes);
	if (k->n == MOST_RANGES) {
		unsigned oldest = 0;
		for (unsigned i = 1; i < k->n; i++)
			if (k->range[i].stamp < k->range[oldest].stamp)
				oldest = i;
		forget(k, oldest);
	}
	k->range[k->n++] = (struct range){
		.base = base,
		.end = base + bytes,
		.stamp = k->stamp,
		.cost = k->takes[how] * (double)bytes,
		.most = how == L2_FROM_HOST ? HOST_SHARE * fmax(0, 1 - (double)bytes / HOST_GONE_BYTES) : 1,
		.far = how == L2_READ || how == L2_COPIED_FROM ? 0
		       : how == L2_WRITTEN                     ? OWN_FAR
		                                               : 1,
	};
}

/* Of a range that was touched at @stamp. */
static double share_at(const struct l2_kept *k, uint64_t stamp)
{
	double cost = 0;
	for (unsigned i = 0; i < k->n; i++)
		cost += k->range[i].stamp >= stamp ? k->range[i].cost : 0;
	const double full = cost / k->l2_bytes;
	return fmin(1, fmax(0, (ALL_GONE - full) / (ALL_GONE - ALL_THERE)));
}

/* What L2 holds of [base, base + bytes), or what of that is far. */
static double share_of(const struct l2_kept *k, uint64_t base, uint64_t bytes, bool far)
{
	double there = 0;
	for (unsigned i = 0; i < k->n; i++) {
		const struct range *r = &k->range[i];
		const uint64_t from = r->base > base ? r->base : base;
		const uint64_t to = r->end < base + bytes ? r->end : base + bytes;
		if (from < to)
			there += (double)(to - from) * r->most * share_at(k, r->stamp) * (far ? r->far : 1);
	}
	return bytes ? there / (double)bytes : 0;
}

bool l2_kept_piece(const struct l2_kept *k, unsigned i, uint64_t *base, uint64_t *end,
                   double *share)
{
	if (i >= k->n)
		return false;
	const struct range *r = &k->range[k->n - 1 - i];
	*base = r->base;
	*end = r->end;
	*share = r->most * share_at(k, r->stamp);
	return true;
}

double l2_kept_share(const struct l2_kept *k, uint64_t base, uint64_t bytes)
{
	return share_of(k, base, bytes, false);
}

double l2_kept_far(const struct l2_kept *k, uint64_t base, uint64_t bytes)
{
	return share_of(k, base, bytes, true);
}
