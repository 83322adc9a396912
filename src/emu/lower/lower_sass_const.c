/*
 * Constant banks as a launch sees them: dimensions and parameters in bank 0, the assembler's own
 * numbers in bank 2, and the module's constants in bank 3.
 */
#include "emu/lower/sass_lower.h"

#include <string.h>

/* From machine code that assemblers make; shared memory: 1 KiB is the system's from sm_90 on. */
static const struct sass_arch archs[] = {
	{ 75, 0x0, 0xc, 0x28, 0x20, 0x44, 0 },
	{ 80, 0x0, 0xc, 0x28, 0x20, 0x44, 0 },
	{ 86, 0x0, 0xc, 0x28, 0x20, 0x44, 0 },
	{ 89, 0x0, 0xc, 0x28, 0x20, 0x44, 0 },
	{ 90, 0x0, 0xc, 0x28, 0x20, 0x44, 0x400 },
	{ 100, 0x360, 0x370, 0x37c, SASS_NOWHERE, SASS_NOWHERE, 0x400 },
	{ 120, 0x360, 0x370, 0x37c, SASS_NOWHERE, SASS_NOWHERE, 0x400 },
};

/* What is the driver's where a kernel has no parameters behind it. */
enum { DRIVER_BYTES = 0x210 };

const struct sass_arch *sass_arch_find(unsigned sm)
{
	for (size_t k = 0; k < sizeof archs / sizeof *archs; k++)
		if (archs[k].sm == sm)
			return &archs[k];
	return NULL;
}

/* One byte of bank 0; false = not known. */
static bool launch_byte(const struct sass_lower *s, uint64_t offset, uint8_t *out)
{
	const struct launch_plan *p = s->env->plan;
	const struct cubin_func *f = s->f->cubin;
	const uint32_t block[3] = { p->block.x, p->block.y, p->block.z };
	const uint32_t grid[3] = { p->grid.x, p->grid.y, p->grid.z };
	const uint32_t stack = s->env->stack_bytes;
	const uint64_t window = LOCAL_WINDOW, workspace = s->env->workspace;
	const uint32_t work[2] = { (uint32_t)(workspace >> 32), (uint32_t)workspace };
	if (offset >= f->param_offset && offset - f->param_offset < f->param_bytes)
		*out = s->env->params[offset - f->param_offset];
	else if (offset - s->arch->block < sizeof block)
		*out = ((const uint8_t *)block)[offset - s->arch->block];
	else if (offset - s->arch->grid < sizeof grid)
		*out = ((const uint8_t *)grid)[offset - s->arch->grid];
	else if (offset - s->arch->stack < sizeof stack)
		*out = ((const uint8_t *)&stack)[offset - s->arch->stack];
	else if (offset - s->arch->local < sizeof window)
		*out = ((const uint8_t *)&window)[offset - s->arch->local];
	else if (offset - s->arch->workspace < sizeof work)
		*out = ((const uint8_t *)work)[offset - s->arch->workspace];
	else if (offset < (f->param_bytes ? f->param_offset : DRIVER_BYTES))
		*out = 0; /* the driver's own: descriptors of memory */
	else
		return false;
	return true;
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
		for (unsigned k = 0; k < bytes; k++)
			if (!launch_byte(s, (uint64_t)offset + k, &b[k]))
				return false;
	} else if (bank == 2) {
		const struct cubin_bank *own = cubin_bank(&s->m->cubin, bank, (int)(s->f - s->m->funcs));
		if (!own || (uint64_t)offset + bytes > own->bytes)
			return false;
		memcpy(b, own->data + offset, bytes);
	} else if (bank < LOWER_BANKS && s->env->bank[bank].data &&
	           (uint64_t)offset + bytes <= s->env->bank[bank].bytes) {
		memcpy(b, s->env->bank[bank].data + offset, bytes);
	} else {
		return false;
	}
	memcpy(value, b, sizeof b);
	return true;
}
