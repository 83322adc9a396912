/* Numbers limited to fewer bits in machine code, alone (I2I) or side by side (I2IP, F2IP). */
#include "emu/lower/sass_lower.h"

#include "base/text.h"

/* What the first type among the modifiers holds, and its bits. */
struct range {
	enum sass_mod mod;
	unsigned bits;
	int32_t least, most;
};

static const struct range *range_of(const struct sass_lower *s)
{
	static const struct range all[] = {
		{ SASS_MOD_U4, 4, 0, 0xf },      { SASS_MOD_S4, 4, -0x8, 0x7 },
		{ SASS_MOD_U8, 8, 0, 0xff },     { SASS_MOD_S8, 8, -0x80, 0x7f },
		{ SASS_MOD_U16, 16, 0, 0xffff }, { SASS_MOD_S16, 16, -0x8000, 0x7fff },
	};
	for (unsigned k = 0; k < s->i->n_mods; k++)
		for (size_t t = 0; t < ARRAY_LEN(all); t++)
			if (s->i->mods[k] == all[t].mod)
				return &all[t];
	return NULL;
}

static struct xsrc limited(struct sass_lower *s, const struct range *r, struct xsrc v, bool sign)
{
	v = sl_op2(s, sign ? E_min_s32 : E_min_u32, v, src_const((uint32_t)r->most));
	return sign ? sl_op2(s, E_max_s32, v, src_const((uint32_t)r->least)) : v;
}

/* I2I.S8.S32.SAT: from 32 bits, to what a register then holds in 32 bits. */
bool sl_i2i(struct sass_lower *s)
{
	const struct range *r = range_of(s);
	const bool sign = sl_has(s, SASS_MOD_S32);
	if (!r || !sl_has(s, SASS_MOD_SAT) || (!sign && !sl_has(s, SASS_MOD_U32)))
		return sl_refuse(s, "this conversion");
	sl_set1(s, sl_dst(s, 0), E_mov_b32, limited(s, r, sl_int(s, 0), sign));
	return true;
}

/* The first of the two stands above the second, both below what the third has in its lower bits. */
static void set_packed(struct sass_lower *s, const struct range *r, struct xsrc high,
                       struct xsrc low)
{
	const struct xsrc bits = src_const(r->bits);
	struct xsrc all = src_const(0);
	if (r->bits < 16)
		all = sl_op2(s, E_shl_b32, sl_bits(s, 2), src_const(2 * r->bits));
	all = sl_op4(s, E_bfi_b32, low, all, src_const(0), bits);
	sl_set4(s, sl_dst(s, 0), E_bfi_b32, high, all, bits, bits);
}

bool sl_i2ip(struct sass_lower *s)
{
	const struct range *r = range_of(s);
	if (!r || !sl_has(s, SASS_MOD_SAT) || !sl_has(s, SASS_MOD_S32))
		return sl_refuse(s, "this conversion");
	const struct xsrc high = limited(s, r, sl_int(s, 0), true);
	set_packed(s, r, high, limited(s, r, sl_int(s, 1), true));
	return true;
}

bool sl_f2ip(struct sass_lower *s)
{
	const struct range *r = range_of(s);
	struct xsrc v[2];
	if (!r || !sl_has(s, SASS_MOD_F32))
		return sl_refuse(s, "this conversion");
	for (unsigned k = 0; k < 2; k++) {
		v[k] = sl_f32(s, k);
		if (sl_has(s, SASS_MOD_FTZ))
			v[k] = sl_op1(s, E_ftz_f32, v[k]);
		v[k] = limited(s, r, sl_op1(s, E_cvt_s32_f32, sl_integral(s, v[k], false)), true);
	}
	set_packed(s, r, v[0], v[1]);
	return true;
}
