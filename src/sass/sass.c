/* A cubin and its disassembly joined into one module; see sass.h. */
#include "sass/sass.h"

#include "base/elf64.h"
#include "base/mem.h"
#include "sass/line_table.h"
#include "sass/sass_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file's number in the module's own list. */
static uint16_t file_number(struct sass_module *m, const char *name)
{
	for (unsigned i = 0; i < m->n_files; i++)
		if (!strcmp(m->files[i], name))
			return (uint16_t)i;
	if (m->n_files == UINT16_MAX)
		return 0;
	m->files = mem_realloc(m->files, m->n_files + 1, sizeof *m->files);
	m->files[m->n_files] = mem_strdup(name);
	return (uint16_t)m->n_files++;
}

static void set_lines(struct sass_module *m, const void *image, size_t len)
{
	struct elf64 elf;
	struct line_table source, ptx;
	file_number(m, "");
	if (!elf64_open(&elf, image, len, NULL))
		return;
	line_table_read(&elf, ".debug_line", &source);
	line_table_read(&elf, ".nv_debug_line_sass", &ptx);
	uint16_t *numbers = mem_calloc(source.n_files + 1u, sizeof *numbers);
	for (unsigned i = 0; i < source.n_files; i++)
		numbers[i] = file_number(m, source.files[i]);
	for (unsigned f = 0; f < m->n_funcs; f++) {
		const unsigned section = m->funcs[f].cubin->section;
		for (unsigned n = 0; n < m->funcs[f].n_insts; n++) {
			struct sass_inst *i = &m->funcs[f].insts[n];
			const struct line_row *row = line_table_find(&source, section, i->offset);
			if (row) {
				i->file = numbers[row->file];
				i->line = row->line;
			}
			row = line_table_find(&ptx, section, i->offset);
			i->ptx_line = row ? row->line : 0;
		}
	}
	free(numbers);
	line_table_free(&source);
	line_table_free(&ptx);
}

bool sass_read(struct sass_module *m, const void *cubin, size_t cubin_len, const char *listing,
               size_t listing_len, struct err *err)
{
	*m = (struct sass_module){ .n_funcs = 0 };
	void *image = sass_pool_get(&m->pool, cubin_len + 1);
	if (cubin_len)
		memcpy(image, cubin, cubin_len);
	if (!cubin_read(&m->cubin, image, cubin_len, err)) {
		sass_free(m);
		return false;
	}
	m->n_funcs = m->cubin.n_funcs;
	m->funcs = mem_calloc(m->n_funcs, sizeof *m->funcs);
	for (unsigned f = 0; f < m->n_funcs; f++) {
		m->funcs[f].name = m->cubin.funcs[f].name;
		m->funcs[f].cubin = &m->cubin.funcs[f];
	}
	bool good = sass_listing_read(m, listing, listing_len, err);
	for (unsigned f = 0; good && f < m->n_funcs; f++)
		if (!m->funcs[f].n_insts)
			good = err_set(err, ERR_PARSE, "the disassembly has no instruction of function %s",
			               m->funcs[f].name);
	if (!good) {
		sass_free(m);
		return false;
	}
	set_lines(m, image, cubin_len);
	sass_link(m);
	return true;
}

void sass_free(struct sass_module *m)
{
	for (unsigned f = 0; f < m->n_funcs; f++)
		free(m->funcs[f].insts);
	free(m->funcs);
	for (unsigned i = 0; i < m->n_files; i++)
		free(m->files[i]);
	free(m->files);
	cubin_free(&m->cubin);
	sass_pool_free(&m->pool);
	*m = (struct sass_module){ .n_funcs = 0 };
}

const struct sass_func *sass_func(const struct sass_module *m, const char *name)
{
	for (unsigned f = 0; f < m->n_funcs; f++)
		if (!strcmp(m->funcs[f].name, name))
			return &m->funcs[f];
	return NULL;
}

int32_t sass_inst_at(const struct sass_func *f, uint64_t offset)
{
	unsigned low = 0, high = f->n_insts;
	while (low < high) {
		const unsigned mid = low + (high - low) / 2;
		if (f->insts[mid].offset == offset)
			return (int32_t)mid;
		if (f->insts[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return SASS_NO_TARGET;
}

/* --- as text ---------------------------------------------------------------------------------- */

void sass_guard_text(const struct sass_inst *i, char out[8])
{
	out[0] = '\0';
	if (i->guard != SASS_PT || i->guard_not)
		snprintf(out, 8, "@%s%s%c", i->guard_not ? "!" : "", i->guard_uniform ? "UP" : "P",
		         i->guard == SASS_PT ? 'T' : '0' + i->guard);
}

void sass_operands_text(const struct sass_func *f, const struct sass_inst *i, char *out, size_t n)
{
	const char *label = i->target == SASS_NO_TARGET ? NULL : strchr(i->text, '`');
	if (label)
		snprintf(out, n, "%.*s0x%04" PRIx32, (int)(label - i->text), i->text,
		         f->insts[i->target].offset);
	else
		snprintf(out, n, "%s", i->text);
}

void sass_inst_text(const struct sass_func *f, const struct sass_inst *i, char *out, size_t n)
{
	char guard[8], operands[256];
	sass_guard_text(i, guard);
	sass_operands_text(f, i, operands, sizeof operands);
	snprintf(out, n, "%s%s%s%s%s", guard, *guard ? " " : "", i->opcode, *operands ? " " : "",
	         operands);
}

void sass_title(const struct sass_module *m, char *out, size_t n)
{
	/* "Cuda compilation tools, release 13.0, V13.0.88" */
	const char *v = strstr(m->cubin.tool, ", V");
	snprintf(out, n, "sm_%u machine code, ptxas %s", m->cubin.sm,
	         v ? v + 3 : "of an unknown version");
}
