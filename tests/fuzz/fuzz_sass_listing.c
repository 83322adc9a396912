/*
 * Fuzz target: no text, however malformed, may crash the reader of nvdisasm's listings. The
 * cubin it is joined with is made here: one function "tiny" of 4096 instructions.
 */
#include "sass_promise.h"

#include <elf.h>

enum { CODE_BYTES = 4096 * CUBIN_INST_BYTES };

static struct {
	Elf64_Ehdr head;
	Elf64_Shdr sections[3];
	char names[32];
	unsigned char code[CODE_BYTES];
} image;

static void make_image(void)
{
	static const char names[] = "\0.shstrtab\0.text.tiny";
	memcpy(image.head.e_ident, ELFMAG "\2\1\1\x41\x8", 9);
	image.head.e_machine = 190;
	image.head.e_flags = 90 << 8;
	image.head.e_shoff = offsetof(__typeof__(image), sections);
	image.head.e_shentsize = sizeof(Elf64_Shdr);
	image.head.e_shnum = 3;
	image.head.e_shstrndx = 1;
	memcpy(image.names, names, sizeof names);
	image.sections[1] = (Elf64_Shdr){ .sh_name = 1,
		                              .sh_type = SHT_STRTAB,
		                              .sh_offset = offsetof(__typeof__(image), names),
		                              .sh_size = sizeof names };
	image.sections[2] = (Elf64_Shdr){ .sh_name = 11,
		                              .sh_type = SHT_PROGBITS,
		                              .sh_offset = offsetof(__typeof__(image), code),
		                              .sh_size = CODE_BYTES };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sass_module m;
	struct err err = { .code = ERR_NONE };
	make_image();
	if (sass_read(&m, &image, sizeof image, (const char *)data, size, &err)) {
		check_module(&m);
		sass_free(&m);
	} else {
		check_refusal(&m, &err);
	}
	return 0;
}
