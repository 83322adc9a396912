/*
 * Line tables of a cubin: which line of the CUDA source, and of the PTX, an instruction comes from.
 *
 * DWARF 2 line-number programs (DWARF Debugging Information Format 2.0.0, section 6.2) in sections
 * .debug_line (CUDA source) and .nv_debug_line_sass (PTX; its lines are those of the PTX text that
 * the assembler read). Addresses are relocated against the functions' sections.
 */
#ifndef PMPP_SASS_LINE_TABLE_H
#define PMPP_SASS_LINE_TABLE_H

#include "base/elf64.h"

/* From byte @offset of code section @section on, until the next row of that section. */
struct line_row {
	unsigned section;
	uint64_t offset;
	unsigned file;  /* index into files */
	unsigned line;  /* 0 = none: what follows has no line */
	unsigned order; /* in the program */
};

struct line_table {
	unsigned n_rows;
	struct line_row *rows; /* by section, then offset */
	unsigned n_files;
	char **files; /* as the table names them; files[0] = "" */
};

/* Reads section @name; none, or a malformed one, gives the rows before the first mistake. */
void line_table_read(const struct elf64 *elf, const char *name, struct line_table *t);
void line_table_free(struct line_table *t);
/* The row that covers the instruction; NULL = none. */
const struct line_row *line_table_find(const struct line_table *t, unsigned section,
                                       uint64_t offset);

#endif
