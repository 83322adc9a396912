/*
 * Whole numbers that a program is compiled with and that a person may turn: "-DTILE=16" as typed,
 * and "#ifndef TILE, #define TILE 16" in a source, which such a word overrides.
 */
#ifndef PMPP_LAB_PROGRAM_MACROS_H
#define PMPP_LAB_PROGRAM_MACROS_H

#include "program_words.h"

#include <stdint.h>

#define PROGRAM_MACROS 16

struct program_macro {
	char name[64];
	int64_t value, def; /* now; in the source, or as first typed */
};

/* Those of @w, typed ones first; returns how many, at most PROGRAM_MACROS. */
unsigned program_macros(const struct program_words *w, struct program_macro out[PROGRAM_MACROS]);
/* Compiled with @name = @value from now on: its word, and `command`, say so. */
void program_macros_set(struct program_words *w, const char *name, int64_t value);

#endif
