/*
 * The family made from the person's file that was read last, for the table of kernels. Thread-safe.
 */
#ifndef PMPP_USERKERNEL_USER_LIST_H
#define PMPP_USERKERNEL_USER_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct kernel_desc;

/* NULL = no file was read. It lives as long as the program. */
const struct kernel_desc *user_kernel_newest(void);
void user_kernel_publish(const struct kernel_desc *k);
/* The family's name in tables and messages: @name, or "own_NAME" where a kernel of this program
 * has that name (any case). */
void user_kernel_name(const char *name, char *out, size_t n);

#endif
