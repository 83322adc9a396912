/*
 * Additions of scalars next to each other, as addresses are worked out: the first uop does them
 * all, and what one adds to what the one before gave waits for no memory.
 */
#include "emu/codegen/emit.h"

uint32_t fuse_adds(struct emit *e, uint32_t first, uint32_t end)
{
	const struct uniform_handlers *h = e->h->uniform;
	struct uop *u = &e->p->uops[first];
	uint32_t n = 0;
	while (first + n < end && u[n].full == h->op[E_add_b64].full)
		n++;
	if (n < 2)
		return 0;
	for (uint32_t i = 1; i < n; i++) {
		const uint32_t a = u[i].a, last = u[i - 1].d;
		u[i].y = a == last || u[i].b == last;
		if (u[i].y && a != last) {
			u[i].a = last;
			u[i].b = a;
		}
	}
	u->c = n;
	u->full = h->adds;
	return n;
}
