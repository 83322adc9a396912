/*
 * A person's own file that holds a descriptor, as those in kernels/ do: its host half is compiled
 * by `cc` into a shared object and opened. A family like the built-in ones, with variants,
 * reference and cost.
 */
#ifndef PMPP_USERKERNEL_USER_PLUGIN_H
#define PMPP_USERKERNEL_USER_PLUGIN_H

#include "base/err.h"
#include "model/kernel.h"

#include <stdatomic.h>

/* Does the code of the text, comments and literals aside, define `const struct kernel_desc
 * kernel_NAME`? Its symbol then, else "". Returns its line, 0 = there is none. */
unsigned user_plugin_symbol(const char *text, char *symbol, size_t n);

/* May the descriptor @symbol, at @line of @path, be compiled and join this program, where it runs
 * with the person's rights? Asked once per file, before anything of it runs. */
typedef bool user_plugin_consent(const char *path, unsigned line, const char *symbol);
/* Who answers. Until somebody is named, no file may. */
void user_plugin_ask(user_plugin_consent *consent);
/* ERR_USAGE without consent; ERR_COMPILE with the compiler's words; ERR_UNAVAILABLE without a
 * compiler; ERR_TIMEOUT, ERR_CANCELLED: it was ended, *@cancel being polled (NULL = never). Stays
 * loaded until the program ends. */
bool user_plugin_load(const char *path, const char *text, const char *symbol,
                      const atomic_bool *cancel, const struct kernel_desc **out, struct err *err);
/* The path and the text a family was made from; NULL = it is no plugin. */
const char *user_plugin_path(const struct kernel_desc *k);

#endif
