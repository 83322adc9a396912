/*
 * Rows of operations on 32 lanes, each of which reads what the one before gave: it is handed on in
 * vector registers, and not written into the frame where nobody else reads it.
 *
 * A uop whose source is handed on is reached from the one before alone, and by the same lanes: it
 * is neither the first of a block nor in a window that another uop stands for. Lanes that are off
 * keep what they had, where it is.
 */
#include "emu/codegen/emit.h"

/* What a uop does, if its results can be handed on or its sources be. */
struct station {
	const struct forward_handlers *handlers; /* NULL = neither */
	unsigned n_src;                          /* of lanes */
	enum scalar_source scalar;
};

static struct station station_of(const struct emit *e, const struct uop *u)
{
	const struct alu_handlers *alu = e->h->alu;
	const uint32_t op = u->y / SCALAR_SOURCES, scalar = u->y % SCALAR_SOURCES;
	if (u->full == alu->spread32.full)
		return (struct station){ e->h->forward->spread32, 0, SCALAR_NONE };
	if (u->full == alu->select32.full)
		return (struct station){ e->h->forward->select32, 2, SCALAR_NONE };
	if (op >= E_COUNT || !u->full || alu->op[op][scalar].full != u->full)
		return (struct station){ 0 };
	return (struct station){ e->h->forward->op[op], emu_ops[op].n_src, (enum scalar_source)scalar };
}

/* A bit for each source of @u that is the 32 lanes in @slot. */
static unsigned readers(const struct station *s, const struct uop *u, uint32_t slot)
{
	const uint32_t from[3] = { u->a, u->b, u->c };
	unsigned found = 0;
	for (unsigned i = 0; i < s->n_src && i < 3; i++)
		found |= (unsigned)(from[i] == slot && s->scalar != SCALAR_A + i) << i;
	return found;
}

/* Which of the sources @found are handed on. */
static enum handed_source handed_of(const struct station *s, unsigned found)
{
	static const struct {
		unsigned sources;
		enum handed_source handed;
	} ways[] = { { 3, HANDED_AB }, { 1, HANDED_A }, { 2, HANDED_B }, { 4, HANDED_C } };
	for (unsigned i = 0; i < 4; i++)
		if ((found & ways[i].sources) == ways[i].sources &&
		    s->handlers->keep[ways[i].handed][s->scalar].full)
			return ways[i].handed;
	return HANDED_NONE;
}

static bool takes_all(enum handed_source handed, unsigned found)
{
	static const unsigned sources[HANDED_SOURCES] = {
		[HANDED_A] = 1, [HANDED_B] = 2, [HANDED_C] = 4, [HANDED_AB] = 3
	};
	return sources[handed] == found;
}

/* Does nobody read what @u gives but the uop behind it? What one operation spreads for itself only
 * its last uop reads. */
static bool dies(const struct emit *e, uint32_t block, const struct uop *u)
{
	const struct ir *ir = &e->im->ir;
	const int32_t reg = ir->ops[u->xop].d[0], next = ir->ops[u[1].xop].d[0];
	for (unsigned t = 0; t < N_TEMPS; t++)
		if (u->d == e->vec_temp[t])
			return u->xop == u[1].xop;
	if (reg < 0 || e->p->reg_slot[reg] != u->d || u[1].xop != u->xop + 1)
		return false;
	return next == reg || !flow_live_after(ir, &e->im->live, block, u[1].xop, reg);
}

static void use(struct uop *u, const struct handler *h)
{
	u->full = h->full;
	u->masked = h->masked;
}

void forward_results(struct emit *e, uint32_t block, uint32_t first, uint32_t end)
{
	struct uop *u = &e->p->uops[first], *const last = &e->p->uops[end];
	for (; u < last; u++) {
		struct station here = station_of(e, u);
		enum handed_source handed = HANDED_NONE;
		while (here.handlers && here.handlers->drop[handed][here.scalar].full && u + 1 < last) {
			const struct station next = station_of(e, u + 1);
			const unsigned found = next.handlers ? readers(&next, u + 1, u->d) : 0;
			const enum handed_source to = found ? handed_of(&next, found) : HANDED_NONE;
			if (to == HANDED_NONE)
				break;
			const bool drop = takes_all(to, found) && dies(e, block, u);
			use(u, &(drop ? here.handlers->drop : here.handlers->keep)[handed][here.scalar]);
			here = next;
			handed = to;
			u++;
		}
		if (handed != HANDED_NONE)
			use(u, &here.handlers->keep[handed][here.scalar]);
	}
}

bool forward_spreads(const struct emit *e, const struct uop *u)
{
	const struct forward_handlers *h = e->h->forward->spread32;
	return u->full == e->h->alu->spread32.full || u->full == e->h->alu->spread64.full ||
	       (h && (u->full == h->keep[0][0].full || u->full == h->drop[0][0].full));
}
