/*
 * Which kernels a person's file has: by its text, and by the compiler where the text does not tell.
 * Private to src/userkernel/.
 */
#ifndef PMPP_USERKERNEL_USER_KNOWN_H
#define PMPP_USERKERNEL_USER_KNOWN_H

#include "userkernel/user_family.h"

/* Scans @text, asks the compiler if need be, and finds the kernel of the spec; complete as far as
 * arguments are given. False: what is missing, with a command line. */
bool user_find_kernel(struct user_family *o, const char *text, struct err *err);
/* The family's kernel in one line, for spec.as; NULL = its text says all. The caller's. */
char *user_kernel_line(const struct user_source *s, const struct user_kernel *k);

#endif
