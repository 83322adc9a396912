/*
 * Constant banks of machine code: a function's own numbers in bank 2 (tables of branches), the
 * module's variables in bank 3 one behind the other, the addresses of things in bank 4. All get a
 * region of device memory, because code may look into them at computed places; what is there is
 * made anew for each launch.
 *
 * A pointer to a function is a place in bank 2 for machine code, where the caller has the offset of
 * its own copy of that function. Variables have the pointers of the PTX, so bank 2 has the same
 * offsets once more where those point (FUNCTION_PLACES).
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

enum { FIRST_BANK = 2 };

static const struct cubin_bank *bank_of(const struct sass_module *m, unsigned bank, unsigned func)
{
	return cubin_bank(&m->cubin, bank, bank == FIRST_BANK ? (int)func : -1);
}

/* Has a function of @m others in its code that it calls through pointers? */
static bool has_places(const struct sass_module *m)
{
	for (unsigned f = 0; f < m->n_funcs; f++)
		if (m->cubin.funcs[f].n_inner && bank_of(m, FIRST_BANK, f))
			return true;
	return false;
}

/* Room for the bank of any function. */
static size_t room(const struct sass_module *m, unsigned n_functions, unsigned bank)
{
	size_t most = 0;
	if (bank == FIRST_BANK && has_places(m))
		return (uint32_t)function_address((int32_t)n_functions);
	for (unsigned f = 0; f < m->n_funcs; f++) {
		const struct cubin_bank *b = bank_of(m, bank, f);
		most = b && b->bytes > most ? b->bytes : most;
	}
	return most;
}

void machine_banks_add(struct machine_banks *b, const struct sass_module *m, unsigned n_functions,
                       struct arena *a)
{
	for (unsigned k = FIRST_BANK; k < LOWER_BANKS; k++) {
		const size_t bytes = room(m, n_functions, k);
		if (bytes)
			b->region[k] = 1 + arena_add(a, bank_name, bytes + 1, 512);
	}
}

bool machine_banks_take(struct machine_banks *b, const struct sass_module *m, unsigned n_functions,
                        struct arena *a)
{
	for (unsigned k = FIRST_BANK; k < LOWER_BANKS; k++) {
		const size_t bytes = room(m, n_functions, k);
		struct arena_region *r = bytes ? arena_take(a, 0, bytes + 1, 512) : NULL;
		if (bytes && !r)
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

/* Where its functions lie in the code of @f, at the places of the PTX's pointers. */
static void put_places(const struct cubin_func *f, const struct ptx_module *m, uint8_t *data)
{
	memset(data + FUNCTION_PLACES, 0,
	       (uint32_t)function_address((int32_t)m->n_funcs) - (size_t)FUNCTION_PLACES);
	for (unsigned i = 0; i < f->n_inner; i++) {
		const char *name = cubin_inner_name(f, i);
		for (unsigned k = 0; name && k < m->n_funcs; k++)
			if (!strcmp(m->funcs[k].name, name))
				memcpy(data + (uint32_t)function_address((int32_t)k), &f->inner[i].offset,
				       sizeof f->inner[i].offset);
	}
}

void machine_banks_fill(struct machine_banks *b, const struct sass_module *s, unsigned func,
                        const struct emu_module *m, const struct arena *a)
{
	for (unsigned k = FIRST_BANK; k < LOWER_BANKS; k++) {
		const struct cubin_bank *bank = bank_of(s, k, func);
		b->bank[k].data = NULL;
		if (!bank)
			continue;
		if (b->region[k])
			b->bank[k].address = a->region[b->region[k] - 1].base;
		uint8_t *data = arena_at(a, b->bank[k].address);
		memcpy(data, bank->data, bank->bytes);
		if (k == FIRST_BANK && has_places(s))
			put_places(&s->cubin.funcs[func], m->ptx, data);
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
