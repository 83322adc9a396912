/* What a copy from global to shared memory that goes past registers (cp.async) costs there. */
#ifndef PMPP_EMU_COPY_WAVES_H
#define PMPP_EMU_COPY_WAVES_H

#include "emu/lane/lane.h"

#include <stdbool.h>
#include <stdint.h>

struct lane_copies {
	const uint64_t *from, *to; /* of each lane: global, shared */
	uint32_t mask, zeros;      /* lanes that copy; of them those that only write zeros */
	unsigned bytes;            /* of a lane: 4, 8 or 16 */
	bool past_l1;              /* .cg */
	enum copy_form form;
};

unsigned copy_wavefronts(const struct lane_copies *c);
/* Sectors of global memory that L1 counts for it. Past L1 they are pieces of 32 bytes of shared
 * memory, each as often as it is filled from different lines, whatever it takes of those. */
unsigned copy_sectors(const struct lane_copies *c, unsigned touched_sectors);

#endif
