/*
 * Calls of machine code. Inside a function a call is a branch: the caller has put the way back into
 * registers. A pointer to a function leads to the caller's own copy of it (machine_banks.c). What
 * the driver gives (printf, malloc, the device's runtime) is called by its name, or by an address
 * from constant bank 4, with arguments from R4 on, each aligned as in memory, and its result in R4.
 */
#include "emu/lower/sass_lower.h"

#include <string.h>

struct system_function {
	const char *name;
	enum system_call call;
	uint8_t n_args;
	uint32_t arg_bytes[SYSTEM_ARGS];
	uint32_t result_bytes;
	uint8_t align[SYSTEM_ARGS]; /* of an argument, where it is not its size */
};
static const struct system_function system_functions[] = {
	{ "vprintf", SYSTEM_PRINT, 2, { 8, 8 }, 4, { 0 } },
	{ "__assertfail", SYSTEM_ASSERT, 5, { 8, 8, 4, 8, 8 }, 0, { 0 } },
	{ "malloc", SYSTEM_MALLOC, 1, { 8 }, 8, { 0 } },
	{ "free", SYSTEM_FREE, 1, { 8 }, 0, { 0 } },
};

enum { FIRST_ARGUMENT = 4, BEHIND_ARGUMENTS = 16, RESULT = 4 };

/* A function of the device's runtime, with the arguments of its declaration in the PTX. */
static bool runtime_function(const struct sass_lower *s, const char *name,
                             struct system_function *f)
{
	const struct ptx_module *m = s->env->module;
	const int call = system_runtime_call(name);
	const struct ptx_func *p = NULL;
	for (unsigned k = 0; m && call >= 0 && call != SYSTEM_CALLS && k < m->n_funcs; k++)
		if (!strcmp(m->funcs[k].name, name))
			p = &m->funcs[k];
	if (!p || p->n_params > SYSTEM_ARGS || p->n_rets > 1)
		return false;
	*f = (struct system_function){ .name = name,
		                           .call = (enum system_call)call,
		                           .n_args = (uint8_t)p->n_params };
	for (unsigned k = 0; k < p->n_params; k++) {
		f->arg_bytes[k] = p->params[k].size;
		f->align[k] = (uint8_t)p->params[k].align;
	}
	if (p->n_rets)
		f->result_bytes = p->params[p->n_params].size;
	return true;
}

static bool named(const struct sass_lower *s, const char *name, struct system_function *f)
{
	for (size_t n = 0; n < sizeof system_functions / sizeof *system_functions; n++)
		if (!strcmp(name, system_functions[n].name)) {
			*f = system_functions[n];
			return true;
		}
	return runtime_function(s, name, f);
}

/* The function that the operand names, or whose address the register holds; NULL = not known. */
static const char *called(const struct sass_lower *s, const struct sass_operand *o)
{
	const struct cubin_bank *bank = cubin_bank(&s->m->cubin, 4, (int)(s->f - s->m->funcs));
	if (o && o->kind == SASS_OPND_LABEL)
		return o->symbol;
	const struct sass_inst *i = o ? sl_writer(s->f, s->i, o->kind, o->reg) : NULL;
	const struct sass_operand *from =
		i && i->n_dsts < i->n_operands ? &i->operands[i->n_dsts] : NULL;
	int64_t place;
	if (!bank || !from || from->kind != SASS_OPND_CONST || from->bank != 4 ||
	    !sl_likely_place(s, i, from, &place))
		return NULL;
	for (unsigned k = 0; k < bank->n_relocs; k++)
		if (bank->relocs[k].offset == (uint64_t)place)
			return bank->relocs[k].symbol;
	return NULL;
}

/* Arguments of the system are words of 8 bytes: of a structure, one after the other. */
static bool system_arguments(struct sass_lower *s, const struct system_function *f,
                             struct xsrc arg[SYSTEM_ARGS], unsigned *n)
{
	unsigned at = FIRST_ARGUMENT;
	*n = 0;
	for (unsigned k = 0; k < f->n_args; k++) {
		const unsigned words = (f->arg_bytes[k] + 3) / 4;
		const unsigned align = (f->align[k] ? f->align[k] : f->arg_bytes[k]) / 4;
		at = align > 1 ? (at + align - 1) / align * align : at;
		if (at + words > BEHIND_ARGUMENTS || *n + (words + 1) / 2 > SYSTEM_ARGS)
			return sl_refuse(s, "a call with more arguments than registers hold");
		for (unsigned i = 0; i < words; i += 2) {
			const struct xsrc low = src_reg(sl_reg(s, SASS_OPND_REG, at + i));
			arg[(*n)++] = i + 1 < words ? sl_op2(s, E_pack64, low,
			                                     src_reg(sl_reg(s, SASS_OPND_REG, at + i + 1)))
			                            : sl_op1(s, E_zext64, low);
		}
		at += words;
	}
	return true;
}

static bool call_system(struct sass_lower *s, const struct system_function *f)
{
	struct xsrc arg[SYSTEM_ARGS];
	unsigned n;
	if (f->call >= SYSTEM_RUNTIME && !s->env->device_runtime)
		return sl_refuse(s, "a call of the runtime by a kernel that is run by itself");
	if (!system_arguments(s, f, arg, &n))
		return false;
	const int32_t result = f->result_bytes ? low_temp(&s->l, 8) : -1;
	struct xop *x = sl_emit(s, X_SYSTEM);
	x->mem = (int32_t)s->l.ir->n_mem++;
	x->op = (uint16_t)f->call;
	x->n_s = (uint8_t)n;
	memcpy(x->s, arg, n * sizeof *arg);
	x->n_d = result >= 0;
	x->d[0] = result;
	if (f->result_bytes >= 4)
		sl_set1(s, sl_reg(s, SASS_OPND_REG, RESULT), E_trunc32, src_reg(result));
	if (f->result_bytes == 8)
		sl_set1(s, sl_reg(s, SASS_OPND_REG, RESULT + 1), E_hi32, src_reg(result));
	return true;
}

/* The offset of the function that a pointer leads to: it is that offset, or what the PTX calls the
 * function's address. */
static struct xsrc function_offset(struct sass_lower *s, struct xsrc pointer)
{
	const struct cubin_func *f = s->f->cubin;
	const struct ptx_module *m = s->env->module;
	struct xsrc offset = sl_op1(s, E_trunc32, pointer);
	for (unsigned i = 0; m && i < f->n_inner; i++) {
		const char *name = cubin_inner_name(f, i);
		for (unsigned k = 0; name && k < m->n_funcs; k++)
			if (!strcmp(m->funcs[k].name, name)) {
				const struct xsrc address = src_const(function_address((int32_t)k));
				offset = sl_select(s, 4, src_const(f->inner[i].offset), offset,
				                   sl_cmp(s, CMP_EQ, PTX_U64, pointer, address));
			}
	}
	return offset;
}

bool sl_call(struct sass_lower *s)
{
	if (s->i->target >= 0)
		return sl_branch_to(s, s->block_of[s->i->target], sl_condition(s));
	const struct sass_operand *o = sl_src_operand(s, 0), *base = sl_src_operand(s, 1);
	if (sass_calls_by_address(s->i) && base && base->kind == SASS_OPND_LABEL && !base->value)
		return sl_branch_by_address(s, function_offset(s, sl_pair(s, SASS_OPND_REG, o->reg)));
	const char *name = sl_has(s, SASS_MOD_ABS) ? called(s, o) : NULL;
	struct system_function f;
	if (name && !strcmp(name, "__cuda_syscall_cp_async_bulk_unicast"))
		return sl_bulk_call(s, FIRST_ARGUMENT);
	if (!name || !named(s, name, &f))
		return sl_refuse(s, "a call of another function");
	return call_system(s, &f);
}

/* The address of a place in the code: here its offset in the function. */
bool sl_lepc(struct sass_lower *s)
{
	const uint32_t at = s->i->target >= 0 ? s->f->insts[s->i->target].offset : s->i->offset;
	sl_set1(s, sl_dst(s, 0), E_mov_b32, src_const(at));
	sl_set1(s, sl_dst(s, 1), E_mov_b32, src_const(0));
	return true;
}
