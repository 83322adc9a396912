/*
 * One memory access of a warp taken apart: its pattern, the sectors it touches, the banks it uses.
 *
 * Works on the 32 addresses of one sampled access (counts.h), with the counting rules stated
 * there; totals over a whole run are the back end's counts, not this.
 */
#ifndef PMPP_MODEL_ACCESS_SHAPE_H
#define PMPP_MODEL_ACCESS_SHAPE_H

#include "model/counts.h"

enum access_pattern {
	ACCESS_ONE_LANE,
	ACCESS_BROADCAST, /* all lanes the same address */
	ACCESS_GROUPS,    /* a few addresses, each for a group of lanes */
	ACCESS_CONTIGUOUS,
	ACCESS_MISALIGNED, /* contiguous, but across one sector more than it fills */
	ACCESS_LANES_OFF,  /* contiguous, but for lanes that are switched off in between */
	ACCESS_STRIDED,    /* one distance between all neighbours */
	ACCESS_COLUMNS,    /* that, in each of a few pieces of the warp: the rows of a block */
	ACCESS_RUNS,       /* a few contiguous pieces */
	ACCESS_SCATTERED,
};

#define ACCESS_MAX_SECTORS 64

struct access_shape {
	enum access_pattern pattern;
	unsigned lanes;     /* active */
	int64_t stride;     /* STRIDED, COLUMNS: bytes from lane to lane */
	unsigned runs;      /* contiguous pieces, in lane order */
	unsigned addresses; /* distinct, of the lanes */
	bool even;          /* all runs have the same length */
	uint64_t lowest;    /* lowest offset; 0 without lanes */
	unsigned n_sectors; /* distinct 32-byte sectors, ascending */
	uint64_t sector[ACCESS_MAX_SECTORS];
	uint32_t bytes[ACCESS_MAX_SECTORS];    /* touched bytes of each, one bit per byte */
	unsigned lines;                        /* distinct 128-byte lines */
	unsigned used_bytes;                   /* distinct */
	unsigned needed_sectors, needed_lines; /* that these bytes would fill */
};

/* Bank passes: the most distinct words in one bank, summed over the parts of the warp. */
struct bank_use {
	unsigned parts; /* 1, 2 (64-bit lanes) or 4 (128-bit lanes) */
	unsigned passes, ideal;
	bool conflict;        /* a part asks one bank for two words */
	uint8_t words[4][32]; /* distinct words by part and bank */
};

struct access_shape access_shape(const struct access_sample *a);
/* Sectors beyond those that the access cannot do without: at least one. */
unsigned access_excess(const struct access_shape *sh);
struct bank_use access_banks(const struct access_sample *a);

#endif
