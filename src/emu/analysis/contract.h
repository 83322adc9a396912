/* Products that are fused into sums: what contract.c finds and contract_apply.c carries out. */
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
	int32_t product[2]; /* -1 = none */
	bool negated[2];
	int32_t next_use[2];
	int32_t takes; /* operand that is fused, -1 = none */
};
struct copy { /* a mov or neg of a product */
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

void contract_apply(struct contraction *c);

#endif
