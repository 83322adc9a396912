/*
 * How the lanes of an instruction lay the last time it was looked at lane by lane.
 *
 * Most warps repeat one arrangement (rows of half warps, words four lanes share, any period in
 * the lane) at another place. What it costs does not depend on the place, or, in global memory, on
 * its last seven bits only; so a repeated one is counted and bounded without looking at 32 lanes
 * again. Exact: what is remembered was found by probe.c for the same arrangement.
 */
#ifndef PMPP_EMU_REPEAT_H
#define PMPP_EMU_REPEAT_H

#include "emu/count/probe.h"

struct repeat {
	int32_t offset[32]; /* of each lane of the mask from the first of them; others 0 */
	uint32_t mask;      /* 0 = nothing remembered */
	int64_t low, high;  /* least offset, greatest + bytes of a lane */
	bool aligned;       /* every offset is a multiple of the bytes of a lane */
	bool has_shared, has_global;
	struct shared_probe shared;
	struct global_probe global; /* lines counted from the first lane's */
	/* what these hold for: the first lane's address mod 4 (lanes of less than a word) and mod 128
	 */
	uint32_t in_word, residue;
};

/* The lanes of @mask (not empty), each @bytes: *@r describes them afterwards. False = too far
 * apart, and *@r is as before. */
bool repeat_look(struct repeat *r, const uint64_t address[32], uint32_t mask, unsigned bytes);
/* What the access described by @r costs; @address as it was given to repeat_look(). */
struct shared_probe repeat_shared(struct repeat *r, const uint64_t address[32], unsigned bytes,
                                  bool store);
const struct global_probe *repeat_global(struct repeat *r, const uint64_t address[32],
                                         unsigned bytes);

#endif
