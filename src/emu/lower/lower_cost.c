/* What a PTX instruction is to the counters: its pipe, and how many operations it does. */
#include "emu/lower/lower_inst.h"

#include "base/mem.h"

/* The pipe of each class of opcodes, by the data: integers, floating point, double precision. */
static const struct {
	uint8_t integer, floating, f64; /* enum ir_pipe */
} class_pipes[CLASS_COUNT] = {
	[CLASS_INT] = { PIPE_INT, PIPE_INT, PIPE_INT },
	[CLASS_SUM] = { PIPE_INT, PIPE_FP32, PIPE_FP64 },
	[CLASS_PRODUCT] = { PIPE_INT, PIPE_FP32, PIPE_FP64 },
	[CLASS_DIVISION] = { PIPE_INT, PIPE_SFU, PIPE_FP64 },
	[CLASS_MINMAX] = { PIPE_INT, PIPE_INT, PIPE_FP64 },
	[CLASS_SIGN] = { PIPE_INT, PIPE_INT, PIPE_FP64 },
	[CLASS_FUNCTION] = { PIPE_SFU, PIPE_SFU, PIPE_FP64 },
	[CLASS_COMPARE] = { PIPE_INT, PIPE_INT, PIPE_FP64 },
	[CLASS_SELECT] = { PIPE_INT, PIPE_INT, PIPE_INT },
	[CLASS_LOGIC] = { PIPE_INT, PIPE_INT, PIPE_INT },
	[CLASS_CONVERT] = { PIPE_INT, PIPE_SFU, PIPE_FP64 },
	[CLASS_PERMUTE] = { PIPE_INT, PIPE_INT, PIPE_INT },
};

static bool is_float(enum ptx_type t)
{
	return t >= PTX_F16 && t <= PTX_F64;
}

static enum ir_pipe pipe_of(const struct ptx_inst *in)
{
	const enum ptx_class c = ptx_op_class(in->op);
	if (in->type == PTX_F64 || in->type2 == PTX_F64)
		return (enum ir_pipe)class_pipes[c].f64;
	if (is_float(in->type) || is_float(in->type2))
		return (enum ir_pipe)class_pipes[c].floating;
	return (enum ir_pipe)class_pipes[c].integer;
}

static void set_cost(const struct ptx_inst *in, struct ir_inst *out)
{
	const uint8_t n = (uint8_t)ptx_op_flops(in->op);
	out->pipe = pipe_of(in);
	switch (in->type) {
	case PTX_F16:
	case PTX_BF16: out->flop16 = n; break;
	case PTX_F16X2:
	case PTX_BF16X2: out->flop16 = (uint8_t)(2 * n); break;
	case PTX_F32: out->flop32 = n; break;
	case PTX_F32X2: out->flop32 = (uint8_t)(2 * n); break;
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
