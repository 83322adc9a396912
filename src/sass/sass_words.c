/*
 * How many registers in a row an operand is: R4 of DADD is R4 and R5, of LDG.128 R4 to R7.
 *
 * From the instruction's modifiers; the text does not say it. Kept right by a test: registers live
 * at each instruction, computed with these numbers, are those that nvdisasm prints.
 */
#include "sass/sass_parts.h"

#include <stdlib.h>
#include <string.h>

/* The width of data that is loaded, stored or exchanged. */
static uint8_t data_words(const struct sass_inst *i)
{
	if (sass_has(i, SASS_MOD_128) || sass_has(i, SASS_MOD_256)) /* of 256 bits: in each of two */
		return 4;
	if (sass_has(i, SASS_MOD_64) || sass_has(i, SASS_MOD_F64) || sass_has(i, SASS_MOD_U64) ||
	    sass_has(i, SASS_MOD_S64))
		return 2;
	return 1;
}

static bool is_tensor_op(enum sass_op op)
{
	return op == SASS_HMMA || op == SASS_IMMA || op == SASS_BMMA || op == SASS_DMMA;
}

static bool is_group_product(enum sass_op op)
{
	return op == SASS_HGMMA || op == SASS_IGMMA || op == SASS_QGMMA || op == SASS_BGMMA;
}

/* Registers of the sums of "HGMMA.64x32x16.F32": rows g and g + 8 of eight columns are four. */
static uint8_t group_sums(const struct sass_inst *i)
{
	const char *at = strstr(i->opcode, ".64x");
	const unsigned long n = at ? strtoul(at + 4, NULL, 10) : 0;
	const bool halves = i->n_mods > 1 && i->mods[1] == SASS_MOD_F16;
	return (uint8_t)(n > 256 ? 0 : n / (halves ? 4 : 2));
}

/* Both descriptors are read: no A in registers stands in front. */
static bool matrices_in_row(const struct sass_inst *i, const struct sass_operand *operands)
{
	return i->n_dsts < i->n_operands && operands[i->n_dsts].kind == SASS_OPND_MATRIX;
}

static bool is_conversion(enum sass_op op)
{
	return op == SASS_F2F || op == SASS_F2I || op == SASS_I2F || op == SASS_FRND;
}

/* Targets of jumps are addresses: 64 bits. */
static bool is_indirect_jump(enum sass_op op)
{
	return op == SASS_RET || op == SASS_CALL || op == SASS_BRX || op == SASS_JMX ||
	       op == SASS_BRXU || op == SASS_JMXU;
}

/* Their .64 speaks of the pair of two operands. */
static bool is_shift_or_lea(enum sass_op op)
{
	return op == SASS_SHF || op == SASS_USHF || op == SASS_LEA || op == SASS_ULEA;
}

static bool is_float_type(enum sass_mod m)
{
	return m == SASS_MOD_F64 || m == SASS_MOD_F32 || m == SASS_MOD_F16 || m == SASS_MOD_BF16 ||
	       m == SASS_MOD_TF32;
}

static bool is_wide_type(enum sass_mod m)
{
	return m == SASS_MOD_F64 || m == SASS_MOD_S64 || m == SASS_MOD_U64;
}

/*
 * F2F.F64.F32 names destination, then source. F2I.U64.F64 and I2F.F64.S64 name their float type and
 * their integer type, either of which may be left out when it is 32 bits.
 */
static void convert_words(const struct sass_inst *i, uint8_t *to, uint8_t *from)
{
	unsigned n_types = 0;
	*to = *from = 1;
	for (unsigned m = 0; m < i->n_mods; m++) {
		const enum sass_mod mod = i->mods[m];
		const bool is_float = is_float_type(mod);
		if (!is_float && !is_wide_type(mod))
			continue;
		const uint8_t words = is_wide_type(mod) ? 2 : 1;
		if (i->op == SASS_F2F || i->op == SASS_UF2F)
			*(n_types++ ? from : to) = words;
		else if (i->op == SASS_FRND || i->op == SASS_UFRND)
			*to = *from = words;
		else if ((i->op == SASS_I2F || i->op == SASS_UI2F) == is_float)
			*to = words;
		else
			*from = words;
	}
}

/* Registers of the result, A, B and C of one warp's matrix product. */
static void tensor_words(const struct sass_inst *i, uint8_t words[4])
{
	const bool half_result = i->n_mods > 1 && i->mods[1] == SASS_MOD_F16;
	const uint8_t result = half_result ? 2 : 4;
	words[0] = words[3] = result;
	words[1] = words[2] = 1;
	if (i->op == SASS_DMMA) {
		words[0] = words[3] = 4;
		words[1] = words[2] = 2;
	} else if (sass_has(i, SASS_MOD_16816) || sass_has(i, SASS_MOD_16832) ||
	           sass_has(i, SASS_MOD_16864) || sass_has(i, SASS_MOD_168256)) {
		const bool bytes = i->op == SASS_IMMA && sass_has(i, SASS_MOD_16816);
		words[1] = bytes ? 2 : 4;
		words[2] = bytes ? 1 : 2;
		if (sass_has(i, SASS_MOD_TF32))
			words[1] = 2, words[2] = 1;
	} else if (sass_has(i, SASS_MOD_1688) || sass_has(i, SASS_MOD_168128)) {
		words[1] = sass_has(i, SASS_MOD_TF32) ? 4 : 2;
		words[2] = sass_has(i, SASS_MOD_TF32) ? 2 : 1;
	} else if (sass_has(i, SASS_MOD_1684)) {
		words[1] = 2;
	} else if (i->op == SASS_IMMA || i->op == SASS_BMMA) {
		words[0] = words[3] = 2;            /* 8x8 results */
	} else if (sass_has(i, SASS_MOD_884)) { /* a step of four makes two registers */
		words[0] = words[1] = words[2] = words[3] = 2;
	}
}

static bool is_double(enum sass_op op)
{
	return op == SASS_DADD || op == SASS_DMUL || op == SASS_DFMA || op == SASS_DMNMX ||
	       op == SASS_DSETP || op == SASS_DSET;
}

/* Registers of a place in memory: base, second base, descriptor. */
static void address_words(const struct sass_inst *i, struct sass_operand *o)
{
	const bool wide = sass_has(i, SASS_MOD_E) || o->sel == SASS_MOD_64;
	const bool described = o->desc != SASS_NO_REG;
	o->words = o->reg == SASS_NO_REG || o->reg == SASS_RZ ? 0 : o->sel == SASS_MOD_64 ? 2 : 1;
	o->uwords = o->ureg == SASS_NO_REG || o->ureg == SASS_RZ ? 0 : wide && !described ? 2 : 1;
	if (o->usel == SASS_MOD_64)
		o->uwords = 2;
	/* some leave the 64 of the only base out; one of the two places of LDGSTS is shared memory */
	if (o->words == 1 && wide && !o->sel && !described && o->ureg == SASS_NO_REG &&
	    i->op != SASS_LDGSTS)
		o->words = 2;
}

/* Two float32 at a time. */
static bool is_pair_arithmetic(enum sass_op op)
{
	return op == SASS_FADD2 || op == SASS_FMUL2 || op == SASS_FFMA2;
}

static bool wide_integers(const struct sass_inst *i)
{
	return sass_has(i, SASS_MOD_U64) || sass_has(i, SASS_MOD_S64) || sass_has(i, SASS_MOD_64);
}

static bool changes_memory(enum sass_access access)
{
	return access == SASS_ACCESS_STORE || access == SASS_ACCESS_ATOMIC ||
	       access == SASS_ACCESS_REDUCTION;
}

/* @nth: among the source registers, from 0. */
static uint8_t source_words(const struct sass_inst *i, unsigned nth)
{
	const struct sass_op_info *info = sass_op_info(i->op);
	uint8_t to, from, tensor[4];
	if (is_tensor_op(i->op)) {
		tensor_words(i, tensor);
		return nth < 3 ? tensor[nth + 1] : 1;
	}
	if (is_group_product(i->op))
		return nth == 0 && !matrices_in_row(i, i->operands) ? 4 : group_sums(i);
	if (is_conversion(i->op)) {
		convert_words(i, &to, &from);
		return from;
	}
	if (is_shift_or_lea(i->op))
		return 1;
	switch (i->op) {
	case SASS_IMAD:
	case SASS_UIMAD:
		/* the addend of a wide product, and of its upper half, is 64 bits */
		return nth == 2 && (sass_has(i, SASS_MOD_WIDE) || sass_has(i, SASS_MOD_HI)) ? 2 : 1;
	case SASS_MATCH:
	case SASS_ISETP:
	case SASS_IMNMX:
	case SASS_UIMNMX:
	case SASS_UISETP: return wide_integers(i) ? 2 : 1;
	default: break;
	}
	if (is_double(i->op) || is_indirect_jump(i->op) || is_pair_arithmetic(i->op))
		return 2;
	if (changes_memory(info->access))
		return data_words(i);
	if (info->space == SASS_SPACE_NONE && sass_has(i, SASS_MOD_64))
		return 2;
	return 1;
}

static uint8_t result_words(const struct sass_inst *i)
{
	uint8_t to, from, tensor[4];
	if (is_tensor_op(i->op)) {
		tensor_words(i, tensor);
		return tensor[0];
	}
	if (is_group_product(i->op))
		return group_sums(i);
	if (is_conversion(i->op)) {
		convert_words(i, &to, &from);
		return to;
	}
	if (is_shift_or_lea(i->op))
		return 1;
	switch (i->op) {
	case SASS_IMAD:
	case SASS_UIMAD: return sass_has(i, SASS_MOD_WIDE) ? 2 : 1;
	case SASS_CS2R:
	case SASS_CS2UR: return sass_has(i, SASS_MOD_32) ? 1 : 2;
	case SASS_LEPC: return 2;
	case SASS_LDSM: return sass_has(i, SASS_MOD_4) ? 4 : sass_has(i, SASS_MOD_2) ? 2 : 1;
	case SASS_MATCH: return 1;
	case SASS_FADD2:
	case SASS_FMUL2:
	case SASS_FFMA2: return 2;
	case SASS_MOVM: return sass_has(i, SASS_MOD_U4TO8) ? 2 : 1;
	default: return is_double(i->op) ? 2 : data_words(i);
	}
}

void sass_set_words(const struct sass_inst *i, struct sass_operand *operands)
{
	unsigned nth = 0; /* source register, constants and numbers in its place counted */
	for (unsigned n = 0; n < i->n_operands; n++) {
		struct sass_operand *o = &operands[n];
		const bool dst = o->flags & SASS_DST;
		switch (o->kind) {
		case SASS_OPND_MEM: address_words(i, o); break;
		case SASS_OPND_MATRIX:
			/* four registers are named, A's descriptor and B's; with A elsewhere two are read */
			o->uwords = 4;
			if (!matrices_in_row(i, operands))
				o->ureg += 2, o->uwords = 2;
			break;
		case SASS_OPND_REG:
		case SASS_OPND_UREG:
			o->words = dst ? result_words(i) : source_words(i, nth);
			if (o->reg == SASS_RZ)
				o->words = 0;
			nth += !dst;
			break;
		case SASS_OPND_CONST:
			o->words = o->reg != SASS_NO_REG && o->reg != SASS_RZ;
			o->uwords = o->ureg != SASS_NO_REG && o->ureg != SASS_RZ;
			nth++;
			break;
		case SASS_OPND_INT:
		case SASS_OPND_FLOAT: nth++; break;
		case SASS_OPND_PRED:
		case SASS_OPND_UPRED:
		case SASS_OPND_BARRIER: o->words = 1; break;
		default: break;
		}
	}
}
