/* Likely arguments for a template that nobody named any for. Private to src/userkernel/. */
#ifndef PMPP_USERKERNEL_USER_TEMPLATE_H
#define PMPP_USERKERNEL_USER_TEMPLATE_H

#include "userkernel/user_source.h"

/* "<float,16>" for "typename T, int TILE = 16". False: nobody can know, as for "class Op". */
bool user_template_guess(const struct user_kernel *k, char *out, size_t n);

#endif
