/*
 * What a launch of a program finds where an earlier one, or the host, left it, and what it leaves
 * itself: lines in L2 (count/l2_kept.h), pages of managed memory (managed_pages.h). By allocations,
 * of which a launch touches all or nothing.
 */
#ifndef PMPP_EMU_KEPT_H
#define PMPP_EMU_KEPT_H

#include "emu/launch/launch.h"

/* Does a kernel read textures, or write surfaces? */
bool fetches_textures(const struct ir *ir);
/* Before a launch: where managed memory lies now. */
void kept_look(const struct emu_device *d);
/* On a launch whose cache is new: puts there what L2 holds. */
void kept_begin(struct emu_launch *l);
/* What its time depends on besides, of what it has touched: far_share, new_memory. */
void kept_tell(const struct emu_launch *l, struct run_counts *c);
/* It ended: what it touched is what was touched last. */
void kept_note(struct emu_launch *l);
/* As kept_note(), of a launch that need not run: it touches @r, TOUCH_READ, TOUCH_WRITE, and speaks
 * to the host while it runs, or does not. */
void kept_touch(struct emu_device *d, const struct arena_region *r, unsigned how, bool speaks);

#endif
