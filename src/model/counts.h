/*
 * What was counted while a kernel ran: additive event counts, whole and per source line.
 *
 * A back end fills them (the emulator exactly, CUPTI where it can); metrics are derived from
 * them in one place (counts.c), so that whole-kernel, per-line and per-tag figures agree.
 * Rules confirmed on an H200: sectors = distinct 32-byte sectors per warp instruction at any
 * access width; lines = distinct 128-byte lines; shared wavefronts = most distinct words in one
 * bank, 64-bit accesses by half warps, 128-bit by quarter warps.
 */
#ifndef PMPP_MODEL_COUNTS_H
#define PMPP_MODEL_COUNTS_H

#include "model/metric.h"

/* X(field, "what") */
#define COUNT_FIELDS(X)                                               \
	X(warp_executed, "warp instructions")                             \
	X(thread_executed, "lanes with a true predicate")                 \
	X(branches, "conditional branches, per warp")                     \
	X(divergent_branches, "conditional branches that split the warp") \
	X(ld_requests, "global loads, per warp")                          \
	X(ld_sectors, "32-byte sectors of global loads")                  \
	X(ld_lines, "128-byte lines of global loads")                     \
	X(ld_bytes, "distinct bytes of global loads")                     \
	X(st_requests, "global stores, per warp")                         \
	X(st_sectors, "32-byte sectors of global stores")                 \
	X(st_lines, "128-byte lines of global stores")                    \
	X(st_bytes, "distinct bytes of global stores")                    \
	X(atom_requests, "global atomics and reductions, per warp")       \
	X(atom_sectors, "32-byte sectors of global atomics")              \
	X(shared_ld_requests, "shared loads, per warp")                   \
	X(shared_ld_wavefronts, "bank passes of shared loads")            \
	X(shared_ld_ideal, "bank passes the bytes alone would need")      \
	X(shared_st_requests, "shared stores, per warp")                  \
	X(shared_st_wavefronts, "bank passes of shared stores")           \
	X(shared_st_ideal, "bank passes the bytes alone would need")      \
	X(shared_atom_requests, "shared atomics, per warp")               \
	X(local_requests, "local-memory loads and stores, per warp")      \
	X(barriers, "block barriers, per warp")                           \
	X(flop16, "half-precision operations (FMA = 2)")                  \
	X(flop32, "single-precision operations (FMA = 2)")                \
	X(flop64, "double-precision operations (FMA = 2)")                \
	X(fp32_inst, "warp instructions on the FP32 pipe")                \
	X(fp64_inst, "warp instructions on the FP64 pipe")                \
	X(int_inst, "warp instructions on the integer pipe")              \
	X(sfu_inst, "warp instructions on the special-function pipe")

struct counts {
#define X(field, about) uint64_t field;
	COUNT_FIELDS(X)
#undef X
};

/* One source line (1-based) of the kernel's file; line 0 gathers what has no line. */
struct line_counts {
	uint32_t line;
	struct counts c;
};

/* The lanes' addresses of the first time a memory instruction ran in the observed warp. */
struct access_sample {
	uint32_t line;
	char op[24];            /* "ld.global.f32" */
	uint8_t bytes_per_lane; /* 1 2 4 8 16 */
	bool store, shared;
	uint32_t mask;       /* active lanes */
	int8_t buffer;       /* index in the plan; -1 = shared or none */
	uint64_t offset[32]; /* byte offset in the buffer or in shared memory */
	uint64_t executions; /* of this instruction, whole grid */
};

/* The observed warp's path: one step per run of instructions on one line with one mask. */
struct mask_step {
	uint32_t line;
	uint32_t mask;
	uint32_t instructions;
};

/*
 * A region of the program: it runs through without a choice and ends at a barrier, a branch that
 * matters, or its neighbour. What it asks of an SM, as machine instructions, and how long a warp
 * alone needs for one pass. Whole grid; of a sample scaled up. From timemodel/regions.h.
 */
struct region {
	double warp_passes;          /* executions by warps */
	double block_passes;         /* by thread blocks: at least one of the warps goes through */
	double critical_path_cycles; /* one pass of a warp that has the SM for itself */
	double issue_slots;
	double int_slots, fp32_slots, fp64_slots, sfu_slots; /* of those, by pipe */
	double load_cycles; /* L1 passes of global loads: one per 128-byte line of each request */
	double store_lines; /* lines of global stores and atomics: each leaves the SM on its own */
	double shared_wavefronts; /* after loads that become one wider load */
};

#define TRACE_MAX_STEPS 512
#define TRACE_MAX_ACCESSES 64

/* Everything a run tells beyond the outputs. Owned; free with run_counts_free(). */
struct run_counts {
	enum origin origin; /* COUNTED, SAMPLED or MEASURED */
	uint64_t blocks_run, blocks_total;
	struct counts total; /* scaled to the grid when sampled */
	unsigned n_lines;
	struct line_counts *lines; /* ascending by line */
	unsigned n_accesses;
	struct access_sample *accesses;
	unsigned n_steps; /* of block 0, warp 0; at most TRACE_MAX_STEPS */
	bool steps_cut;   /* the path was longer */
	struct mask_step *steps;
	double dram_read_bytes, dram_write_bytes; /* cache simulation; negative = unknown */
	double l2_sectors;                        /* after L1; negative = unknown */
	unsigned n_regions; /* for the time model only: not exported; 0 = not known */
	struct region *regions;
	double serial_float, serial_int; /* atomics whose address is the same in the whole grid: lanes;
	                                    of integers requests, whose lanes are added up before */
};

void counts_add(struct counts *to, const struct counts *from);
void counts_scale(struct counts *c, double factor); /* rounds to nearest, saturates */
/* Frees the tables and leaves an empty run whose cache figures are unknown; NULL is fine. */
void run_counts_free(struct run_counts *r);
/* @to is overwritten, not freed. */
void run_counts_copy(struct run_counts *to, const struct run_counts *from);

/* Fills every metric that follows from counts alone (inst.*, div.*, mem.*, shared.*, flop.*). */
void metrics_from_counts(struct metric_set *m, const struct counts *c, enum origin o);
/* The same from a whole run: its origin, and for a sample "n of N blocks" beside every value. */
void metrics_from_run(struct metric_set *m, const struct run_counts *r);

/* Tags of a kernel source: "//@ name" at the end of a line; a name is 1..31 of [A-Za-z0-9._-]. */
struct line_tag {
	uint32_t line;
	char name[32];
};
/* Returns the number found (at most @max are stored), ascending by line. */
unsigned source_tags(const char *source, struct line_tag *tags, unsigned max);
/* Sum of the lines that carry @tag. False when no line carries it. */
bool counts_of_tag(const struct run_counts *r, const char *source, const char *tag,
                   struct counts *sum);
/* Line @n (1-based) of a text without its newline; false past the end. */
bool source_line(const char *source, uint32_t n, char *out, size_t size);

#endif
