/* What a PTX instruction is to the counters: its pipe, and how many operations it does. */
#include "emu/lower/lower_inst.h"

#include "base/mem.h"

static uint8_t operations(enum ptx_op op)
{
	switch (op) {
	case OP_FMA:
	case OP_MAD: return 2;
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_DIV:
	case OP_RCP:
	case OP_SQRT:
	case OP_RSQRT:
	case OP_EX2:
	case OP_LG2:
	case OP_SIN:
	case OP_COS:
	case OP_TANH: return 1;
	default: return 0;
	}
}

static bool is_float(enum ptx_type t)
{
	return t >= PTX_F16 && t <= PTX_F64;
}

static enum ir_pipe pipe_of(const struct ptx_inst *in)
{
	const bool f64 = in->type == PTX_F64 || in->type2 == PTX_F64;
	switch (ptx_op_class(in->op)) {
	case CLASS_SFU: return f64 ? PIPE_FP64 : PIPE_SFU;
	case CLASS_INT:
	case CLASS_FP32_64:
		if (f64)
			return PIPE_FP64;
		if (!is_float(in->type))
			return PIPE_INT;
		if (in->op == OP_DIV)
			return PIPE_SFU;
		/* minimum, sign and class tests run where integers do */
		return operations(in->op) ? PIPE_FP32 : PIPE_INT;
	case CLASS_CMP: return f64 && in->op != OP_SELP ? PIPE_FP64 : PIPE_INT;
	case CLASS_LOGIC: return PIPE_INT;
	case CLASS_MOVE:
		if (in->op == OP_PRMT)
			return PIPE_INT;
		if (in->op != OP_CVT)
			return PIPE_NONE;
		if (f64)
			return PIPE_FP64;
		return is_float(in->type) || is_float(in->type2) ? PIPE_SFU : PIPE_INT;
	default: return PIPE_NONE;
	}
}

static void set_cost(const struct ptx_inst *in, struct ir_inst *out)
{
	const uint8_t n = operations(in->op);
	out->pipe = pipe_of(in);
	switch (in->type) {
	case PTX_F16:
	case PTX_BF16: out->flop16 = n; break;
	case PTX_F16X2:
	case PTX_BF16X2: out->flop16 = (uint8_t)(2 * n); break;
	case PTX_F32: out->flop32 = n; break;
	case PTX_F64: out->flop64 = n; break;
	default: break;
	}
}

void describe_insts(struct ir *ir)
{
	const struct ptx_func *f = ir->func;
	ir->n_insts = f->n_insts;
	ir->insts = mem_calloc(f->n_insts + 1, sizeof *ir->insts);
	for (unsigned i = 0; i < f->n_insts; i++) {
		const struct ptx_inst *in = &f->insts[i];
		ir->insts[i] =
			(struct ir_inst){ .text = in->text, .line = in->line, .listing = in->ptx_line };
		set_cost(in, &ir->insts[i]);
	}
}
