/*
 * Integer operations of one lane: shifts, bit fields, permutes, products, division.
 * Part of lane.h, which says what holds for all of them. PTX ISA 9.0, sections 9.7.1 and 9.7.8.
 */
#ifndef PMPP_EMU_LANE_INT_H
#define PMPP_EMU_LANE_INT_H

#include <stdint.h>

/* --- shifts and bit fields (9.7.1, 9.7.8): amounts are clamped, not wrapped --- */
static inline uint32_t lane_shl32(uint32_t a, uint32_t b)
{
	const uint32_t r = a << (b & 31);
	return b > 31 ? 0 : r;
}
static inline uint32_t lane_shr_u32(uint32_t a, uint32_t b)
{
	const uint32_t r = a >> (b & 31);
	return b > 31 ? 0 : r;
}
static inline int32_t lane_shr_s32(int32_t a, uint32_t b)
{
	return a >> (b > 31 ? 31 : b);
}
static inline uint64_t lane_shl64(uint64_t a, uint32_t b)
{
	const uint64_t r = a << (b & 63);
	return b > 63 ? 0 : r;
}
static inline uint64_t lane_shr_u64(uint64_t a, uint32_t b)
{
	const uint64_t r = a >> (b & 63);
	return b > 63 ? 0 : r;
}
static inline int64_t lane_shr_s64(int64_t a, uint32_t b)
{
	return a >> (b > 63 ? 63 : b);
}
static inline uint32_t lane_shf_l(uint32_t lo, uint32_t hi, uint32_t n) /* n in 0..32 */
{
	const uint64_t v = (uint64_t)hi << 32 | lo;
	return (uint32_t)((v << n) >> 32);
}
static inline uint32_t lane_shf_r(uint32_t lo, uint32_t hi, uint32_t n) /* n in 0..32 */
{
	const uint64_t v = (uint64_t)hi << 32 | lo;
	return (uint32_t)(v >> n);
}
static inline uint32_t lane_min_amount(uint32_t n)
{
	return n > 32 ? 32 : n;
}
static inline int32_t lane_s24(int32_t a) /* the low 24 bits, as a signed number */
{
	return (int32_t)((uint32_t)a << 8) >> 8;
}
static inline uint32_t lane_bfe_u32(uint32_t a, uint32_t pos, uint32_t len)
{
	pos &= 0xff;
	len &= 0xff;
	const uint32_t v = lane_shr_u32(a, pos);
	return len > 31 ? v : v & ((1u << (len & 31)) - 1);
}
static inline int32_t lane_bfe_s32(int32_t a, uint32_t pos, uint32_t len)
{
	pos &= 0xff;
	len &= 0xff;
	if (len == 0)
		return 0;
	const uint32_t top = pos + len - 1 > 31 ? 31 : pos + len - 1; /* position of the sign */
	const uint32_t sign = (uint32_t)a >> top & 1;
	if (pos > 31)
		return sign ? -1 : 0;
	const uint32_t v = (uint32_t)a >> pos;
	const uint32_t keep = len > 31 ? 0xffffffffu : (1u << len) - 1;
	const uint32_t have = top - pos >= 31 ? 0xffffffffu : (1u << (top - pos + 1)) - 1;
	return (int32_t)((v & keep & have) | (sign ? ~(keep & have) : 0));
}
static inline uint64_t lane_bfe_u64(uint64_t a, uint32_t pos, uint32_t len)
{
	pos &= 0xff;
	len &= 0xff;
	const uint64_t v = lane_shr_u64(a, pos);
	return len > 63 ? v : v & (((uint64_t)1 << (len & 63)) - 1);
}
static inline int64_t lane_bfe_s64(int64_t a, uint32_t pos, uint32_t len)
{
	pos &= 0xff;
	len &= 0xff;
	if (len == 0)
		return 0;
	const uint32_t top = pos + len - 1 > 63 ? 63 : pos + len - 1;
	const uint64_t sign = (uint64_t)a >> top & 1;
	if (pos > 63)
		return sign ? -1 : 0;
	const uint64_t v = (uint64_t)a >> pos;
	const uint64_t have = top - pos >= 63 ? ~(uint64_t)0 : ((uint64_t)1 << (top - pos + 1)) - 1;
	return (int64_t)((v & have) | (sign ? ~have : 0));
}
static inline uint32_t lane_bfi32(uint32_t a, uint32_t b, uint32_t pos, uint32_t len)
{
	pos &= 0xff;
	len &= 0xff;
	if (pos > 31 || len == 0)
		return b;
	const uint32_t keep = (len > 31 ? 0xffffffffu : (1u << len) - 1) << pos;
	return (b & ~keep) | (a << pos & keep);
}
static inline uint64_t lane_bfi64(uint64_t a, uint64_t b, uint32_t pos, uint32_t len)
{
	pos &= 0xff;
	len &= 0xff;
	if (pos > 63 || len == 0)
		return b;
	const uint64_t keep = (len > 63 ? ~(uint64_t)0 : ((uint64_t)1 << len) - 1) << pos;
	return (b & ~keep) | (a << pos & keep);
}
static inline uint32_t lane_brev32(uint32_t v)
{
	v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
	v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
	v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
	return __builtin_bswap32(v);
}
static inline uint64_t lane_brev64(uint64_t v)
{
	return (uint64_t)lane_brev32((uint32_t)v) << 32 | lane_brev32((uint32_t)(v >> 32));
}
static inline uint32_t lane_popc32(uint32_t v)
{
	v -= v >> 1 & 0x55555555u;
	v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
	v = (v + (v >> 4)) & 0x0f0f0f0fu;
	v += v >> 8; /* a product would be one popcnt to compilers, which few hosts have for vectors */
	return (v + (v >> 16)) & 63;
}
static inline uint32_t lane_clz32(uint32_t v)
{
	return v ? (uint32_t)__builtin_clz(v) : 32;
}
static inline uint32_t lane_clz64(uint64_t v)
{
	return v ? (uint32_t)__builtin_clzll(v) : 64;
}
static inline uint32_t lane_bfind32(uint32_t v) /* position of the highest one */
{
	return v ? 31 - (uint32_t)__builtin_clz(v) : 0xffffffffu;
}
static inline uint32_t lane_bfind64(uint64_t v)
{
	return v ? 63 - (uint32_t)__builtin_clzll(v) : 0xffffffffu;
}
static inline uint32_t lane_fns(uint32_t mask, uint32_t base, int32_t offset)
{
	base &= 31;
	if (offset == 0)
		return mask >> base & 1 ? base : 0xffffffffu;
	const int step = offset > 0 ? 1 : -1;
	int32_t left = offset > 0 ? offset : -offset;
	for (int pos = (int)base; pos >= 0 && pos < 32; pos += step)
		if ((mask >> pos & 1) && --left == 0)
			return (uint32_t)pos;
	return 0xffffffffu;
}
static inline uint32_t lane_prmt(uint32_t a, uint32_t b, uint32_t selector)
{
	const uint64_t v = (uint64_t)b << 32 | a;
	uint32_t r = 0;
	for (unsigned i = 0; i < 4; i++) {
		const uint32_t s = selector >> (4 * i) & 15;
		uint32_t byte = (uint32_t)(v >> (8 * (s & 7))) & 0xff;
		if (s & 8)
			byte = byte & 0x80 ? 0xff : 0;
		r |= byte << (8 * i);
	}
	return r;
}
/* The selector that a mode of prmt stands for (9.7.9, table of prmt modes); @c is 0..3. */
static inline uint32_t lane_prmt_f4e(uint32_t c)
{
	static const uint16_t sel[4] = { 0x3210, 0x4321, 0x5432, 0x6543 };
	return sel[c & 3];
}
static inline uint32_t lane_prmt_b4e(uint32_t c)
{
	static const uint16_t sel[4] = { 0x5670, 0x6701, 0x7012, 0x0123 };
	return sel[c & 3];
}
static inline uint32_t lane_prmt_rc8(uint32_t c)
{
	return (c & 3) * 0x1111;
}
static inline uint32_t lane_prmt_ecl(uint32_t c)
{
	static const uint16_t sel[4] = { 0x3210, 0x3211, 0x3222, 0x3333 };
	return sel[c & 3];
}
static inline uint32_t lane_prmt_ecr(uint32_t c)
{
	static const uint16_t sel[4] = { 0x0000, 0x1110, 0x2210, 0x3210 };
	return sel[c & 3];
}
static inline uint32_t lane_prmt_rc16(uint32_t c)
{
	return c & 1 ? 0x3232 : 0x1010;
}
static inline uint32_t lane_lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t lut)
{
	uint32_t r = 0;
	r |= lut & 0x01 ? ~a & ~b & ~c : 0;
	r |= lut & 0x02 ? ~a & ~b & c : 0;
	r |= lut & 0x04 ? ~a & b & ~c : 0;
	r |= lut & 0x08 ? ~a & b & c : 0;
	r |= lut & 0x10 ? a & ~b & ~c : 0;
	r |= lut & 0x20 ? a & ~b & c : 0;
	r |= lut & 0x40 ? a & b & ~c : 0;
	r |= lut & 0x80 ? a & b & c : 0;
	return r;
}
static inline int32_t lane_dp(uint32_t a, uint32_t b, uint32_t c, int bits, int n, int a_signed,
                              int b_signed, int b_from)
{
	uint32_t sum = c;
	for (int i = 0; i < n; i++) {
		const uint32_t ax = a >> (bits * i) & (bits == 8 ? 0xffu : 0xffffu);
		const uint32_t bx = b >> (8 * (b_from + i)) & 0xffu;
		const int32_t av = bits == 8 ? (a_signed ? (int8_t)ax : (int32_t)ax)
		                             : (a_signed ? (int16_t)ax : (int32_t)ax);
		const int32_t bv = b_signed ? (int8_t)bx : (int32_t)bx;
		sum += (uint32_t)(av * bv);
	}
	return (int32_t)sum;
}
static inline int32_t lane_sext(uint32_t a, uint32_t n, int clamp) /* szext.s32: keep n bits */
{
	n = clamp ? (n > 32 ? 32 : n) : n & 31;
	if (n == 0)
		return 0;
	return n > 31 ? (int32_t)a : (int32_t)(a << (32 - n)) >> (32 - n);
}
static inline uint32_t lane_zext(uint32_t a, uint32_t n, int clamp)
{
	n = clamp ? (n > 32 ? 32 : n) : n & 31;
	return n > 31 ? a : a & ((1u << n) - 1);
}
static inline uint32_t lane_bmsk(uint32_t pos, uint32_t n, int clamp)
{
	pos = clamp ? (pos > 32 ? 32 : pos) : pos & 31;
	n = clamp ? (n > 32 ? 32 : n) : n & 31;
	const uint64_t ones = ((uint64_t)1 << n) - 1;
	return (uint32_t)(ones << pos);
}

/* --- multiplication and division --- */
/* By products of halves, for which hosts have vectors. */
static inline uint64_t lane_mulhi_u64(uint64_t a, uint64_t b)
{
	const uint64_t low = 0xffffffffu, la = a & low, lb = b & low, ha = a >> 32, hb = b >> 32;
	const uint64_t mid = ha * lb + (la * lb >> 32), other = la * hb + (mid & low);
	return ha * hb + (mid >> 32) + (other >> 32);
}
static inline int64_t lane_mulhi_s64(int64_t a, int64_t b)
{
	const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
	const uint64_t beyond = (a < 0 ? ub : 0) + (b < 0 ? ua : 0);
	return (int64_t)(lane_mulhi_u64(ua, ub) - beyond);
}
/*
 * Division by zero gives all ones, the remainder too: what ptxas' sequences give on an H200. Of 32
 * bits by double, for which hosts have vectors: a quotient below n is so by 1 / b at least, which
 * is more than half a last place of n.
 */
static inline uint32_t lane_div_u32(uint32_t a, uint32_t b)
{
	const uint32_t q = (uint32_t)((double)a / (double)(b ? b : 1));
	return b ? q : 0xffffffffu;
}
static inline uint32_t lane_rem_u32(uint32_t a, uint32_t b)
{
	return b ? a - b * lane_div_u32(a, b) : 0xffffffffu;
}
static inline int32_t lane_div_s32(int32_t a, int32_t b)
{
	const int32_t q = (int32_t)((double)a / (double)(b == 0 || b == -1 ? 1 : b));
	const int32_t signs = b == -1 ? (int32_t)(0u - (uint32_t)a) : q;
	return b ? signs : -1;
}
static inline int32_t lane_rem_s32(int32_t a, int32_t b)
{
	return b ? (int32_t)((uint32_t)a - (uint32_t)b * (uint32_t)lane_div_s32(a, b)) : -1;
}
static inline uint64_t lane_div_u64(uint64_t a, uint64_t b)
{
	return b ? a / b : ~(uint64_t)0;
}
static inline uint64_t lane_rem_u64(uint64_t a, uint64_t b)
{
	return b ? a % b : ~(uint64_t)0;
}
static inline int64_t lane_div_s64(int64_t a, int64_t b)
{
	if (b == 0)
		return -1;
	return b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b;
}
static inline int64_t lane_rem_s64(int64_t a, int64_t b)
{
	if (b == 0)
		return -1;
	return b == -1 ? 0 : a % b;
}
static inline int32_t lane_sat_s32(int64_t v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

#endif
