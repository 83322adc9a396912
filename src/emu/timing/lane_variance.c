/* Spreads variance from special registers and loads to what is made of them; see lane_variance.h.
 */
#include "emu/timing/lane_variance.h"

#include "base/mem.h"

uint8_t variance_of_source(const uint8_t *variance, const struct xsrc *src)
{
	return src->kind == S_REG ? variance[src->reg] : 0;
}

static uint8_t variance_of_result(const uint8_t *variance, const struct xop *x)
{
	uint8_t v = x->guard >= 0 ? variance[x->guard] : 0;
	for (unsigned i = 0; i < x->n_s; i++)
		v |= variance_of_source(variance, &x->s[i]);
	switch (x->kind) {
	case X_SPECIAL:
		switch ((enum ptx_special)x->op) {
		case SR_CTAID_X:
		case SR_CTAID_Y:
		case SR_CTAID_Z:
		case SR_SMID: return v | VARIES_BY_BLOCK;
		default: return v | VARIES_BY_LANE;
		}
	case X_LD: /* another block may have written to the same address, not another lane */
		return x->space == SPACE_CONST ? v : (uint8_t)(v | VARIES_BY_BLOCK);
	case X_CLOCK:
	case X_ATOM:
	case X_SHFL:
	case X_ACTIVE:
	case X_ELECT:
	case X_TEXTURE:
	case X_MATCH: return VARIES_BY_LANE | VARIES_BY_BLOCK;
	default: return v;
	}
}

uint8_t *lane_variance(const struct ir *ir)
{
	uint8_t *variance = mem_zalloc(ir->n_regs + 1);
	bool changed = true;
	while (changed) {
		changed = false;
		for (unsigned o = 0; o < ir->n_ops; o++) {
			const struct xop *x = &ir->ops[o];
			if (!x->n_d)
				continue;
			const uint8_t v = variance_of_result(variance, x);
			for (unsigned i = 0; i < x->n_d; i++)
				if (x->d[i] >= 0 && (variance[x->d[i]] | v) != variance[x->d[i]]) {
					variance[x->d[i]] |= v;
					changed = true;
				}
		}
	}
	return variance;
}
