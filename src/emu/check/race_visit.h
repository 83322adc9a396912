/*
 * One lane at one place: its access against who touched the place before (race.c).
 */
#ifndef PMPP_EMU_RACE_VISIT_H
#define PMPP_EMU_RACE_VISIT_H

#include "emu/check/race_order.h"

struct visit {
	struct race_block *b;
	const struct race_access *a;
	unsigned lane;    /* one of those of use.lanes, which all want the cell; it is told of */
	uint64_t address; /* of the cell */
	unsigned bytes;
	struct race_use use; /* it leaves */
	struct race_found *found;
};

/* Notes that @v races with lane @lane of @use, which @writes; @scope: of race_found. True. */
bool race_tell(const struct visit *v, const struct race_use *use, unsigned lane, bool writes,
               bool scope);
/* All cells of lane v->lane, and of the others of @lanes, which want the same; *@any: they race.
 * False: there is no room to look further. */
bool race_visit_lane(struct visit *v, uint32_t lanes, bool *any);
/* What was put off is looked at now: it races with nothing, and leaves who it was. */
void race_look_at_reads(struct race_block *b);

#endif
