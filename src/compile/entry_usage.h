/*
 * Static facts of the entries of a compiled source: registers, shared memory, spills ...
 *
 * Internal to compile/. Entries and thread bounds come from the PTX, resources from the
 * assembler's report (--ptxas-options=-v), constant memory from the cubin's sections.
 */
#ifndef PMPP_COMPILE_ENTRY_USAGE_H
#define PMPP_COMPILE_ENTRY_USAGE_H

#include "compile/compile.h"

/* Fills m->n_entries and m->entries from m->ptx, m->cubin and the assembler's @report. An entry
 * without a report is an error (nothing is guessed). */
bool usage_read(const char *report, struct module *m, struct err *err);
/* @report without the assembler's resource lines: warnings and remarks only. Caller frees. */
char *usage_strip(const char *report);

#endif
