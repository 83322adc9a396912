/*
 * Operands of PTX instructions as sources and destinations. Parameters, launch dimensions and
 * addresses of variables are known here and become constants.
 */
#include "emu/lower/lower_inst.h"

#include "base/text.h"

unsigned low_reg_bytes(const struct lower *l, int32_t reg)
{
	return l->ir->regs[reg].bytes;
}

/* The same of clusters (ISA 10). A block that is in none is one of its own. */
static bool cluster_constant(const struct lower *l, enum ptx_special sr, uint64_t *value)
{
	const struct launch_plan *p = l->env->plan;
	const uint32_t grid[3] = { p->grid.x, p->grid.y, p->grid.z };
	uint32_t size[3], all = 1;
	for (unsigned k = 0; k < 3; k++) {
		size[k] = l->env->cluster[k] ? l->env->cluster[k] : 1;
		all *= size[k];
	}
	const bool first = (sr == SR_CLUSTER_CTARANK && all == 1) ||
	                   (sr >= SR_CLUSTER_CTAID_X && sr <= SR_CLUSTER_CTAID_Z &&
	                    size[sr - SR_CLUSTER_CTAID_X] == 1);
	if (sr >= SR_NCLUSTERID_X && sr <= SR_NCLUSTERID_Z)
		*value = grid[sr - SR_NCLUSTERID_X] / size[sr - SR_NCLUSTERID_X];
	else if (sr >= SR_CLUSTER_NCTAID_X && sr <= SR_CLUSTER_NCTAID_Z)
		*value = size[sr - SR_CLUSTER_NCTAID_X];
	else if (sr == SR_CLUSTER_NCTARANK)
		*value = all;
	else if (sr == SR_IS_EXPLICIT_CLUSTER)
		*value = l->env->explicit_cluster;
	else if (sr == SR_RESERVED_END || sr == SR_RESERVED_CAP)
		*value = l->env->shared_bytes + l->env->reserved_bytes;
	else if (sr >= SR_RESERVED_BEGIN && sr <= SR_RESERVED_1)
		*value = l->env->shared_bytes;
	else if (first)
		*value = 0;
	else
		return false;
	return true;
}

/* Special registers that a launch makes constant; false = @sr varies inside it. */
static bool launch_constant(const struct lower *l, enum ptx_special sr, uint64_t *value)
{
	const struct launch_plan *p = l->env->plan;
	const uint64_t threads = (uint64_t)p->block.x * p->block.y * p->block.z;
	const uint32_t block[3] = { p->block.x, p->block.y, p->block.z };
	const uint32_t grid[3] = { p->grid.x, p->grid.y, p->grid.z };
	if (sr >= SR_NTID_X && sr <= SR_NTID_Z)
		*value = block[sr - SR_NTID_X];
	else if (sr >= SR_NCTAID_X && sr <= SR_NCTAID_Z)
		*value = grid[sr - SR_NCTAID_X];
	else if (sr == SR_NWARPID)
		*value = ceil_div(threads, 32);
	else if (sr == SR_NSMID)
		*value = l->env->sm_count;
	else if (sr == SR_ENVREG1)
		*value = l->env->workspace >> 32;
	else if (sr == SR_ENVREG2)
		*value = l->env->workspace & 0xffffffffu;
	else if (sr >= SR_CLUSTERID_X && sr <= SR_RESERVED_1)
		return cluster_constant(l, sr, value);
	else if (sr == SR_GRIDID || sr == SR_CURRENT_GRAPH_EXEC ||
	         (sr >= SR_CTAID_X && sr <= SR_CTAID_Z && grid[sr - SR_CTAID_X] == 1))
		*value = 0;
	else if (sr == SR_DYNAMIC_SMEM_SIZE)
		*value = p->dynamic_shared_bytes;
	else if (sr == SR_TOTAL_SMEM_SIZE || sr == SR_AGGR_SMEM_SIZE)
		*value = l->env->shared_bytes;
	else
		return false;
	return true;
}

/* A 64-bit counter, or one of its halves. */
static struct xsrc clock_register(struct lower *l, enum ptx_special sr)
{
	const bool wide = sr == SR_CLOCK64 || sr == SR_GLOBALTIMER;
	const bool high = sr == SR_CLOCK_HI || sr == SR_GLOBALTIMER_HI;
	const bool timer = sr == SR_GLOBALTIMER || sr == SR_GLOBALTIMER_LO || sr == SR_GLOBALTIMER_HI;
	const int32_t t = low_clock(l, timer);
	return src_reg(wide ? t : low_op1(l, high ? E_hi32 : E_trunc32, -1, src_reg(t)));
}

struct xsrc low_special(struct lower *l, enum ptx_special sr)
{
	uint64_t value;
	if (sr >= SR_CLUSTERID_X && sr <= SR_CLUSTERID_Z &&
	    l->env->cluster[sr - SR_CLUSTERID_X] <= 1) /* the block's own number */
		sr = (enum ptx_special)(SR_CTAID_X + (sr - SR_CLUSTERID_X));
	if (launch_constant(l, sr, &value))
		return src_const(value);
	switch (sr) {
	case SR_CLOCK:
	case SR_CLOCK_HI:
	case SR_CLOCK64:
	case SR_GLOBALTIMER:
	case SR_GLOBALTIMER_LO:
	case SR_GLOBALTIMER_HI: return clock_register(l, sr);
	default: break;
	}
	const int32_t t = low_temp(l, 4);
	struct xop *x = low_emit(l, X_SPECIAL);
	x->op = (uint16_t)sr;
	x->n_d = 1;
	x->d[0] = t;
	return src_reg(t);
}

struct xsrc low_address(struct lower *l, int32_t symbol, int64_t *offset)
{
	if (symbol < 0 && !l->part->called)
		return src_const(l->env->param_base + l->part->f->params[-1 - symbol].offset);
	if (symbol < 0 || l->ir->module->vars[symbol].space == SPACE_PARAM) {
		low_refuse(l, "the address of a parameter of a function cannot be taken");
		return src_const(0);
	}
	const struct ptx_var *v = &l->ir->module->vars[symbol];
	if (v->space != SPACE_LOCAL)
		return src_const(l->env->var_addr[symbol]);
	if (!l->part->recursive)
		return src_const(l->part->local_base + v->offset);
	*offset += (int64_t)v->offset;
	return src_reg(l->frame);
}

struct xsrc low_resize(struct lower *l, struct xsrc s, unsigned have, unsigned want)
{
	if (s.kind != S_REG || have == want || have == 0 || want == 0)
		return s;
	return src_reg(low_op1(l, want > have ? E_zext64 : E_trunc32, -1, s));
}

/* The bits of a number that stands as operand @i. Of a 16-bit type it is zero-extended as every
 * value of one is: div.u16 %rs1, -3, %rs2 divides 65533. */
static uint64_t number_bits(const struct ptx_inst *in, unsigned i, unsigned bytes)
{
	const bool converts = in->op == OP_CVT || in->op == OP_SET;
	const bool third = i == 3 && (in->op == OP_SLCT || (in->flags & PF_WIDE)); /* of another type */
	if (!third && ptx_type_bytes(converts ? in->type2 : in->type) == 2)
		return 0xffff;
	return bytes == 8 ? ~(uint64_t)0 : 0xffffffffu;
}

struct xsrc low_src(struct lower *l, unsigned i, unsigned bytes)
{
	const struct ptx_operand *o = &l->in->opnd[i];
	const uint64_t width = bytes == 8 ? ~(uint64_t)0 : 0xffffffffu;
	switch (o->kind) {
	case OPND_REG: {
		struct xsrc s = src_reg(o->reg);
		s.neg = o->negated;
		return low_resize(l, s, low_reg_bytes(l, o->reg), bytes);
	}
	case OPND_INT:
	case OPND_FLOAT: return src_const((uint64_t)o->i64 & number_bits(l->in, i, bytes));
	case OPND_SPECIAL: {
		const struct xsrc s = low_special(l, o->special);
		return s.kind == S_REG ? low_resize(l, s, low_reg_bytes(l, s.reg), bytes) : s;
	}
	case OPND_SYMBOL: {
		int64_t offset = o->i64;
		const struct xsrc base = low_address(l, o->symbol, &offset);
		if (base.kind == S_CONST)
			return src_const((base.value + (uint64_t)offset) & width);
		const struct xsrc by = src_const((uint64_t)offset);
		return low_resize(l, src_reg(low_op2(l, E_add_b64, -1, base, by)), 8, bytes);
	}
	case OPND_FUNC: return src_const(function_address(o->symbol));
	default:
		low_refuse(l, "operand %u is of a kind the emulator does not know", i + 1);
		return src_const(0);
	}
}

struct xsrc low_pred(struct lower *l, unsigned i)
{
	const struct ptx_operand *o = &l->in->opnd[i];
	uint64_t value;
	if (o->kind == OPND_SPECIAL && launch_constant(l, o->special, &value))
		return src_const(value ? 0xffffffffu : 0);
	if (o->kind == OPND_INT)
		return src_const(o->i64 ? 0xffffffffu : 0);
	struct xsrc s = src_reg(o->reg);
	s.neg = o->negated;
	return s;
}

int32_t low_dst(struct lower *l, unsigned i)
{
	const struct ptx_operand *o = &l->in->opnd[i];
	return o->kind == OPND_REG ? o->reg : -1;
}

struct xsrc low_flushed(struct lower *l, struct xsrc a, enum ptx_type type)
{
	return src_reg(low_op1(l, type == PTX_F32 ? E_ftz_f32 : E_ftz_f16x2, -1, a));
}

bool low_flushes(const struct ptx_inst *in, enum ptx_type type)
{
	return in->flags & PF_FTZ && (type == PTX_F32 || type == PTX_F16 || type == PTX_F16X2);
}

struct xsrc low_sext16(struct lower *l, struct xsrc a)
{
	return src_reg(low_op1(l, E_ext_s16, -1, a));
}

/* Stores a 32-bit result into a register of a 16-bit type. */
bool low_to16(struct lower *l, int32_t r)
{
	low_op1(l, E_ext_u16, low_dst(l, 0), src_reg(r));
	return !l->failed;
}

void low_widen(struct lower *l, int32_t d, enum ptx_type type, struct xsrc v)
{
	const unsigned have = type_lane(type), want = low_reg_bytes(l, d);
	if (have == want)
		low_op1(l, want == 8 ? E_mov_b64 : E_mov_b32, d, v);
	else if (want == 8)
		low_op1(l, type_signed(type) ? E_sext64 : E_zext64, d, v);
	else
		low_op1(l, E_trunc32, d, v);
}

struct xsrc low_shared_offset(struct lower *l, unsigned i)
{
	const struct ptx_operand *m = &l->in->opnd[i];
	struct xsrc a = src_const((uint64_t)m->i64);
	if (m->addr_base == ADDR_REG) {
		const unsigned have = low_reg_bytes(l, m->reg);
		a = low_resize(l, src_reg(m->reg), have, 4);
		return src_reg(low_op2(l, E_add_b32, -1, a, src_const((uint64_t)m->i64 & 0xffffffffu)));
	}
	if (m->addr_base == ADDR_SYMBOL) {
		int64_t offset = m->i64;
		const struct xsrc base = low_address(l, m->symbol, &offset);
		a = src_const((base.value + (uint64_t)offset) & 0xffffffffu);
	}
	return src_reg(low_op1(l, E_mov_b32, -1, a));
}

/* --- what instructions of a whole warp are made of --- */

struct lanes low_lane_parts(struct lower *l)
{
	const int32_t lane = low_temp(l, 4);
	struct xop *x = low_emit(l, X_SPECIAL);
	x->op = SR_LANEID;
	x->n_d = 1;
	x->d[0] = lane;
	return (struct lanes){
		.g = src_reg(low_op2(l, E_shr_u32, -1, src_reg(lane), src_const(2))),
		.t = src_reg(low_op2(l, E_and_b32, -1, src_reg(lane), src_const(3))),
	};
}

struct xsrc low_wide_address(struct lower *l, unsigned i)
{
	const struct ptx_operand *m = &l->in->opnd[i];
	int64_t offset = m->i64;
	struct xsrc base = src_const(0);
	if (m->addr_base == ADDR_REG)
		base = low_resize(l, src_reg(m->reg), low_reg_bytes(l, m->reg), 8);
	else if (m->addr_base == ADDR_SYMBOL)
		base = low_address(l, m->symbol, &offset);
	return src_reg(low_op2(l, E_add_b64, -1, base, src_const((uint64_t)offset)));
}

static void memory_op(struct lower *l, struct xop *x, enum ptx_space space, struct xsrc address,
                      int64_t offset, enum ptx_type type)
{
	x->space = space;
	x->mem = (int32_t)l->ir->n_mem++;
	x->s[0] = address;
	x->offset = offset;
	x->n_s = 1;
	x->type = type;
	x->bytes = (uint8_t)ptx_type_bytes(type);
}

int32_t low_load(struct lower *l, enum ptx_space space, struct xsrc address, int64_t offset,
                 enum ptx_type type)
{
	const int32_t d = low_temp(l, type_lane(type));
	struct xop *x = low_emit(l, X_LD);
	memory_op(l, x, space, address, offset, type);
	x->n_d = 1;
	x->d[0] = d;
	return d;
}

void low_store(struct lower *l, enum ptx_space space, struct xsrc address, int64_t offset,
               enum ptx_type type, struct xsrc value)
{
	struct xop *x = low_emit(l, X_ST);
	memory_op(l, x, space, address, offset, type);
	x->n_s = 2;
	x->s[1] = value;
}
