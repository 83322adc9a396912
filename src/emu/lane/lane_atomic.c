/* What an atomic operation makes of the old value: all of atom and red (PTX ISA 9.0, 9.7.13). */
#include "emu/lane/lane.h"

static uint64_t atomic_sum(enum ptx_type t, uint64_t old, uint64_t b)
{
	const uint32_t o32 = (uint32_t)old, b32 = (uint32_t)b;
	switch (t) {
	case PTX_F32: return bits_f32(f32_bits(o32) + f32_bits(b32));
	case PTX_F64: return bits_f64(f64_bits(old) + f64_bits(b));
	case PTX_F16: return lane_add_h((uint16_t)old, (uint16_t)b);
	case PTX_BF16: return lane_add_b((uint16_t)old, (uint16_t)b);
	case PTX_F16X2:
		return lane_pack16(lane_add_h(lane_lo16(o32), lane_lo16(b32)),
		                   lane_add_h(lane_hi16(o32), lane_hi16(b32)));
	case PTX_BF16X2:
		return lane_pack16(lane_add_b(lane_lo16(o32), lane_lo16(b32)),
		                   lane_add_b(lane_hi16(o32), lane_hi16(b32)));
	default: return old + b;
	}
}

static bool is_less(enum ptx_type t, uint64_t a, uint64_t b)
{
	switch (t) {
	case PTX_S32: return (int32_t)(uint32_t)a < (int32_t)(uint32_t)b;
	case PTX_S64: return (int64_t)a < (int64_t)b;
	default: return a < b;
	}
}

/* The lesser or the greater one of halves; of a number and a NaN the number, as min and max do. */
static uint64_t half_extreme(enum ptx_type t, bool max, uint32_t a, uint32_t b)
{
	const bool brain = t == PTX_BF16 || t == PTX_BF16X2;
	uint16_t (*const of)(uint16_t, uint16_t, int) = brain ? max ? lane_max_b : lane_min_b
	                                                : max ? lane_max_h
	                                                      : lane_min_h;
	const uint16_t low = of(lane_lo16(a), lane_lo16(b), 0);
	return ptx_type_bytes(t) == 2 ? low : lane_pack16(low, of(lane_hi16(a), lane_hi16(b), 0));
}

static uint64_t extreme(enum ptx_type t, bool max, uint64_t old, uint64_t b)
{
	if (t == PTX_F16 || t == PTX_BF16 || t == PTX_F16X2 || t == PTX_BF16X2)
		return half_extreme(t, max, (uint32_t)old, (uint32_t)b);
	return (max ? is_less(t, b, old) : is_less(t, old, b)) ? old : b;
}

uint64_t lane_atomic(enum ptx_atom op, enum ptx_type t, uint64_t old, uint64_t b, uint64_t c)
{
	const uint32_t o32 = (uint32_t)old, b32 = (uint32_t)b;
	switch (op) {
	case ATOM_ADD: return atomic_sum(t, old, b);
	case ATOM_MIN:
	case ATOM_MAX: return extreme(t, op == ATOM_MAX, old, b);
	case ATOM_AND: return old & b;
	case ATOM_OR: return old | b;
	case ATOM_XOR: return old ^ b;
	case ATOM_INC: return o32 >= b32 ? 0 : o32 + 1;
	case ATOM_DEC: return o32 == 0 || o32 > b32 ? b32 : o32 - 1;
	case ATOM_EXCH: return b;
	default: /* ATOM_CAS */ return old == b ? c : old;
	}
}
