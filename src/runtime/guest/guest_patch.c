#define _GNU_SOURCE /* dl_iterate_phdr() */
/*
 * Programs with the runtime linked into them (nvcc's default): its functions stand in the program
 * itself. Before main() each of them gets a jump to ours over its first bytes.
 *
 * They are found by name in the program's own symbol table; a stripped program has none, which the
 * explorer sees before it starts it. x86-64 only: elsewhere programs need the shared runtime.
 */
#include "runtime/guest/guest.h"

#include "base/mem.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* name -> our function, under the name it has inside this library */
#define API(name, timeline) extern const char guest_at_##name[] __asm__("guest_" #name);
#define ALIAS(name, of)
#define STUB(name) API(name, NONE)
#include "runtime/guest/api.def"
#undef API
#undef ALIAS
#undef STUB

struct target {
	const char *name;
	const char *function;
};
static struct target targets[] = {
#define API(name, timeline) { #name, guest_at_##name },
#define ALIAS(name, of) { #name, guest_at_##of },
#define STUB(name) { #name, guest_at_##name },
#include "runtime/guest/api.def"
#undef API
#undef ALIAS
#undef STUB
};
#define N_TARGETS (sizeof targets / sizeof targets[0])

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct target *)a)->name, ((const struct target *)b)->name);
}

#if defined(__x86_64__)
/* jmp *0(%rip), then the address */
#define JUMP_BYTES 14

static void put_jump(uint8_t *at, const char *to)
{
	const uint8_t jump[6] = { 0xff, 0x25, 0, 0, 0, 0 };
	memcpy(at, jump, sizeof jump);
	memcpy(at + sizeof jump, &to, sizeof to);
}

/* The page may be shared with code of the program that runs: it stays executable throughout. */
static bool patch(uint8_t *at, const char *to)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t first = (uintptr_t)at & ~(page - 1),
					last = ((uintptr_t)at + JUMP_BYTES - 1) & ~(page - 1);
	if (mprotect((void *)first, last - first + page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return false;
	put_jump(at, to);
	return mprotect((void *)first, last - first + page, PROT_READ | PROT_EXEC) == 0;
}
#else
#define JUMP_BYTES 14
static bool patch(uint8_t *at, const char *to)
{
	(void)at, (void)to;
	return false;
}
#endif

/* --- the program's symbol table --- */

struct image {
	const uint8_t *file;
	size_t size;
};

static const void *part(const struct image *im, uint64_t offset, uint64_t bytes)
{
	return offset <= im->size && bytes <= im->size - offset ? im->file + offset : NULL;
}

static void patch_symbols(const struct image *im, uintptr_t base)
{
	const Elf64_Ehdr *h = part(im, 0, sizeof *h);
	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64)
		return;
	const Elf64_Shdr *sections = part(im, h->e_shoff, (uint64_t)h->e_shnum * sizeof *sections);
	for (unsigned i = 0; sections && i < h->e_shnum; i++) {
		const Elf64_Shdr *s = &sections[i];
		if (s->sh_type != SHT_SYMTAB || s->sh_link >= h->e_shnum)
			continue;
		const Elf64_Shdr *strings = &sections[s->sh_link];
		const Elf64_Sym *symbols = part(im, s->sh_offset, s->sh_size);
		const char *names = part(im, strings->sh_offset, strings->sh_size);
		if (!symbols || !names || !strings->sh_size || names[strings->sh_size - 1])
			continue;
		for (size_t k = 0; k < s->sh_size / sizeof *symbols; k++) {
			const Elf64_Sym *y = &symbols[k];
			if (ELF64_ST_TYPE(y->st_info) != STT_FUNC || y->st_shndx == SHN_UNDEF ||
			    y->st_name >= strings->sh_size)
				continue;
			const struct target key = { names + y->st_name, NULL };
			const struct target *t = bsearch(&key, targets, N_TARGETS, sizeof *targets, by_name);
			if (t)
				patch((uint8_t *)(base + y->st_value), t->function);
		}
	}
}

static int first_object(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

__attribute__((constructor)) static void patch_program(void)
{
	struct stat st;
	uintptr_t base = 0;
	if (!getenv(RECORD_FD_VARIABLE))
		return;
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size <= 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	struct image im = { .size = (size_t)st.st_size };
	void *file = mmap(NULL, im.size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return;
	im.file = file;
	qsort(targets, N_TARGETS, sizeof *targets, by_name);
	dl_iterate_phdr(first_object, &base);
	patch_symbols(&im, base);
	munmap(file, im.size);
}
