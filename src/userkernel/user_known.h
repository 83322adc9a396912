/*
 * Which kernels a person's file has: by its text, and by the compiler where the text does not tell.
 * Private to src/userkernel/.
 */
#ifndef PMPP_USERKERNEL_USER_KNOWN_H
#define PMPP_USERKERNEL_USER_KNOWN_H

#include "userkernel/user_family.h"

/* A source that does not compile says so before anything else is asked for: *@err becomes that. The
 * kernels of @o are not to be used any more. */
void user_tell_compile_error(struct user_family *o, struct err *err);

/* Scans @text, asks the compiler if need be, and finds the kernel of the spec. False: which there
 * are, each with a command line. */
bool user_find_kernel(struct user_family *o, const char *text, struct err *err);
/* Is something of the launch not said? @what: the first, in words. */
bool user_lacks(const struct user_family *o, char *what, size_t n);
/* The family's kernel in one line, for spec.as; NULL = its text says all. The caller's. */
char *user_kernel_line(const struct user_source *s, const struct user_kernel *k);

#endif
