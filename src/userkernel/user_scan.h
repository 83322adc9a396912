/*
 * Parts of the scanner of user_source.c; private to it. @code is the text with everything but code
 * blank (user_text.h).
 */
#ifndef PMPP_USERKERNEL_USER_SCAN_H
#define PMPP_USERKERNEL_USER_SCAN_H

#include "base/text.h"
#include "userkernel/user_source.h"

/* user_signature.c: a declaration or definition with __global__ in s[from..to) joins @out's
 * kernels if it has a body. */
void user_read_kernel(const char *s, size_t from, size_t to, bool body, struct user_source *out);

/* user_device.c */
/* Is the declaration code[from..to), with its body at @body, for the host only? As nvcc has it:
 * what says nothing is. */
bool user_host_only(const char *code, size_t from, size_t to, size_t body, bool function);
/* Copies the text; includes of host headers give way to their stand-ins, on the same line. */
void user_put_device(const char *s, struct text *out);

#endif
