/* The columns of opcode.def as tables. */
#include "ptx/forms.h"

#include <assert.h>

static_assert(GROUP_COUNT <= 64, "groups are bits of 64");
static_assert(PTX_TYPE_COUNT <= 32, "types are bits of 32");

const struct opcode_form opcode_forms[OP_COUNT] = {
#define OPCODE(id, name, section, cls, flops, lower, takes, needs, types, types2, operands) \
	[OP_##id] = { (takes) | (needs), needs, types, types2, operands },
#include "ptx/opcode.def"
};

const char *const opcode_names[OP_COUNT] = {
#define OPCODE(id, name, ...) [OP_##id] = name,
#include "ptx/opcode.def"
};

static const struct {
	uint8_t class, flops;
} work[OP_COUNT] = {
#define OPCODE(id, name, section, cls, flops, ...) [OP_##id] = { CLASS_##cls, flops },
#include "ptx/opcode.def"
};

const char *ptx_op_name(enum ptx_op op)
{
	return (unsigned)op < OP_COUNT ? opcode_names[op] : "?";
}

const char *ptx_op_section(enum ptx_op op)
{
	static const char *const sections[OP_COUNT] = {
#define OPCODE(id, name, section, ...) [OP_##id] = section,
#include "ptx/opcode.def"
	};
	return (unsigned)op < OP_COUNT ? sections[op] : "9.7";
}

enum ptx_class ptx_op_class(enum ptx_op op)
{
	return (unsigned)op < OP_COUNT ? (enum ptx_class)work[op].class : CLASS_MISC;
}

unsigned ptx_op_flops(enum ptx_op op)
{
	return (unsigned)op < OP_COUNT ? work[op].flops : 0;
}
