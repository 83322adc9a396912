/* Names of C++ as they are written, by the demangler of the C++ library that is there. */
#ifndef PMPP_BASE_DEMANGLE_H
#define PMPP_BASE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* @load: where the process has no C++ library, the system's is loaded. Writes up to @n characters;
 * "" = it is no such name, or nobody knows. */
const char *demangle(const char *mangled, bool load, char *out, size_t n);

#endif
