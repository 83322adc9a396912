/* Where the lanes of a fetch, or of a surface's load or store, have their texels; for the checks.
 */
#ifndef PMPP_EMU_TEXEL_PLACES_H
#define PMPP_EMU_TEXEL_PLACES_H

#include "emu/texture.h"
#include "emu/vm/handler.h"

struct texel_places {
	uint32_t mask;  /* lanes with a texel */
	unsigned bytes; /* of a texel, or of what is stored */
	const uint8_t *place[32];
};

/* A lane's register of four or eight bytes. */
uint8_t *texel_lane_bytes(const struct warp *w, uint32_t slot, unsigned lane, unsigned bytes);
/* texture_race.c: notes whom these accesses race with, stores before they are done. */
void texture_race(struct warp *w, const struct uop *u, const struct texel_places *p);

#endif
