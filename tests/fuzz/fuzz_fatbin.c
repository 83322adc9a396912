/* Fuzz target: device code of an executable (fat binaries), modules of the cache, ELF images. */
#include "target.h"

#include "base/elf64.h"
#include "compile/module_pack.h"
#include "runtime/fatbin.h"

enum { UNPACK_MOST = 1 << 20 }; /* a header may ask for gigabytes, which take their time */

static void containers(const uint8_t *data, size_t size)
{
	struct fatbin_entry e, ptx, cubin;
	struct err err = { 0 };
	int more;
	promise(fatbin_size(data, size) <= size, "a container lies in the image");
	for (unsigned i = 0; (more = fatbin_entry_at(data, size, i, &e, &err)) == 1; i++) {
		promise(e.payload >= data && e.payload <= data + size &&
		            e.stored_bytes <= (size_t)(data + size - e.payload),
		        "an entry lies in the container");
		err_clear(&err);
		char *text = e.bytes <= UNPACK_MOST ? fatbin_unpack(&e, &err) : NULL;
		if (!text && e.bytes <= UNPACK_MOST)
			promise_refusal(&err);
		promise(!text || text[e.bytes] == '\0', "code ends");
		free(text);
	}
	if (more < 0)
		promise_refusal(&err);
	err_clear(&err);
	if (!fatbin_choose(data, size, 90, &ptx, &cubin, &err))
		promise_refusal(&err);
}

static void modules(const uint8_t *data, size_t size)
{
	struct module m;
	struct err err = { 0 };
	const char *compiler;
	unsigned count;
	if (module_unpack(data, size, NULL, &m, &err))
		module_free(&m);
	else
		promise_refusal(&err);
	archive_info(data, size, &count, &compiler);
	if (archive_find(data, size, "00112233445566778899aabbccddeeff", &m))
		module_free(&m);
}

static void sections(const uint8_t *data, size_t size)
{
	struct elf64 e;
	struct elf_section s;
	struct elf_symbol sym;
	struct elf_reloc reloc;
	struct err err = { 0 };
	size_t seen = 0;
	if (!elf64_open(&e, data, size, &err)) {
		promise_refusal(&err);
		return;
	}
	for (unsigned i = 0; i < e.n_sections && i < 64; i++) {
		if (!elf64_section(&e, i, &s))
			continue;
		seen += strlen(s.name);
		for (uint64_t k = 0; s.data && k < s.size; k += 1 + s.size / 64)
			seen += s.data[k];
		for (unsigned k = 0; k < elf64_symbols(&s) && k < 64; k++)
			if (elf64_symbol(&e, &s, k, &sym))
				seen += strlen(sym.name);
		for (unsigned k = 0; k < elf64_relocs(&s) && k < 64; k++)
			seen += elf64_reloc(&s, k, &reloc);
	}
	promise(elf64_find(&e, ".text", &s) < e.n_sections || !e.n_sections,
	        "a section is one of them");
	promise(seen < SIZE_MAX, "all of it can be read");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	containers(data, size);
	modules(data, size);
	sections(data, size);
	return 0;
}
