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

#include "model/code_class.h"
#include "model/fidelity.h"
#include "model/variation.h"
#include "model/metric.h"

/*
 * X(field, "what", "what it means if it is 0", BY_LINE)
 *   BY_LINE  YES: hardware, too, counts it by source line (cuda_lines.c); NO: of a launch, or not
 */
#define COUNT_FIELDS(X)                                                                            \
	X(warp_executed, "warp instructions", "no instruction executed", YES)                          \
	X(thread_executed, "lanes with a true predicate", "no lane executed", YES)                     \
	X(thread_active, "active lanes, whether their predicate holds or not", "no lane executed", NO) \
	X(branches, "conditional branches, per warp", "no conditional branch executed", YES)           \
	X(divergent_branches, "conditional branches that split the warp", "no branch split a warp",    \
	  YES)                                                                                         \
	X(branch_idle_lanes, "active lanes that a conditional branch or exit left where they were",    \
	  "no conditional branch executed", NO)                                                        \
	X(ld_requests, "global loads, per warp", "no global loads executed", YES)                      \
	X(ld_sectors, "32-byte sectors of global loads", "no global loads executed", YES)              \
	X(ld_lines, "128-byte lines of global loads", "no global loads executed", YES)                 \
	X(ld_bytes, "distinct bytes of global loads", "no global loads executed", YES)                 \
	X(st_requests, "global stores, per warp", "no global stores executed", YES)                    \
	X(st_sectors, "32-byte sectors of global stores", "no global stores executed", YES)            \
	X(st_lines, "128-byte lines of global stores", "no global stores executed", YES)               \
	X(st_bytes, "distinct bytes of global stores", "no global stores executed", YES)               \
	X(atom_requests, "global atomics and reductions, per warp", "no global atomics executed", YES) \
	X(atom_sectors, "32-byte sectors of global atomics", "no global atomics executed", YES)        \
	X(shared_ld_requests, "shared loads, per warp", "no shared loads executed", YES)               \
	X(shared_ld_wavefronts, "bank passes of shared loads", "no shared loads executed", YES)        \
	X(shared_ld_ideal, "bank passes the bytes alone would need", "no shared loads executed", YES)  \
	X(shared_ldm_requests, "shared loads of matrices, per warp", "no matrix loaded", YES)          \
	X(shared_ldm_wavefronts, "bank passes of those loads", "no matrix loaded", YES)                \
	X(shared_st_requests, "shared stores, per warp", "no shared stores executed", YES)             \
	X(shared_st_wavefronts, "bank passes of shared stores", "no shared stores executed", YES)      \
	X(shared_st_ideal, "bank passes the bytes alone would need", "no shared stores executed", YES) \
	X(shared_atom_requests, "shared atomics, per warp", "no shared atomics executed", YES)         \
	X(shared_atom_wavefronts, "bank passes of shared atomics", "no shared atomics executed", NO)   \
	X(local_requests, "local-memory loads and stores, per warp", "no local memory used", YES)      \
	X(local_ld_requests, "local-memory loads, per warp", "no local memory used", NO)               \
	X(local_st_requests, "local-memory stores, per warp", "no local memory used", NO)              \
	X(local_ld_sectors, "32-byte sectors of local loads", "no local memory used", NO)              \
	X(local_st_sectors, "32-byte sectors of local stores", "no local memory used", NO)             \
	X(barriers, "block barriers, per warp", "no barrier executed", NO)                             \
	X(flop16, "half-precision operations (FMA = 2)", "no half-precision operation executed", NO)   \
	X(half_moves, "lanes that a half-precision FMA of nothing gives a constant",                   \
	  "no constant moved that way", NO)                                                            \
	X(bulk_ld_requests, "bulk copies from global memory, by line", "no bulk copy executed", NO)    \
	X(bulk_ld_sectors, "32-byte sectors of those copies", "no bulk copy executed", NO)             \
	X(bulk_st_requests, "bulk copies to global memory, by line", "no bulk copy executed", NO)      \
	X(bulk_st_sectors, "32-byte sectors of those copies", "no bulk copy executed", NO)             \
	X(bulk_atom_requests, "bulk reductions, by line", "no bulk reduction executed", NO)            \
	X(bulk_atom_sectors, "32-byte sectors of those reductions", "no bulk reduction executed", NO)  \
	X(bulk_shared_ld_requests, "bulk copies from shared memory", "no bulk copy executed", NO)      \
	X(bulk_shared_st_requests, "bulk copies to shared memory", "no bulk copy executed", NO)        \
	X(bulk_shared_ld_wavefronts, "128 bytes of shared memory that bulk copies read",               \
	  "no bulk copy executed", NO)                                                                 \
	X(bulk_shared_st_wavefronts, "128 bytes of shared memory that bulk copies write",              \
	  "no bulk copy executed", NO)                                                                 \
	X(flop32, "single-precision operations (FMA = 2)", "no single-precision operation executed",   \
	  NO)                                                                                          \
	X(flop64, "double-precision operations (FMA = 2)", "no double-precision operation executed",   \
	  NO)                                                                                          \
	X(fp32_inst, "warp instructions on the FP32 pipe", "no FP32 instruction executed", NO)         \
	X(fp64_inst, "warp instructions on the FP64 pipe", "no FP64 instruction executed", NO)         \
	X(int_inst, "warp instructions on the integer pipe", "no integer instruction executed", NO)    \
	X(sfu_inst, "warp instructions on the special-function pipe", "no special function executed",  \
	  NO)                                                                                          \
	X(uniform_inst, "warp instructions on the uniform datapath", "no uniform instruction", NO)     \
	X(reg_reads, "source registers of arithmetic, per warp", "no register was read", NO)           \
	X(reg_kept, "of them, kept by the instruction before", "no register was kept", NO)             \
	X(reg_conflicts, "cycles that arithmetic waited for a bank of registers", "no conflict", NO)

/*
 * Figures of a whole launch that no line has, NAN = not known: X(field, "what").
 * A GPU counts them; the emulator's come from models, of the caches and of atomics.
 */
#define LAUNCH_FIGURES(X)                                \
	X(dram_read_bytes, "bytes from device memory")       \
	X(dram_write_bytes, "bytes to device memory")        \
	X(host_read_bytes, "bytes from the host's memory")   \
	X(host_write_bytes, "bytes to the host's memory")    \
	X(l2_sectors, "32-byte sectors the SMs asked of L2") \
	X(atom_wavefronts, "passes of global atomics")       \
	X(achieved_occupancy_pct, "average resident warps of maximum, percent")

enum count_id {
#define X(field, ...) COUNT_##field,
	COUNT_FIELDS(X)
#undef X
		COUNT_FIELD_COUNT,
	COUNT_BEFORE_FIGURES = COUNT_FIELD_COUNT - 1,
#define X(field, ...) COUNT_##field,
	LAUNCH_FIGURES(X)
#undef X
		COUNT_ID_COUNT
};

/*
 * Which counts a source filled, and why it left out the others: a count that nobody filled is not
 * known, never 0. All zero = nothing is known.
 */
struct counted {
	uint64_t fields;                 /* bit = enum count_id */
	const char *why[COUNT_ID_COUNT]; /* of a bit that is not set: the reason; NULL = none given.
	                                  * Lasting text */
};

struct counts {
#define X(field, ...) uint64_t field;
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
	double store_wait_cycles;    /* of these, before its first store or atomic past shared memory */
	double issue_slots;
	double int_slots, fp32_slots, fp64_slots, sfu_slots; /* of those, by pipe */
	double products; /* of tensor cores: multiplications of halves, or what takes as long ... */
	double group_products; /* ... by groups of warps, which go on meanwhile (wgmma) */
	double either_slots;   /* what both of the first two can do; already shared out */
	double load_cycles;    /* L1 passes of global loads: one per 128-byte line of each request */
	double store_cycles;   /* of its port, until all stores and atomics have left ... */
	double local_store_cycles; /* ... of these, stores to local memory, beside which loads go on */
	double barriers;           /* of a block, per warp */
	double heavy_slots;        /* of fp32_slots: integers, which half of the pipe takes */
	double loop_turns;         /* branches back to the top of a loop, per warp */
	double shared_wavefronts;  /* after loads that become one wider load */
	double held_line_cycles;   /* of L1, waiting for what loads have under way: lines x cycles */
	double call_ns; /* of calls of the system that the chip does one after the other, all of them */
	double texture_cycles; /* of the unit that filters: requests, times the cycles of each */
	double value_cycles;   /* of the one that does matches, sums of a warp and chosen constants */
};

/*
 * Atomics on global memory as they collide; whole grid. A pass changes each word of a sector once.
 * Compare-and-swap is apart: on hardware most fail while others hold, which no emulator repeats.
 */
struct atomic_load {
	double unit_passes;  /* that the busiest unit of L2 does one after the other */
	double float_passes; /* of those, that additions of floats to one sector wait for */
	/* all lanes of the grid at one address, wherever that moves: lanes of floats, requests of
	 * integers, whose lanes are added up before */
	double lockstep_float, lockstep_int;
	double swaps;      /* lanes that changed a word by compare-and-swap */
	double contest_ns; /* that the loops of those take longer, as others are in their way */
	double look_lines; /* of the busiest unit: who looks first, and finds it settled */
	double swap_candidates, swap_tries; /* lanes that came to a compare-and-swap; that tried it */
	bool settles; /* some of them find nothing to change, as in a maximum: the more, the later */
};

/* How often an instruction of the machine code ran. */
struct code_count {
	uint32_t offset; /* in the kernel; bytes */
	uint64_t warps;  /* warp instructions */
	uint64_t lanes;  /* of them, lanes with a true predicate */
};

#define TRACE_MAX_STEPS 512
#define TRACE_MAX_INSTRUCTIONS 16384 /* in all of them: what follows a warp takes its time */
#define TRACE_MAX_ACCESSES 64

/* Everything a run tells beyond the outputs. Owned; free with run_counts_free(). */
struct run_counts {
	enum origin origin; /* COUNTED, SAMPLED or MEASURED */
	uint64_t blocks_run, blocks_total;
	struct counts total;     /* scaled to the grid when sampled */
	struct counted of_total; /* which of `total` and of the figures are known ... */
	struct counted of_lines; /* ... and which of every line's counts */
	unsigned n_lines;
	struct line_counts *lines; /* ascending by line */
	unsigned n_accesses;
	struct access_sample *accesses;
	unsigned n_steps; /* of block 0, warp 0; at most TRACE_MAX_STEPS */
	bool steps_cut;   /* the path was longer */
	struct mask_step *steps;
	unsigned n_code;         /* machine code, where that was counted: every instruction ... */
	struct code_count *code; /* ... by offset */
	bool mix_known;          /* machine code was counted; what kinds of instructions: */
	struct code_mix mix;
	bool ptx_known;    /* where machine code was counted: what its PTX counts is known, ... */
	struct counts ptx; /* ... namely this, of the same blocks */
	struct run_fidelity fidelity;
	struct run_variation variation;
	double dram_read_bytes, dram_write_bytes, host_read_bytes, host_write_bytes, l2_sectors,
		atom_wavefronts, achieved_occupancy_pct; /* LAUNCH_FIGURES; NAN = not known */
	unsigned n_regions; /* for the time model only: not exported; 0 = not known */
	struct region *regions;
	struct atomic_load atomics;     /* for the time model only, as the next ones are */
	double code_blocks;             /* basic blocks that ran, each once, ... */
	double code_instructions;       /* ... and what is in them */
	double longest_block_cycles;    /* the critical path of the thread block that lasts longest */
	double l2_written_sectors;      /* of l2_sectors: by stores and atomics, ... */
	double l2_local_sectors;        /* ... of those to local memory */
	double l2_requests;             /* lines asked of L2, each with 1 to 4 of those sectors */
	double l2_load_requests;        /* of those by loads, ... */
	double l2_load_lines;           /* ... of so many lines, if all were wanted equally often */
	double load_rounds;             /* how often a warp waits for loads, one after the other */
	double dram_accesses;           /* lines read from device memory or written, each at one time */
	double pages_host, pages_fresh; /* bytes of managed memory that came page by page: what the
	                                 * host wrote, what nobody did */
	bool of_program;                /* it is one launch of several, as a program makes them */
	bool code_kept;                 /* its instructions ran not long before */
	bool in_graph;                  /* a node of a graph of several, launched as such */
	bool new_memory;                /* no launch has touched some of its memory before */
	double far_share; /* of what it reads, what L2 holds and nobody has read since it was written */
	unsigned launch_lines;   /* of parameters and sizes that are waited for */
	unsigned constant_lines; /* the same of __constant__ variables and textures' headers */
	bool pages_first;        /* no launch of the program has waited for pages before */
	/* waits for pages, one after the other, in which the host wrote some, or nobody any */
	uint8_t page_rounds_host, page_rounds_fresh;
	bool spins; /* blocks wait in loops for what others write: nobody knows how long */
	/* shared memory, by swaps: how often the word of a block that changes most does, on average */
	double shared_swap_chain;
};

/* Lanes that took part: those with a true predicate, and those whose branch was not for them. A
 * guard that no lane leaves by is no idling. */
uint64_t counts_active_lanes(const struct counts *c);
void counts_add(struct counts *to, const struct counts *from);
/* Where @line is, or belongs, among lines in ascending order. */
unsigned counts_line_place(const struct line_counts *lines, unsigned n, uint32_t line);
void counts_scale(struct counts *c, double factor); /* rounds to nearest, saturates */
/* Frees the tables and leaves an empty run of which nothing is known; NULL is fine. */
void run_counts_free(struct run_counts *r);
/* What the machine code @own counted takes the place of what its PTX did, in @to; the time is then
 * modelled from machine code, too. */
void run_counts_take_code(struct run_counts *to, struct run_counts *own);
/* @to is overwritten, not freed. */
void run_counts_copy(struct run_counts *to, const struct run_counts *from);

/* "ld_sectors"; and what it means that it is 0 ("" for a figure). */
const char *count_name(enum count_id id);
const char *count_zero(enum count_id id);
/* COUNT_ID_COUNT = there is none. */
enum count_id count_find(const char *name, size_t len);
bool count_known(const struct counted *k, enum count_id id);
/* Why a count that is not known is not; never NULL. Without a reason of its own: what that count
 * needs, such as machine code. */
const char *count_why(const struct counted *k, enum count_id id);
void count_set_known(struct counted *k, enum count_id id);
void count_set_unknown(struct counted *k, enum count_id id, const char *why);
/* All of COUNT_FIELDS, as the emulator counts them. */
void counts_set_known(struct counted *k);
/* The same of counts of PTX (@sm 0) or of machine code for that architecture. */
void counts_set_emulated(struct counted *k, unsigned sm);
/* Those that hardware counts by source line; the others are not known, and say so. */
void counts_set_hardware_lines(struct counted *k);
/* Nothing is known: figures NAN, every reason @why. Frees nothing. */
void run_counts_clear(struct run_counts *r, const char *why);
uint64_t count_get(const struct counts *c, enum count_id id);
void count_put(struct counts *c, enum count_id id, uint64_t value);
/* One of LAUNCH_FIGURES; NAN = not known. */
double run_counts_figure(const struct run_counts *r, enum count_id id);
/* How often the instruction of machine code at @offset ran, or NULL: nobody counted it. */
const struct code_count *run_counts_code_at(const struct run_counts *r, uint32_t offset);
bool run_counts_known(const struct run_counts *r, enum count_id id); /* of the launch */
void run_counts_set_figure(struct run_counts *r, enum count_id id, double value);

/*
 * Fills every metric whose formula (metric.def) needs counts of lines alone, from those that are
 * @known. One that needs a count that is not known is n/a with that count's reason.
 */
void metrics_from_counts(struct metric_set *m, const struct counts *c, const struct counted *known,
                         enum origin o);
/* Does metrics_from_counts() fill it: of a launch, of a line, of the lines of a tag. */
bool metric_of_lines(enum metric_id id);
/* The same from a whole run, with the launch's figures: its origin, and for a sample "n of N
 * blocks" beside every value. */
void metrics_from_run(struct metric_set *m, const struct run_counts *r);

/* @factor: as counts_scale(). */
void code_mix_scale(struct code_mix *m, double factor);

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
