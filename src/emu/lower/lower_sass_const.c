/*
 * Constant banks as a launch sees them: dimensions and parameters in bank 0, the assembler's own
 * numbers in bank 2, and the module's constants in bank 3.
 */
#include "emu/lower/sass_lower.h"

#include <string.h>

/* From machine code that assemblers make; shared memory: 1 KiB is the system's from sm_90 on. */
#define AMPERE(which)      \
	{ .sm = (which),       \
	  .block = 0x0,        \
	  .grid = 0xc,         \
	  .stack = 0x28,       \
	  .shared = 0x18,      \
	  .local = 0x20,       \
	  .workspace = 0x8c,   \
	  .descriptor = 0x118, \
	  .dynamic = 0x2c,     \
	  .sms = 0x10c,        \
	  .reserved = 0x114,   \
	  .tiles = 0x124,      \
	  .number = 0x30,      \
	  .bank = 0x40,        \
	  .constants = 0x50 }
#define BLACKWELL(which)    \
	{ .sm = (which),        \
	  .block = 0x360,       \
	  .grid = 0x370,        \
	  .stack = 0x37c,       \
	  .local = 0x2f8,       \
	  .workspace = 0x254,   \
	  .shared_base = 0x400, \
	  .descriptor = 0x358,  \
	  .named = 0x36c,       \
	  .cluster = 0x2a0,     \
	  .inverse = 0x2b0,     \
	  .clusters = 0x2c0,    \
	  .rank_end = 0x2cc,    \
	  .area = 0x348,        \
	  .dynamic = 0x2ac,     \
	  .sms = 0x2d0,         \
	  .reserved = 0x16c,    \
	  .number = 0x140,      \
	  .constants = 0x120 }
static const struct sass_arch archs[] = {
	{ .sm = 75,
	  .block = 0x0,
	  .grid = 0xc,
	  .stack = 0x28,
	  .shared = 0x18,
	  .local = 0x20,
	  .workspace = 0x8c,
	  .dynamic = 0x2c,
	  .sms = 0x10c,
	  .number = 0x30,
	  .bank = 0x40,
	  .constants = 0x50 },
	AMPERE(80),
	AMPERE(86),
	AMPERE(89),
	{ .sm = 90,
	  .block = 0x0,
	  .grid = 0xc,
	  .stack = 0x28,
	  .shared = 0x18,
	  .local = 0x20,
	  .workspace = 0x44,
	  .shared_base = 0x400,
	  .descriptor = 0x208,
	  .named = 0x140,
	  .cluster = 0x144,
	  .inverse = 0x150,
	  .clusters = 0x15c,
	  .rank_end = 0x188,
	  .area = 0x198,
	  .dynamic = 0x2c,
	  .sms = 0x10c,
	  .reserved = 0x114,
	  .tiles = 0x6c,
	  .number = 0x30,
	  .constants = 0xd0 },
	BLACKWELL(100),
	BLACKWELL(120),
};

const struct sass_arch *sass_arch_find(unsigned sm)
{
	for (size_t k = 0; k < sizeof archs / sizeof *archs; k++)
		if (archs[k].sm == sm)
			return &archs[k];
	return NULL;
}

uint32_t lower_sass_shared_base(unsigned sm)
{
	const struct sass_arch *a = sass_arch_find(sm);
	return a ? a->shared_base : 0;
}

/* What of bank 0 the launch makes, beside the parameters. */
struct launch_numbers {
	uint32_t block[3], grid[3], stack, work[2];
	uint64_t shared, local, descriptor, area, bank, number, constants;
	uint32_t dynamic, sms, reserved, tiles;
	uint32_t named, cluster[3], clusters[3], rank_end;
	float inverse[3];
};

static struct launch_numbers numbers_of(const struct sass_lower *s)
{
	const struct lower_env *e = s->env;
	const struct launch_plan *p = e->plan;
	struct launch_numbers n = {
		.block = { p->block.x, p->block.y, p->block.z },
		.grid = { p->grid.x, p->grid.y, p->grid.z },
		.stack = e->stack_bytes,
		.work = { (uint32_t)(e->workspace >> 32), (uint32_t)e->workspace },
		.shared = SHARED_WINDOW,
		.local = LOCAL_WINDOW,
		.area = e->param_base,
		.bank = sl_bank_address(s, 0),
		.constants = sl_bank_address(s, 3),
		.named = e->explicit_cluster,
		.rank_end = 1,
		.dynamic = p->dynamic_shared_bytes,
		.sms = e->sm_count,
		.reserved = SASS_RESERVED_SHARED,
		.tiles = s->arch->shared_base + e->shared_bytes,
	};
	for (unsigned k = 0; k < 3; k++) {
		n.cluster[k] = e->cluster[k] ? e->cluster[k] : 1;
		n.clusters[k] = n.grid[k] / n.cluster[k];
		n.inverse[k] = 1.0f / (float)n.cluster[k];
		n.rank_end *= n.cluster[k];
	}
	return n;
}

/* One byte of bank 0; false = not known. */
static bool launch_byte(const struct sass_lower *s, const struct launch_numbers *n, uint64_t offset,
                        uint8_t *out)
{
	const struct cubin_func *f = s->f->cubin;
	const struct sass_arch *a = s->arch;
	const struct {
		unsigned at, bytes;
		const void *value;
	} all[] = {
		{ f->param_offset, f->param_bytes, s->env->params },
		{ a->block, sizeof n->block, n->block },
		{ a->grid, sizeof n->grid, n->grid },
		{ a->stack, sizeof n->stack, &n->stack },
		{ a->shared, sizeof n->shared, &n->shared },
		{ a->local, sizeof n->local, &n->local },
		{ a->workspace, sizeof n->work, n->work },
		{ a->descriptor, sizeof n->descriptor, &n->descriptor },
		{ a->named, sizeof n->named, &n->named },
		{ a->cluster, sizeof n->cluster, n->cluster },
		{ a->inverse, sizeof n->inverse, n->inverse },
		{ a->clusters, sizeof n->clusters, n->clusters },
		{ a->rank_end, sizeof n->rank_end, &n->rank_end },
		{ a->area, n->area ? sizeof n->area : 0, &n->area },
		{ a->bank, n->bank ? sizeof n->bank : 0, &n->bank },
		{ a->dynamic, sizeof n->dynamic, &n->dynamic },
		{ a->sms, sizeof n->sms, &n->sms },
		{ a->reserved, sizeof n->reserved, &n->reserved },
		{ a->tiles, sizeof n->tiles, &n->tiles },
		{ a->number, sizeof n->number, &n->number },
		{ a->constants, sizeof n->constants, &n->constants },
	};
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		if ((all[k].at || all[k].value == n->block) && offset - all[k].at < all[k].bytes) {
			*out = ((const uint8_t *)all[k].value)[offset - all[k].at];
			return true;
		}
	return false;
}

uint64_t sl_bank_address(const struct sass_lower *s, unsigned bank)
{
	if (bank == 0)
		return s->env->param_base ? s->env->param_base - s->f->cubin->param_offset : 0;
	return bank < LOWER_BANKS ? s->env->bank[bank].address : 0;
}

bool sl_constant(const struct sass_lower *s, unsigned bank, int64_t offset, unsigned bytes,
                 uint64_t *value)
{
	uint8_t b[8] = { 0 };
	if (offset < 0 || bytes > sizeof b)
		return false;
	if (bank == 0) {
		const struct launch_numbers n = numbers_of(s);
		for (unsigned k = 0; k < bytes; k++)
			if (!launch_byte(s, &n, (uint64_t)offset + k, &b[k]))
				return false;
	} else if (bank < LOWER_BANKS && s->env->bank[bank].data &&
	           (uint64_t)offset + bytes <= s->env->bank[bank].bytes) {
		memcpy(b, s->env->bank[bank].data + offset, bytes);
	} else {
		return false;
	}
	memcpy(value, b, sizeof b);
	return true;
}
