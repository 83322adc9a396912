/*
 * What a back end tells about one run: counts, and from a GPU its time, the loaded function, why
 * warps waited, spans, and what reading the counters cost. Plain data; a record keeps it whole.
 */
#ifndef PMPP_MODEL_RUN_RESULT_H
#define PMPP_MODEL_RUN_RESULT_H

#include "model/counts.h"
#include "model/metric.h"
#include "model/span.h"

#include <stdbool.h>
#include <stddef.h>
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
/* What a GPU's worker tells of at most. */
#define RUN_MAX_LINES 65536u
#define RUN_MAX_SPANS 65536u
#define RUN_CAPS 5 /* capabilities of a back end, by bit number (backend.h) */

/* What a kernel did wrong while its launch went on, or what ended it. */
#define RUN_MAX_FINDINGS 16
struct run_finding {
	char kind[24]; /* "race", "uninitialised", "out-of-bounds", "misaligned" ... */
	char text[512], remedy[256];
	char file[256];
	unsigned line; /* 0 = unknown */
	uint64_t times;
	bool customary; /* a race that does no harm as programs are written */
	bool shared;    /* of shared memory */
	bool of_order;  /* a race of threads that learn nothing of each other and lose no update: it
	                 * matters only if another order of them leaves something else */
	bool one_warp;  /* such a race of two lanes of a warp, of which no other order is tried */
	bool fresh;     /* an allocation that nothing had written was loaded from: the value may
	                 * be of no use */
	uint64_t allocation; /* of a program: serial of the nearest one; 0 = none */
	uint64_t address;    /* of global memory; 0 = none */
};
struct run_findings {
	unsigned n;
	struct run_finding finding[RUN_MAX_FINDINGS];
	uint64_t lost; /* more than there is room for */
};

/* Where the emulator looked for races; of 0: nowhere. */
struct run_races {
	uint64_t blocks, of; /* in so many of the launch's */
	char why[128];       /* not in all, or not all of them; "" = nothing to say */
};
/* "races looked for in 12 of 4096 blocks: ..."; "" = nowhere. */
const char *run_races_text(const struct run_races *r, char *out, size_t n);

/* The first that is a fault and no remark of what is customary; NULL = none. */
const struct run_finding *run_findings_fault(const struct run_findings *f);
/* The first that has @words in its text; NULL = none. */
const struct run_finding *run_findings_with(const struct run_findings *f, const char *words);

#define RUN_MAX_PRINTED ((size_t)64 << 10)

/* Owned: counts, spans and printed; run_result_free(). All zero beyond `note` for a run in the
 * emulator. */
struct run_result {
	struct run_counts counts;  /* what was counted */
	struct metric_set metrics; /* values only hardware knows (cuda); others NONE */
	double wall_s;             /* time the run took here */
	uint64_t same_as;          /* emu, of a program: proved to repeat that launch, which alone ran;
	                            * 0 = it ran itself */
	uint64_t counts_as;    /* emu, of a program: its counts are proved to be those of that launch */
	bool in_any_order;     /* emu, of a program: it leaves the same in memory in whichever order its
	                        * blocks and warps run */
	bool outputs_complete; /* false for a sampled run: verification is meaningless */
	struct run_findings found; /* emu: what it did wrong */
	struct run_races races;    /* emu */
	char note[256];            /* "sampled 128 of 4096 blocks" ... */
	char level[96];            /* whose instructions were counted: "PTX", "sm_90 machine code,
	                            * ptxas 13.0.88"; "" = a GPU's */
	struct run_timing timing;
	struct run_static loaded;
	unsigned n_stalls;
	struct run_stall stalls[RUN_MAX_STALLS];
	unsigned n_spans;
	struct span *spans;          /* ascending by start */
	bool spans_from_events;      /* no activity records: kernel and copies timed by events */
	double program_ns;           /* the stream program without recording, by the host's clock; of
	                              * a long one, as recorded; 0 = unknown */
	unsigned counter_passes;     /* replays that the counters took; 0 = none were read */
	double counters_s;           /* wall time of reading them */
	char *printed;               /* what the kernel printed, block by block; NULL = nothing */
	size_t printed_bytes;        /* of all it printed; printed holds at most RUN_MAX_PRINTED */
	char missing[RUN_CAPS][256]; /* why a capability gave nothing; "" = it did */
};

/* Frees what the result owns and leaves it empty of it; NULL is fine. */
void run_result_free(struct run_result *res);
/* Were the instructions of machine code counted, as hardware does? */
bool run_result_of_machine_code(const struct run_result *res);
/* Did a GPU tell anything beyond counts? */
bool run_result_measured(const struct run_result *res);

#endif
