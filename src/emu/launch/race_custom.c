/* Races of a customary form, which do no harm as programs are written: they are told as remarks. */
#include "emu/launch/fault_text.h"

/* volatile: strong, but by no .sem of its own */
static bool is_volatile(const struct xop *x)
{
	return x->strong && x->sem <= SEM_WEAK;
}

static bool is_plain_load(const struct xop *x)
{
	return x->kind == X_LD && !x->strong && x->sem <= SEM_WEAK;
}

static bool is_atomic(const struct xop *x)
{
	return x->kind == X_ATOM || x->kind == X_RED;
}

/* An address: what a register holds, or nothing, and so many bytes. */
struct place {
	int32_t reg; /* -1 = none */
	uint64_t bytes;
};

/* Of @x's address, through moves and sums with constants that are the only ones to write their
 * register. */
static struct place place_of(const struct ir *ir, const struct xop *x)
{
	const struct xsrc *s = &x->s[0];
	uint64_t bytes = (uint64_t)x->offset;
	while (s->kind == S_REG && ir->only_def[s->reg] >= 0) {
		const struct xop *def = &ir->ops[ir->only_def[s->reg]];
		const bool sum =
			(def->op == E_add_b64 || def->op == E_add_b32) && def->s[1].kind == S_CONST;
		if (def->kind != X_OP || def->guard >= 0 ||
		    !(sum || def->op == E_mov_b64 || def->op == E_mov_b32))
			break;
		bytes += sum ? def->s[1].value : 0;
		s = &def->s[0];
	}
	if (s->kind == S_REG)
		return (struct place){ s->reg, bytes };
	return (struct place){ -1, bytes + s->value };
}

bool race_same_address(const struct ir *ir, const struct xop *a, const struct xop *b)
{
	const struct place x = place_of(ir, a), y = place_of(ir, b);
	return x.reg == y.reg && x.bytes == y.bytes;
}

/* Is @load followed by an atomic at the same address, and does its value decide something? Then it
 * asks whether the atomic is worth its while, as in if (d < *best) atomicMin(best, d), or is the
 * first guess of a compare-and-swap loop. NULL = no. */
static const struct xop *asks_first(const struct ir *ir, const struct xop *load)
{
	if (!is_plain_load(load) || !load->decides)
		return NULL;
	for (const struct xop *x = load + 1; x < ir->ops + ir->n_ops; x++)
		if (is_atomic(x) && race_same_address(ir, x, load))
			return x;
	return NULL;
}

/* Does a warp whose lanes are together run @load before @store, with no branch between them? */
static bool in_one_step(const struct ir *ir, const struct xop *load, const struct xop *store)
{
	if (!is_plain_load(load) || store->kind != X_ST || store < load)
		return false;
	for (const struct xop *x = load; x < store; x++)
		if (x->kind == X_BRA || x->kind == X_BRX || x->kind == X_CALL || x->kind == X_RET)
			return false;
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		if (&ir->ops[ir->blocks[b].first] > load && &ir->ops[ir->blocks[b].first] <= store)
			return false;
	return true;
}

const char *race_custom(const struct emu_launch *l, const struct emu_fault *f)
{
	const struct xop *mine = &l->image.ir.ops[f->xop], *theirs = &l->image.ir.ops[f->other_op];
	if (f->kind != FAULT_RACE || f->scope)
		return NULL;
	const struct xop *asked = is_atomic(theirs) ? asks_first(&l->image.ir, mine)
	                          : is_atomic(mine) ? asks_first(&l->image.ir, theirs)
	                                            : NULL;
	if (asked && asked->op == ATOM_CAS)
		return "nothing, if the load is only the first guess of a compare-and-swap loop: an old "
			   "value costs one more turn; else read it by an atomic or through volatile";
	if (asked)
		return "nothing, if the load only asks whether the atomic behind it is worth its while: an "
			   "old value costs one atomic more, or one less; else read it by an atomic or through "
			   "volatile";
	if (f->space != SPACE_SHARED || !fault_in_warp(f) || f->many)
		return NULL;
	if (in_one_step(&l->image.ir, theirs, mine))
		return "put __syncwarp() between the load and the store: that the lanes of a warp have all "
			   "loaded before one of them stores is what GPUs do where no branch is between, but "
			   "CUDA does not promise it";
	if (is_volatile(mine) || is_volatile(theirs))
		return "put __syncwarp() between the two accesses: since Volta the threads of a warp "
			   "need not run in lockstep, though volatile code of before mostly does";
	return NULL;
}
