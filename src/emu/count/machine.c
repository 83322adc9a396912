/*
 * Rules from PTX to machine code; see machine.h.
 *
 * - Moves between registers, of constants and of parameters cost nothing: constants and parameters
 *   are operands, copies are coalesced away.
 * - Address arithmetic: mul.wide + add.s64 is one IMAD.WIDE, shl + add one LEA; an addition of a
 *   constant whose result only serves as an address becomes the offset of the access.
 * - Predicate logic joins the comparison (ISETP.GE.OR).
 * - Four (two) loads of 4 bytes from shared memory, side by side from an address known to be a
 *   multiple of 16 (8), become one LDS.128 (.64). For that the assembler must see the alignment:
 *   it does in arrays it places itself, and in extern arrays as far as they are declared aligned.
 * - Division and remainder of integers have no instruction: some 20 instead (64 bits: 70).
 * - 64-bit integer operations are two of 32 bits.
 * - A loop of one block that counts by a constant is unrolled four times more, unless the PTX says
 *   nounroll: its end is reached once for four turns, and steps of addresses become offsets.
 * - Additions, moves and shifts are shared out between the integer pipe and the multipliers of the
 *   FP32 pipe (IMAD.IADD, IMAD.MOV, IMAD.SHL): half of them each.
 */
#include "emu/count/machine.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { VARIES_BY_LANE = 1, VARIES_BY_BLOCK = 2 };
enum { NO_MORE = -1, UNKNOWN = -2 }; /* definitions */
#define DEPTH 12                     /* definitions followed back for an alignment */

struct study {
	const struct ir *ir;
	struct machine *m;
	uint8_t *varies; /* per register */
	uint16_t *uses;  /* per register */
	uint16_t *address_uses;
	int32_t *last_def;     /* per register: its last definition, or NO_MORE, UNKNOWN */
	int32_t *def_before;   /* per operation: the one before it of its result */
	bool *visiting;        /* per register */
	unsigned shared_align; /* that the assembler knows of shared arrays, bytes */
};

/* --- who differs from whom --- */

static uint8_t of_source(const struct study *s, const struct xsrc *src)
{
	return src->kind == S_REG ? s->varies[src->reg] : 0;
}

static uint8_t of_result(const struct study *s, const struct xop *x)
{
	uint8_t v = x->guard >= 0 ? s->varies[x->guard] : 0;
	for (unsigned i = 0; i < x->n_s; i++)
		v |= of_source(s, &x->s[i]);
	switch (x->kind) {
	case X_SPECIAL:
		switch ((enum ptx_special)x->op) {
		case SR_CTAID_X:
		case SR_CTAID_Y:
		case SR_CTAID_Z: return v | VARIES_BY_BLOCK;
		case SR_SMID: return v | VARIES_BY_BLOCK;
		default: return v | VARIES_BY_LANE;
		}
	case X_LD: /* what lies at one address may be another block's business, but not another lane's
	            */
		return x->space == SPACE_CONST ? v : (uint8_t)(v | VARIES_BY_BLOCK);
	case X_CLOCK:
	case X_ATOM:
	case X_SHFL:
	case X_ACTIVE:
	case X_ELECT:
	case X_MATCH: return VARIES_BY_LANE | VARIES_BY_BLOCK;
	default: return v;
	}
}

static void find_varying(struct study *s)
{
	bool changed = true;
	while (changed) {
		changed = false;
		for (unsigned o = 0; o < s->ir->n_ops; o++) {
			const struct xop *x = &s->ir->ops[o];
			if (!x->n_d)
				continue;
			const uint8_t v = of_result(s, x);
			for (unsigned i = 0; i < x->n_d; i++)
				if (x->d[i] >= 0 && (s->varies[x->d[i]] | v) != s->varies[x->d[i]]) {
					s->varies[x->d[i]] |= v;
					changed = true;
				}
		}
	}
}

static void count_uses(struct study *s)
{
	for (unsigned o = 0; o < s->ir->n_ops; o++) {
		const struct xop *x = &s->ir->ops[o];
		for (unsigned i = 0; i < x->n_s; i++)
			if (x->s[i].kind == S_REG) {
				s->uses[x->s[i].reg]++;
				if (x->mem >= 0 && i == 0)
					s->address_uses[x->s[i].reg]++;
			}
	}
}

/* --- alignment --- */

static unsigned zeros_of_value(uint64_t v)
{
	return v ? (unsigned)__builtin_ctzll(v) : 64;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned low_zeros(struct study *s, const struct xsrc *src, unsigned depth);

static unsigned zeros_of_result(struct study *s, const struct xop *x, unsigned depth)
{
	if (x->kind != X_OP || s->ir->func->insts[x->pc].op == OP_LD) /* a parameter: known here only */
		return 0;
	const unsigned a = low_zeros(s, &x->s[0], depth);
	const unsigned b = x->n_s > 1 ? low_zeros(s, &x->s[1], depth) : 0;
	switch (x->op) {
	case E_mov_b32:
	case E_mov_b64:
	case E_zext64:
	case E_sext64:
	case E_trunc32: return a;
	case E_add_b32:
	case E_sub_b32:
	case E_add_b64:
	case E_sub_b64:
	case E_or_b32: return least(a, b);
	case E_and_b32: return a > b ? a : b;
	case E_mul_lo_b32:
	case E_mul_lo_b64:
	case E_mul_wide_s32:
	case E_mul_wide_u32: return least(a + b, 64);
	case E_mad_lo_b32: return least(a + b, low_zeros(s, &x->s[2], depth));
	case E_shl_b32:
	case E_shl_b64: return x->s[1].kind == S_CONST ? least(a + (unsigned)x->s[1].value, 64) : a;
	default: return 0;
	}
}

/* Low bits of @src that are zero whatever the launch: of all that may have been put there. A
 * register that a loop moves on is looked at once; what it begins with and its steps decide. */
static unsigned low_zeros(struct study *s, const struct xsrc *src, unsigned depth)
{
	if (src->kind == S_CONST)
		return zeros_of_value(src->value);
	if (src->kind != S_REG || depth == 0)
		return 0;
	if (s->visiting[src->reg])
		return 64;
	s->visiting[src->reg] = true;
	int32_t o = s->last_def[src->reg];
	unsigned all = 64;
	for (; o >= 0 && all; o = s->def_before[o])
		all = least(all, zeros_of_result(s, &s->ir->ops[o], depth - 1));
	s->visiting[src->reg] = false;
	return o == NO_MORE ? all : 0;
}

static void find_definitions(struct study *s)
{
	for (unsigned r = 0; r < s->ir->n_regs; r++)
		s->last_def[r] = NO_MORE;
	for (uint32_t o = 0; o < s->ir->n_ops; o++) {
		const struct xop *x = &s->ir->ops[o];
		s->def_before[o] = NO_MORE;
		for (unsigned i = 0; i < x->n_d; i++) {
			if (x->d[i] < 0)
				continue;
			if (x->n_d == 1)
				s->def_before[o] = s->last_def[x->d[i]];
			s->last_def[x->d[i]] = x->n_d == 1 ? (int32_t)o : UNKNOWN;
		}
	}
}

/* Arrays inside the kernel are placed by the assembler, on 16 bytes at least; extern ones of this
 * kernel may begin anywhere that their declared alignment allows. */
static unsigned shared_alignment(const struct ir *ir)
{
	unsigned align = 16;
	for (unsigned i = 0; i < ir->func->n_insts; i++) {
		const struct ptx_inst *in = &ir->func->insts[i];
		for (unsigned k = 0; k < in->n_opnds; k++) {
			const struct ptx_operand *o = &in->opnd[k];
			const bool named =
				o->kind == OPND_SYMBOL || (o->kind == OPND_ADDR && o->addr_base == ADDR_SYMBOL);
			if (!named || o->symbol < 0)
				continue;
			const struct ptx_var *v = &ir->module->vars[o->symbol];
			if (v->space == SPACE_SHARED && v->is_extern && v->align < align)
				align = v->align;
		}
	}
	return align ? align : 1;
}

/* --- loads that become one --- */

static bool plain_shared_word(const struct xop *x)
{
	return x->kind == X_LD && x->space == SPACE_SHARED && x->bytes == 4 && x->vec == 1 &&
	       x->guard < 0;
}

static bool same_base(const struct xop *a, const struct xop *b)
{
	const struct xsrc *s = &a->s[0], *t = &b->s[0];
	if (s->kind != t->kind)
		return false;
	return s->kind == S_REG ? s->reg == t->reg : s->kind == S_CONST;
}

static int64_t place_of(const struct xop *x)
{
	return x->offset + (x->s[0].kind == S_CONST ? (int64_t)x->s[0].value : 0);
}

/* The load of the word at @place from @lead's base, up to @end; -1 = none. What the base register
 * holds must not change, nothing may be stored in between. */
static int32_t find_word(const struct ir *ir, uint32_t lead, uint32_t end, int64_t place)
{
	const struct xop *x = &ir->ops[lead];
	for (uint32_t o = lead; o < end; o++) {
		const struct xop *y = &ir->ops[o];
		if (y->kind == X_BAR || (y->kind == X_ST && y->space != SPACE_GLOBAL) || y->kind == X_ASYNC)
			return -1;
		if (plain_shared_word(y) && same_base(x, y) && place_of(y) == place)
			return (int32_t)o;
		for (unsigned i = 0; x->s[0].kind == S_REG && i < y->n_d; i++)
			if (y->d[i] == x->s[0].reg)
				return -1;
	}
	return -1;
}

static void merge_from(struct study *s, uint32_t lead, uint32_t end)
{
	const struct xop *x = &s->ir->ops[lead];
	const unsigned base = x->s[0].kind == S_CONST ? 64 : low_zeros(s, &x->s[0], DEPTH);
	for (unsigned words = 4; words >= 2; words /= 2) {
		const unsigned bytes = 4 * words;
		const int64_t first = place_of(x) & ~(int64_t)(bytes - 1);
		int32_t with[4];
		bool all = bytes <= s->shared_align && (base >= 64 || (1u << least(base, 31)) >= bytes);
		for (unsigned w = 0; all && w < words; w++) {
			with[w] = find_word(s->ir, lead, end, first + 4 * w);
			all = with[w] >= 0 && !s->m->op[with[w]].merged;
		}
		if (!all)
			continue;
		for (unsigned w = 0; w < words; w++)
			s->m->op[with[w]].merged = with[w] != (int32_t)lead;
		s->m->op[lead].words = (uint8_t)words;
		return;
	}
}

static void merge_loads(struct study *s)
{
	for (unsigned b = 0; b < s->ir->n_blocks; b++)
		for (uint32_t o = s->ir->blocks[b].first; o < s->ir->blocks[b].end; o++)
			if (plain_shared_word(&s->ir->ops[o]) && !s->m->op[o].merged)
				merge_from(s, o, s->ir->blocks[b].end);
}

/* --- loops --- */

#define UNROLLED 4

/* reg = reg + a constant that stands in the text? */
static bool steps_by_constant(const struct ir *ir, const struct xop *x)
{
	const struct ptx_inst *in = &ir->func->insts[x->pc];
	return x->kind == X_OP && (in->op == OP_ADD || in->op == OP_SUB) && x->n_d == 1 &&
	       x->s[0].kind == S_REG && x->s[0].reg == x->d[0] && in->opnd[2].kind == OPND_INT;
}

static bool unrolls(const struct ir *ir, uint32_t b)
{
	const struct xblock *x = &ir->blocks[b];
	const struct xop *branch = &ir->ops[x->end - 1], *test = NULL;
	if (branch->kind != X_BRA || branch->guard < 0 || x->succ[0] != (int32_t)b ||
	    ir->func->insts[ir->ops[x->first].pc].nounroll)
		return false;
	for (uint32_t o = x->first; o < x->end; o++) {
		const struct xop *y = &ir->ops[o];
		if (y->kind == X_BAR || y->kind == X_BARRED)
			return false;
		if (y->kind == X_CMP && y->n_d && y->d[0] == branch->guard)
			test = y;
	}
	for (uint32_t o = x->first; test && o < x->end; o++)
		if (steps_by_constant(ir, &ir->ops[o]) && test->s[0].kind == S_REG &&
		    ir->ops[o].d[0] == test->s[0].reg)
			return true;
	return false;
}

static void unroll_loops(struct machine *m, const struct ir *ir)
{
	for (uint32_t b = 0; b < ir->n_blocks; b++) {
		m->turns[b] = 1;
		if (!unrolls(ir, b))
			continue;
		m->turns[b] = UNROLLED;
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			const struct xop *x = &ir->ops[o];
			struct machine_op *r = &m->op[o];
			if (x->kind != X_BRA && x->kind != X_CMP && !steps_by_constant(ir, x))
				continue;
			r->slots /= UNROLLED;
			r->int_slots /= UNROLLED;
			r->fp32_slots /= UNROLLED;
		}
	}
}

/* --- instructions --- */

static const struct xop *definition(const struct ir *ir, const struct xsrc *src)
{
	const int32_t o = src->kind == S_REG ? ir->only_def[src->reg] : -1;
	return o >= 0 ? &ir->ops[o] : NULL;
}

/* Is @src made by an instruction that an addition can join: a product, a shift, a widening? */
static bool joins_addition(const struct study *s, const struct xsrc *src)
{
	const struct xop *x = definition(s->ir, src);
	if (!x || x->kind != X_OP)
		return false;
	return x->op == E_mul_wide_s32 || x->op == E_mul_wide_u32 || x->op == E_shl_b64 ||
	       x->op == E_sext64 || x->op == E_zext64;
}

static bool wide(const struct ptx_inst *in)
{
	return ptx_type_bytes(in->type) == 8 && in->type != PTX_F64;
}

/* Only an address plus a constant? Then it is the offset of the accesses. */
static bool becomes_offset(const struct study *s, const struct xop *x)
{
	const bool constant = x->s[1].kind == S_CONST || x->s[0].kind == S_CONST;
	const int32_t d = x->n_d ? x->d[0] : -1;
	return x->kind == X_OP && x->n_s == 2 && constant && d >= 0 && s->uses[d] == s->address_uses[d];
}

static float additions(const struct study *s, const struct xop *x, const struct ptx_inst *in)
{
	if (in->op == OP_ADD && becomes_offset(s, x))
		return 0;
	if (!wide(in))
		return 1;
	return joins_addition(s, &x->s[0]) || joins_addition(s, &x->s[1]) ? 0 : 2;
}

/* A shift that only feeds additions is part of them (LEA). */
static bool feeds_additions(const struct study *s, uint32_t o)
{
	const struct xop *x = &s->ir->ops[o];
	const int32_t d = x->n_d == 1 ? x->d[0] : -1;
	if (d < 0 || s->ir->only_def[d] < 0)
		return false;
	unsigned found = 0;
	const uint32_t far = o + 64;
	for (uint32_t p = o + 1; p < s->ir->n_ops && p < far; p++) {
		const struct xop *y = &s->ir->ops[p];
		if (y->kind != X_OP || y->op != E_add_b32)
			continue;
		found += (unsigned)((y->s[0].kind == S_REG && y->s[0].reg == d) ||
		                    (y->s[1].kind == S_REG && y->s[1].reg == d));
	}
	return found && found == s->uses[d];
}

static void arithmetic(const struct study *s, uint32_t o, const struct ptx_inst *in,
                       struct machine_op *r)
{
	const struct xop *x = &s->ir->ops[o];
	const bool f64 = in->type == PTX_F64 || in->type2 == PTX_F64;
	const bool real = in->type >= PTX_F16 && in->type <= PTX_F64;
	r->slots = wide(in) ? 2 : 1;
	r->pipe = f64 ? MP_FP64 : real ? MP_FP32 : MP_INT;
	switch (in->op) {
	case OP_ADD:
	case OP_SUB:
		if (!real)
			r->slots = additions(s, x, in);
		break;
	case OP_MUL:
	case OP_MAD:
		if (!real) {
			r->pipe = MP_FP32; /* IMAD */
			r->slots = wide(in) && !(in->flags & PF_WIDE) ? 4 : 1;
		}
		break;
	case OP_DIV:
	case OP_REM:
		r->divides = !real;
		r->slots = real ? (in->flags & PF_APPROX ? 2 : 10) : wide(in) ? 70 : 20;
		break;
	case OP_MIN:
	case OP_MAX: r->pipe = f64 ? MP_FP64 : MP_INT; break;
	default: break;
	}
}

static void moves(const struct ptx_inst *in, const struct xop *x, struct machine_op *r)
{
	r->pipe = MP_INT;
	if (in->op == OP_CVTA || in->op == OP_MOV)
		r->slots = x->kind == X_SPECIAL ? 1 : 0;
	else if (in->op == OP_CVT) {
		const bool from = in->type >= PTX_F16 && in->type <= PTX_F64;
		const bool to = in->type2 >= PTX_F16 && in->type2 <= PTX_F64;
		r->pipe = from || to ? MP_SFU : MP_INT;
		r->slots = from || to || ptx_type_bytes(in->type) < 8 ? 1 : 0;
	} else {
		r->slots = 1;
	}
}

static bool may_multiply(const struct ptx_inst *in)
{
	return in->op == OP_ADD || in->op == OP_SUB || in->op == OP_SHL || in->op == OP_MOV ||
	       in->op == OP_CVT;
}

static struct machine_op translate(const struct study *s, uint32_t o)
{
	const struct xop *x = &s->ir->ops[o];
	const struct ptx_inst *in = &s->ir->func->insts[x->pc];
	struct machine_op r = {
		.slots = 1, .pipe = MP_INT, .merged = s->m->op[o].merged, .words = s->m->op[o].words
	};
	switch (ptx_op_class(in->op)) {
	case CLASS_INT:
	case CLASS_FP32_64: arithmetic(s, o, in, &r); break;
	case CLASS_SFU:
		r.pipe = in->type == PTX_F64 ? MP_FP64 : MP_SFU;
		r.slots = in->flags & PF_APPROX ? 1 : 8; /* sqrt.rn and the like refine their result */
		break;
	case CLASS_CMP: r.slots = wide(in) ? 2 : 1; break;
	case CLASS_LOGIC:
		if (in->type == PTX_PRED)
			r.slots = 0;
		else if (in->op == OP_SHL && feeds_additions(s, o))
			r.slots = 0;
		else
			r.slots = wide(in) ? 2 : 1;
		break;
	case CLASS_MOVE: moves(in, x, &r); break;
	case CLASS_MEM:
		r.pipe = MP_LDST;
		r.slots = x->mem < 0 || x->space == SPACE_CONST || r.merged ? 0 : 1;
		break;
	case CLASS_ATOMIC: r.pipe = MP_LDST; break;
	case CLASS_CONTROL:
		r.pipe = MP_FLOW;
		r.slots = in->op == OP_BRA && x->guard < 0 ? 0 : 1;
		break;
	case CLASS_WARP: r.pipe = MP_SHUFFLE; break;
	default: r.pipe = MP_FLOW; break;
	}
	const float shared_out = r.pipe == MP_INT && may_multiply(in) ? 0.5f : 0;
	r.int_slots = r.pipe == MP_INT ? r.slots * (1 - shared_out) : 0;
	r.fp32_slots = r.pipe == MP_FP32 ? r.slots : r.slots * shared_out;
	r.uniform = x->n_d && x->d[0] >= 0 && !(s->varies[x->d[0]] & VARIES_BY_LANE);
	r.lane_choice = x->kind == X_BRA && x->guard >= 0 && s->varies[x->guard] & VARIES_BY_LANE;
	return r;
}

void machine_build(struct machine *m, const struct ir *ir)
{
	m->op = mem_calloc(ir->n_ops + 1, sizeof *m->op);
	m->turns = mem_zalloc(ir->n_blocks + 1);
	struct study s = { .ir = ir,
		               .m = m,
		               .varies = mem_zalloc(ir->n_regs + 1),
		               .uses = mem_calloc(ir->n_regs + 1, sizeof *s.uses),
		               .address_uses = mem_calloc(ir->n_regs + 1, sizeof *s.address_uses),
		               .last_def = mem_calloc(ir->n_regs + 1, sizeof *s.last_def),
		               .def_before = mem_calloc(ir->n_ops + 1, sizeof *s.def_before),
		               .visiting = mem_zalloc(ir->n_regs + 1),
		               .shared_align = shared_alignment(ir) };
	find_varying(&s);
	count_uses(&s);
	find_definitions(&s);
	merge_loads(&s);
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		if (ir->ops[o].first)
			m->op[o] = translate(&s, o);
		const struct xop *x = &ir->ops[o];
		m->op[o].one_address = x->mem >= 0 && !of_source(&s, &x->s[0]);
	}
	unroll_loops(m, ir);
	free(s.varies);
	free(s.uses);
	free(s.address_uses);
	free(s.last_def);
	free(s.def_before);
	free(s.visiting);
}

void machine_free(struct machine *m)
{
	free(m->op);
	free(m->turns);
	*m = (struct machine){ 0 };
}
