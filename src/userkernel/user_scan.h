/*
 * Parts of the scanner of user_source.c; private to it. @code is the text with everything but code
 * blank (user_text.h).
 */
#ifndef PMPP_USERKERNEL_USER_SCAN_H
#define PMPP_USERKERNEL_USER_SCAN_H

#include "base/text.h"
#include "userkernel/user_source.h"

/* user_signature.c: a declaration or definition with __global__ in s[from..to), its body from
 * @body, joins @out's kernels if it has one. NULL = it did not; valid until the next one joins. */
struct user_kernel *user_read_kernel(const char *s, size_t from, size_t body, size_t to,
                                     bool has_body, struct user_source *out);
/* Parameters from a list "const float *x, int n". @named: the last word of each is its name. */
void user_read_params(const char *list, bool named, struct user_kernel *k);
/* user_variable.c: a declaration in s[from..to) at file scope, its value behind @value (@to = it
 * has none), joins @out's variables if it is one. */
void user_read_variable(const char *s, size_t from, size_t value, size_t to,
                        struct user_source *out);
/* What p->type says; the size of an unknown structure is @bytes (0 = unknown). */
void user_know_type(struct user_param *p, unsigned bytes);

/* user_device.c */
/* Is the declaration code[from..to), with its body at @body, for the host only? As nvcc has it:
 * what says nothing is. */
bool user_host_only(const char *code, size_t from, size_t to, size_t body, bool function);
/* Has the text an #include "..."? */
bool user_includes_own(const char *text);
/* Copies the text; includes of host headers give way to their stand-ins, on the same line. */
void user_put_device(const char *s, struct text *out);

#endif
