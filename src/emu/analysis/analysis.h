/*
 * Room analysis. Sees: lane, ir.
 *
 * What is known of a program before it runs: which registers live where, and what a warp's 32
 * values of a register look like.
 */
#ifndef PMPP_EMU_ANALYSIS_H
#define PMPP_EMU_ANALYSIS_H

#include "emu/ir/ir.h"
#include "model/kernel.h"

/* --- liveness (flow.c) --- */
struct bitset_table { /* one row of bits per block */
	unsigned words;
	uint64_t *bits;
};
static inline uint64_t *bits_row(const struct bitset_table *t, unsigned block)
{
	return t->bits + (size_t)block * t->words;
}
struct liveness {
	struct bitset_table in, out, def; /* def: registers written in the block */
};
void flow_liveness(const struct ir *ir, struct liveness *l);
void liveness_free(struct liveness *l);
/* Is @reg read before it is written again, after operation @op of @block? */
bool flow_live_after(const struct ir *ir, const struct liveness *l, uint32_t block, uint32_t op,
                     int32_t reg);
/* dead_code.c: takes out operations whose results nobody reads. Front ends that split one
 * instruction into several leave such behind. */
void dead_code_remove(struct ir *ir);
/* contract.c: fuses the products and sums of PTX that the assembler fuses. */
void products_contract(struct ir *ir);
/* scaled_products.c: a product and its multiple by a power of two are rounded once. */
void products_scale(struct ir *ir);
/* wide_halves.c: results of halves that are only converted to float32 are not rounded to halves. */
void halves_widen(struct ir *ir);
/* known_compares.c: comparisons of PTX that the assembler decides hold of NaN, too. */
void known_compares_decide(struct ir *ir);
/* lift.c: takes guards off machine code where they do no more than save work. */
void guards_lift(struct ir *ir);
/* nan_bits.c: float32 NaN that are stored, or looked at bit by bit, are a card's. */
void nan_bits_settle(struct ir *ir);
/* webs.c: a register of its own for every value that shares one with others, as in machine code. */
void webs_split(struct ir *ir);
/* spills.c: what machine code keeps in local memory at known places is kept in registers, too. True
 * if there is such. */
bool spills_keep(struct ir *ir);
/* words.c: one register of 64 bits for two that hold its words. */
void words_join(struct ir *ir);
/* course.c: no branch, guard or address depends on what memory holds. Of PTX only. */
bool course_is_fixed(const struct ir *ir);
/* May values that the operations @from give reach a branch, a guard or an address, on a way through
 * registers and memory of operations that @ran? Then @where is the first such operation. */
bool values_decide(const struct ir *ir, const bool *from, const bool *ran, uint32_t *where);
/* Registers an operation writes (at most X_MAX_VEC) and reads; a guard and a partial write read. */
unsigned xop_reads(const struct xop *x, int32_t *regs); /* room for X_MAX_VEC + 4 */
/* Successor @i of a block, or -2 when there are no more; -1 entries are skipped by callers. */
int32_t xblock_succ(const struct xblock *b, unsigned i);

/* --- what a branch that splits a warp may corrupt (split.c) --- */
struct splits {
	const struct ir *ir;
	const struct liveness *live;
	bool *waits;     /* per block: a part of the warp may wait there while others run */
	uint64_t **rows; /* per block, found when it is asked for */
};
void splits_open(struct splits *s, const struct ir *ir, const struct liveness *l);
void splits_close(struct splits *s);
/* Registers, as a row of bits, that lanes on one way behind block @b overwrite while lanes on
 * another way, or those that already wait, still need them. */
const uint64_t *splits_overwritten(struct splits *s, unsigned b);

/* --- affine forms: what a warp's 32 values of a register look like (classify.c) --- */
enum affine_class {
	AFFINE_UNWRITTEN, /* never written */
	AFFINE_SCALAR,    /* one scalar plus a lane pattern that never changes (all zero: uniform) */
	AFFINE_LANES,     /* 32 values */
};
struct pattern {
	int64_t lane[32];
	int64_t min, max;
	uint32_t low[32]; /* of the lanes: their lower halves */
};
struct affine {
	enum affine_class cls;
	bool known; /* the scalar is a constant of the launch */
	uint64_t base;
	int32_t pattern;    /* index into affine_forms.patterns; 0 = all lanes equal */
	uint8_t align_log2; /* the scalar is a multiple of 2^align (unknown scalars) */
	bool ranged;        /* every lane of every warp, read as a signed number, is in lo..hi */
	int64_t lo, hi;
};
struct affine_forms {
	struct affine *reg; /* per register; predicates: pattern 0 = all active lanes agree */
	/* Bounds that hold from a write to the end of its block, where the register is written
	 * elsewhere too: valid while @round of the entry is the present one. */
	struct local_range {
		uint32_t round;
		int64_t lo, hi;
	} *local;
	uint32_t round;
	struct pattern *patterns;
	unsigned n_patterns, cap_patterns;
	unsigned demoted; /* registers that divergence forced to 32 values */
	bool speculative; /* signs are assumed to be plus, see affine_assumed() */
};

enum classify_mode {
	CLASSIFY_SPECULATIVE,  /* marks branches that would corrupt a scalar if they split the warp */
	CLASSIFY_CONSERVATIVE, /* keeps a scalar only where no split can corrupt it */
	CLASSIFY_REFERENCE     /* everything as 32 values */
};
/* Forms of all registers. @marked: per block, filled by CLASSIFY_SPECULATIVE. Returns whether the
 * result rests on an assumption: a marked branch or affine_assumed(). */
bool classify(struct splits *splits, const struct launch_plan *plan, enum classify_mode mode,
              bool *marked, struct affine_forms *out);
void affine_free(struct affine_forms *s);

/* Operations are looked at block by block, in order ... */
static inline void affine_enter_block(struct affine_forms *s)
{
	s->round++;
}
/* ... and what each gives is noted before the next is looked at. */
void affine_note(struct affine_forms *s, const struct xop *x, const struct affine *result);
/* Form of a source, and of what an operation gives before divergence is considered. */
struct affine affine_of_src(const struct affine_forms *s, const struct ir *ir,
                            const struct xsrc *src);
struct affine affine_of_result(struct affine_forms *s, const struct ir *ir,
                               const struct xop *original, const struct launch_plan *plan);
bool affine_uniform(const struct affine *r);
/* Value of a register of known form in one lane. */
static inline uint64_t affine_lane(const struct affine_forms *s, const struct affine *r,
                                   unsigned lane)
{
	return r->base + (uint64_t)s->patterns[r->pattern].lane[lane];
}
/*
 * The speculative program assumes that an index, scalar + pattern, is not negative where compilers
 * ask for its sign (x >> 31, in a division by a power of two): quotient and remainder are patterns
 * then. A check stands before the operation; a warp that fails it is deoptimised to the
 * conservative program.
 */
bool affine_assumed(const struct affine_forms *s, const struct ir *ir, const struct xop *x);
/* The same operation in a form that shows more, if the operands allow: division by a power of two,
 * and the remainder written as x - (x & -2^k). */
struct xop xop_reduced(const struct affine_forms *s, const struct ir *ir, const struct xop *x);

#endif
