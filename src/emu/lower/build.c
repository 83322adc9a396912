/* Building operations one after the other; see build.h. */
#include "emu/lower/build.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

int32_t low_temp(struct lower *l, unsigned bytes)
{
	struct ir *ir = l->ir;
	MEM_ROOM(ir->regs, ir->n_regs, ir->cap_regs, 64);
	ir->regs[ir->n_regs] =
		(struct xreg){ .bytes = (uint8_t)bytes, .fixed = l->part && l->part->called };
	return (int32_t)ir->n_regs++;
}

struct xop *low_emit(struct lower *l, enum xkind kind)
{
	struct ir *ir = l->ir;
	MEM_ROOM(ir->ops, ir->n_ops, ir->cap_ops, 256);
	struct xop *x = &ir->ops[ir->n_ops++];
	const bool counts = l->guard >= 0 && !l->counted;
	*x = (struct xop){
		.kind = kind,
		.first = l->first,
		.counts = counts,
		.guard = l->guard,
		.guard_neg = l->guard_neg,
		.pc = l->pc,
		.mem = -1,
		.vec = 1,
	};
	l->first = false;
	l->counted |= counts;
	return x;
}

bool low_refuse_at(struct lower *l, const struct lower_refusal *r)
{
	if (!l->failed && l->env->refused) {
		l->env->refused(l->env->ctx, r);
	} else if (!l->failed) {
		char line[32] = "";
		size_t len;
		const char *name = ptx_short_name(l->name, &len);
		if (r->line)
			snprintf(line, sizeof line, ":%u", r->line);
		err_set(l->err, ERR_UNSUPPORTED,
		        l->ir->func ? "%s%s: %.*s: '%s' (PTX line %u): %s"
		                    : "%s%s: %.*s: '%s' (machine code, offset 0x%x): %s",
		        l->source_file, line, (int)len, name, r->what, r->listing, r->why);
		err_remedy(l->err, "%s", r->remedy);
	}
	l->failed = true;
	return false;
}

bool(low_refuse)(struct lower *l, const char *fmt, ...)
{
	char why[256];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	if (l->in && n > 0 && (size_t)n < sizeof why)
		snprintf(why + n, sizeof why - (size_t)n, "; PTX ISA %s", ptx_op_section(l->in->op));
	const struct ir_inst *in = &l->ir->insts[l->pc];
	const struct lower_refusal r = { in->text, why,
		                             "run this kernel with the cuda back end, or rewrite that line",
		                             in->line, in->listing };
	return low_refuse_at(l, &r);
}

bool low_needs(struct lower *l, int cc)
{
	if (!l->env->cc || l->env->cc >= cc)
		return true;
	return low_refuse(l, "it needs compute capability %d.%d, the GPU has %d.%d", cc / 10, cc % 10,
	                  l->env->cc / 10, l->env->cc % 10);
}

static int32_t op_n(struct lower *l, enum emu_op op, int32_t d, unsigned n, const struct xsrc *s)
{
	if (d < 0)
		d = low_temp(l, emu_ops[op].d_bytes);
	struct xop *x = low_emit(l, X_OP);
	x->op = (uint16_t)op;
	x->n_d = 1;
	x->d[0] = d;
	x->n_s = (uint8_t)n;
	for (unsigned i = 0; i < n; i++)
		x->s[i] = s[i];
	return d;
}
int32_t low_op1(struct lower *l, enum emu_op op, int32_t d, struct xsrc a)
{
	return op_n(l, op, d, 1, &a);
}
int32_t low_op2(struct lower *l, enum emu_op op, int32_t d, struct xsrc a, struct xsrc b)
{
	return op_n(l, op, d, 2, (struct xsrc[]){ a, b });
}
int32_t low_op3(struct lower *l, enum emu_op op, int32_t d, struct xsrc a, struct xsrc b,
                struct xsrc c)
{
	return op_n(l, op, d, 3, (struct xsrc[]){ a, b, c });
}
int32_t low_op4(struct lower *l, enum emu_op op, int32_t d, struct xsrc a, struct xsrc b,
                struct xsrc c, struct xsrc e)
{
	return op_n(l, op, d, 4, (struct xsrc[]){ a, b, c, e });
}

/* The sixteenth part of 2^64 stands for one nanosecond a cycle, at 1000 MHz. */
int32_t low_clock(struct lower *l, bool nanoseconds)
{
	const int32_t cycles = low_temp(l, 8);
	struct xop *x = low_emit(l, X_CLOCK);
	x->n_d = 1;
	x->d[0] = cycles;
	if (!nanoseconds || l->env->clock_mhz <= 0)
		return cycles;
	const uint64_t ns_per_cycle = (uint64_t)(0x1p60 * 1000 / l->env->clock_mhz);
	const struct xsrc sixteenths =
		src_reg(low_op2(l, E_shl_b64, -1, src_reg(cycles), src_const(4)));
	return low_op2(l, E_mul_hi_u64, -1, sixteenths, src_const(ns_per_cycle));
}

int32_t low_bool(struct lower *l, int32_t p, enum ptx_boolop op, struct xsrc a, struct xsrc b)
{
	if (p < 0)
		p = low_temp(l, 0);
	struct xop *x = low_emit(l, X_PRED);
	x->op = (uint16_t)op;
	x->n_d = 1;
	x->d[0] = p;
	x->n_s = op == BOOL_NONE ? 1 : 2;
	x->s[0] = a;
	x->s[1] = b;
	return p;
}

int32_t low_select(struct lower *l, int32_t d, unsigned bytes, struct xsrc a, struct xsrc b,
                   struct xsrc p)
{
	if (d < 0)
		d = low_temp(l, bytes);
	struct xop *x = low_emit(l, X_SEL);
	x->n_d = 1;
	x->d[0] = d;
	x->n_s = 3;
	x->bytes = (uint8_t)bytes;
	x->s[0] = a;
	x->s[1] = b;
	x->s[2] = p;
	return d;
}

/* --- lanes of a warp, all of which take part --- */

static void exchanges(struct xop *x, enum ptx_mode mode, enum ptx_type type, int32_t d, int32_t p)
{
	x->op = (uint16_t)mode;
	x->type = type;
	x->bytes = type == PTX_B64 ? 8 : 4;
	x->n_d = 2;
	x->d[0] = d;
	x->d[1] = p;
}

void low_set_vote(struct xop *x, enum ptx_mode mode, int32_t d, struct xsrc p)
{
	exchanges(x, mode, mode == MODE_BALLOT ? PTX_B32 : PTX_PRED, d, -1);
	x->n_d = 1;
	x->n_s = 2;
	x->s[0] = p;
	x->s[1] = src_const(0xffffffffu);
}

void low_set_shuffle(struct xop *x, enum ptx_mode mode, int32_t d, int32_t p, struct xsrc value,
                     struct xsrc lane, struct xsrc limits)
{
	exchanges(x, mode, PTX_B32, d, p);
	x->n_s = 3;
	x->s[0] = value;
	x->s[1] = lane;
	x->s[2] = limits;
}

void low_set_match(struct lower *l, struct xop *x, enum ptx_mode mode, bool wide, int32_t d,
                   int32_t p, struct xsrc value)
{
	exchanges(x, mode, wide ? PTX_B64 : PTX_B32, d, p);
	x->mem = (int32_t)l->ir->n_mem++;
	x->n_s = 2;
	x->s[0] = value;
	x->s[1] = src_const(0xffffffffu);
}

struct xsrc low_from_lane(struct lower *l, struct xsrc value, struct xsrc lane)
{
	const int32_t d = low_temp(l, 4);
	low_set_shuffle(low_emit(l, X_SHFL), MODE_IDX, d, -1, value, lane, src_const(31));
	return src_reg(d);
}
