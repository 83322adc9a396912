/*
 * The sections and symbols of a 64-bit little-endian ELF image in memory.
 *
 * Only what a reader of compiled GPU code needs, over the C library's <elf.h>: the table of
 * sections, names, symbols. Nothing is loaded, relocated or changed; every field is checked against
 * the image, so that a cut or damaged one is refused or reads as having less. What a section means
 * is the user's business.
 */
#ifndef PMPP_BASE_ELF64_H
#define PMPP_BASE_ELF64_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct elf64 {
	const unsigned char *image; /* the caller's */
	size_t len;
	uint16_t machine; /* e_machine */
	unsigned abi_version;
	uint32_t flags; /* e_flags */
	unsigned n_sections;
	uint64_t section_table; /* offset in the image */
	unsigned names_section;
};

struct elf_section {
	const char *name;          /* in the image */
	uint32_t type, link, info; /* sh_type, sh_link, sh_info */
	uint64_t flags;
	uint64_t size;             /* bytes; of SHT_NOBITS too */
	const unsigned char *data; /* @size bytes in the image; NULL for SHT_NOBITS */
};

struct elf_symbol {
	const char *name;
	uint64_t value, size;
	unsigned section; /* index; 0 = undefined, from SHN_LORESERVE on: none */
	unsigned type, bind, other;
};

struct elf_reloc {
	uint64_t offset; /* in the section it changes */
	uint32_t type;
	unsigned symbol; /* index */
	int64_t addend;  /* 0 where it stands in the changed place (SHT_REL) */
};

/* ERR_PARSE: not such an image, or its section table does not lie in it. @image must outlive @e. */
bool elf64_open(struct elf64 *e, const void *image, size_t len, struct err *err);
/* False: there is no section @i, or it does not lie in the image. */
bool elf64_section(const struct elf64 *e, unsigned i, struct elf_section *s);
/* The first section of that name; its index, or 0 = none. */
unsigned elf64_find(const struct elf64 *e, const char *name, struct elf_section *s);
/* How many symbols section @symtab (SHT_SYMTAB) holds, and one of them. */
unsigned elf64_symbols(const struct elf_section *symtab);
bool elf64_symbol(const struct elf64 *e, const struct elf_section *symtab, unsigned i,
                  struct elf_symbol *sym);
/* Section @relocs, SHT_REL or SHT_RELA, another kind having none: how many, and one of them. */
unsigned elf64_relocs(const struct elf_section *relocs);
bool elf64_reloc(const struct elf_section *relocs, unsigned i, struct elf_reloc *r);

#endif
