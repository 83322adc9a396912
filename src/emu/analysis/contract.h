/*
 * Products that are fused into sums: what contract.c finds, with contract_parts.c,
 * contract_numbers.c and, where machine code is known, contract_code.c; contract_apply.c carries it
 * out.
 */
#ifndef PMPP_EMU_CONTRACT_H
#define PMPP_EMU_CONTRACT_H

#include "emu/analysis/analysis.h"

struct family { /* the operations of a type */
	enum ptx_type type;
	enum emu_op mul, add, sub, fma, neg;
	uint64_t one, sign; /* sign: what neg flips */
};
struct product {
	uint32_t op, piece;
	const struct family *family;
	bool ftz;
	uint32_t version[2]; /* of its sources */
	bool copied[2];      /* a source is overwritten before it is used */
	bool stays;          /* something else needs it */
	bool anywhere;       /* its sums may be in other pieces and blocks */
	unsigned uses, taken;
	unsigned weight;   /* uses, as the assembler counts them */
	int32_t first_use; /* 2 * sum + operand, -1 = none */
	int32_t first_copy;
	struct xsrc factor[2], minus; /* what sums read; minus: the first one, negated */
};
struct sum {
	uint32_t op;
	int32_t product[2]; /* -1 = none that is known here */
	bool negated[2];
	int32_t next_use[2];
	int32_t takes; /* operand that is fused, -1 = none */
	bool once;     /* that is twice what is taken from it: the result is the value itself, ... */
	bool minus;    /* ... or its negative */
};
struct copy { /* a mov or neg of a product, or it with 1 or -1 */
	uint32_t op;
	int32_t next;
};
/* What a register holds: a product of the chain of blocks that is looked at. */
struct held {
	uint32_t chain, version;
	int32_t product;
	bool negated;
};

struct contraction {
	struct ir *ir;
	struct held *held; /* per register */
	int32_t *anywhere; /* per register: the product of that kind that it always holds, -1 = none */
	uint32_t chain, piece;
	const struct xblock *unrolled; /* the block that is looked at, if it will be unrolled */
	struct product *product;
	struct sum *sum;
	struct copy *copy;
	unsigned n_products, cap_products, n_sums, cap_sums, n_copies, cap_copies;
	bool any; /* something is to be fused */
};

static inline const struct ptx_inst *inst_of(const struct ir *ir, const struct xop *x)
{
	return &ir->func->insts[x->pc];
}

/* The family of a product that has no guard and names no rounding; NULL = it is none. */
const struct family *family_of_product(const struct ir *ir, const struct xop *x);
/* The same of a sum, and whether it is one of that family. */
const struct family *family_of_sum(const struct ir *ir, const struct xop *x);
bool is_sum(const struct ir *ir, const struct xop *x, const struct family *f, bool ftz);
/* The family of a type whose operations do not flush. */
const struct family *family_of_type(enum ptx_type type);
/* A copy of source @source of that type, or its negative: mov, neg, a product with 1 or -1. */
bool is_copy(const struct ir *ir, const struct xop *x, const struct family *f, bool ftz,
             unsigned *source, bool *neg);
/* A choice of one of two values of that type. */
bool is_choice(const struct ir *ir, const struct xop *x, const struct family *f);
/* Products of constants are folded, those with 1 and -1 become moves. */
bool folds_away(const struct ir *ir, const struct xop *x, const struct family *f);
/* A number that the PTX alone tells, not one that only this launch knows. */
bool is_literal(const struct ir *ir, const struct xop *x, unsigned i, uint64_t *value);
/* A number, or a parameter: machine code takes either from where it is. */
bool is_constant(const struct ir *ir, const struct xop *x, unsigned i);
/* @s, or what it is a copy of: of a selection whose choice is a number, of what that takes. */
struct xsrc taken_source(const struct ir *ir, struct xsrc s);
/* The first operation of the block that @o is in. */
uint32_t block_first_op(const struct ir *ir, uint32_t o);
/* The operation that makes all values of @s, alone in its instruction; NULL = there is none. */
const struct xop *maker_of(const struct ir *ir, const struct xsrc *s);
/* Marks the blocks that are ever come to, by branches that numbers decide, and enters into only_def
 * the registers that only one operation of those writes. */
void find_only_writers(struct ir *ir, bool *reached);
/* The block that always follows @b; -1 = none, or one of several. */
int32_t only_successor(const struct ir *ir, unsigned b);
/* Does the assembler end a piece of code here? */
bool cuts_piece(const struct ptx_inst *in);

/* What the machine code has at an operation's line: FUSION_... */
unsigned sum_in_code(const struct ir *ir, uint32_t o);
/* Of a sum that machine code has fused: which operand with; -1 = with no product of the PTX.
 * @by_rule: where that cannot be told. */
int fused_operand(const struct contraction *c, const struct sum *s, bool by_rule);

/* A sum that has no instruction in the machine code, nor has its product, nor any sum like it: the
 * assembler worked it out, as it is written. */
bool is_worked_out(const struct contraction *c, const struct sum *s);

/* 2 x - x, whose product nothing else needs, is x to the assembler, and -2 x + x is -x: operand
 * that is the product, and which it is; -1 = it is no such sum. */
int twice_less_once(const struct contraction *c, const struct sum *s, bool *minus);

void contract_apply(struct contraction *c);

#endif
