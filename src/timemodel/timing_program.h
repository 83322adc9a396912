/*
 * A program as the time model sees it, whoever ran it and whatever it was written in: basic blocks
 * of instructions with their class, the registers they depend on, and what was counted of each.
 *
 * A front end (PTX, machine code) fills it; it stands for machine instructions, so a front end that
 * starts from something else says how many each of its own becomes. Filled once per run and read
 * only afterwards; whoever fills it frees it.
 */
#ifndef PMPP_TIMEMODEL_TIMING_PROGRAM_H
#define PMPP_TIMEMODEL_TIMING_PROGRAM_H

#include "model/counts.h"

#include <stdbool.h>
#include <stdint.h>

enum sm_pipe {
	SM_PIPE_INT,
	SM_PIPE_FP32,
	SM_PIPE_EITHER, /* the one of the two above that has less to do */
	SM_PIPE_FP64,
	SM_PIPE_SFU,
	SM_PIPE_LDST,
	SM_PIPE_SHUFFLE,
	SM_PIPE_TENSOR,
	SM_PIPE_FLOW
};

enum inst_class {
#define X(id, pipe, issued, wide, first, more, what) INST_##id,
#include "timemodel/inst_class.def"
#undef X
	INST_CLASS_COUNT
};

enum memory_space {
	MEMORY_NONE,
	MEMORY_GLOBAL,
	MEMORY_LOCAL,
	MEMORY_GENERIC, /* known at run time only */
	MEMORY_SHARED,
	MEMORY_CONST,
	MEMORY_REMOTE,  /* shared memory of another block of the cluster */
	MEMORY_TEXTURE, /* by coordinates */
	MEMORY_TEXELS   /* by number, or of a surface */
};

#define TIMING_MAX_RESULTS 8
#define TIMING_MAX_SOURCES 10

/* Where a global load's data comes from. The share of lines counts what is under way, that of
 * executions, each of which waits for the slowest of its lines, how often it is waited for. */
struct load_origin {
	bool known;                  /* else all are as the whole launch's average */
	double l2_lines, dram_lines; /* dram_*: of these also what another SM fetches just then */
	double l2, dram;
};

/* A scoreboard beyond those of machine code: held until bulk copies are there, for which barriers
 * in shared memory wait. */
#define TIMING_COPIES_BOARD 6
#define TIMING_NO_BOARD 7
/* Another: held until the lines of stores have left, which the next load's go behind. */
#define TIMING_STORES_BOARD 8
/* Another: until products of a group of warps are done. */
#define TIMING_PRODUCTS_BOARD 9
#define TIMING_BOARDS 10

/* What machine code says to the scheduler. */
struct timing_control {
	uint8_t stall;         /* cycles until the next instruction of the warp may issue */
	uint8_t waits_for;     /* bit i: until scoreboard i is free */
	uint8_t result_board;  /* held until the result is there; or TIMING_NO_BOARD */
	uint8_t operand_board; /* held until the operands were read; likewise */
};

struct timing_inst {
	enum inst_class class;
	struct timing_control control; /* of machine code */
	/* Machine instructions that one execution issues: inst_issued(), 0 = folded into another one, a
	 * fraction = shared by the copies of an unrolled loop. */
	float issued;
	int32_t guard; /* register of its predicate, -1 = none */
	uint8_t n_results, n_sources;
	int32_t result[TIMING_MAX_RESULTS]; /* registers; -1 = thrown away */
	int32_t source[TIMING_MAX_SOURCES];
	bool uniform;      /* arithmetic whose result is the same in all lanes of a warp */
	bool lanes_choose; /* a branch that lanes of one block may decide differently */
	/* loads, stores, atomics, copies */
	enum memory_space space;
	bool read_only;     /* a load of what no store of this launch changes */
	bool one_address;   /* the same address in all lanes of the grid */
	bool float_data;    /* floating point */
	bool merged;        /* a shared load that another, wider one brings along */
	uint8_t wide_words; /* a shared load that brings others along: 2 or 4 words; else 0 */
	bool by_group;      /* a product of tensor cores by four warps, which go on meanwhile */
	bool behind_groups; /* some come before this one */
	/* in all, of the thread blocks that ran */
	double shared_passes;  /* of atomics on shared memory */
	double load_passes;    /* of global loads, by banks of L1; 0 = not known */
	double local_lines;    /* of local memory: 32 words each */
	double remote_sectors; /* of shared memory of the cluster's other blocks */
	double values; /* of all executions: what is done for one value of the lanes after the other */
	double vain;   /* calls of lanes that came to nothing */
	/* of all executions: what is asked for, rounded up to a power of two */
	double sleep_periods_ns;
	struct load_origin origin;
	/* tensor cores */
	float products;      /* one execution: multiplications of halves, or what takes as long */
	bool fragment;       /* a load of what a product needs */
	bool half_transpose; /* whose halves have to change places between lanes */
	bool second_half;    /* of TF32: into the registers of the first, when that is used */
	bool strong;         /* a load that must not see what is old: volatile, or past L1 */
	bool votes;          /* a barrier that brings the threads' predicates together */
	bool polls; /* a load or atomic that asks again and again for what another block writes */
};

struct timing_block {
	uint32_t first, end;    /* instructions [first, end) */
	int32_t successor[2];   /* basic blocks, -1 = none; of a branch the target, then the next */
	const int32_t *targets; /* of a final BRANCH_TABLE */
	uint32_t n_targets;
	int32_t join;          /* where the sides of its branch meet again, -1 = nowhere */
	uint8_t copies;        /* of a loop that is this block: unrolled into one; else 1 */
	double warp_passes;    /* executions by warps, of the thread blocks that ran */
	double longest_passes; /* of those, by the thread block that lasted longest */
	/* thread blocks that ran and of which a warp came here; not known = 0 */
	double entering_blocks;
	uint32_t insts; /* in the unit of slowest_warp_insts */
	bool asks;      /* in a loop that only waits for what others write: passes are visits of it */
};

/* Warps that hand a word on to each other, as a lock: what they do with it comes one warp after the
 * other, whatever their blocks. */
struct timing_turns {
	double n;          /* all of them, of the word that is handed on most often; 0 = none */
	double share;      /* of the executions of these basic blocks, those for that word */
	uint32_t from, to; /* the first and the last of them */
};

struct timing_program {
	/* Instructions issue in their order, when @control lets them; registers are scoreboards. */
	bool machine_code;
	unsigned n_insts, n_blocks, n_registers; /* machine code: none is used */
	const struct timing_inst *inst;
	const struct timing_block *block;
	const struct counts *counts; /* per instruction, of the thread blocks that ran */
	double warps, thread_blocks; /* that ran, or one block's */
	double counted_warps;        /* that ran: those that counts tell of */
	/* Instructions of a thread block's slowest warp, where all have waited for each other counted
	 * from the slowest before: mean of all thread blocks, and of the one that lasted longest; 0 =
	 * not known. */
	double slowest_warp_insts, longest_warp_insts;
	struct timing_turns turns;
};

/* Machine instructions of one execution; @wide: on 64-bit integers. */
float inst_issued(enum inst_class c, bool wide);
enum sm_pipe inst_pipe(enum inst_class c);
/* Until its result can be used; of loads, atomics and copies see load_latency.h. @issued as above,
 * more than 0. */
double inst_latency_cycles(enum inst_class c, double issued);
/* Touches memory that stores can change. */
bool inst_orders_memory(const struct timing_inst *i);

#endif
