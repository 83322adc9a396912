/* Running DWARF line-number programs; see line_table.h. */
#include "sass/line_table.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1 << 30, MAX_FILES = 1 << 16 };

enum {
	LNS_COPY = 1,
	LNS_ADVANCE_PC,
	LNS_ADVANCE_LINE,
	LNS_SET_FILE,
	LNS_CONST_ADD_PC = 8,
	LNS_FIXED_ADVANCE_PC = 9
};
enum { LNE_END_SEQUENCE = 1, LNE_SET_ADDRESS = 2 };

struct program {
	struct line_table *t;
	const struct elf64 *elf;
	struct elf_section relocs, symtab;
	const unsigned char *start, *at, *end; /* of the section; @end: of this unit */
	bool bad;                              /* wanted more than there was */
	unsigned first_file;                   /* of this unit, in t->files */
	/* header */
	unsigned min_inst, line_range, opcode_base;
	int line_base;
	const unsigned char *operand_counts;
	/* state machine */
	unsigned section, file;
	uint64_t offset;
	int64_t line;
};

static unsigned byte_of(struct program *p)
{
	if (p->at >= p->end) {
		p->bad = true;
		return 0;
	}
	return *p->at++;
}

static uint64_t word_of(struct program *p, int bytes)
{
	uint64_t v = 0;
	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)byte_of(p) << (8 * i);
	return v;
}

static uint64_t uleb_of(struct program *p)
{
	uint64_t v = 0;
	for (int shift = 0;; shift += 7) {
		const unsigned b = byte_of(p);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80) || p->bad)
			return v;
	}
}

static int64_t sleb_of(struct program *p)
{
	uint64_t v = 0;
	int shift = 0;
	unsigned b;
	do {
		b = byte_of(p);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80 && !p->bad);
	if (b & 0x40 && shift < 64)
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

static const char *string_of(struct program *p)
{
	const char *s = (const char *)p->at;
	const void *nul = memchr(p->at, '\0', (size_t)(p->end - p->at));
	if (!nul) {
		p->bad = true;
		return "";
	}
	p->at = (const unsigned char *)nul + 1;
	return s;
}

static void add_file(struct line_table *t, const char *folder, const char *name)
{
	t->files = mem_realloc(t->files, t->n_files + 1, sizeof *t->files);
	t->files[t->n_files++] =
		*folder && *name != '/' ? mem_printf("%s/%s", folder, name) : mem_strdup(name);
}

/* Names of folders, then files with the number of their folder (0 = the compiler's own). */
static void read_files(struct program *p)
{
	const unsigned char *folders = p->at;
	unsigned n_folders = 0;
	while (!p->bad && *string_of(p))
		n_folders++;
	p->first_file = p->t->n_files;
	while (!p->bad && p->t->n_files < MAX_FILES) {
		const char *name = string_of(p);
		if (!*name)
			break;
		const uint64_t folder = uleb_of(p);
		uleb_of(p); /* time of change */
		uleb_of(p); /* length */
		const char *in = "";
		if (folder && folder <= n_folders) {
			in = (const char *)folders;
			for (uint64_t i = 1; i < folder; i++)
				in += strlen(in) + 1;
		}
		add_file(p->t, in, name);
	}
}

static void add_row(struct program *p, bool ends)
{
	struct line_table *t = p->t;
	const bool good = p->line > 0 && p->line < MAX_LINE && !ends;
	const uint64_t file = (uint64_t)p->first_file + p->file - 1;
	t->rows = mem_realloc(t->rows, t->n_rows + 1, sizeof *t->rows);
	t->rows[t->n_rows] = (struct line_row){
		.order = t->n_rows,
		.section = p->section,
		.offset = p->offset,
		.file = p->file && file < t->n_files ? (unsigned)file : 0,
		.line = good ? (unsigned)p->line : 0,
	};
	t->n_rows++;
}

static void start_sequence(struct program *p)
{
	p->section = 0;
	p->offset = 0;
	p->file = 1;
	p->line = 1;
}

/* The address lies in the code section of the symbol that the place is relocated against. */
static void set_address(struct program *p)
{
	const uint64_t place = (uint64_t)(p->at - p->start);
	p->offset = word_of(p, 8);
	p->section = 0;
	const unsigned n = elf64_relocs(&p->relocs);
	for (unsigned i = 0; i < n; i++) {
		struct elf_reloc r;
		struct elf_symbol sym;
		if (elf64_reloc(&p->relocs, i, &r) && r.offset == place &&
		    elf64_symbol(p->elf, &p->symtab, r.symbol, &sym)) {
			p->section = sym.section;
			p->offset += sym.value + (uint64_t)r.addend;
			return;
		}
	}
}

static void extended(struct program *p)
{
	const uint64_t len = uleb_of(p);
	if (p->bad || !len || len > (uint64_t)(p->end - p->at)) {
		p->bad = true;
		return;
	}
	const unsigned char *next = p->at + len;
	const unsigned op = byte_of(p);
	if (op == LNE_END_SEQUENCE) {
		add_row(p, true);
		start_sequence(p);
	} else if (op == LNE_SET_ADDRESS && len == 9) {
		set_address(p);
	}
	p->at = next;
}

static void standard(struct program *p, unsigned op)
{
	switch (op) {
	case LNS_COPY: add_row(p, false); break;
	case LNS_ADVANCE_PC: p->offset += uleb_of(p) * p->min_inst; break;
	case LNS_ADVANCE_LINE: p->line = (int64_t)((uint64_t)p->line + (uint64_t)sleb_of(p)); break;
	case LNS_SET_FILE: p->file = (unsigned)uleb_of(p); break;
	case LNS_CONST_ADD_PC:
		p->offset += (uint64_t)((255 - p->opcode_base) / p->line_range) * p->min_inst;
		break;
	case LNS_FIXED_ADVANCE_PC: p->offset += word_of(p, 2); break;
	default:
		for (unsigned n = p->operand_counts[op - 1]; n; n--)
			uleb_of(p);
	}
}

/* Its length, then version, length of the header, and what advances how; then the program. */
static void run_unit(struct program *p)
{
	word_of(p, 2); /* version: 2 and 3 do not differ in what is used here */
	const uint64_t header = word_of(p, 4);
	const unsigned char *code = p->at + header;
	if (p->bad || header > (uint64_t)(p->end - p->at))
		return;
	p->min_inst = byte_of(p);
	byte_of(p);                            /* is_stmt */
	const int line_base = (int)byte_of(p); /* signed */
	p->line_base = line_base < 128 ? line_base : line_base - 256;
	p->line_range = byte_of(p);
	p->opcode_base = byte_of(p);
	p->operand_counts = p->at;
	if (p->bad || !p->line_range || !p->opcode_base ||
	    p->opcode_base - 1 > (uint64_t)(p->end - p->at))
		return;
	p->at += p->opcode_base - 1;
	read_files(p);
	if (p->bad)
		return;
	p->at = code;
	start_sequence(p);
	while (p->at < p->end && !p->bad) {
		const unsigned op = byte_of(p);
		if (op >= p->opcode_base) {
			const unsigned step = op - p->opcode_base;
			p->offset += (uint64_t)(step / p->line_range) * p->min_inst;
			p->line += p->line_base + (int)(step % p->line_range);
			add_row(p, false);
		} else if (op) {
			standard(p, op);
		} else {
			extended(p);
		}
	}
}

/* Of rows for one place the last one stands: an end before a beginning, then as they came. */
static int by_place(const void *a, const void *b)
{
	const struct line_row *x = a;
	const struct line_row *y = b;
	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (!x->line != !y->line)
		return x->line ? 1 : -1;
	return x->order < y->order ? -1 : 1;
}

void line_table_read(const struct elf64 *elf, const char *name, struct line_table *t)
{
	struct program p = { .t = t, .elf = elf };
	struct elf_section s;
	*t = (struct line_table){ .n_rows = 0 };
	add_file(t, "", "");
	if (!elf64_find(elf, name, &s) || !s.data)
		return;
	char *rela = mem_printf(".rela%s", name);
	char *rel = mem_printf(".rel%s", name);
	if (!elf64_find(elf, rela, &p.relocs) && !elf64_find(elf, rel, &p.relocs))
		p.relocs = (struct elf_section){ .data = NULL };
	free(rela);
	free(rel);
	if (!elf64_find(elf, ".symtab", &p.symtab))
		p.symtab = (struct elf_section){ .data = NULL };
	p.start = s.data;
	for (p.at = s.data; s.data + s.size - p.at >= 4;) {
		p.bad = false;
		p.end = s.data + s.size;
		const uint64_t len = word_of(&p, 4);
		if (len > (uint64_t)(p.end - p.at))
			break;
		p.end = p.at + len;
		run_unit(&p);
		p.at = p.end;
	}
	if (t->n_rows)
		qsort(t->rows, t->n_rows, sizeof *t->rows, by_place);
}

void line_table_free(struct line_table *t)
{
	for (unsigned i = 0; i < t->n_files; i++)
		free(t->files[i]);
	free(t->files);
	free(t->rows);
	*t = (struct line_table){ .n_rows = 0 };
}

const struct line_row *line_table_find(const struct line_table *t, unsigned section,
                                       uint64_t offset)
{
	unsigned low = 0, high = t->n_rows; /* the first row behind the place */
	while (low < high) {
		const unsigned mid = low + (high - low) / 2;
		const struct line_row *r = &t->rows[mid];
		if (r->section < section || (r->section == section && r->offset <= offset))
			low = mid + 1;
		else
			high = mid;
	}
	const struct line_row *r = low ? &t->rows[low - 1] : NULL;
	return r && r->section == section && r->line ? r : NULL;
}
