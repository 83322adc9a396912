/* Sums of a window that share their factors (fuse_tiles.c). */
#ifndef PMPP_EMU_FUSE_TILES_H
#define PMPP_EMU_FUSE_TILES_H

#include "emu/codegen/fuse_window.h"

struct tiles;
/* As many as the window has; to be freed. */
struct tiles *tiles_find(const struct window *w);
void tiles_free(struct tiles *t);
bool tiles_have(const struct tiles *t, uint32_t sum);
/* FMAs of all of them. */
uint32_t tiles_fmas(const struct tiles *t);
void tiles_put(const struct tiles *t, struct chains *c);

#endif
