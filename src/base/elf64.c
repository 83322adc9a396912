/*
 * Reading ELF; see elf64.h. System V ABI, chapters 4 and 5; structures of <elf.h>.
 *
 * Copies each header out of the image, because nothing there need be aligned.
 */
#include "base/elf64.h"

#include <elf.h>
#include <string.h>

static bool lies_in(const struct elf64 *e, uint64_t offset, uint64_t size)
{
	return offset <= e->len && size <= e->len - offset;
}

/* The string at @offset of section @names; NULL when it does not end inside. */
static const char *string_at(const struct elf64 *e, unsigned names, uint64_t offset)
{
	Elf64_Shdr h;
	if (names >= e->n_sections)
		return NULL;
	memcpy(&h, e->image + e->section_table + names * sizeof h, sizeof h);
	if (h.sh_type == SHT_NOBITS || !lies_in(e, h.sh_offset, h.sh_size) || offset >= h.sh_size)
		return NULL;
	const char *s = (const char *)e->image + h.sh_offset + offset;
	return memchr(s, '\0', (size_t)(h.sh_size - offset)) ? s : NULL;
}

bool elf64_open(struct elf64 *e, const void *image, size_t len, struct err *err)
{
	Elf64_Ehdr h;
	*e = (struct elf64){ .image = image, .len = len };
	if (len < sizeof h || memcmp(image, ELFMAG, SELFMAG))
		return err_set(err, ERR_PARSE, "not an ELF file");
	memcpy(&h, image, sizeof h);
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(err, ERR_PARSE, "not a 64-bit little-endian ELF file");
	if (h.e_shentsize != sizeof(Elf64_Shdr) ||
	    !lies_in(e, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr)))
		return err_set(err, ERR_PARSE,
		               "cut short or damaged: its table of %u sections at byte %llu "
		               "does not lie in its %zu bytes",
		               h.e_shnum, (unsigned long long)h.e_shoff, len);
	e->machine = h.e_machine;
	e->abi_version = h.e_ident[EI_ABIVERSION];
	e->flags = h.e_flags;
	e->n_sections = h.e_shnum;
	e->section_table = h.e_shoff;
	e->names_section = h.e_shstrndx;
	return true;
}

bool elf64_section(const struct elf64 *e, unsigned i, struct elf_section *s)
{
	Elf64_Shdr h;
	if (i >= e->n_sections)
		return false;
	memcpy(&h, e->image + e->section_table + i * sizeof h, sizeof h);
	const bool has_bytes = h.sh_type != SHT_NOBITS;
	const char *name = string_at(e, e->names_section, h.sh_name);
	if (!name || (has_bytes && !lies_in(e, h.sh_offset, h.sh_size)))
		return false;
	*s = (struct elf_section){
		.name = name,
		.type = h.sh_type,
		.link = h.sh_link,
		.info = h.sh_info,
		.flags = h.sh_flags,
		.size = h.sh_size,
		.data = has_bytes ? e->image + h.sh_offset : NULL,
	};
	return true;
}

unsigned elf64_find(const struct elf64 *e, const char *name, struct elf_section *s)
{
	for (unsigned i = 1; i < e->n_sections; i++)
		if (elf64_section(e, i, s) && !strcmp(s->name, name))
			return i;
	return 0;
}

unsigned elf64_symbols(const struct elf_section *symtab)
{
	const uint64_t n = symtab->data ? symtab->size / sizeof(Elf64_Sym) : 0;
	return n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
}

bool elf64_symbol(const struct elf64 *e, const struct elf_section *symtab, unsigned i,
                  struct elf_symbol *sym)
{
	Elf64_Sym s;
	if (i >= elf64_symbols(symtab))
		return false;
	memcpy(&s, symtab->data + i * sizeof s, sizeof s);
	const char *name = string_at(e, symtab->link, s.st_name);
	*sym = (struct elf_symbol){
		.name = name ? name : "",
		.value = s.st_value,
		.size = s.st_size,
		.section = s.st_shndx,
		.type = ELF64_ST_TYPE(s.st_info),
		.bind = ELF64_ST_BIND(s.st_info),
		.other = s.st_other,
	};
	return true;
}

static size_t reloc_bytes(const struct elf_section *relocs)
{
	return relocs->type == SHT_RELA  ? sizeof(Elf64_Rela)
	       : relocs->type == SHT_REL ? sizeof(Elf64_Rel)
	                                 : 0;
}

unsigned elf64_relocs(const struct elf_section *relocs)
{
	const size_t bytes = reloc_bytes(relocs);
	const uint64_t n = relocs->data && bytes ? relocs->size / bytes : 0;
	return n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
}

bool elf64_reloc(const struct elf_section *relocs, unsigned i, struct elf_reloc *r)
{
	Elf64_Rela rela = { .r_addend = 0 }; /* Elf64_Rel is its beginning */
	if (i >= elf64_relocs(relocs))
		return false;
	memcpy(&rela, relocs->data + i * reloc_bytes(relocs), reloc_bytes(relocs));
	*r = (struct elf_reloc){
		.offset = rela.r_offset,
		.type = (uint32_t)ELF64_R_TYPE(rela.r_info),
		.symbol = (unsigned)ELF64_R_SYM(rela.r_info),
		.addend = rela.r_addend,
	};
	return true;
}
