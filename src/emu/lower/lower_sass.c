/*
 * Machine code to the intermediate form: every instruction by the function that its base opcode
 * has in sass_meaning.def.
 */
#include "emu/lower/sass_lower.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

typedef bool (*meaning)(struct sass_lower *s);
static const meaning meanings[SASS_OP_COUNT] = {
#define MEANING(op, name) [SASS_##op] = sl_##name,
#include "emu/lower/sass_meaning.def"
};

static enum ir_pipe pipe_of(const struct sass_op_info *info)
{
	switch (info->pipe) {
	case SASS_PIPE_FP64: return PIPE_FP64;
	case SASS_PIPE_XU: return PIPE_SFU;
	case SASS_PIPE_FMA: return info->class == SASS_CLASS_FP32 ? PIPE_FP32 : PIPE_INT;
	case SASS_PIPE_ALU:
	case SASS_PIPE_UNIFORM: return PIPE_INT;
	default: return PIPE_NONE;
	}
}

/* Source lines by line of the PTX, as the file of its function has them; NULL = not known. */
struct ptx_lines {
	const char *file;
	uint32_t n;
	uint32_t *line;
};

static struct ptx_lines lines_of(const struct lower_env *env)
{
	const struct ptx_func *ptx = env->ptx;
	struct ptx_lines l = { 0 };
	for (unsigned k = 0; ptx && k < ptx->n_insts; k++)
		l.n = ptx->insts[k].ptx_line >= l.n ? ptx->insts[k].ptx_line + 1 : l.n;
	if (!l.n)
		return l;
	if (env->module && ptx->file && ptx->file <= env->module->n_files)
		l.file = env->module->files[ptx->file - 1];
	l.line = mem_calloc(l.n, sizeof *l.line);
	for (unsigned k = 0; k < ptx->n_insts; k++)
		l.line[ptx->insts[k].ptx_line] =
			env->innermost ? ptx->insts[k].leaf_line : ptx->insts[k].line;
	return l;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Does the instruction stand in the file that lines are told of? */
static bool stands_in(const struct sass_module *m, const struct sass_inst *i, const char *file)
{
	return !file || !i->file || !strcmp(base_name(m->files[i->file]), base_name(file));
}

/* A program may carry machine code that was not made of the PTX beside it, but of another
 * architecture's: where both know the line, they then differ more often than not. */
static bool assembled_of(const struct sass_module *m, const struct sass_func *f,
                         const struct ptx_lines *l)
{
	unsigned same = 0, other = 0;
	for (unsigned k = 0; k < f->n_insts; k++) {
		const struct sass_inst *i = &f->insts[k];
		if (i->ptx_line >= l->n || !l->line[i->ptx_line] || !i->line || !stands_in(m, i, l->file))
			continue;
		if (l->line[i->ptx_line] == i->line)
			same++;
		else
			other++;
	}
	return same >= other;
}

/* HFMA2.MMA R23, -RZ, RZ, 0, 0: the assembler's way to put a constant into a register while the
 * FMA pipe is free. Nothing times nothing is no arithmetic; a card's counter has it all the same.
 */
static bool only_moves(const struct sass_inst *i)
{
	unsigned zeros = 0;
	if (i->op != SASS_HFMA2)
		return false;
	for (unsigned n = i->n_dsts; n < i->n_operands && n < i->n_dsts + 2u; n++)
		zeros += i->operands[n].kind == SASS_OPND_REG && i->operands[n].reg == SASS_RZ;
	return zeros == 2;
}

/* The table of a cubin names the innermost line, perhaps of another file, such as a header that an
 * inlined function stands in; the PTX names the kernel's own, or that from which the function of
 * another file was called. */
static void describe_insts_of(struct ir *ir, const struct sass_module *m, const struct sass_func *f,
                              const struct lower_env *env)
{
	const struct ptx_lines l = lines_of(env);
	const bool known = l.n && (!env->innermost || assembled_of(m, f, &l));
	ir->n_insts = f->n_insts;
	ir->insts = mem_calloc(f->n_insts + 1, sizeof *ir->insts);
	for (unsigned k = 0; k < f->n_insts; k++) {
		const struct sass_inst *i = &f->insts[k];
		const struct sass_op_info *info = sass_op_info(i->op);
		const bool moves = only_moves(i);
		const uint8_t n = moves ? 0 : (uint8_t)info->flops;
		const struct sass_registers r = sass_registers(f, k);
		ir->insts[k] = (struct ir_inst){
			.text = i->opcode,
			.line = i->line,
			.listing = i->offset,
			.pipe = pipe_of(info),
			.mix_class = (uint8_t)info->class,
			.mix_pipe = (uint8_t)info->pipe,
			.half_move = moves,
			.sleeps = i->op == SASS_NANOSLEEP,
			.flop16 = info->class == SASS_CLASS_FP16 ? n : 0,
			.flop32 = info->class == SASS_CLASS_FP32 ? n : 0,
			.flop64 = info->class == SASS_CLASS_FP64 ? n : 0,
			.reg_reads = r.reads,
			.reg_kept = r.kept,
			.reg_conflicts = r.conflicts,
		};
		const bool own = stands_in(m, i, l.file);
		if (known && i->ptx_line < l.n && l.line[i->ptx_line] && !(own && env->innermost))
			ir->insts[k].line = l.line[i->ptx_line];
		else if (!own)
			ir->insts[k].line = 0;
	}
	free(l.line);
}

static void set_guard(struct sass_lower *s)
{
	const struct sass_operand o = { .kind = s->i->guard_uniform ? SASS_OPND_UPRED : SASS_OPND_PRED,
		                            .reg = s->i->guard };
	s->guard = -1;
	s->guard_neg = s->i->guard_not;
	s->never = false;
	if (s->i->guard != SASS_PT) {
		s->guard = sl_pred_operand(s, &o).reg;
	} else if (s->i->guard_not) { /* @!PT */
		s->never = true;
		s->guard = low_bool(&s->l, -1, BOOL_NONE, src_const(0), src_const(0));
		s->guard_neg = false;
	}
}

static void lower_inst(struct sass_lower *s, unsigned k)
{
	s->i = &s->f->insts[k];
	s->l.pc = k;
	s->l.first = true;
	s->l.counted = false;
	s->l.guard = -1;
	s->l.guard_neg = false;
	if (s->block_of[k] >= 0)
		sl_enter_block(s);
	if (s->i->why_not) {
		sl_refuse(s, "%s", s->i->why_not);
		return;
	}
	set_guard(s);
	const meaning m = meanings[s->i->op];
	if (!m)
		sl_refuse(s, "the emulator does not know this machine instruction");
	else if (!s->never)
		m(s);
	if (s->l.first || (s->guard >= 0 && !s->l.counted))
		sl_emit(s, X_NOP); /* nothing to do, but it still counts */
}

bool lower_sass(struct ir *ir, const struct sass_module *m, const struct sass_func *f,
                const struct lower_env *env, const char *source_file, struct err *err)
{
	*ir = (struct ir){ .local_bytes = env->stack_bytes };
	struct sass_lower *s = mem_zalloc(sizeof *s);
	int32_t *block_of = mem_calloc(f->n_insts + 1, sizeof *block_of);
	uint32_t *first_op = mem_calloc(f->n_insts + 1, sizeof *first_op);
	const unsigned n_blocks = sass_block_starts(f, block_of);
	*s = (struct sass_lower){
		.l = { .ir = ir, .env = env, .err = err, .source_file = source_file, .name = f->name },
		.m = m,
		.f = f,
		.env = env,
		.arch = sass_arch_find(m->cubin.sm),
		.block_of = block_of,
	};
	memset(s->reg, 0xff, sizeof s->reg);
	memset(s->ureg, 0xff, sizeof s->ureg);
	memset(s->pred, 0xff, sizeof s->pred);
	memset(s->upred, 0xff, sizeof s->upred);
	memset(s->rpc, 0xff, sizeof s->rpc);
	describe_insts_of(ir, m, f, env);
	if (!s->arch) {
		s->l.failed = true;
		err_set(err, ERR_UNSUPPORTED, "%s: the emulator does not know the machine code of sm_%u",
		        source_file, m->cubin.sm);
	}
	bool all_known = !s->l.failed;
	for (unsigned k = 0; k < f->n_insts && s->arch && (all_known || env->refused); k++) {
		first_op[k] = ir->n_ops;
		s->l.failed = false;
		lower_inst(s, k);
		all_known = all_known && !s->l.failed;
	}
	first_op[f->n_insts] = ir->n_ops;
	if (all_known) {
		sass_finish_blocks(ir, f, block_of, n_blocks, first_op);
		ir_find_only_defs(ir);
	} else {
		ir_free(ir);
	}
	free(block_of);
	free(first_op);
	free(s);
	return all_known;
}
