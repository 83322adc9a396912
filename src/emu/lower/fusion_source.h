/*
 * Where a source of a machine instruction may come from: a part of fusions.c.
 */
#ifndef PMPP_EMU_FUSION_SOURCE_H
#define PMPP_EMU_FUSION_SOURCE_H

#include "emu/lower/sass_lower.h"
#include "sass/sass.h"

/* The blocks of a function, and which of them lead to which. */
struct code_ways {
	const struct sass_func *f;
	unsigned n_blocks;
	uint32_t *first;      /* by block: its first instruction; one more at the end */
	uint32_t *from, *way; /* blocks that lead to block b: from[way[b]] to from[way[b + 1] - 1] */
};
void code_ways_find(struct code_ways *c, const struct sass_func *f);
void code_ways_free(struct code_ways *c);

/* Is it 0 * 0 + c, which moves c? */
bool sass_moves_constant(const struct sass_inst *i);
/* Adds to @s the lines of PTX of the instructions that wrote @reg last before @i, on all ways that
 * lead there, the nearest ones first; what moves a register stands for what wrote that one. */
void code_source(const struct code_ways *c, const struct sass_inst *i, uint16_t reg,
                 struct fusion_source *s);

#endif
