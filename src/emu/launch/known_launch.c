/*
 * Launches that need not run again.
 *
 * What a launch does follows from its kernel, dimensions, parameters and the memory that it reads.
 * So it is known beforehand where an earlier launch had the same ones, if
 *   - the memory it touches was not changed since that one ended, and the earlier one read nothing
 *     that it wrote: everything it would write is there already; or
 *   - that memory holds, by 128 bits of hash, what it held before the earlier launch: what it held
 *     afterwards was kept, and is put there.
 * Memory is meant by whole allocations: those where the earlier launch found an access inside. A
 * launch that reads only what is the same makes the same accesses, so no others can be meant.
 *
 * Where only the counts are asked for, less is enough: no branch and no address may depend on what
 * memory holds (analysis/course.c).
 *
 * Left out: launches that were at fault, and kernels whose outcome depends on more than memory:
 * clocks, printf, malloc, the order in which blocks run (waiting for others, atomics that return
 * something or add floats), unless all blocks run on one thread.
 *
 * Comparing costs time too: it has to be much shorter than the launch, and after a vain attempt the
 * next waits until twice as many launches have gone by.
 */
#include "emu/launch/known_launch.h"

#include "base/mem.h"
#include "emu/launch/kept.h"
#include "emu/launch/launch.h"
#include "emu/launch/program_function.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LAUNCHES 64
#define MOST_KEPT ((uint64_t)512 << 20)
#define HASHED_PER_S 3e9 /* bytes, read, hashed and copied, at the least */

struct touched_memory {
	uint64_t base, size;
	unsigned how;      /* TOUCH_READ, TOUCH_WRITE */
	uint64_t contents; /* its name behind the launch */
	uint64_t found;    /* its name in front of the one whose outcome is kept; 0 = none */
	uint64_t looked;   /* its name when now was taken, likewise */
	struct content_hash before, after, now;
	uint8_t *kept; /* what it held behind the launch, where that wrote into it */
};

struct known_launch {
	uint64_t used; /* when, 0 = never: the entry is free */
	const struct ptx_func *func;
	unsigned grid[3], block[3], shared_bytes;
	bool cooperative;
	unsigned cluster[3];
	uint32_t param_bytes;
	uint8_t *params;

	uint64_t number;   /* of the launch that ran last */
	uint64_t counted;  /* the last that was counted; 0 = none */
	bool speaks;       /* to the host, while it runs */
	bool fixed_course; /* all launches like it count the same, whatever memory holds */
	uint64_t seen;     /* launches like it */
	uint64_t next_try; /* of comparing, by seen */
	bool in_any_order; /* it leaves the same whichever of its blocks and warps comes first */
	bool sure;         /* it follows from memory what a launch like it does */
	bool keep;         /* its outcome will be kept: now is what memory held before */
	bool kept;         /* its outcome was */
	double took_s;
	unsigned n;
	struct touched_memory *memory;
};

struct known_launches {
	uint64_t clock, kept_bytes;
	struct known_launch entry[MOST_LAUNCHES];
};

struct known_launches *known_launches_new(void)
{
	return mem_zalloc(sizeof(struct known_launches));
}

/* --- what is kept --- */

static void drop_kept(struct known_launches *all, struct known_launch *k)
{
	for (unsigned i = 0; i < k->n; i++) {
		if (k->memory[i].kept)
			all->kept_bytes -= k->memory[i].size;
		free(k->memory[i].kept);
		k->memory[i].kept = NULL;
	}
	k->kept = false;
}

static void forget(struct known_launches *all, struct known_launch *k)
{
	drop_kept(all, k);
	free(k->memory);
	free(k->params);
	*k = (struct known_launch){ 0 };
}

void known_launches_free(struct known_launches *all)
{
	for (unsigned i = 0; all && i < MOST_LAUNCHES; i++)
		forget(all, &all->entry[i]);
	free(all);
}

/* Room for @bytes more, which others used longer ago may have to make. */
static bool make_room(struct known_launches *all, const struct known_launch *k, uint64_t bytes)
{
	while (all->kept_bytes + bytes > MOST_KEPT) {
		struct known_launch *oldest = NULL;
		for (unsigned i = 0; i < MOST_LAUNCHES; i++) {
			struct known_launch *e = &all->entry[i];
			if (e != k && e->kept && (!oldest || e->used < oldest->used))
				oldest = e;
		}
		if (!oldest)
			return false;
		drop_kept(all, oldest);
	}
	return true;
}

/* --- finding --- */

static bool is_like(const struct known_launch *k, const struct emu_launch_request *req)
{
	return k->used && k->func == req->function->func &&
	       memcmp(k->grid, req->grid, sizeof k->grid) == 0 &&
	       memcmp(k->block, req->block, sizeof k->block) == 0 &&
	       k->shared_bytes == req->dynamic_shared_bytes && k->cooperative == req->cooperative &&
	       memcmp(k->cluster, req->cluster, sizeof k->cluster) == 0 &&
	       memcmp(k->params, req->params, k->param_bytes) == 0;
}

struct known_launch *known_launch_of(struct emu_device *d, const struct emu_launch_request *req)
{
	struct known_launches *all = d->known;
	struct known_launch *place = &all->entry[0];
	for (unsigned i = 0; i < MOST_LAUNCHES; i++) {
		struct known_launch *k = &all->entry[i];
		if (is_like(k, req)) {
			k->used = ++all->clock;
			k->seen++;
			return k;
		}
		if (k->used < place->used)
			place = k;
	}
	forget(all, place);
	place->used = ++all->clock;
	place->seen = 1;
	place->func = req->function->func;
	memcpy(place->grid, req->grid, sizeof place->grid);
	memcpy(place->block, req->block, sizeof place->block);
	place->shared_bytes = req->dynamic_shared_bytes;
	place->cooperative = req->cooperative;
	memcpy(place->cluster, req->cluster, sizeof place->cluster);
	place->param_bytes = place->func->param_bytes;
	place->params = mem_alloc(place->param_bytes + 1u);
	memcpy(place->params, req->params, place->param_bytes);
	return place;
}

uint64_t known_launch_number(const struct known_launch *k)
{
	return k->number;
}

uint64_t known_launch_counts(const struct known_launch *k)
{
	return k->fixed_course || k->number == k->counted ? k->counted : 0;
}

/* --- comparing --- */

/* NULL: what was touched is there no longer. */
static const struct arena_region *region_of(const struct emu_device *d,
                                            const struct touched_memory *m)
{
	const struct arena_region *r = arena_find(&d->arena, m->base);
	return r && r->base == m->base && r->size == m->size ? r : NULL;
}

/* The name of its contents changes with them. */
static bool is_told(const struct arena_region *r)
{
	return !r->host_writes && !r->written;
}

static bool all_there(const struct emu_device *d, const struct known_launch *k)
{
	for (unsigned i = 0; i < k->n; i++)
		if (!region_of(d, &k->memory[i]))
			return false;
	return true;
}

/* It holds what it held when the launch ended. */
static bool is_unchanged(const struct arena_region *r, const struct touched_memory *m)
{
	return is_told(r) && r->contents == m->contents;
}

/* It holds what it held in front of the launch whose outcome is kept. */
static bool is_as_found(const struct arena_region *r, const struct touched_memory *m)
{
	return is_told(r) && m->found && r->contents == m->found;
}

static bool nothing_changed(const struct emu_device *d, const struct known_launch *k)
{
	for (unsigned i = 0; i < k->n; i++) {
		const struct touched_memory *m = &k->memory[i];
		const struct arena_region *r = region_of(d, m);
		if (m->how == (TOUCH_READ | TOUCH_WRITE) || !is_unchanged(r, m))
			return false;
	}
	return true;
}

static bool worth_comparing(const struct emu_device *d, const struct known_launch *k)
{
	double bytes = 0;
	for (unsigned i = 0; i < k->n; i++) {
		const struct touched_memory *m = &k->memory[i];
		const struct arena_region *r = region_of(d, m);
		const bool hashed = !k->kept || !(is_unchanged(r, m) || is_as_found(r, m));
		bytes += (hashed ? (double)m->size : 0) + (m->how & TOUCH_WRITE ? (double)m->size : 0);
	}
	return k->seen >= k->next_try && bytes / HASHED_PER_S < k->took_s / 2;
}

static struct content_hash hash_of(const struct emu_device *d, const struct known_launch *k,
                                   const struct touched_memory *m)
{
	const struct arena_region *r = region_of(d, m);
	if (k->kept && is_unchanged(r, m))
		return m->after;
	if (k->kept && is_as_found(r, m))
		return m->before;
	return content_hash(arena_at(&d->arena, m->base), m->size);
}

static bool same_hash(const struct content_hash *a, const struct content_hash *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

static bool as_before(const struct known_launch *k)
{
	for (unsigned i = 0; i < k->n; i++)
		if (!same_hash(&k->memory[i].now, &k->memory[i].before))
			return false;
	return true;
}

static void put_outcome(struct emu_device *d, struct known_launch *k)
{
	for (unsigned i = 0; i < k->n; i++) {
		struct touched_memory *m = &k->memory[i];
		const unsigned region = (unsigned)(region_of(d, m) - d->arena.region);
		m->found = m->looked;
		if (!(m->how & TOUCH_WRITE))
			continue;
		if (!same_hash(&m->now, &m->after))
			memcpy(arena_at(&d->arena, m->base), m->kept, m->size);
		d->arena.region[region].contents = m->contents;
	}
}

bool known_launch_in_any_order(const struct known_launch *k)
{
	return k->in_any_order;
}

bool known_launch_repeats(struct emu_device *d, struct known_launch *k)
{
	k->keep = false;
	if (!k->sure || !all_there(d, k))
		return false;
	if (nothing_changed(d, k))
		return true;
	if (!worth_comparing(d, k))
		return false;
	for (unsigned i = 0; i < k->n; i++) {
		const struct arena_region *r = region_of(d, &k->memory[i]);
		k->memory[i].looked = is_told(r) ? r->contents : 0;
		k->memory[i].now = hash_of(d, k, &k->memory[i]);
	}
	if (k->kept && as_before(k)) {
		put_outcome(d, k);
		return true;
	}
	k->keep = !k->kept;
	if (k->kept) {
		drop_kept(d->known, k);
		k->next_try = 2 * k->seen;
	}
	return false;
}

void known_launch_touches(struct emu_device *d, const struct known_launch *k)
{
	l2_kept_begin(d->kept);
	for (unsigned i = 0; i < k->n; i++)
		kept_touch(d, region_of(d, &k->memory[i]), k->memory[i].how, k->speaks);
}

/* --- noting --- */

/* Is the register read anywhere? Products of matrices do not list what they read. */
static bool is_read(const struct ir *ir, int32_t reg)
{
	int32_t regs[X_MAX_VEC + 4];
	if (ir->n_tensors)
		return true;
	for (uint32_t o = 0; o < ir->n_ops; o++)
		for (unsigned n = xop_reads(&ir->ops[o], regs); n--;)
			if (regs[n] == reg)
				return true;
	return false;
}

/* Whichever block comes first, memory holds the same in the end. */
static bool in_any_order(const struct ir *ir, const struct xop *x)
{
	const bool sums = x->op >= ATOM_ADD && x->op <= ATOM_XOR;
	const bool floats = x->type >= PTX_F16 && x->type <= PTX_F64;
	return sums && !floats && (x->kind == X_RED || x->d[0] < 0 || !is_read(ir, x->d[0]));
}

/* Of more than its own block. */
static bool asks_the_system(const struct xop *x)
{
	return x->op == SYSTEM_PRINT || x->op == SYSTEM_MALLOC || x->op == SYSTEM_FREE ||
	       x->op == SYSTEM_BULK_REDUCE || x->op == SYSTEM_TENSOR_REDUCE || x->op >= SYSTEM_RUNTIME;
}

/* @one_order: blocks and warps run in one order, always the same. */
static bool follows_from_memory(const struct ir *ir, bool one_order, bool shared_too)
{
	if (ir->waits && !one_order)
		return false;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		const bool atomic = x->kind == X_ATOM || x->kind == X_RED;
		if (x->kind == X_CLOCK || (x->kind == X_SYSTEM && asks_the_system(x)))
			return false;
		const bool looked_at = x->space != SPACE_SHARED || shared_too;
		if (atomic && looked_at && !one_order && !in_any_order(ir, x))
			return false;
	}
	return true;
}

static unsigned how_touched(const struct emu_launch *l, unsigned region)
{
	unsigned how = 0;
	for (unsigned i = 0; i < l->n_workers; i++)
		how |= l->workers[i].touched[region];
	return how;
}

/* The memory that @l touched; what it wrote holds something else now. Returns how many. */
static unsigned take_touched(struct emu_device *d, const struct emu_launch *l,
                             struct touched_memory **out)
{
	unsigned n = 0;
	*out = NULL;
	for (unsigned i = 0; i < d->arena.n; i++) {
		const struct arena_region *r = &d->arena.region[i];
		const unsigned how = how_touched(l, i);
		if (!how || emu_device_sets_anew(d, r))
			continue;
		if (how & TOUCH_WRITE)
			arena_changed(&d->arena, i);
		*out = mem_realloc(*out, n + 1, sizeof **out);
		(*out)[n++] = (struct touched_memory){
			.base = r->base, .size = r->size, .how = how, .contents = r->contents
		};
	}
	return n;
}

void known_launch_wrote(struct emu_device *d, const struct emu_launch *l)
{
	struct touched_memory *memory;
	take_touched(d, l, &memory);
	free(memory);
}

/* What memory held before the launch is known, of all that it touched; and what it holds now. */
static bool keep_outcome(struct emu_device *d, const struct known_launch *k,
                         struct touched_memory *now, unsigned n)
{
	bool same = k->n == n;
	uint64_t written = 0;
	for (unsigned i = 0; same && i < n; i++) {
		same = k->memory[i].base == now[i].base && k->memory[i].size == now[i].size;
		written += now[i].how & TOUCH_WRITE ? now[i].size : 0;
	}
	if (!same || !make_room(d->known, k, written))
		return false;
	for (unsigned i = 0; i < n; i++) {
		now[i].before = now[i].after = k->memory[i].now;
		now[i].found = k->memory[i].looked;
		if (!(now[i].how & TOUCH_WRITE))
			continue;
		const uint8_t *at = arena_at(&d->arena, now[i].base);
		now[i].after = content_hash(at, now[i].size);
		now[i].kept = mem_alloc(now[i].size);
		memcpy(now[i].kept, at, now[i].size);
		d->known->kept_bytes += now[i].size;
	}
	return true;
}

void known_launch_note(struct emu_device *d, struct known_launch *k, const struct emu_launch *l,
                       bool clean)
{
	struct touched_memory *memory;
	const unsigned n = take_touched(d, l, &memory);
	const bool keep = clean && k->keep;
	drop_kept(d->known, k);
	const bool whole = clean && !how_touched(l, d->arena.n);
	const bool one_order = l->n_workers == 1 || l->grid.together;
	k->sure = whole && follows_from_memory(&l->image.ir, one_order, false);
	k->in_any_order = whole && follows_from_memory(&l->image.ir, false, true);
	k->speaks = l->image.ir.speaks;
	k->took_s = launch_clock_s() - l->started;
	k->number = l->program->number;
	if (clean && l->program->counting == EMU_COUNT_ALL)
		k->counted = k->number;
	k->fixed_course = clean && course_is_fixed(&l->image.ir);
	k->kept = keep && k->sure && keep_outcome(d, k, memory, n);
	free(k->memory);
	k->memory = memory;
	k->n = n;
	k->keep = false;
}
