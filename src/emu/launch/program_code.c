/* Machine code of a whole program's modules; see emu/device.h. */
#include "emu/device.h"

#include "base/mem.h"
#include "emu/launch/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool emu_module_set_code(struct emu_device *d, struct emu_module *m, const void *cubin,
                         size_t bytes, const char *listing, size_t listing_bytes, struct err *err)
{
	void *copy = mem_alloc(bytes + 1);
	memcpy(copy, cubin, bytes);
	if (!sass_read(&m->code, copy, bytes, listing, listing_bytes, err)) {
		free(copy);
		return false;
	}
	m->cubin = copy;
	sass_title(&m->code, m->level, sizeof m->level);
	if (machine_banks_take(&m->banks, &m->code, m->ptx->n_funcs, &d->arena))
		return true;
	emu_module_drop_code(m, d);
	return err_set(err, ERR_UNAVAILABLE, "no room for the constants of the machine code");
}

void emu_module_forget_lines(struct emu_module *m)
{
	m->code.cubin.ptx_lines = false;
}

void emu_module_drop_code(struct emu_module *m, struct emu_device *d)
{
	if (!m->cubin)
		return;
	for (unsigned k = 0; k < LOWER_BANKS; k++)
		if (m->banks.bank[k].address)
			arena_give_back(&d->arena, m->banks.bank[k].address);
	sass_free(&m->code);
	free(m->cubin);
	m->cubin = NULL;
}

const char *emu_module_level(const struct emu_module *m)
{
	return m->cubin ? m->level : "";
}
