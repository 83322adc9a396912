/* What the block's scheduler asks of a warp that has used up its fuel. */
#ifndef PMPP_EMU_PARTS_H
#define PMPP_EMU_PARTS_H

#include "emu/vm/warp.h"

/* If its active lanes only look whether memory has changed, others of the warp go on, those too
 * that wait to meet them: they may be the ones that change it. */
void parts_give_way(struct warp *w);
/* give_way.c: the same in machine code. */
void meet_give_way(struct warp *w);
/* The active lanes of machine code come to a YIELD, and go on at @block when others have had their
 * turn; what goes on now. */
const struct uop *meet_let_others(struct warp *w, int32_t block);
/* part_table.c: BRANCH TABLE of machine code: a 32 lane indexes, b 1 = scalar, y block. What goes
 * on now; NULL: an index of none. */
const struct uop *part_table(struct warp *w, const struct uop *u);

#endif
