/* Operands of machine code as sources and destinations of operations, and the operations. */
#include "emu/lower/sass_lower.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sl_refuse(struct sass_lower *s, const char *fmt, ...)
{
	char why[200];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	return low_refuse(&s->l, "%s (%s)", why, s->i->text);
}

/* --- registers --- */

static int32_t kept(struct sass_lower *s, int32_t *slot, unsigned bytes)
{
	if (*slot < 0)
		*slot = low_temp(&s->l, bytes);
	return *slot;
}

int32_t sl_reg(struct sass_lower *s, uint8_t kind, unsigned number)
{
	if (number >= SASS_RZ)
		return -1;
	if (kind == SASS_OPND_RPC)
		return kept(s, &s->rpc[number & 1], 4);
	return kept(s, kind == SASS_OPND_UREG ? &s->ureg[number] : &s->reg[number], 4);
}

static struct xsrc reg_src(struct sass_lower *s, uint8_t kind, unsigned number)
{
	const int32_t r = sl_reg(s, kind, number);
	return r < 0 ? src_const(0) : src_reg(r);
}

static bool is_pred(const struct sass_operand *o)
{
	return o->kind == SASS_OPND_PRED || o->kind == SASS_OPND_UPRED;
}

static int32_t pred_reg(struct sass_lower *s, const struct sass_operand *o)
{
	if (o->reg >= SASS_PT)
		return -1;
	return kept(s, o->kind == SASS_OPND_UPRED ? &s->upred[o->reg] : &s->pred[o->reg], 0);
}

const struct sass_operand *sl_dst_operand(const struct sass_lower *s, unsigned n)
{
	return n < s->i->n_dsts ? &s->i->operands[n] : NULL;
}

const struct sass_operand *sl_src_operand(const struct sass_lower *s, unsigned n)
{
	n += s->i->n_dsts;
	return n < s->i->n_operands ? &s->i->operands[n] : NULL;
}

int32_t sl_dst(struct sass_lower *s, unsigned word)
{
	for (unsigned n = 0; n < s->i->n_dsts; n++) {
		const struct sass_operand *o = &s->i->operands[n];
		if (o->kind == SASS_OPND_REG || o->kind == SASS_OPND_UREG || o->kind == SASS_OPND_RPC)
			return o->reg == SASS_RZ ? -1 : sl_reg(s, o->kind, o->reg + word);
	}
	return -1;
}

int32_t sl_dst_pred(struct sass_lower *s, unsigned n)
{
	for (unsigned k = 0; k < s->i->n_dsts; k++)
		if (is_pred(&s->i->operands[k]) && !n--)
			return pred_reg(s, &s->i->operands[k]);
	return -1;
}

struct xsrc sl_pred_operand(struct sass_lower *s, const struct sass_operand *o)
{
	const int32_t p = pred_reg(s, o);
	const bool inverted = o->flags & SASS_NOT;
	if (p < 0)
		return src_const(inverted ? 0 : 0xffffffffu);
	return inverted ? src_not(src_reg(p)) : src_reg(p);
}

struct xsrc sl_pred(struct sass_lower *s, unsigned n, bool if_none)
{
	for (unsigned k = s->i->n_dsts; k < s->i->n_operands; k++)
		if (is_pred(&s->i->operands[k]) && !n--)
			return sl_pred_operand(s, &s->i->operands[k]);
	return src_const(if_none ? 0xffffffffu : 0);
}

unsigned sl_n_preds(const struct sass_lower *s)
{
	unsigned n = 0;
	for (unsigned k = s->i->n_dsts; k < s->i->n_operands; k++)
		n += is_pred(&s->i->operands[k]);
	return n;
}

/* --- pairs --- */

void sl_wrote(struct sass_lower *s, int32_t d)
{
	unsigned kept_pairs = 0;
	for (unsigned n = 0; n < s->n_pairs; n++)
		if (s->pairs[n].low != d && s->pairs[n].high != d && s->pairs[n].guard != d)
			s->pairs[kept_pairs++] = s->pairs[n];
	s->n_pairs = kept_pairs;
}

void sl_enter_block(struct sass_lower *s)
{
	s->n_pairs = 0;
	s->n_carried = 0;
}

void sl_remember_pair(struct sass_lower *s, int32_t low, int32_t high, int32_t value)
{
	if (low < 0 || high < 0 || s->guard == low || s->guard == high)
		return;
	if (s->n_pairs == SASS_MAX_PAIRS) {
		memmove(s->pairs, s->pairs + 1, (SASS_MAX_PAIRS - 1) * sizeof *s->pairs);
		s->n_pairs--;
	}
	s->pairs[s->n_pairs++] = (struct sass_pair){ low, high, value, s->guard, s->guard_neg };
}

struct xsrc sl_joined(struct sass_lower *s, struct xsrc low, struct xsrc high)
{
	if (low.kind == S_CONST && high.kind == S_CONST)
		return src_const((uint32_t)low.value | high.value << 32);
	if (high.kind == S_CONST && !high.value)
		return sl_op1(s, E_zext64, low);
	const bool registers = low.kind == S_REG && high.kind == S_REG;
	for (unsigned n = s->n_pairs; registers && n-- > 0;) {
		const struct sass_pair *p = &s->pairs[n];
		if (p->low == low.reg && p->high == high.reg &&
		    (p->guard < 0 || (p->guard == s->guard && p->guard_neg == s->guard_neg)))
			return src_reg(p->value);
	}
	return sl_op2(s, E_pack64, low, high);
}

struct xsrc sl_pair(struct sass_lower *s, uint8_t kind, unsigned number)
{
	if (number >= SASS_RZ)
		return src_const(0);
	const struct xsrc low = reg_src(s, kind, number), high = reg_src(s, kind, number + 1);
	const struct xsrc v = sl_joined(s, low, high);
	if (high.kind == S_REG && s->guard < 0)
		sl_remember_pair(s, low.reg, high.reg, v.reg);
	return v;
}

void sl_set_wide(struct sass_lower *s, struct xsrc v)
{
	const int32_t low = sl_dst(s, 0), high = sl_dst(s, 1);
	if (v.kind == S_CONST) {
		sl_set1(s, low, E_mov_b32, src_const(v.value & 0xffffffffu));
		sl_set1(s, high, E_mov_b32, src_const(v.value >> 32));
		return;
	}
	sl_set1(s, low, E_trunc32, v);
	sl_set1(s, high, E_hi32, v);
	if (!s->never)
		sl_remember_pair(s, low, high, v.reg);
}

/* --- sources --- */

static bool is_double(enum sass_op op)
{
	return sass_op_info(op)->class == SASS_CLASS_FP64;
}

/* Is a number in it the upper word of a float64? */
static bool takes_doubles(const struct sass_inst *i)
{
	return is_double(i->op) ||
	       (i->op == SASS_MUFU && (sass_has(i, SASS_MOD_RCP64H) || sass_has(i, SASS_MOD_RSQ64H)));
}

/* A number of the encoding as bits of 32; the upper half of a float64. */
static uint32_t number_bits(const struct sass_lower *s, const struct sass_operand *o)
{
	const uint32_t encoded = (uint32_t)(s->i->code[0] >> 32);
	if (o->kind == SASS_OPND_INT)
		return (uint32_t)o->value;
	if (takes_doubles(s->i) || o->number != o->number)
		return encoded;
	const float number = (float)o->number;
	return bits_f32(number);
}

static struct xsrc constant_src(struct sass_lower *s, const struct sass_operand *o, unsigned bytes)
{
	uint64_t v = 0;
	if (o->words || o->uwords || o->desc != SASS_NO_REG)
		sl_refuse(s, "the emulator does not know constants at a computed place here");
	else if (!sl_constant(s, o->bank, o->value, bytes, &v))
		sl_refuse(s, "the emulator does not know what constant bank %u holds at 0x%x", o->bank,
		          (unsigned)o->value);
	return src_const(v);
}

bool sl_constant_address(struct sass_lower *s, const struct sass_operand *o, struct xsrc *at,
                         int64_t *offset)
{
	const uint64_t base = sl_bank_address(s, o->bank);
	if (!base || o->desc != SASS_NO_REG || o->words > 1 || o->uwords > 1 || (o->words && o->uwords))
		return false;
	const uint8_t kind = o->words ? SASS_OPND_REG : SASS_OPND_UREG;
	const int32_t r = sl_reg(s, kind, o->words ? o->reg : o->ureg);
	const struct xsrc index = r < 0 ? src_const(0) : sl_op1(s, E_zext64, src_reg(r));
	*at = sl_op2(s, E_add_b64, index, src_const(base));
	*offset = o->value;
	return true;
}

/* Is @var what one file calls @name, of @len letters? Where several files have one of their own,
 * all but the last are told apart (ptx/join.c). */
static bool is_named(const char *var, const char *name, size_t len)
{
	return !strncmp(var, name, len) && (!var[len] || !strncmp(var + len, "$of", 3));
}

/* The variable number @nth of that name, in the order of the files. */
static const struct ptx_var *nth_named(const struct ptx_module *m, const char *name, size_t len,
                                       unsigned long nth)
{
	for (unsigned i = 0; i < m->n_vars; i++)
		if (is_named(m->vars[i].name, name, len) && !nth--)
			return &m->vars[i];
	return NULL;
}

/* The disassembler calls the first one NAME and those behind it NAME__0, NAME__1. */
static const struct ptx_var *variable_named(const struct ptx_module *m, const char *name)
{
	const size_t len = strlen(name);
	const struct ptx_var *v = nth_named(m, name, len, 0);
	size_t digits = 0;
	while (digits < len && name[len - 1 - digits] >= '0' && name[len - 1 - digits] <= '9')
		digits++;
	if (v || !digits || len < digits + 2 || strncmp(name + len - digits - 2, "__", 2) != 0)
		return v;
	return nth_named(m, name, len - digits - 2, 1 + strtoul(name + len - digits, NULL, 10));
}

/* The address that the PTX has for a function, or for a kernel that others launch; 0 = none. */
static uint64_t function_named(const struct ptx_module *m, const char *name)
{
	for (unsigned i = 0; m && i < m->n_funcs; i++)
		if (!strcmp(m->funcs[i].name, name))
			return function_address((int32_t)i);
	return 0;
}

static struct xsrc half_of(const struct sass_operand *o, uint64_t address)
{
	return src_const((uint32_t)(o->sel == SASS_MOD_HI ? address >> 32 : address));
}

/* Half of the address of a variable or function, which the loader fills in. */
static struct xsrc loaded_address(struct sass_lower *s, const struct sass_operand *o)
{
	const struct ptx_module *m = s->env->module;
	const struct ptx_var *v = m ? variable_named(m, o->symbol) : NULL;
	if (v && (v->space == SPACE_GLOBAL || v->space == SPACE_CONST))
		return half_of(o, s->env->var_addr[v - m->vars] + (uint64_t)o->value);
	const uint64_t function = function_named(m, o->symbol);
	if (function)
		return half_of(o, function);
	if (m || sass_func(s->m, o->symbol) || *o->symbol == '.') /* no module: it is only examined */
		sl_refuse(s, "an address that the loader fills in, of a kernel to launch or of a function "
		             "of another file");
	return src_const(0);
}

static struct xsrc plain(struct sass_lower *s, const struct sass_operand *o)
{
	switch (o ? o->kind : SASS_OPND_OTHER) {
	case SASS_OPND_REG:
	case SASS_OPND_RPC:
	case SASS_OPND_UREG: return reg_src(s, o->kind, o->reg);
	case SASS_OPND_INT:
	case SASS_OPND_FLOAT: return src_const(number_bits(s, o));
	case SASS_OPND_CONST: return constant_src(s, o, 4);
	case SASS_OPND_RELOC: return loaded_address(s, o);
	default:
		sl_refuse(s, "an operand of a kind that the emulator does not know");
		return src_const(0);
	}
}

struct xsrc sl_operand(struct sass_lower *s, const struct sass_operand *o)
{
	return plain(s, o);
}

struct xsrc sl_bits(struct sass_lower *s, unsigned n)
{
	const struct sass_operand *o = sl_src_operand(s, n);
	const struct xsrc v = plain(s, o);
	if (!o || !(o->flags & SASS_NOT))
		return v;
	return v.kind == S_CONST ? src_const(~(uint32_t)v.value) : sl_op1(s, E_not_b32, v);
}

struct xsrc sl_int(struct sass_lower *s, unsigned n)
{
	const struct sass_operand *o = sl_src_operand(s, n);
	struct xsrc v = sl_bits(s, n);
	if (o && o->flags & SASS_ABS)
		v = sl_op1(s, E_abs_s32, v);
	if (!o || !(o->flags & SASS_NEG))
		return v;
	return v.kind == S_CONST ? src_const((uint32_t) - (uint32_t)v.value)
	                         : sl_op2(s, E_sub_b32, src_const(0), v);
}

struct xsrc sl_f32(struct sass_lower *s, unsigned n)
{
	const struct sass_operand *o = sl_src_operand(s, n);
	struct xsrc v = plain(s, o);
	if (!o || o->kind == SASS_OPND_FLOAT)
		return v; /* its sign is part of the number */
	if (o->flags & SASS_ABS)
		v = v.kind == S_CONST ? src_const(v.value & 0x7fffffffu) : sl_op1(s, E_abs_f32, v);
	if (o->flags & SASS_NEG)
		v = v.kind == S_CONST ? src_const(v.value ^ 0x80000000u) : sl_op1(s, E_neg_f32, v);
	return v;
}

struct xsrc sl_wide(struct sass_lower *s, unsigned n, bool sign)
{
	const struct sass_operand *o = sl_src_operand(s, n);
	struct xsrc v;
	switch (o ? o->kind : SASS_OPND_OTHER) {
	case SASS_OPND_REG:
	case SASS_OPND_UREG: v = sl_pair(s, o->kind, o->reg); break;
	case SASS_OPND_INT:
		if (o->value < INT32_MIN || o->value > (int64_t)UINT32_MAX)
			v = src_const((uint64_t)o->value); /* a number of 64 bits */
		else
			v = src_const(sign ? (uint64_t)(int64_t)(int32_t)o->value : (uint32_t)o->value);
		break;
	case SASS_OPND_FLOAT: v = src_const(s->i->code[0] >> 32 << 32); break; /* the upper word */
	case SASS_OPND_CONST: v = constant_src(s, o, 8); break;
	default:
		sl_refuse(s, "an operand of a kind that the emulator does not know");
		return src_const(0);
	}
	if (o->kind == SASS_OPND_FLOAT || !(o->flags & (SASS_NEG | SASS_NOT)) || is_double(s->i->op))
		return v;
	return o->flags & SASS_NOT ? sl_op1(s, E_not_b64, v) : sl_op2(s, E_sub_b64, src_const(0), v);
}

struct xsrc sl_f64(struct sass_lower *s, unsigned n)
{
	const struct sass_operand *o = sl_src_operand(s, n);
	struct xsrc v = sl_wide(s, n, false);
	if (!o || o->kind == SASS_OPND_FLOAT)
		return v;
	if (o->flags & SASS_ABS)
		v = sl_op1(s, E_abs_f64, v);
	return o->flags & SASS_NEG ? sl_op1(s, E_neg_f64, v) : v;
}

/* --- operations --- */

static struct xsrc operation(struct sass_lower *s, int32_t d, enum emu_op op, unsigned n,
                             const struct xsrc *v)
{
	switch (n) {
	case 1: return src_reg(low_op1(&s->l, op, d, v[0]));
	case 2: return src_reg(low_op2(&s->l, op, d, v[0], v[1]));
	case 3: return src_reg(low_op3(&s->l, op, d, v[0], v[1], v[2]));
	default: return src_reg(low_op4(&s->l, op, d, v[0], v[1], v[2], v[3]));
	}
}

struct xsrc sl_op1(struct sass_lower *s, enum emu_op op, struct xsrc a)
{
	return operation(s, -1, op, 1, &a);
}
struct xsrc sl_op2(struct sass_lower *s, enum emu_op op, struct xsrc a, struct xsrc b)
{
	return operation(s, -1, op, 2, (struct xsrc[]){ a, b });
}
struct xsrc sl_op3(struct sass_lower *s, enum emu_op op, struct xsrc a, struct xsrc b,
                   struct xsrc c)
{
	return operation(s, -1, op, 3, (struct xsrc[]){ a, b, c });
}
struct xsrc sl_op4(struct sass_lower *s, enum emu_op op, struct xsrc a, struct xsrc b,
                   struct xsrc c, struct xsrc e)
{
	return operation(s, -1, op, 4, (struct xsrc[]){ a, b, c, e });
}

struct xsrc sl_extended(struct sass_lower *s, struct xsrc v)
{
	return v.kind == S_CONST ? src_const((uint32_t)v.value) : sl_op1(s, E_zext64, v);
}

struct xsrc sl_cmp(struct sass_lower *s, enum ptx_cmp cmp, enum ptx_type type, struct xsrc a,
                   struct xsrc b)
{
	return src_reg(low_cmp(&s->l, -1, cmp, type, a, b));
}

struct xsrc sl_bool(struct sass_lower *s, enum ptx_boolop op, struct xsrc a, struct xsrc b)
{
	return src_reg(low_bool(&s->l, -1, op, a, b));
}

struct xsrc sl_select(struct sass_lower *s, unsigned bytes, struct xsrc a, struct xsrc b,
                      struct xsrc p)
{
	return src_reg(low_select(&s->l, -1, bytes, a, b, p));
}

/* --- results --- */

static void guard_on(struct sass_lower *s)
{
	s->l.guard = s->guard;
	s->l.guard_neg = s->guard_neg;
}

static void guard_off(struct sass_lower *s, int32_t d)
{
	s->l.guard = -1;
	s->l.guard_neg = false;
	sl_wrote(s, d);
}

static void set_n(struct sass_lower *s, int32_t d, enum emu_op op, unsigned n, const struct xsrc *v)
{
	if (d < 0)
		return;
	guard_on(s);
	operation(s, d, op, n, v);
	guard_off(s, d);
}

void sl_set1(struct sass_lower *s, int32_t d, enum emu_op op, struct xsrc a)
{
	set_n(s, d, op, 1, &a);
}
void sl_set2(struct sass_lower *s, int32_t d, enum emu_op op, struct xsrc a, struct xsrc b)
{
	set_n(s, d, op, 2, (struct xsrc[]){ a, b });
}
void sl_set3(struct sass_lower *s, int32_t d, enum emu_op op, struct xsrc a, struct xsrc b,
             struct xsrc c)
{
	set_n(s, d, op, 3, (struct xsrc[]){ a, b, c });
}
void sl_set4(struct sass_lower *s, int32_t d, enum emu_op op, struct xsrc a, struct xsrc b,
             struct xsrc c, struct xsrc e)
{
	set_n(s, d, op, 4, (struct xsrc[]){ a, b, c, e });
}

void sl_set_select(struct sass_lower *s, int32_t d, struct xsrc a, struct xsrc b, struct xsrc p)
{
	if (d < 0)
		return;
	guard_on(s);
	low_select(&s->l, d, 4, a, b, p);
	guard_off(s, d);
}

void sl_set_pred(struct sass_lower *s, int32_t d, struct xsrc p)
{
	if (d < 0)
		return;
	guard_on(s);
	low_bool(&s->l, d, BOOL_NONE, p, src_const(0));
	guard_off(s, d);
}

struct xop *sl_emit(struct sass_lower *s, enum xkind kind)
{
	guard_on(s);
	struct xop *x = low_emit(&s->l, kind);
	guard_off(s, -1);
	return x;
}
