/*
 * How true a run in the emulator is to a card's: how many warp instructions ran exactly as a card
 * runs them, how many give the nearest value where a card gives one close to it, and how many are
 * hints that did nothing.
 */
#ifndef PMPP_MODEL_FIDELITY_H
#define PMPP_MODEL_FIDELITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_fidelity {
	bool known;                           /* the emulator ran it */
	uint64_t exact, approximate, skipped; /* warp instructions; of a sample scaled to the grid */
	bool reaches;  /* an approximate value may have reached a branch, a guard or an address: it does
	                * by some path through registers and memory that ran */
	uint32_t line; /* of the source, where it may first; 0 = unknown, or nowhere */
	char functions[384]; /* what is approximate, and how far from the exact value a card may be:
	                      * "ex2.approx.f32 (2^-22.5 of the value), ..." */
	char hints[128];     /* what was skipped: "prefetch.global.L2, ..." */
};

/* "exact as on a card: all 1024 warp instructions" ...; "" = not known. */
const char *run_fidelity_text(const struct run_fidelity *f, char *out, size_t n);

#endif
