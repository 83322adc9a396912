/*
 * The machine code (SASS) of a record's kernel as panels show it: what each instruction is, what
 * the compiler tells the scheduler of it, which others it depends on, and the PTX it comes from.
 *
 * Plain data, and the questions that need nothing else. Reads no encoding (sass/ does) and knows
 * no screen.
 */
#ifndef PMPP_MODEL_CODE_LISTING_H
#define PMPP_MODEL_CODE_LISTING_H

#include "model/counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_NO_BARRIER 7  /* of write_bar and read_bar */
#define CODE_BARRIERS 6    /* scoreboards of a warp */
#define CODE_MAX_SOURCES 8 /* instructions whose results one reads */
#define CODE_MAX_LOOPS 64
#define CODE_MAX_INSTS 100000 /* of one kernel */

struct code_inst {
	uint32_t offset;    /* in the kernel; bytes */
	uint32_t line;      /* of the kernel's own file; 0 = unknown, or another file's */
	uint32_t ptx_line;  /* of the PTX; 0 = unknown */
	uint32_t target;    /* 1 + index of the instruction it may jump to; 0 = none */
	char text[128];     /* "@!P0 LDG.E R2, desc[UR4][R2.64]" */
	uint32_t live_regs; /* registers that hold a value still needed; if code_listing.live */
	uint8_t stall;      /* cycles until the warp's next instruction may issue */
	bool yield;         /* another warp is preferred next */
	uint8_t write_bar;  /* scoreboard set when the result is there */
	uint8_t read_bar;   /* scoreboard set when the operands have been read */
	uint8_t wait;       /* bit i: waits for scoreboard i */
	uint8_t reuse;      /* operands kept in the operand cache for the next instruction */
	uint8_t conflicts;  /* cycles more until a bank of registers gave all; 0 where not known */
	bool spill;         /* stores a register that there was no room for, or brings it back */
	unsigned n_sources;
	struct code_source {
		uint32_t index; /* of an instruction whose result this one may read */
	} sources[CODE_MAX_SOURCES];
};

/* An instruction of the PTX. */
struct code_ptx {
	uint32_t number; /* its line in the PTX */
	uint32_t line;   /* of the kernel's own file; 0 = unknown */
	char text[128];
};

struct code_listing {
	char title[96];             /* "sm_90 machine code, ptxas 13.0.88" */
	char disassembler[64];      /* "nvdisasm 13.5.37" */
	char why[400], remedy[400]; /* there is no code here: the reason, what to do; "" = there is */
	unsigned registers;         /* of a thread */
	bool live;                  /* live_regs are known */
	unsigned n;
	struct code_inst *insts; /* by offset */
	unsigned n_ptx;
	struct code_ptx *ptx; /* by line */
};

/* NULL is fine. */
void code_listing_free(struct code_listing *c);
/* The instruction at @offset; -1 = none begins there. */
int code_listing_at(const struct code_listing *c, uint32_t offset);
/* How often instruction @i ran, or NULL: nobody counted machine code, or not this. */
const struct code_count *code_listing_count(const struct code_listing *c,
                                            const struct run_counts *counts, unsigned i);

/* A loop: from the target of a backward jump to the jump. */
struct code_loop {
	unsigned first, last; /* instructions */
	uint64_t warps;       /* warp instructions executed in it; 0 = not counted */
};
/* Loops by first instruction, outer before inner, at most CODE_MAX_LOOPS; returns how many. */
unsigned code_listing_loops(const struct code_listing *c, const struct run_counts *counts,
                            struct code_loop *out);
/* Of the loops that hold no other, the one in which most instructions ran. False: none did. */
bool code_listing_hot_loop(const struct code_listing *c, const struct run_counts *counts,
                           struct code_loop *out);

/* Is @p of the source line of @in, or where that has none, what it comes from? */
bool code_ptx_beside(const struct code_ptx *p, const struct code_inst *in);
/* May @reader read what instruction @of writes? */
bool code_inst_reads(const struct code_inst *reader, unsigned of);
/* First and last instruction of what @at reads, or (@into) of what reads it, with @at itself. */
void code_listing_span(const struct code_listing *c, unsigned at, bool into, unsigned *from,
                       unsigned *to);
/* The scoreboard by which @in waits for @from; CODE_NO_BARRIER = by none. */
unsigned code_inst_waits(const struct code_inst *in, const struct code_inst *from);
/* "LDG.E": without its guard and operands. */
void code_inst_opcode(const struct code_inst *in, char *out, size_t n);

#endif
