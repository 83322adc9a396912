/*
 * Programs of micro-operations: what codegen makes and vm runs.
 *
 * A program is a flat array of struct uop; each holds two handlers, one for a full warp (all 32
 * lanes active) and one for any mask. A handler does its work and continues with the next uop.
 * All registers of a warp lie in one frame behind its header; a uop names them by byte offset.
 */
#ifndef PMPP_EMU_PROGRAM_H
#define PMPP_EMU_PROGRAM_H

#include "emu/analysis/analysis.h"

struct warp;
struct uop;
typedef const struct uop *(*uop_fn)(struct warp *w, const struct uop *u, uint32_t mask);

struct handler {
	uop_fn full, masked;
};

struct uop {
	uop_fn full, masked;
	uint32_t d, a, b, c; /* frame offsets, or what the handler's comment says */
	union {
		int64_t i;
		uint64_t u;
		const struct uop *to;
		const struct pattern *pattern;
		const struct texture_uop *texture;
	} x;
	uint32_t y;   /* segment, memory number, ... */
	uint32_t xop; /* index of the operation it belongs to */
	union {
		const struct fused *fused;      /* of a handler that also does the uops behind this one */
		const struct chains *chains;    /* the same */
		const struct dots *dots;        /* the same */
		const struct call_frame *frame; /* of a call */
		const struct system_operands *system;
		const struct tensor_operands *tensor;
		const struct shuffle *shuffle; /* of a shfl whose lanes are known */
	};
};

/*
 * A segment: operations of one basic block, in a row, over which the active lanes do not change
 * (but for guards). A basic block is one segment, or several if a guarded exit lies inside. Warps
 * and lanes are counted per segment, at its ENTER.
 */
struct segment {
	uint32_t block, first, end; /* operations [first, end) */
	uint32_t length;            /* PTX instructions */
};

enum addr_kind {
	ADDR_UNIFORM, /* scalar slot */
	ADDR_PATTERN, /* scalar slot + pattern */
	ADDR_LANES32, /* 32 lanes of 4 bytes */
	ADDR_LANES64
};
struct mem_addr {
	enum addr_kind kind;
	bool wide; /* the register is 64 bits wide */
	uint32_t slot;
	int32_t pattern_index;
	const struct pattern *pattern;
	int64_t offset;
};

/* Everything about one memory instruction that does not change during a launch. */
struct memop {
	const struct xop *x;
	uint32_t id;                /* counters and windows */
	int32_t begun;              /* its row of loads; see loads_together.h */
	struct mem_addr addr, from; /* from: source of cp.async */
	uint8_t bytes, vec;         /* of a lane: bytes * vec */
	uint8_t access;             /* bytes * vec, saturated */
	bool sign;
	bool whole;      /* a lane's 16 bytes are one to other threads */
	bool full_probe; /* emitted with a handler that counts in the segment only */
	/* of a program that watches, with full_probe: counted from the lowest address */
	const struct lane_pieces *pieces;
	uint8_t row; /* so many lanes access one place behind the other: 32, 16, 8, or fewer (1) */
	int32_t d[X_MAX_VEC]; /* slots of 32 lanes, or of a scalar when d_scalar; -1 = sink */
	bool d_scalar;
	uint32_t s[X_MAX_VEC]; /* slots of 32 lanes with the data */
	/* for full_probe handlers: lowest address = scalar + low, bytes from lowest to end = span */
	int64_t low;
	uint64_t span, last_low; /* shared memory: highest lowest address that fits */
	uint32_t align_mask;
	uint8_t word_shift;
	uint32_t bytes_full, wavefronts_full, ideal_full; /* per full execution */
	uint32_t sectors_full, lines_full; /* the same, if the lowest address is a multiple ... */
	uint32_t usual;         /* ... of this + 1; else by its position in a 128-byte line: */
	uint16_t lines_at[128]; /* [address mod 128]: sectors | lines << 8 */
	int32_t index[32];      /* lane -> element of its size from the lowest address (of its half) */
	/* of a byte of each lane, all within 128, where the host picks bytes by bytes; else NULL */
	const struct byte_places {
		uint8_t lane[128]; /* by place: whose byte it is, the last one's */
		uint64_t any[2];   /* a bit per place: is it anyone's */
	} *places;
	int64_t half[2]; /* lowest offset of each half warp */
	enum half_layout {
		HALF_OTHER,
		HALF_UNIT,
		HALF_SPLAT,
		HALF_LAYOUTS
	} half_layout; /* 16 words in a row; one word */
};

/* A texture or surface instruction: slots of 32 lanes; d -1 = sink. */
struct texture_uop {
	const struct xop *x;
	int32_t d[4];
	uint32_t s[X_MAX_VEC + 2];
};

struct program {
	struct uop *uops;
	unsigned n_uops, cap_uops;
	uint32_t *block_uop; /* block -> its first uop (ENTER) */
	uint32_t *op_uop;    /* operation -> its first uop */
	struct memop *mem;   /* by memory number */
	enum program_kind {
		PROGRAM_SPECULATIVE,  /* assumes that some branches do not split a warp */
		PROGRAM_CONSERVATIVE, /* scalars only where no split can corrupt them */
		PROGRAM_CHECKED,      /* the same, but every access is watched; where races may be */
		PROGRAM_REFERENCE,    /* every register as 32 values: checks, traces, last resort */
		PROGRAMS
	} kind;
	struct affine_forms forms;
	uint32_t *reg_slot; /* frame offset by register; UINT32_MAX = none */
};

/*
 * Two loads and the FMA that uses them, done in one go by a full warp, n times:
 * acc = fma(one word per half warp, 16 words in a row per half warp, acc), the loads' results not
 * needed elsewhere. Anything unusual falls back to the handlers of the single uops, which are
 * still there.
 */
struct fused_load {
	uint32_t slot, id; /* address; memory number (of the first) */
	bool wide;         /* the address has 64 bits */
	bool one_line;     /* both half warps lie in one line */
	int64_t half[2];   /* offset of each half warp */
	uint64_t usual;    /* memop.usual */
	int64_t min, max;  /* of the steps' offsets; max with the halves' and the last byte */
};
struct fused {
	uop_fn alone;     /* handler of the first uop */
	uint32_t n, uops; /* FMAs; uops that it stands for */
	uint32_t acc, d;  /* slots of 32 lanes */
	struct fused_load lanes, word;
	const struct fused_step {
		int64_t lanes, word; /* offsets from the addresses */
	} *step;
	/* Or: n FMAs on 32 lanes, one after the other, slots of all four operands. */
	const struct fused_fma {
		uint32_t a, b, c, d;
		uint32_t same_a; /* operand a is that of the FMA before */
	} *fma;
};

/*
 * Sums of products, each kept in vector registers from its first FMA to its last. A factor is 32
 * words in a row, or one word of each half warp. It lies in the frame, or is read from shared
 * memory where the FMA needs it: nothing is written between.
 *
 * The first uop of a window of the program looks at the addresses. Where they fit, the window's
 * other uops follow (as copies, behind the program), and then the sums; else its uops as they
 * stand.
 */
enum { CHAIN_BASES = 8 };
enum {
	TILE_FEW = 2,
	TILE_MANY = 4,
	TILE_FACTORS = TILE_FEW + TILE_MANY,
	TILE_SUMS = TILE_FEW * TILE_MANY
};
struct chains {
	uop_fn alone;             /* handler of the first uop */
	const struct uop *others; /* the copies; NULL = there are no others */
	const struct uop *after;  /* what follows the window */
	uint32_t n_bases, n;
	struct chain_base {
		uint32_t slot; /* of a scalar address in shared memory; base 0 is the frame itself */
		bool wide;
		uint32_t align;   /* bits that must be 0 */
		int64_t min, max; /* from the first byte to behind the last one, counted from it */
	} base[CHAIN_BASES];
	const struct chain {
		uint32_t acc, d, n; /* slots of 32 lanes; FMAs */
	} *chain;
	const struct chain_step {
		int32_t lanes[2], other[2]; /* offset of each half warp from the base */
		uint8_t lanes_base, other_base;
		bool rows; /* the other factor is 32 words in a row, too */
	} *step;       /* of all chains, one behind the other */
	/* Sums that share their factors are done before the chains, TILE_SUMS at once: each of
	 * TILE_FEW factors by each of TILE_MANY. */
	const struct chain_tile {
		uint32_t acc[TILE_SUMS], d[TILE_SUMS]; /* slots */
		uint32_t n;                            /* steps */
		enum tile_words { TILE_NO_WORDS, TILE_FEW_WORDS, TILE_MANY_WORDS } words;
		const struct tile_step {
			int32_t half[TILE_FACTORS][2]; /* as in chain_step; the few first */
			uint8_t base[TILE_FACTORS];
		} *step;
	} *tile;
	uint32_t n_tiles;
	/* of a program that watches: loads that are done by the chains alone, and what goes on then */
	const struct lane_load *load;
	const struct chain_read {
		uint32_t slot; /* of the scalar address */
		bool wide;
		uint32_t align_mask;
		int64_t low; /* from it to the lowest byte */
		uint64_t last_low;
	} *read;
	uint32_t n_reads;
	uop_fn watched;
};

/*
 * A sum of products of global memory, kept in vector registers: of each product a factor is 32
 * words in a row, or 16 for each half warp, by an address of its own; the other is one word for
 * each half warp, all by one address.
 *
 * Its window is as one of chains, but the addresses are looked at behind the window's other uops,
 * which may work them out. Where one does not fit, copies of the window's loads and FMAs follow.
 */
enum { DOT_STEPS = 16 };
struct dots {
	uop_fn alone, sum;         /* handler of the first uop; of the sum */
	const struct uop *others;  /* copies, behind which the sum is; NULL = there are none */
	const struct uop *careful; /* copies of loads and FMAs; NULL = the uops as they stand */
	const struct uop *after;   /* what follows the sum */
	uint32_t acc, d, n;        /* slots of 32 lanes; FMAs */
	int64_t half;              /* from the first half warp's row to the second's */
	uint32_t usual;            /* memop.usual of the rows */
	struct {
		uint32_t slot, number; /* of the address; of all dots of the image */
		uint32_t reach;        /* from the first word to the last one, of a half warp */
		bool askew;            /* the sectors of a load depend on the address */
		int64_t low, half;     /* of the first one; to the second half warp's */
	} word;
	const struct dot_step {
		uint32_t slot, id; /* of the row's address; memory number */
		int64_t low;       /* memop.low */
		uint32_t word;     /* bytes from the first word */
	} *step;
	const struct dot_load { /* all loads, to look at them one by one */
		uint32_t slot, id;
		bool word;
		int64_t low;
	} *load;
	uint32_t n_loads;
};

/* A product of matrices: slots of the registers of A, B, C and D. */
struct tensor_operands {
	struct ir_tensor tensor;
	uint32_t a[X_MAX_VEC], b[X_MAX_VEC], c[X_MAX_VEC], d[X_MAX_VEC]; /* d 0 = sink */
	uint32_t e; /* TENSOR_SPARSE: slot of what says which elements A holds */
};

/* Operands of a call of the system: slots of 32 lanes of 8 bytes. */
struct system_operands {
	enum system_call call;
	unsigned n;
	uint32_t arg[SYSTEM_ARGS], d; /* d 0 = no result */
};

/* Registers that a function must find again when it has called itself. */
struct call_frame {
	const bool *comes_back; /* of a call through a pointer, by function: whether it may */
	uint32_t bytes;         /* of 32 lanes */
	unsigned n;
	struct call_frame_part {
		int32_t reg;
		uint8_t bytes;      /* of a lane; 0 = predicate */
		uint32_t predicate; /* its slot */
	} part[];
};

/* A shfl by constants: which lane each reads, and the lanes whose source is in range. */
struct shuffle {
	int32_t from[32];
	uint32_t inside;
};

struct const_slot {         /* constants of the frame, written once per warp */
	uint32_t offset, bytes; /* width of a lane; lanes = 1 or 32 */
	uint32_t lanes;
	uint64_t value[32];
};

struct zero_slot { /* 0 when a warp starts */
	uint32_t offset, bytes;
};

/* Up to four programs over the same frame, and what they share. */
struct image {
	struct ir ir;
	struct liveness live;
	struct program program[PROGRAMS];
	enum program_kind start; /* where warps begin */
	struct segment *segments;
	unsigned n_segments;
	uint32_t n_dots;
	uint32_t *op_segment; /* operation -> segment */
	int32_t *begun;       /* by memory number; see loads_together.h */
	struct const_slot *consts;
	unsigned n_consts, cap_consts;
	uint32_t frame_bytes;
	struct zero_slot *zeros; /* registers that may be read before they are written */
	unsigned n_zeros;
	void **pool; /* tables that memops point to */
	unsigned n_pool;
};

#endif
