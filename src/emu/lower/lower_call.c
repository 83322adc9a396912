/*
 * Calls between functions (PTX ISA 9.0, 9.7.12, and 7.1: function calls).
 *
 * A variable of a call sequence and a function's parameter are no memory: each four bytes of them
 * are a register, its cell. Before a call the cells of the arguments are copied to cells that all
 * functions share, and at the arrival to those of the function; results go back the same way. So
 * direct and indirect calls are alike, and what parameters hold stays what it was when the function
 * calls another. Local variables of a function that calls itself lie in frames: register frame
 * says where the present one begins.
 */
#include "emu/lower/lower_inst.h"

#include "base/mem.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- cells --- */

static int32_t shared_cell(struct lower *l, struct cell_list *list, unsigned k)
{
	while (list->n <= k) {
		list->reg = mem_realloc(list->reg, list->n + 1, sizeof *list->reg);
		const int32_t r = low_temp(l, 4);
		l->ir->regs[r].fixed = l->ir->regs[r].passes = true;
		list->reg[list->n++] = r;
	}
	return list->reg[k];
}

static int32_t new_cells(struct lower *l, uint64_t bytes)
{
	const int32_t first = low_temp(l, 4);
	for (uint64_t k = 4; k < bytes; k += 4)
		low_temp(l, 4);
	return first;
}

/* A parameter variable as an instruction names it. */
struct passed {
	uint64_t bytes;
	uint32_t align;
	int32_t cell;            /* the first; -1: a parameter of the kernel */
	const uint8_t *constant; /* its bytes then */
};

static struct passed passed_param(struct lower *l, unsigned i)
{
	const struct ptx_param *p = &l->part->f->params[i];
	struct passed v = { .bytes = p->size, .align = p->align, .cell = -1 };
	if (!l->part->called) {
		v.constant = l->env->params + p->offset;
		return v;
	}
	int32_t *cell = &l->param_cell[l->part->first_param + i];
	if (*cell < 0)
		*cell = new_cells(l, v.bytes);
	v.cell = *cell;
	return v;
}

static bool passed_symbol(struct lower *l, int32_t symbol, struct passed *v)
{
	if (symbol < 0) {
		*v = passed_param(l, (unsigned)(-1 - symbol));
		return true;
	}
	const struct ptx_var *var = &l->ir->module->vars[symbol];
	if (var->space != SPACE_PARAM)
		return low_refuse(l, "'%s' is no parameter", var->name);
	if (l->var_cell[symbol] < 0)
		l->var_cell[symbol] = new_cells(l, var->size);
	*v = (struct passed){ .bytes = var->size, .align = var->align, .cell = l->var_cell[symbol] };
	return true;
}

static struct xsrc cell_value(const struct passed *v, unsigned k)
{
	if (v->cell >= 0)
		return src_reg(v->cell + (int32_t)k);
	assert(v->constant);
	uint32_t word = 0;
	for (unsigned b = 0; b < 4 && 4 * k + b < v->bytes; b++)
		word |= (uint32_t)v->constant[4 * k + b] << (8 * b);
	return src_const(word);
}

static unsigned words_of(const struct passed *v)
{
	return (unsigned)((v->bytes + 3) / 4);
}

/* Where the next parameter begins, in words. */
static unsigned place_passed(unsigned *at, const struct passed *v)
{
	const unsigned align = v->align > 4 ? v->align / 4 : 1;
	const unsigned here = (*at + align - 1) / align * align;
	*at = here + words_of(v);
	return here;
}

/* --- ld.param and st.param of them --- */

static bool cell_place(struct lower *l, const struct ptx_operand *m, struct passed *v,
                       unsigned bytes, unsigned n, uint64_t *at)
{
	if (m->addr_base != ADDR_SYMBOL)
		return low_refuse(l, "a parameter of a function can only be read by its name");
	if (!passed_symbol(l, m->symbol, v))
		return false;
	*at = (uint64_t)m->i64;
	if (*at + (uint64_t)n * bytes > v->bytes)
		return low_refuse(l, "reaches past the end of the parameter");
	if (*at % (bytes < 4 ? bytes : 4))
		return low_refuse(l, "misaligned within the parameter");
	return true;
}

bool low_load_cells(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_operand *d = &in->opnd[0];
	const unsigned bytes = ptx_type_bytes(in->type), n = in->vec ? in->vec : 1;
	struct passed v;
	uint64_t at;
	if (!cell_place(l, &in->opnd[1], &v, bytes, n, &at))
		return false;
	for (unsigned i = 0; i < n; i++, at += bytes) {
		const int32_t to = d->kind == OPND_VEC ? d->vec[i] : low_dst(l, 0);
		const struct xsrc word = cell_value(&v, (unsigned)at / 4);
		if (to < 0)
			continue;
		if (bytes == 8) {
			const struct xsrc high = cell_value(&v, (unsigned)at / 4 + 1);
			low_widen(l, to, in->type, src_reg(low_op2(l, E_pack64, -1, word, high)));
		} else if (bytes == 4) {
			low_widen(l, to, in->type, word);
		} else {
			const bool sign = in->type == PTX_S8 || in->type == PTX_S16;
			const unsigned up = 32 - 8 * bytes - (unsigned)(at % 4) * 8;
			const struct xsrc high = src_reg(low_op2(l, E_shl_b32, -1, word, src_const(up)));
			const struct xsrc by = src_const(32 - 8 * bytes);
			int32_t r = low_op2(l, sign ? E_shr_s32 : E_shr_u32, -1, high, by);
			if (sign && ptx_type_bytes(l->ir->func->regs[to].type) == 2)
				r = low_op1(l, E_ext_u16, -1, src_reg(r));
			low_widen(l, to, in->type, src_reg(r));
		}
	}
	return !l->failed;
}

bool low_store_cells(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_operand *s = &in->opnd[1];
	const unsigned bytes = ptx_type_bytes(in->type), n = in->vec ? in->vec : 1;
	const unsigned lane = bytes == 8 ? 8 : 4;
	struct passed v;
	uint64_t at;
	if (!cell_place(l, &in->opnd[0], &v, bytes, n, &at))
		return false;
	if (v.cell < 0)
		return low_refuse(l, "parameters of a kernel cannot be written");
	for (unsigned i = 0; i < n; i++, at += bytes) {
		const int32_t cell = v.cell + (int32_t)(at / 4);
		struct xsrc value = src_const(0);
		if (s->kind != OPND_VEC)
			value = low_src(l, 1, lane);
		else if (s->vec[i] >= 0)
			value = low_resize(l, src_reg(s->vec[i]), low_reg_bytes(l, s->vec[i]), lane);
		if (bytes == 8) {
			low_op1(l, E_trunc32, cell, value);
			low_op1(l, E_hi32, cell + 1, value);
		} else if (bytes == 4 || v.bytes <= bytes) {
			low_op1(l, E_mov_b32, cell, value);
		} else {
			low_op4(l, E_bfi_b32, cell, value, src_reg(cell), src_const(at % 4 * 8),
			        src_const(8 * bytes));
		}
	}
	return !l->failed;
}

/* --- calls --- */

static bool copy_arguments(struct lower *l, const struct ptx_operand *list)
{
	unsigned at = 0;
	for (int64_t i = 0; list->kind == OPND_LIST && i < list->i64; i++) {
		struct passed v;
		if (!passed_symbol(l, l->ir->func->lists[list->reg + i], &v))
			return false;
		const unsigned first = place_passed(&at, &v);
		for (unsigned k = 0; k < words_of(&v); k++)
			low_op1(l, E_mov_b32, shared_cell(l, &l->arguments, first + k), cell_value(&v, k));
	}
	return true;
}

/* The frame of the caller, if it has one, is kept below that of the function called. */
static uint32_t frame_of(const struct link_part *p)
{
	return p->recursive ? (p->f->local_bytes + 15) / 16 * 16 : 0;
}

static void move_frame(struct lower *l, enum emu_op op)
{
	if (frame_of(l->part))
		low_op2(l, op, l->frame, src_reg(l->frame), src_const(frame_of(l->part)));
}

static bool call_function(struct lower *l, int32_t callee)
{
	const struct linked *k = l->ir->linked;
	struct xsrc address = src_const(0);
	const unsigned here = (unsigned)(l->part - k->part);
	bool saves = callee >= 0 && link_recurses(k, here, (unsigned)callee);
	if (callee < 0) {
		address = low_src(l, 0, 8);
		for (unsigned p = 1; p < k->n_parts; p++)
			saves |= link_recurses(k, here, p);
	}
	if (!copy_arguments(l, &l->in->opnd[2]))
		return false;
	move_frame(l, E_add_b64);
	struct xop *x = low_emit(l, X_CALL);
	x->target = callee >= 0 ? (int32_t)k->part[callee].first_block : -1;
	x->saves = saves;
	x->caller = here;
	x->n_s = callee >= 0 ? 0 : 1;
	x->s[0] = address;
	return !l->failed;
}

/* Functions that the system provides. */
static const struct system_function {
	const char *name;
	enum system_call call;
} system_functions[] = {
	{ "vprintf", SYSTEM_PRINT },
	{ "__assertfail", SYSTEM_ASSERT },
	{ "malloc", SYSTEM_MALLOC },
	{ "free", SYSTEM_FREE },
};

/* Arguments of the system are words of 8 bytes: of a structure, one after the other. */
static bool system_arguments(struct lower *l, struct xsrc arg[SYSTEM_ARGS], unsigned *n)
{
	const struct ptx_operand *list = &l->in->opnd[2];
	struct passed v;
	*n = 0;
	for (int64_t i = 0; list->kind == OPND_LIST && i < list->i64; i++) {
		if (!passed_symbol(l, l->ir->func->lists[list->reg + i], &v))
			return false;
		for (unsigned k = 0; k < words_of(&v); k += 2) {
			if (*n == SYSTEM_ARGS)
				return low_refuse(l, "more arguments than the function takes");
			const struct xsrc low = cell_value(&v, k);
			arg[(*n)++] =
				src_reg(k + 1 < words_of(&v) ? low_op2(l, E_pack64, -1, low, cell_value(&v, k + 1))
			                                 : low_op1(l, E_zext64, -1, low));
		}
	}
	return true;
}

static bool call_system(struct lower *l, enum system_call call)
{
	const struct ptx_operand *result = &l->in->opnd[1];
	struct xsrc arg[SYSTEM_ARGS];
	unsigned n;
	struct passed v;
	if (!system_arguments(l, arg, &n))
		return false;
	const int32_t d = result->kind == OPND_SYMBOL ? low_temp(l, 8) : -1;
	struct xop *x = low_emit(l, X_SYSTEM);
	x->mem = (int32_t)l->ir->n_mem++;
	x->op = (uint16_t)call;
	x->n_s = (uint8_t)n;
	for (unsigned i = 0; i < n; i++)
		x->s[i] = arg[i];
	x->n_d = d >= 0;
	x->d[0] = d;
	if (d < 0 || !passed_symbol(l, result->symbol, &v))
		return !l->failed;
	low_op1(l, E_trunc32, v.cell, src_reg(d));
	if (v.bytes > 4)
		low_op1(l, E_hi32, v.cell + 1, src_reg(d));
	return !l->failed;
}

bool low_call(struct lower *l)
{
	const struct ptx_module *m = l->ir->module;
	const struct ptx_operand *o = &l->in->opnd[0];
	if (o->kind == OPND_REG)
		return call_function(l, -1);
	const int32_t index = link_resolve(m, o->symbol);
	const int32_t part = l->link->part_of[index];
	if (part > 0)
		return call_function(l, part);
	const char *name = m->funcs[index].name;
	for (size_t i = 0; i < ARRAY_LEN(system_functions); i++)
		if (!strcmp(name, system_functions[i].name))
			return call_system(l, system_functions[i].call);
	const int runtime = system_runtime_call(name);
	if (runtime < 0)
		return low_refuse(l, "the function '%s' is not in this module", name);
	if (runtime == SYSTEM_CALLS)
		return low_refuse(l, "'%s' is not emulated in device code", name);
	if (!l->env->device_runtime)
		return low_refuse(l,
		                  "a kernel that is run by itself cannot call '%s'; give the program with "
		                  "its main()",
		                  name);
	return call_system(l, (enum system_call)runtime);
}

bool low_landing(struct lower *l)
{
	const struct ptx_operand *result = &l->in->opnd[1];
	unsigned at = 0;
	struct passed v;
	move_frame(l, E_sub_b64);
	low_emit(l, X_NOP);
	if (result->kind != OPND_SYMBOL)
		return true;
	if (!passed_symbol(l, result->symbol, &v))
		return false;
	const unsigned first = place_passed(&at, &v);
	for (unsigned k = 0; k < words_of(&v); k++)
		low_op1(l, E_mov_b32, v.cell + (int32_t)k, src_reg(shared_cell(l, &l->results, first + k)));
	return true;
}

bool low_arrival(struct lower *l)
{
	unsigned at = 0;
	low_emit(l, X_NOP);
	low_keep_stack(l, false);
	for (unsigned i = 0; i < l->part->f->n_params; i++) {
		const struct passed v = passed_param(l, i);
		const unsigned first = place_passed(&at, &v);
		for (unsigned k = 0; k < words_of(&v); k++)
			low_op1(l, E_mov_b32, v.cell + (int32_t)k,
			        src_reg(shared_cell(l, &l->arguments, first + k)));
	}
	return true;
}

bool low_ret(struct lower *l)
{
	const struct ptx_func *f = l->part->f;
	if (!l->part->called)
		return low_exit(l);
	unsigned at = 0;
	low_keep_stack(l, true);
	for (unsigned i = 0; i < f->n_rets; i++) {
		const struct passed v = passed_param(l, f->n_params + i);
		const unsigned first = place_passed(&at, &v);
		for (unsigned k = 0; k < words_of(&v); k++)
			low_op1(l, E_mov_b32, shared_cell(l, &l->results, first + k), cell_value(&v, k));
	}
	low_emit(l, X_RET);
	return true;
}

/* --- what a kernel with calls needs beside its instructions --- */

#define MAX_CALL_DEPTH 2048

void low_start_calls(struct lower *l)
{
	const struct linked *k = l->link;
	const struct ptx_module *m = l->ir->module;
	l->var_cell = mem_alloc((m->n_vars + 1u) * sizeof *l->var_cell);
	l->param_cell = mem_alloc((k->n_params + 1u) * sizeof *l->param_cell);
	for (unsigned i = 0; i < m->n_vars; i++)
		l->var_cell[i] = -1;
	for (unsigned i = 0; i < k->n_params; i++)
		l->param_cell[i] = -1;
	struct ir *ir = l->ir;
	ir->local_bytes = k->local_bytes;
	if (!ir->linked)
		return;
	bool recursive = false;
	ir->n_callees = m->n_funcs;
	ir->callee = mem_alloc((m->n_funcs + 1u) * sizeof *ir->callee);
	for (unsigned i = 0; i < m->n_funcs; i++) {
		const int32_t part = k->part_of[link_resolve(m, (int32_t)i)];
		ir->callee[i] = part > 0 ? (int32_t)k->part[part].first_block : -1;
	}
	for (unsigned p = 0; p < k->n_parts; p++)
		recursive |= k->part[p].recursive;
	ir->call_depth = k->n_parts + (recursive ? MAX_CALL_DEPTH : 0);
	if (!k->frame_bytes)
		return;
	ir->call_stack_bytes =
		CALL_STACK_BYTES > 4 * k->frame_bytes ? CALL_STACK_BYTES : 4 * k->frame_bytes;
	ir->call_depth = ir->call_stack_bytes / k->frame_bytes;
	l->frame = low_temp(l, 8);
	ir->regs[l->frame].fixed = ir->regs[l->frame].passes = true;
	low_op1(l, E_mov_b64, l->frame, src_const(k->local_bytes));
}

void low_end_calls(struct lower *l)
{
	free(l->var_cell);
	free(l->param_cell);
	free(l->arguments.reg);
	free(l->results.reg);
}
