/*
 * What a card counts of divided warps beyond the instructions that their parts execute, as an H200
 * does. Found with tests/gpu/micro/parts.cu, loops.cu, recursion.cu and leaving.cu.
 *
 * A part is divided while another one, put aside before, stands at the instruction of a barrier
 * (BSYNC): when that one has its turn, all that wait there by then execute it with it, once more.
 * So do parts that were put aside at one place elsewhere.
 * Where a kernel keeps the barrier in registers (BMOV), such a part waits there at once, without
 * having executed the instruction, and where the last lanes come it is issued once more for all.
 *
 * So it is where those that were waited for have ended, where they left the barrier (BREAK) and
 * wait elsewhere, where some of them came to another instruction of that barrier, and where the
 * barrier comes from a register, in which a call kept it; for both reasons twice, if another part
 * could go on meanwhile.
 */
#include "emu/vm/replay.h"

#include "emu/lane/lane.h"

/* The barrier whose instruction @block begins with; MEET_BARRIERS: with another one. */
static uint32_t barrier_of(const struct warp *w, int32_t block)
{
	const struct xop *x = &w->image->ir.ops[w->image->ir.blocks[block].first];
	return x->kind == X_MEET_WAIT && w->meet_block[x->op] == block + 1 ? x->op : MEET_BARRIERS;
}

struct meeting *replay_meeting(struct warp *w, uint32_t barrier, uint32_t wanted, int32_t block)
{
	struct meeting *m = w->waiting, *end = m + w->n_waiting;
	while (m < end && !(m->barrier == barrier && m->wanted == wanted && m->block == block))
		m++;
	if (m == end) {
		w->n_waiting++;
		*m = (struct meeting){ .wanted = wanted, .barrier = barrier, .block = block };
	}
	return m;
}

void replay_unsure(struct warp *w, int32_t block)
{
	uint32_t *at = &w->worker->parted_at;
	if (block >= 0 && (!*at || (uint32_t)block < *at - 1))
		*at = (uint32_t)block + 1;
}

/* Parts that stand at one place, which is no barrier's: they have their turn together, when the one
 * put aside last has it. A card does so at most places, not at all. */
static void join_aside(struct warp *w)
{
	for (uint32_t i = 0; i < w->depth; i++) {
		struct simt_entry *e = &w->stack[i];
		if (!(e->mask & w->live) || barrier_of(w, e->block) != MEET_BARRIERS)
			continue;
		for (uint32_t k = i + 1; k < w->depth && e->mask; k++) {
			struct simt_entry *later = &w->stack[k];
			if (later->block != e->block || !(later->mask & w->live))
				continue;
			later->mask |= e->mask;
			e->mask = 0;
			replay_unsure(w, later->block);
		}
	}
}

void replay_split(struct warp *w)
{
	uint32_t n = 0;
	join_aside(w);
	for (uint32_t i = 0; i < w->depth; i++) {
		struct simt_entry e = w->stack[i];
		const uint32_t mask = e.mask & w->live;
		const uint32_t b = mask ? barrier_of(w, e.block) : MEET_BARRIERS;
		if (b == MEET_BARRIERS || !(w->image->ir.kept_barriers >> b & 1)) {
			e.put |= b != MEET_BARRIERS;
			w->stack[n++] = e;
			continue;
		}
		struct meeting *m = replay_meeting(w, b, 0, e.block + 1);
		m->here |= mask;
		m->put_here |= mask;
	}
	w->depth = n;
}

/* Those that were put aside at @block's barrier have their turn, with all that wait there. */
static void all_there(struct warp *w, int32_t block)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < w->depth; i++) {
		const struct simt_entry e = w->stack[i];
		if (e.put && e.block == block)
			w->mask |= e.mask & w->live;
		else
			w->stack[n++] = e;
	}
	w->depth = n;
	const uint32_t b = barrier_of(w, block);
	for (uint32_t i = w->n_waiting; i--;) {
		const struct meeting m = w->waiting[i];
		if (m.barrier != b || m.block != block + 1)
			continue;
		w->mask |= m.here & w->live;
		w->waiting[i] = w->waiting[--w->n_waiting];
	}
}

bool replay_pop(struct warp *w, int32_t *block)
{
	for (w->mask = 0; !w->mask && w->depth;) {
		const struct simt_entry e = w->stack[--w->depth];
		*block = e.block;
		w->mask = e.mask & w->live;
		if (e.put && w->mask)
			all_there(w, e.block);
	}
	return w->mask;
}

static uint32_t alike(const uint32_t wanted_by[32], uint32_t mask)
{
	const uint32_t wanted = wanted_by[__builtin_ctz(mask)];
	uint32_t same = 0;
	for (uint32_t m = mask; m; m &= m - 1)
		same |= wanted_by[__builtin_ctz(m)] == wanted ? m & -m : 0;
	return same;
}

uint32_t replay_first_group(const uint32_t wanted_by[32], uint32_t mask)
{
	const uint32_t first = alike(wanted_by, mask), others = mask & ~first;
	return lane_popc32(first) <= lane_popc32(others) || !others ? first : alike(wanted_by, others);
}

void replay_count(struct warp *w, uint32_t block, uint64_t warps, uint32_t lanes)
{
	w->worker->again_warps[block] += warps;
	w->worker->again_lanes[block] += lanes;
}

/* Could another part go on, too? One that waits where nobody is waited for could. */
static bool others_ready(const struct warp *w, const struct meeting *m)
{
	uint32_t lanes = 0;
	for (uint32_t i = 0; i < w->depth; i++)
		lanes |= w->stack[i].put ? 0 : w->stack[i].mask;
	for (uint32_t i = 0; i < w->n_waiting; i++)
		if (w->waiting[i].apart && w->waiting[i].barrier == m->barrier && !m->wanted)
			lanes |= w->waiting[i].here;
	return lanes & w->live;
}

/* One instruction is issued for all that came, at one of the places; the one that ends it, for all,
 * and again for those that do not go on where others did. The groups each count both. */
void replay_collective(struct warp *w, int32_t block, uint32_t left)
{
	replay_count(w, (uint32_t)block, (uint64_t)-1, lane_popc32(left));
}

enum meet_warp meeting_kind(const struct warp *w, const struct meeting *m)
{
	const struct xblock *b = &w->image->ir.blocks[m->block - 1];
	return (enum meet_warp)w->image->ir.ops[b->end - 1].op;
}

void replay_met(struct warp *w, const struct meeting *m, bool again)
{
	if (m->barrier == MEET_WARP && meeting_kind(w, m) == MEET_PLAIN)
		replay_count(w, (uint32_t)m->block - 1, 1, lane_popc32(w->mask));
	const bool known = m->barrier < MEET_BARRIERS;
	const bool kept = known && w->meet_kept[m->barrier];
	const bool twice = kept && again && others_ready(w, m);
	if (known && (again || kept || m->apart))
		replay_count(w, (uint32_t)m->block - 1, 1 + twice, (1 + twice) * lane_popc32(w->mask));
}
