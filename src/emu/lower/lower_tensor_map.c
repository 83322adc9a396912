/*
 * Changes of tensor maps in a kernel (PTX ISA 9.0, 9.7.9.28 tensormap.replace, 9.7.13
 * tensormap.cp_fenceproxy): fields are stores into a struct tensor_map. The rank is given one less,
 * sizes and strides as they are, strides in bytes: ptxas 13.0 makes the rest of them.
 */
#include "emu/lower/lower_inst.h"
#include "emu/tensor_map.h"

#include <stddef.h>

/* Where a field lies: its first byte, bytes from one ordinal to the next, its type. */
struct field {
	size_t at, each;
	enum ptx_type type;
	unsigned n;
};

static bool find_field(struct lower *l, struct field *f)
{
#define AT(member, bytes, t, n)                          \
	(struct field)                                       \
	{                                                    \
		offsetof(struct tensor_map, member), bytes, t, n \
	}
	switch (l->in->op) {
	case OP_MAP_GLOBAL_ADDRESS: *f = AT(address, 8, PTX_U64, 1); return true;
	case OP_MAP_RANK: *f = AT(rank, 1, PTX_U8, 1); return true;
	case OP_MAP_BOX_DIM: *f = AT(box, 2, PTX_U16, TENSOR_MAP_DIMS); return true;
	case OP_MAP_GLOBAL_DIM: *f = AT(size, 8, PTX_U64, TENSOR_MAP_DIMS); return true;
	case OP_MAP_GLOBAL_STRIDE: *f = AT(stride, 8, PTX_U64, TENSOR_MAP_DIMS - 1); return true;
	case OP_MAP_ELEMENT_STRIDE: *f = AT(step, 1, PTX_U8, TENSOR_MAP_DIMS); return true;
	case OP_MAP_SWIZZLE: *f = AT(swizzle, 1, PTX_U8, 1); return true;
	case OP_MAP_FILL: *f = AT(fill_nan, 1, PTX_U8, 1); return true;
	default: return low_refuse(l, "this field cannot be replaced");
	}
#undef AT
}

static void store(struct lower *l, size_t offset, enum ptx_type type, struct xsrc value)
{
	const bool shared = l->in->space == SPACE_SHARED;
	const struct xsrc address = shared ? low_shared_offset(l, 0) : low_wide_address(l, 0);
	low_store(l, l->in->space, address, (int64_t)offset, type, value);
}

/* .elemtype: the table of 9.7.9.28; what reductions know, and how many bytes. */
static bool replace_type(struct lower *l, uint64_t code)
{
	static const enum ptx_type types[] = { PTX_U8,  PTX_U16, PTX_U32, PTX_S32, PTX_U64, PTX_S64,
		                                   PTX_F16, PTX_F32, PTX_F32, PTX_F64, PTX_BF16 };
	if (code >= sizeof types / sizeof *types)
		return low_refuse(l, "elements of this type are not supported in a tensor map");
	store(l, offsetof(struct tensor_map, bytes), PTX_U8, src_const(ptx_type_bytes(types[code])));
	store(l, offsetof(struct tensor_map, type), PTX_U8, src_const(types[code]));
	return !l->failed;
}

bool low_map_replace(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	struct field f = { 0 };
	if (!low_needs(l, 90))
		return false;
	if (in->op == OP_MAP_ELEMTYPE)
		return replace_type(l, (uint64_t)in->opnd[1].i64);
	if (in->op == OP_MAP_INTERLEAVE)
		return in->opnd[1].i64 ? low_refuse(l, "interleaved tensors are not supported") : true;
	if (in->op == OP_MAP_SWIZZLE && (uint64_t)in->opnd[1].i64 > TENSOR_SWIZZLE_128)
		return low_refuse(l, "this swizzle mode is not supported");
	if (!find_field(l, &f))
		return false;
	const bool listed = f.n > 1;
	const uint64_t ordinal = listed ? (uint64_t)in->opnd[1].i64 : 0;
	if (ordinal >= f.n)
		return low_refuse(l, "a tensor map has no dimension %llu", (unsigned long long)ordinal);
	struct xsrc v = low_src(l, listed ? 2 : 1, ptx_type_bytes(in->type));
	if (in->op == OP_MAP_RANK) /* of zeros, too, replacing all fields makes a map */
		store(l, offsetof(struct tensor_map, magic), PTX_U64, src_const(TENSOR_MAP_MAGIC));
	if (in->op == OP_MAP_RANK)
		v = src_reg(low_op2(l, E_add_b32, -1, v, src_const(1)));
	if (in->op == OP_MAP_GLOBAL_DIM)
		v = low_widened(l, v);
	store(l, f.at + ordinal * f.each, f.type, v);
	return !l->failed;
}

/* All lanes together copy the map's 128 bytes, four each. */
bool low_map_copy(struct lower *l)
{
	if (!low_needs(l, 90))
		return false;
	if (l->in->opnd[2].i64 != sizeof(struct tensor_map))
		return low_refuse(l, "a tensor map has %zu bytes", sizeof(struct tensor_map));
	const struct xsrc lane = low_special(l, SR_LANEID);
	const struct xsrc by = src_reg(low_op2(l, E_shl_b32, -1, lane, src_const(2)));
	const struct xsrc from = src_reg(low_op2(l, E_add_b32, -1, low_shared_offset(l, 1), by));
	const struct xsrc word = src_reg(low_load(l, SPACE_SHARED, from, 0, PTX_U32));
	const struct xsrc to =
		src_reg(low_op2(l, E_add_b64, -1, low_wide_address(l, 0), low_widened(l, by)));
	low_store(l, SPACE_GLOBAL, to, 0, PTX_U32, word);
	return low_fence(l) && !l->failed;
}
