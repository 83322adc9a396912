/* Addresses in a program as lines of its source (program_places.c). Private to runtime/. */
#ifndef PMPP_RUNTIME_PROGRAM_PLACES_H
#define PMPP_RUNTIME_PROGRAM_PLACES_H

#include "model/whole_program.h"

/* In all findings "NAME+0x12 from NAME+0x34 ..." becomes "file.cu:5", as the line table of the
 * executable @path has it, which called itself @name; a line of NVIDIA's headers gives way to that
 * from which it was called. Without a line table, or the tool that reads it, all stays. */
void program_name_places(struct program *p, const char *path, const char *name);

#endif
