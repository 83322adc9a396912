/*
 * What the time model gets of one launch, in a file: written by a pmpp-explore that records
 * (record.c), read by model_replay (replay.c). Structures as they lie in memory: read it with a
 * build of the same headers only, which the sizes in front say.
 */
#ifndef PMPP_TESTS_INPUT_FILE_H
#define PMPP_TESTS_INPUT_FILE_H

#include "model/gpu.h"
#include "model/kernel.h"
#include "model/occupancy.h"
#include "timemodel/timing_program.h"

#include <stdio.h>

/* Of structures in the file, in its order. */
#define INPUT_SIZES                                                                     \
	{ sizeof(struct timing_program), sizeof(struct timing_inst), sizeof(struct counts), \
	  sizeof(struct timing_block),   sizeof(struct run_counts),  sizeof(struct occ_result) }

struct input_file {
	struct timing_program program; /* arrays owned */
	int32_t *targets;              /* of all branches through tables */
	struct run_counts counts;      /* as before regions_build(); no tables */
	double factor;
	struct dim3u grid, block;
	struct occ_result occ;
	char gpu[32];
};

#endif
