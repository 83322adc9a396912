/*
 * What the compiler knows of a file's kernels and the scanner does not: symbols, types behind
 * typedefs and template arguments, sizes of structures, instances, bounds on threads. Private to
 * src/userkernel/.
 */
#ifndef PMPP_USERKERNEL_USER_RESOLVE_H
#define PMPP_USERKERNEL_USER_RESOLVE_H

#include "compile/compile.h"
#include "userkernel/user_source.h"

struct user_unit {
	const char *file;              /* "my.cu" */
	const struct compile_own *own; /* words and path; nvcc, extra and text are ours */
	unsigned n_macros;
	const struct compile_macro *macros;
	int cc_major, cc_minor;
	const atomic_bool *cancel; /* NULL = never */
};

/* Compiles the file by nvcc. @wanted: the kernel as a person names it, "axpy<float,64>"; NULL =
 * every kernel of the file, templates with arguments that are guessed. False: it does not compile;
 * @s is as it was. */
bool user_resolve(struct user_source *s, const struct user_unit *unit, const char *wanted,
                  struct err *err);
/* The entries of a file that is PTX, as kernels. */
void user_resolve_ptx(struct user_source *s, const char *ptx);

#endif
