/* Affine forms of special registers: %tid and its like follow from the block's dimensions. */
#include "emu/analysis/affine.h"

static struct affine affine_tid(struct affine_forms *s, const struct launch_plan *p, unsigned axis)
{
	const uint32_t bx = p->block.x, by = p->block.y, threads = bx * by * p->block.z;
	const uint32_t n_warps = (threads + 31) / 32;
	int64_t first[32] = { 0 };
	uint32_t base0 = 0;
	uint64_t all = 0; /* or of the scalars, for their alignment */
	bool same_base = true;
	for (uint32_t w = 0; w < n_warps; w++) {
		uint32_t base = 0;
		for (uint32_t i = 0; i < 32; i++) {
			const uint32_t t = w * 32 + i; /* lanes past the block: as if it went on */
			const uint32_t v = axis == 0 ? t % bx : axis == 1 ? t / bx % by : t / bx / by;
			if (i == 0)
				base = v;
			const int64_t d = (int64_t)v - (int64_t)base;
			if (w == 0)
				first[i] = d;
			else if (first[i] != d && t < threads)
				return AFFINE_32_VALUES;
		}
		if (w == 0)
			base0 = base;
		same_base &= base == base0;
		all |= base;
	}
	return (struct affine){ .cls = AFFINE_SCALAR,
		                    .known = same_base,
		                    .base = same_base ? base0 : 0,
		                    .pattern = pattern_intern(s, first),
		                    .align_log2 = (uint8_t)affine_trailing_zeros(all) };
}

/* %tid also tells its range; lanes past the block's end count as well, hence whole warps. */
static struct affine affine_tid_ranged(struct affine_forms *s, const struct launch_plan *p,
                                       unsigned axis)
{
	const uint32_t size[3] = { p->block.x, p->block.y, p->block.z };
	const uint32_t threads = (p->block.x * p->block.y * p->block.z + 31) / 32 * 32;
	const struct affine r = affine_tid(s, p, axis);
	const uint32_t last = axis < 2 ? size[axis] : threads / p->block.x / p->block.y + 1;
	return affine_with_range(r, 0, (int64_t)last - (axis < 2));
}

struct affine affine_of_special(struct affine_forms *s, const struct launch_plan *p,
                                enum ptx_special sr)
{
	uint64_t v[32];
	switch (sr) {
	case SR_TID_X:
	case SR_TID_Y:
	case SR_TID_Z: return affine_tid_ranged(s, p, sr - SR_TID_X);
	case SR_CTAID_X: return affine_with_range(AFFINE_UNIFORM, 0, (int64_t)p->grid.x - 1);
	case SR_CTAID_Y: return affine_with_range(AFFINE_UNIFORM, 0, (int64_t)p->grid.y - 1);
	case SR_CTAID_Z: return affine_with_range(AFFINE_UNIFORM, 0, (int64_t)p->grid.z - 1);
	case SR_WARPID: return affine_with_range(AFFINE_UNIFORM, 0, 31);
	case SR_LANEID:
	case SR_LANEMASK_EQ:
	case SR_LANEMASK_LE:
	case SR_LANEMASK_LT:
	case SR_LANEMASK_GE:
	case SR_LANEMASK_GT:
		for (unsigned i = 0; i < 32; i++) {
			const uint32_t eq = 1u << i;
			v[i] = sr == SR_LANEID        ? i
			       : sr == SR_LANEMASK_EQ ? eq
			       : sr == SR_LANEMASK_LE ? (eq | (eq - 1))
			       : sr == SR_LANEMASK_LT ? eq - 1
			       : sr == SR_LANEMASK_GE ? ~(eq - 1)
			                              : ~(eq | (eq - 1));
		}
		return affine_from_values(s, v, 4);
	default: return AFFINE_UNIFORM;
	}
}
