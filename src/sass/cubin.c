/*
 * Finding the parts of a cubin; see cubin.h.
 *
 * An attribute of .nv.info is a format byte, a number, and a 16-bit value (formats 1 to 3) or that
 * many bytes (format 4). Those about a function name its symbol, or stand in .nv.info.NAME.
 * Attributes that are not needed, or too short, are passed over.
 */
#include "sass/cubin.h"

#include "base/elf64.h"
#include "base/mem.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_CUDA = 190, SYMBOL_ENTRY = 0x10, MAX_FUNCS = 1 << 16, OLDEST_SM = 70 };

/* Attributes, by the names that nvdisasm prints. */
enum {
	EIATTR_MAX_THREADS = 0x05,
	EIATTR_PARAM_CBANK = 0x0a,
	EIATTR_REQNTID = 0x10,
	EIATTR_FRAME_SIZE = 0x11,
	EIATTR_MIN_STACK_SIZE = 0x12,
	EIATTR_KPARAM_INFO = 0x17,
	EIATTR_EXIT_INSTR_OFFSETS = 0x1c,
	EIATTR_REGCOUNT = 0x2f,
	EIATTR_NUM_BARRIERS = 0x4c,
};
enum { FORMAT_BYTES = 4 };

struct reading {
	struct elf64 elf;
	struct elf_section symtab;
	struct cubin *c;
};

static uint16_t get16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get32(const unsigned char *p)
{
	return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static const char *after(const char *s, const char *prefix)
{
	const size_t n = strlen(prefix);
	return strncmp(s, prefix, n) ? NULL : s + n;
}

static struct cubin_func *func_named(struct cubin *c, const char *name)
{
	for (unsigned i = 0; i < c->n_funcs; i++)
		if (!strcmp(c->funcs[i].name, name))
			return &c->funcs[i];
	return NULL;
}

/* Flags hold the architecture in their second byte, before CUDA 13 in the first. */
static unsigned architecture(const struct elf64 *e)
{
	return e->abi_version >= 8 ? e->flags >> 8 & 0xff : e->flags & 0xff;
}

static bool add_func(struct reading *r, unsigned section, const struct elf_section *s,
                     const char *name, struct err *err)
{
	struct cubin *c = r->c;
	if (!s->size || s->size % CUBIN_INST_BYTES)
		return err_set(err, ERR_PARSE,
		               "function %s: %llu bytes of code are no whole number of "
		               "16-byte instructions",
		               name, (unsigned long long)s->size);
	if (c->n_funcs == MAX_FUNCS)
		return err_set(err, ERR_UNSUPPORTED, "more than %d functions", MAX_FUNCS);
	c->funcs = mem_realloc(c->funcs, c->n_funcs + 1, sizeof *c->funcs);
	c->funcs[c->n_funcs++] = (struct cubin_func){
		.name = name,
		.code = s->data,
		.code_bytes = (size_t)s->size,
		.section = section,
		.stack_bytes = CUBIN_NO_COUNT,
	};
	return true;
}

static bool read_code(struct reading *r, struct err *err)
{
	for (unsigned i = 1; i < r->elf.n_sections; i++) {
		struct elf_section s;
		if (!elf64_section(&r->elf, i, &s))
			return err_set(err, ERR_PARSE,
			               "cut short or damaged: section %u of %u does not lie in "
			               "the file",
			               i, r->elf.n_sections);
		const char *name = after(s.name, ".text.");
		if (name && s.data && !add_func(r, i, &s, name, err))
			return false;
	}
	if (!r->c->n_funcs)
		return err_set(err, ERR_UNSUPPORTED, "there is no machine code in it");
	return true;
}

static void add_inner(struct cubin *c, const struct elf_symbol *sym)
{
	for (unsigned i = 0; i < c->n_funcs; i++) {
		struct cubin_func *f = &c->funcs[i];
		if (f->section != sym->section || sym->value >= f->code_bytes)
			continue;
		f->inner = mem_realloc(f->inner, f->n_inner + 1, sizeof *f->inner);
		f->inner[f->n_inner++] = (struct cubin_inner){ .name = sym->name, .offset = sym->value };
	}
}

static void read_symbols(struct reading *r)
{
	const unsigned n = elf64_symbols(&r->symtab);
	for (unsigned i = 0; i < n; i++) {
		struct elf_symbol sym;
		if (!elf64_symbol(&r->elf, &r->symtab, i, &sym) || sym.type != STT_FUNC)
			continue;
		struct cubin_func *f = func_named(r->c, sym.name);
		if (f && f->section == sym.section)
			f->entry = sym.other & SYMBOL_ENTRY;
		else
			add_inner(r->c, &sym);
	}
}

/* The function that an attribute's first word, a symbol's number, speaks of. */
static struct cubin_func *func_of_symbol(struct reading *r, const unsigned char *p)
{
	struct elf_symbol sym;
	return elf64_symbol(&r->elf, &r->symtab, get32(p), &sym) ? func_named(r->c, sym.name) : NULL;
}

static void add_param(struct cubin_func *f, const unsigned char *p)
{
	const struct cubin_param param = {
		.index = get16(p + 4),
		.offset = get16(p + 6),
		.bytes = get32(p + 8) >> 18,
	};
	f->params = mem_realloc(f->params, f->n_params + 1, sizeof *f->params);
	unsigned at = f->n_params++;
	for (; at && f->params[at - 1].index > param.index; at--)
		f->params[at] = f->params[at - 1];
	f->params[at] = param;
}

static void set_exits(struct cubin_func *f, const unsigned char *p, unsigned bytes)
{
	free(f->exits);
	f->n_exits = bytes / 4;
	f->exits = mem_calloc(f->n_exits + 1, sizeof *f->exits);
	for (unsigned i = 0; i < f->n_exits; i++)
		f->exits[i] = get32(p + 4 * i);
}

/* An attribute with @bytes of payload; @f: whose section it stands in, NULL = the module's. */
static void read_attribute(struct reading *r, struct cubin_func *f, unsigned number,
                           const unsigned char *p, unsigned bytes)
{
	struct cubin_func *of = !f && bytes >= 8 ? func_of_symbol(r, p) : NULL;
	if (of && number == EIATTR_REGCOUNT)
		of->registers = get32(p + 4);
	else if (of && number == EIATTR_FRAME_SIZE)
		of->frame_bytes = get32(p + 4);
	else if (of && number == EIATTR_MIN_STACK_SIZE)
		of->stack_bytes = get32(p + 4);
	if (!f)
		return;
	if (number == EIATTR_KPARAM_INFO && bytes >= 12) {
		add_param(f, p);
	} else if (number == EIATTR_PARAM_CBANK && bytes >= 8) {
		f->param_offset = get16(p + 4);
		f->param_bytes = get16(p + 6);
	} else if (number == EIATTR_EXIT_INSTR_OFFSETS) {
		set_exits(f, p, bytes);
	} else if ((number == EIATTR_MAX_THREADS || number == EIATTR_REQNTID) && bytes >= 12) {
		const uint64_t threads = (uint64_t)get32(p) * get32(p + 4) * get32(p + 8);
		f->max_threads = threads <= 1024 ? (unsigned)threads : 0;
	}
}

static void read_attributes(struct reading *r, const struct elf_section *s, struct cubin_func *f)
{
	for (uint64_t at = 0; s->data && s->size - at >= 4;) {
		const unsigned char *p = s->data + at;
		const unsigned value = get16(p + 2);
		at += 4;
		if (p[0] != FORMAT_BYTES) {
			if (f && p[1] == EIATTR_NUM_BARRIERS)
				f->barriers = value & 0xff;
			continue;
		}
		if (value > s->size - at)
			return;
		read_attribute(r, f, p[1], p + 4, value);
		at += value;
	}
}

static void add_bank(struct cubin *c, const struct elf_section *s, const char *name)
{
	char *end;
	const unsigned long bank = strtoul(name, &end, 10);
	const struct cubin_func *f = *end == '.' ? func_named(c, end + 1) : NULL;
	if (end == name || bank > 31 || !s->data || (*end && !f))
		return;
	c->banks = mem_realloc(c->banks, c->n_banks + 1, sizeof *c->banks);
	c->banks[c->n_banks++] = (struct cubin_bank){
		.bank = (unsigned)bank,
		.func = f ? (int)(f - c->funcs) : -1,
		.data = s->data,
		.bytes = (size_t)s->size,
	};
}

static struct cubin_reloc *read_relocs(struct reading *r, const struct elf_section *s,
                                       unsigned *n_out)
{
	const unsigned n = elf64_relocs(s);
	struct cubin_reloc *relocs = mem_calloc(n + 1, sizeof *relocs);
	*n_out = 0;
	for (unsigned i = 0; i < n; i++) {
		struct elf_reloc rel;
		struct elf_symbol sym;
		if (!elf64_reloc(s, i, &rel))
			break;
		relocs[(*n_out)++] = (struct cubin_reloc){
			.offset = rel.offset,
			.type = rel.type,
			.symbol = elf64_symbol(&r->elf, &r->symtab, rel.symbol, &sym) ? sym.name : "",
			.addend = rel.addend,
		};
	}
	return relocs;
}

static void add_relocs(struct reading *r, const struct elf_section *s, struct cubin_func *f)
{
	if (!f->relocs)
		f->relocs = read_relocs(r, s, &f->n_relocs);
}

/* Of section .nv.constant@name; the banks are all there. */
static void add_bank_relocs(struct reading *r, const struct elf_section *s, const char *name)
{
	struct cubin *c = r->c;
	char *end;
	const unsigned long bank = strtoul(name, &end, 10);
	const struct cubin_func *f = *end == '.' ? func_named(c, end + 1) : NULL;
	if (end == name || (*end && !f))
		return;
	for (unsigned i = 0; i < c->n_banks; i++) {
		struct cubin_bank *b = &c->banks[i];
		if (b->bank == bank && b->func == (f ? (int)(f - c->funcs) : -1) && !b->relocs)
			b->relocs = read_relocs(r, s, &b->n_relocs);
	}
}

static void read_constants(struct reading *r)
{
	struct elf_section s;
	struct cubin *c = r->c;
	const unsigned section = elf64_find(&r->elf, ".nv.constant3", &s);
	const unsigned n = elf64_symbols(&r->symtab);
	for (unsigned i = 0; section && i < n; i++) {
		struct elf_symbol sym;
		if (!elf64_symbol(&r->elf, &r->symtab, i, &sym) || sym.type != STT_OBJECT ||
		    sym.section != section || sym.value > s.size || sym.size > s.size - sym.value)
			continue;
		c->constants = mem_realloc(c->constants, c->n_constants + 1, sizeof *c->constants);
		c->constants[c->n_constants++] =
			(struct cubin_constant){ .name = sym.name, .offset = sym.value, .bytes = sym.size };
	}
}

/* "Cuda compilation tools, release ..." among the strings of the note. */
static const char *tool_of(const struct elf_section *note)
{
	static const char start[] = "Cuda compilation tools";
	const size_t n = sizeof start - 1;
	for (uint64_t i = 0; note->data && i + n < note->size; i++)
		if (!memcmp(note->data + i, start, n) &&
		    memchr(note->data + i, '\0', (size_t)(note->size - i)))
			return (const char *)note->data + i;
	return "";
}

static void read_section(struct reading *r, const struct elf_section *s)
{
	struct cubin *c = r->c;
	const char *name;
	struct cubin_func *f;
	if (!strcmp(s->name, ".nv.info")) {
		read_attributes(r, s, NULL);
	} else if ((name = after(s->name, ".nv.info."))) {
		if ((f = func_named(c, name)))
			read_attributes(r, s, f);
	} else if ((name = after(s->name, ".nv.constant"))) {
		add_bank(c, s, name);
	} else if ((name = after(s->name, ".nv.shared."))) {
		if ((f = func_named(c, name)) && s->size <= UINT32_MAX)
			f->shared_bytes = (unsigned)s->size;
	} else if ((name = after(s->name, ".rela.text.")) || (name = after(s->name, ".rel.text."))) {
		if ((f = func_named(c, name)))
			add_relocs(r, s, f);
	} else if (!strcmp(s->name, ".note.nv.tkinfo")) {
		c->tool = tool_of(s);
	} else if (!strcmp(s->name, ".debug_line")) {
		c->lines = s->size > 0;
	} else if (!strcmp(s->name, ".nv_debug_line_sass")) {
		c->ptx_lines = s->size > 0;
	}
}

bool cubin_read(struct cubin *c, const void *image, size_t len, struct err *err)
{
	struct reading r = { .c = c };
	*c = (struct cubin){ .tool = "" };
	if (!elf64_open(&r.elf, image, len, err))
		return false;
	if (r.elf.machine != MACHINE_CUDA)
		return err_set(err, ERR_PARSE, "an ELF file for machine %u, not a cubin", r.elf.machine);
	c->sm = architecture(&r.elf);
	if (c->sm < OLDEST_SM)
		return err_set(err, ERR_UNSUPPORTED,
		               "machine code of sm_%u; only that of sm_%d and newer is understood", c->sm,
		               OLDEST_SM);
	if (!read_code(&r, err)) {
		cubin_free(c);
		return false;
	}
	if (!elf64_find(&r.elf, ".symtab", &r.symtab))
		r.symtab = (struct elf_section){ .data = NULL };
	read_symbols(&r);
	struct elf_section s;
	for (unsigned i = 1; i < r.elf.n_sections; i++)
		if (elf64_section(&r.elf, i, &s))
			read_section(&r, &s);
	for (unsigned i = 1; i < r.elf.n_sections; i++) {
		const char *name;
		if (elf64_section(&r.elf, i, &s) && ((name = after(s.name, ".rela.nv.constant")) ||
		                                     (name = after(s.name, ".rel.nv.constant"))))
			add_bank_relocs(&r, &s, name);
	}
	read_constants(&r);
	return true;
}

void cubin_free(struct cubin *c)
{
	for (unsigned i = 0; i < c->n_funcs; i++) {
		free(c->funcs[i].params);
		free(c->funcs[i].exits);
		free(c->funcs[i].relocs);
		free(c->funcs[i].inner);
	}
	for (unsigned i = 0; i < c->n_banks; i++)
		free(c->banks[i].relocs);
	free(c->funcs);
	free(c->banks);
	free(c->constants);
	*c = (struct cubin){ .tool = "" };
}

const struct cubin_func *cubin_func(const struct cubin *c, const char *name)
{
	for (unsigned i = 0; i < c->n_funcs; i++)
		if (!strcmp(c->funcs[i].name, name))
			return &c->funcs[i];
	return NULL;
}

const char *cubin_inner_name(const struct cubin_func *f, unsigned i)
{
	const size_t n = strlen(f->name);
	const char *name = f->inner[i].name;
	return *name == '$' && !strncmp(name + 1, f->name, n) && name[n + 1] == '$' ? name + n + 2
	                                                                            : NULL;
}

const struct cubin_bank *cubin_bank(const struct cubin *c, unsigned bank, int func)
{
	const struct cubin_bank *of_module = NULL;
	for (unsigned i = 0; i < c->n_banks; i++) {
		if (c->banks[i].bank != bank)
			continue;
		if (c->banks[i].func == func)
			return &c->banks[i];
		if (c->banks[i].func < 0)
			of_module = &c->banks[i];
	}
	return of_module;
}
