/*
 * Which of a launch's counts a card may give differently, most of them each time it runs it, and
 * why: all others are the same every time, and the emulator's are those of a card. Found in the
 * code that ran (emu/launch/variation_of.c); the list is variation.def.
 *
 * Times, and what caches find or miss (DRAM, L2), differ on a card in every launch: they stand in
 * no list.
 */
#ifndef PMPP_MODEL_VARIATION_H
#define PMPP_MODEL_VARIATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum variation_why {
#define WHY(id, word, text) VARIES_##id,
#include "model/variation.def"
	VARIATION_WHYS
};
enum variation_counts {
#define COUNTS(id, keys) VARY_##id,
#include "model/variation.def"
	VARIATION_COUNTS
};

struct run_variation {
	uint32_t counts[VARIATION_WHYS]; /* bits by enum variation_counts; 0 = not for that reason */
	uint32_t line[VARIATION_WHYS];   /* of the source, where it does; 0 = unknown */
};

/* Reasons of the PTX and of its machine code. */
void variation_add(struct run_variation *to, const struct run_variation *from);
bool variation_any(const struct run_variation *v);
/* "asks"; and what a person is told. */
const char *variation_word(enum variation_why why);
const char *variation_text(enum variation_why why);
/* Keys of metrics, with blanks between them. */
const char *variation_keys(enum variation_counts counts);
/* May the metric of that key differ, for any reason? */
bool variation_has(const struct run_variation *v, const char *key);
/* The first reason from @from on; VARIATION_WHYS = there is no more. */
unsigned variation_next(const struct run_variation *v, unsigned from);
/* What differs for that reason: "line 12: inst.warp_executed, ...". Up to @n characters. */
const char *variation_counts_text(const struct run_variation *v, unsigned why, char *out, size_t n);

#endif
