/*
 * Constant banks of machine code: the module's variables lie in bank 3 one behind the other, the
 * addresses of things in bank 4. Both get a region of device memory, because code may look into
 * them at computed places; what is there is made anew for each launch.
 */
#include "emu/launch/launch.h"

#include "emu/device.h"

#include "sass/sass.h"

#include <string.h>

static const char bank_name[] = "constants of the machine code";

/* Functions that the driver gives, as addresses that machine code may call. */
static const char *const system_functions[] = { "vprintf", "__assertfail", "malloc", "free" };

uint64_t machine_function_address(const char *name)
{
	for (unsigned k = 0; k < sizeof system_functions / sizeof *system_functions; k++)
		if (!strcmp(system_functions[k], name))
			return function_address((int32_t)k);
	return 0;
}

static const struct cubin_bank *bank_of(const struct sass_module *m, unsigned bank)
{
	return cubin_bank(&m->cubin, bank, -1);
}

void machine_banks_add(struct machine_banks *b, const struct sass_module *m, struct arena *a)
{
	for (unsigned k = 3; k < LOWER_BANKS; k++) {
		const struct cubin_bank *bank = bank_of(m, k);
		if (bank)
			b->region[k] = 1 + arena_add(a, bank_name, bank->bytes + 1, 512);
	}
}

bool machine_banks_take(struct machine_banks *b, const struct sass_module *m, struct arena *a)
{
	for (unsigned k = 3; k < LOWER_BANKS; k++) {
		const struct cubin_bank *bank = bank_of(m, k);
		struct arena_region *r = bank ? arena_take(a, 0, bank->bytes + 1, 512) : NULL;
		if (bank && !r)
			return false;
		if (!r)
			continue;
		r->name = bank_name;
		r->kind = EMU_MEMORY_VARIABLE;
		r->read_only = true;
		b->bank[k].address = r->base;
	}
	return true;
}

/* Address of a variable or of a function of the driver; 0 = not known. */
static uint64_t address_of(const struct emu_module *m, const char *name)
{
	for (unsigned i = 0; i < m->ptx->n_vars; i++)
		if (!strcmp(m->ptx->vars[i].name, name))
			return m->var_addr[i];
	return machine_function_address(name);
}

static void put_variables(const struct cubin *c, const struct emu_module *m, const struct arena *a,
                          uint8_t *data, size_t bytes)
{
	for (unsigned k = 0; k < c->n_constants; k++) {
		const struct cubin_constant *v = &c->constants[k];
		const uint64_t at = address_of(m, v->name);
		if (at && v->offset + v->bytes <= bytes)
			memcpy(data + v->offset, arena_at(a, at), v->bytes);
	}
}

void machine_banks_fill(struct machine_banks *b, const struct sass_module *s,
                        const struct emu_module *m, const struct arena *a)
{
	for (unsigned k = 3; k < LOWER_BANKS; k++) {
		const struct cubin_bank *bank = bank_of(s, k);
		if (!bank)
			continue;
		if (b->region[k])
			b->bank[k].address = a->region[b->region[k] - 1].base;
		uint8_t *data = arena_at(a, b->bank[k].address);
		memcpy(data, bank->data, bank->bytes);
		if (k == 3)
			put_variables(&s->cubin, m, a, data, bank->bytes);
		for (unsigned i = 0; i < bank->n_relocs; i++) {
			const struct cubin_reloc *r = &bank->relocs[i];
			const uint64_t at = address_of(m, r->symbol) + (uint64_t)r->addend;
			if (r->offset + sizeof at <= bank->bytes)
				memcpy(data + r->offset, &at, sizeof at);
		}
		b->bank[k].data = data;
		b->bank[k].bytes = (uint32_t)bank->bytes;
	}
}
