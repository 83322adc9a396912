/*
 * Several PTX texts as one, as the linker of relocatable device code (nvcc -rdc=true) would join
 * them: what one text declares .extern may be defined in another, of equal .weak definitions the
 * first stays, names of one text alone are kept apart, line tables keep their files.
 * Functions of NVIDIA's device runtime that a grid waits with (cudaCGSynchronize() and its like)
 * are added where no text defines them; others of that runtime stay undefined.
 */
#ifndef PMPP_PTX_JOIN_H
#define PMPP_PTX_JOIN_H

#include "base/err.h"

/* Freed by the caller; NULL: a text breaks off inside a statement, or none was given. */
char *ptx_join(unsigned n, const char *const *texts, struct err *err);
/* What is added: PTX statements without a header (join_grid.c). */
extern const char ptx_grid_functions[];

#endif
