/* One access taken apart; see access_shape.h. */
#include "model/access_shape.h"

#include "base/text.h"

/* Marks @n bytes from @at as touched; sectors stay in ascending order. */
static void touch(struct access_shape *sh, uint64_t at, unsigned n)
{
	for (; n; n--, at++) {
		uint64_t sector = at / 32;
		unsigned i = 0;
		while (i < sh->n_sectors && sh->sector[i] < sector)
			i++;
		if (i == sh->n_sectors || sh->sector[i] != sector) {
			if (sh->n_sectors == ACCESS_MAX_SECTORS)
				return;
			for (unsigned k = sh->n_sectors; k > i; k--) {
				sh->sector[k] = sh->sector[k - 1];
				sh->bytes[k] = sh->bytes[k - 1];
			}
			sh->sector[i] = sector;
			sh->bytes[i] = 0;
			sh->n_sectors++;
		}
		sh->bytes[i] |= 1u << at % 32;
	}
}

/* More addresses than these are no pattern that one reads off: runs, groups of lanes. */
#define MOST_RUNS 8
#define MOST_GROUPS 8
/* Lanes that a piece of the warp has at least, on average, to be seen as one walk. */
#define LEAST_WALK 4

/* What the addresses have in common, seen lane by lane. */
struct walk {
	bool same, constant;
	int previous;                  /* last active lane; -1 = none yet */
	unsigned length, first_length; /* lanes of this run and of the first */
};

static void step(struct access_shape *sh, struct walk *w, const struct access_sample *a, int lane)
{
	if (w->previous >= 0) {
		int64_t apart = lane - w->previous;
		int64_t by = (int64_t)(a->offset[lane] - a->offset[w->previous]);
		if (by)
			w->same = false;
		if (sh->lanes == 2)
			sh->stride = by / apart;
		if (by != sh->stride * apart)
			w->constant = false;
		if (by != a->bytes_per_lane * apart) {
			if (sh->runs == 1)
				w->first_length = w->length;
			sh->even = sh->even && w->length == w->first_length;
			sh->runs++;
			w->length = 0;
		}
	}
	w->length++;
	w->previous = lane;
}

/* Bytes from lane to lane, as most neighbours have them. Sets the pieces of the warp within which
 * they all do: a block of 16 threads a row that walks columns is two of them. */
static int64_t common_stride(const struct access_sample *a, unsigned *pieces)
{
	int64_t by[31], most = 0;
	unsigned n = 0, best = 0;
	for (int lane = 0, before = -1; lane < 32; lane++) {
		if (!(a->mask >> lane & 1))
			continue;
		if (before >= 0)
			by[n++] = (int64_t)(a->offset[lane] - a->offset[before]) / (lane - before);
		before = lane;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned as_this = 0;
		for (unsigned k = i; k < n; k++)
			as_this += by[k] == by[i];
		if (as_this > best) {
			best = as_this;
			most = by[i];
		}
	}
	*pieces = n + 1 - best;
	return most;
}

static enum access_pattern pattern(struct access_shape *sh, const struct walk *w,
                                   const struct access_sample *a)
{
	const unsigned width = a->bytes_per_lane;
	unsigned pieces;
	const int64_t stride = common_stride(a, &pieces);
	if (sh->lanes <= 1)
		return ACCESS_ONE_LANE;
	if (w->same)
		return ACCESS_BROADCAST;
	if (!w->constant && stride && stride != width && LEAST_WALK * pieces <= sh->lanes) {
		sh->stride = stride;
		return ACCESS_COLUMNS;
	}
	if (sh->addresses <= MOST_GROUPS && 2 * sh->addresses <= sh->lanes)
		return ACCESS_GROUPS;
	if (w->constant && sh->stride == width) {
		const unsigned places =
			32 - (unsigned)__builtin_clz(a->mask) - (unsigned)__builtin_ctz(a->mask);
		if (sh->n_sectors > (places * width + 31) / 32)
			return ACCESS_MISALIGNED;
		return sh->n_sectors > sh->needed_sectors ? ACCESS_LANES_OFF : ACCESS_CONTIGUOUS;
	}
	if (w->constant)
		return ACCESS_STRIDED;
	return sh->runs <= MOST_RUNS || (sh->even && 2 * sh->runs <= sh->lanes) ? ACCESS_RUNS
	                                                                        : ACCESS_SCATTERED;
}

static unsigned distinct_addresses(const struct access_sample *a)
{
	unsigned n = 0;
	for (int lane = 0; lane < 32; lane++) {
		int earlier = 0;
		if (!(a->mask >> lane & 1))
			continue;
		while (earlier < lane &&
		       (!(a->mask >> earlier & 1) || a->offset[earlier] != a->offset[lane]))
			earlier++;
		n += earlier == lane;
	}
	return n;
}

unsigned access_excess(const struct access_shape *sh)
{
	const unsigned least = sh->needed_sectors ? sh->needed_sectors : 1;
	return sh->n_sectors > least ? sh->n_sectors - least : 0;
}

struct access_shape access_shape(const struct access_sample *a)
{
	struct access_shape sh = { .runs = 1, .even = true, .lowest = UINT64_MAX };
	struct walk w = { .same = true, .constant = true, .previous = -1 };
	for (int lane = 0; lane < 32; lane++) {
		if (!(a->mask >> lane & 1))
			continue;
		sh.lanes++;
		touch(&sh, a->offset[lane], a->bytes_per_lane);
		if (a->offset[lane] < sh.lowest)
			sh.lowest = a->offset[lane];
		step(&sh, &w, a, lane);
	}
	if (!sh.lanes)
		sh.lowest = 0;
	sh.addresses = distinct_addresses(a);
	if (sh.runs > 1)
		sh.even = sh.even && w.length == w.first_length;
	for (unsigned i = 0; i < sh.n_sectors; i++) {
		for (uint32_t b = sh.bytes[i]; b; b &= b - 1)
			sh.used_bytes++;
		sh.lines += !i || sh.sector[i] / 4 != sh.sector[i - 1] / 4;
	}
	sh.needed_sectors = (sh.used_bytes + 31) / 32;
	sh.needed_lines = (sh.used_bytes + 127) / 128;
	sh.pattern = pattern(&sh, &w, a);
	return sh;
}

struct bank_use access_banks(const struct access_sample *a)
{
	struct bank_use b = { .parts = a->bytes_per_lane == 16 ? 4 : a->bytes_per_lane == 8 ? 2 : 1 };
	unsigned per = 32 / b.parts, distinct = 0;
	unsigned words = a->bytes_per_lane < 4 ? 1 : a->bytes_per_lane / 4u;
	for (unsigned part = 0; part < b.parts; part++) {
		uint64_t seen[64];
		unsigned n = 0, worst = 0;
		for (unsigned lane = part * per; lane < (part + 1) * per; lane++)
			for (unsigned w = 0; w < words && (a->mask >> lane & 1); w++) {
				uint64_t word = a->offset[lane] / 4 + w;
				unsigned k = 0;
				while (k < n && seen[k] != word)
					k++;
				if (k < n || n == ARRAY_LEN(seen))
					continue;
				seen[n++] = word;
				uint8_t *bank = &b.words[part][word % 32];
				if (++*bank > worst)
					worst = *bank;
			}
		b.passes += worst;
		b.conflict = b.conflict || worst > 1;
		distinct += n;
	}
	b.ideal = (distinct + 31) / 32;
	return b;
}
