/*
 * What only a GPU can tell about a run, beside its metrics: spread and conditions of the time, the
 * loaded function, why warps waited, and what reading the counters cost. Plain data.
 */
#ifndef PMPP_MODEL_MEASURED_H
#define PMPP_MODEL_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

/* Kernel time as measured on a GPU, never from a profiled replay. Times in ns. */
struct run_timing {
	unsigned n; /* launches behind the figures; 0 = not measured */
	double median_ns, min_ns, max_ns, q1_ns, q3_ns; /* q1..q3: the middle half */
	bool l2_flushed;                                /* before every launch; else warm */
	bool from_activity;        /* start and end stamps of the kernel; else CUDA events */
	double event_ns;           /* median by events, which add some 2-3 us of launch */
	double sm_mhz, memory_mhz; /* clocks right after the launches; 0 = unknown */
};

/* The loaded function, as the driver reports it. */
struct run_static {
	bool known;
	unsigned registers, static_shared_bytes, local_bytes, const_bytes, max_threads,
		blocks_per_sm; /* cuOccupancyMaxActiveBlocksPerMultiprocessor */
	bool jit;          /* compiled by the driver from PTX, not our cubin */
};

struct run_stall {
	char reason[32]; /* "long_scoreboard" */
	double warps;    /* warps waiting for it per issue-active cycle */
};

#define RUN_MAX_STALLS 24

/* All of it, as a record keeps it; all zero for a run in the emulator. */
struct run_measured {
	struct run_timing timing;
	struct run_static loaded;
	unsigned n_stalls;
	struct run_stall stalls[RUN_MAX_STALLS];
	bool spans_from_events;  /* no activity records: kernel and copies timed by events */
	double program_ns;       /* the stream program without recording, host's clock; 0 = unknown */
	unsigned counter_passes; /* replays that the counters took; 0 = none were read */
	double counters_s;       /* wall time of reading them */
};

#endif
