/*
 * Banks of registers, and registers that are kept for the next instruction.
 *
 * An instruction has three source slots. Two banks, of the even and of the odd registers, give one
 * register a cycle each, to all slots that want it; a slot whose register the instruction before
 * kept asks no bank. As measured: tests/gpu/micro/registers.cu, registers_check.py.
 */
#include "sass/sass.h"

enum { SLOTS = 3, BANKS = 2 };

/* Where the encoding has the registers of the slots, and how many of them are registers. */
static bool slot_register(const struct sass_inst *i, unsigned slot, unsigned *reg)
{
	static const uint8_t shift[SLOTS] = { 24, 32, 0 };
	const unsigned form = i->code[0] >> 9 & 7;
	*reg = (unsigned)(i->code[slot == 2] >> shift[slot] & 0xff);
	return slot != 1 ||
	       form == 1; /* in the other forms slot 1 has a constant or uniform register */
}

static bool is_arithmetic(const struct sass_inst *i)
{
	switch (sass_op_info((enum sass_op)i->op)->pipe) {
	case SASS_PIPE_ALU:
	case SASS_PIPE_FMA:
	case SASS_PIPE_FP16:
	case SASS_PIPE_FP64: return true;
	default: return false;
	}
}

/* Slots whose register is one of the operands; what else stands there is no source. */
static unsigned sources(const struct sass_inst *i, unsigned reg[SLOTS])
{
	unsigned used = 0, slot = 0;
	for (unsigned n = i->n_dsts; is_arithmetic(i) && n < i->n_operands; n++) {
		const struct sass_operand *o = &i->operands[n];
		for (unsigned s = slot; o->kind == SASS_OPND_REG && s < SLOTS; s++)
			if (slot_register(i, s, &reg[s]) && reg[s] == o->reg) {
				used |= o->reg == SASS_RZ ? 0 : 1u << s;
				slot = s + 1;
				break;
			}
	}
	return used;
}

/* Cycles of the pipe; 0 = banks were not measured for such instructions. */
static unsigned pipe_cycles(const struct sass_inst *i)
{
	const struct sass_op_info *info = sass_op_info((enum sass_op)i->op);
	for (unsigned n = 0; n < i->n_operands; n++)
		if (i->operands[n].kind == SASS_OPND_REG && i->operands[n].words > 1)
			return 0;
	if (info->pipe == SASS_PIPE_FMA && info->class == SASS_CLASS_FP32)
		return 1;
	return info->pipe == SASS_PIPE_ALU || i->op == SASS_IMAD ? 2 : 0;
}

/* Does control come to @k from the instruction before, and from nowhere else? */
static bool follows(const struct sass_func *f, unsigned k)
{
	return k && sass_op_info((enum sass_op)f->insts[k - 1].op)->flow == SASS_FLOW_NONE;
}

struct sass_registers sass_registers(const struct sass_func *f, unsigned k)
{
	const struct sass_inst *i = &f->insts[k];
	struct sass_registers r = { .reads = 0 };
	unsigned reg[SLOTS], before[SLOTS], asked[BANKS] = { 0 }, busiest;
	const unsigned used = sources(i, reg);
	const unsigned kept =
		follows(f, k) ? sources(&f->insts[k - 1], before) & f->insts[k - 1].control.reuse : 0;
	unsigned want = 0;
	for (unsigned s = 0; s < SLOTS; s++) {
		if (!(used >> s & 1))
			continue;
		r.reads++;
		if (kept >> s & 1 && before[s] == reg[s])
			r.kept++;
		else
			want |= 1u << s;
	}
	for (unsigned s = 0; s < SLOTS; s++) {
		bool same = false;
		for (unsigned t = 0; t < s; t++)
			same = same || (want >> t & 1 && reg[t] == reg[s]);
		if (want >> s & 1 && !same)
			asked[reg[s] % BANKS]++;
	}
	busiest = asked[0] > asked[1] ? asked[0] : asked[1];
	const unsigned cycles = pipe_cycles(i);
	r.conflicts = (uint8_t)(cycles && busiest > cycles ? busiest - cycles : 0);
	return r;
}
