/*
 * Loads of shared memory that the assembler makes one: four (two) words side by side from an
 * address known to be a multiple of 16 (8) become one LDS.128 (.64). For that it must see the
 * alignment: it does in arrays that it places itself, and in extern arrays as far as they are
 * declared aligned.
 */
#ifndef PMPP_EMU_WIDE_LOADS_H
#define PMPP_EMU_WIDE_LOADS_H

#include "emu/ir/ir.h"

struct wide_load {
	bool merged;   /* another load brings its word along */
	uint8_t words; /* of the load that does: 2 or 4; else 0 */
};

/* Per operation. Caller frees. */
struct wide_load *wide_loads(const struct ir *ir);

#endif
