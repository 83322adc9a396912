/*
 * What the machine code inside an executable says of its kernels: registers, bounds, source file.
 * For programs on a real GPU, whose driver tells none of it; see program_measured.h. Reads the file
 * as it is; what it loads or compiles while it runs is not in there.
 */
#include "runtime/program_measured.h"

#include "base/elf64.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "runtime/fatbin.h"
#include "sass/cubin.h"
#include "sass/line_table.h"

#include <stdlib.h>
#include <string.h>

#define MAX_EXECUTABLE ((size_t)1 << 30)
#define CONTAINER_STEP 8 /* containers lie on such boundaries */

static const char *file_of(const struct line_table *t, unsigned section)
{
	for (unsigned i = 0; i < t->n_rows; i++)
		if (t->rows[i].section == section && t->rows[i].line && t->rows[i].file < t->n_files)
			return t->files[t->rows[i].file];
	return "";
}

/* @module: its machine code's. */
static void take_function(struct program *p, const struct cubin_func *f, const struct line_table *t,
                          unsigned module)
{
	for (unsigned i = 0; i < p->n_kernels; i++) {
		struct program_kernel *k = &p->kernels[i];
		if (!f->entry || strcmp(k->mangled, f->name) != 0)
			continue;
		const char *file = file_of(t, f->section);
		k->registers = f->registers;
		k->max_threads = f->max_threads;
		k->code_read = true;
		k->module = module;
		if (file[0]) {
			free(k->file);
			k->file = mem_strdup(file);
		}
	}
}

/* @image goes to a module of @p. */
static void take_cubin(struct program *p, char *image, size_t len)
{
	struct cubin c;
	struct elf64 elf;
	struct err err = { 0 };
	struct line_table lines = { 0 };
	struct program_module *m = program_add_module(p, p->n_modules + 1);
	m->cubin = image;
	m->cubin_bytes = len;
	if (!elf64_open(&elf, image, len, &err) || !cubin_read(&c, image, len, &err))
		return;
	line_table_read(&elf, ".debug_line", &lines);
	for (unsigned i = 0; i < c.n_funcs; i++)
		take_function(p, &c.funcs[i], &lines, p->n_modules);
	line_table_free(&lines);
	cubin_free(&c);
}

/* Machine code of the GPU's own architecture, of every container in the section. */
static void take_section(struct program *p, const struct elf_section *s)
{
	const unsigned arch = (unsigned)(p->gpu->cc_major * 10 + p->gpu->cc_minor);
	struct fatbin_entry entry;
	struct err err = { 0 };
	for (size_t at = 0; s->data && at < s->size;) {
		const size_t left = s->size - at, bytes = fatbin_size(s->data + at, left);
		for (unsigned i = 0; bytes && fatbin_entry_at(s->data + at, left, i, &entry, &err) == 1;
		     i++) {
			if (entry.kind != FATBIN_CUBIN || entry.arch != arch)
				continue;
			char *image = fatbin_unpack(&entry, &err);
			if (image)
				take_cubin(p, image, entry.bytes);
		}
		at +=
			bytes ? (bytes + CONTAINER_STEP - 1) / CONTAINER_STEP * CONTAINER_STEP : CONTAINER_STEP;
	}
}

void program_read_code(struct program *p, const char *path)
{
	struct text file = { 0 };
	struct elf64 elf;
	struct elf_section section;
	struct err err = { 0 };
	static const char *const names[] = { ".nv_fatbin", "__nv_relfatbin" };
	if (p->n_kernels && file_read(path, MAX_EXECUTABLE, &file, &err) &&
	    elf64_open(&elf, file.s, file.len, &err))
		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if (elf64_find(&elf, names[i], &section))
				take_section(p, &section);
	text_free(&file);
}
