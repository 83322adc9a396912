#define _GNU_SOURCE /* memmem() */
/* What an executable is, before it is started; see program_run.h. ELF: System V ABI, chapters 4, 5.
 */
#include "runtime/fatbin.h"
#include "runtime/program_run.h"

#include "base/file.h"
#include "base/text.h"

#include <elf.h>
#include <string.h>

#define MAX_EXECUTABLE ((size_t)1 << 30)

struct elf {
	const uint8_t *data;
	size_t size;
	const Elf64_Ehdr *head;
	const Elf64_Shdr *sections;
	const char *names;
	size_t names_size;
};

static const void *elf_part(const struct elf *e, uint64_t offset, uint64_t bytes)
{
	return offset <= e->size && bytes <= e->size - offset ? e->data + offset : NULL;
}

static bool open_elf(struct elf *e, const char *path, struct err *err)
{
	const Elf64_Ehdr *h = e->head = elf_part(e, 0, sizeof *h);
	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return err_set(err, ERR_USAGE, "%s: not an executable in ELF form", path);
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_machine != EM_X86_64)
		return err_set(err, ERR_UNSUPPORTED, "%s: made for another kind of machine", path);
	e->sections = elf_part(e, h->e_shoff, (uint64_t)h->e_shnum * sizeof *e->sections);
	if (!e->sections || h->e_shstrndx >= h->e_shnum)
		e->sections = NULL;
	if (e->sections) {
		const Elf64_Shdr *s = &e->sections[h->e_shstrndx];
		e->names = elf_part(e, s->sh_offset, s->sh_size);
		e->names_size = e->names ? s->sh_size : 0;
	}
	return true;
}

static const Elf64_Shdr *section_named(const struct elf *e, const char *name)
{
	const size_t n = strlen(name) + 1;
	for (unsigned i = 0; e->sections && i < e->head->e_shnum; i++) {
		const uint32_t at = e->sections[i].sh_name;
		if (at < e->names_size && e->names_size - at >= n && !memcmp(e->names + at, name, n))
			return &e->sections[i];
	}
	return NULL;
}

/* Calls @see with each needed library's name until it returns true. */
static bool any_needed(const struct elf *e, bool (*see)(const char *library, void *ctx), void *ctx)
{
	const Elf64_Shdr *dynamic = section_named(e, ".dynamic"),
					 *strings = section_named(e, ".dynstr");
	if (!dynamic || !strings)
		return false;
	const Elf64_Dyn *d = elf_part(e, dynamic->sh_offset, dynamic->sh_size);
	const char *text = elf_part(e, strings->sh_offset, strings->sh_size);
	if (!d || !text || !strings->sh_size || text[strings->sh_size - 1])
		return false;
	for (size_t i = 0; i < dynamic->sh_size / sizeof *d && d[i].d_tag != DT_NULL; i++)
		if (d[i].d_tag == DT_NEEDED && d[i].d_un.d_val < strings->sh_size &&
		    see(text + d[i].d_un.d_val, ctx))
			return true;
	return false;
}

/* The driver is the same library of ours. */
static bool is_runtime(const char *library, void *ctx)
{
	(void)ctx;
	return !strncmp(library, "libcudart.so", 12) || !strncmp(library, "libcuda.so", 10);
}

/* Libraries that hold machine code only, or talk to the driver themselves. */
static bool needs_gpu(const char *library, void *ctx)
{
	static const char *const names[] = { "libcublas",   "libcudnn",  "libcufft",  "libcusparse",
		                                 "libcusolver", "libcurand", "libnccl",   "libnpp",
		                                 "libnvjpeg",   "libcudla",  "libnvshmem" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strncmp(library, names[i], strlen(names[i]))) {
			*(const char **)ctx = library;
			return true;
		}
	return false;
}

static bool has_runtime_symbols(const struct elf *e)
{
	const Elf64_Shdr *symbols = section_named(e, ".symtab"), *strings = section_named(e, ".strtab");
	if (!symbols || !strings)
		return false;
	const char *text = elf_part(e, strings->sh_offset, strings->sh_size);
	static const char wanted[] = "\0cudaMalloc";
	return text && memmem(text, strings->sh_size, wanted, sizeof wanted) != NULL;
}

static bool inspect(const struct elf *e, const char *path, enum program_form *form, struct err *err)
{
	const char *library = NULL;
	if (any_needed(e, needs_gpu, &library)) {
		err_set(err, ERR_UNSUPPORTED, "%s needs %.100s, which works on a GPU only", path, library);
		return err_remedy(err,
		                  "run it by itself on a machine with an NVIDIA GPU; without one, build "
		                  "it without that library (where it only checks results, leave the "
		                  "check out): kernels written in the program itself can be explored");
	}
	if (any_needed(e, is_runtime, NULL)) {
		*form = PROGRAM_SHARED_RUNTIME;
		return true;
	}
	const bool device_code = section_named(e, ".nv_fatbin") || section_named(e, "__nv_relfatbin");
	if (has_runtime_symbols(e)) {
		*form = PROGRAM_STATIC_RUNTIME;
		return true;
	}
	if (device_code) {
		err_set(err, ERR_UNSUPPORTED, "%s holds the CUDA runtime, but its symbols are stripped",
		        path);
		return err_remedy(err, "build it with nvcc -cudart shared, or without strip");
	}
	*form = PROGRAM_NO_CUDA;
	return true;
}

bool program_inspect_for_gpu(const char *path, struct err *err)
{
	struct text file = { 0 };
	if (!file_read(path, MAX_EXECUTABLE, &file, err))
		return false;
	struct elf e = { .data = (const uint8_t *)file.s, .size = file.len };
	const bool ok = open_elf(&e, path, err);
	text_free(&file);
	return ok;
}

bool program_inspect(const char *path, enum program_form *form, struct err *err)
{
	struct text file = { 0 };
	if (!file_read(path, MAX_EXECUTABLE, &file, err))
		return false;
	struct elf e = { .data = (const uint8_t *)file.s, .size = file.len };
	const bool ok = open_elf(&e, path, err) && inspect(&e, path, form, err);
	text_free(&file);
	return ok;
}

/* Of one container. */
static unsigned least_of(const uint8_t *data, size_t size)
{
	struct fatbin_entry e;
	unsigned least = 0;
	for (unsigned i = 0; fatbin_entry_at(data, size, i, &e, NULL) == 1; i++)
		least = !least || e.arch < least ? e.arch : least;
	return least;
}

unsigned program_least_cc(const char *path)
{
	struct text file = { 0 };
	struct err err = { 0 };
	unsigned most = 0;
	if (!file_read(path, MAX_EXECUTABLE, &file, &err))
		return 0;
	struct elf e = { .data = (const uint8_t *)file.s, .size = file.len };
	const Elf64_Shdr *s = open_elf(&e, path, &err) ? section_named(&e, ".nv_fatbin") : NULL;
	const uint8_t *data = s ? elf_part(&e, s->sh_offset, s->sh_size) : NULL;
	for (size_t at = 0, step; data && at < s->sh_size; at += step) {
		const size_t bytes = fatbin_size(data + at, s->sh_size - at);
		const unsigned least = bytes ? least_of(data + at, bytes) : 0;
		most = least > most ? least : most;
		step = bytes ? (bytes + 7) / 8 * 8 : 8; /* they begin at multiples of 8 */
	}
	text_free(&file);
	return most;
}
