/* Names of C++ that are too long for their place. */
#ifndef PMPP_BASE_SCOPELESS_H
#define PMPP_BASE_SCOPELESS_H

#include <stddef.h>

/* @name where it has no more than @columns; else without the namespaces and classes that it and
 * the types in it lie in: "cub::detail::Scan<thrust::pair<int, int> >" is
 * "Scan<pair<int, int> >"; then without the arguments of templates that are arguments themselves,
 * the innermost first: "Scan<pair<..>>". Still longer, it is the caller's to cut. @out: @n
 * characters, which hold it where @name is not the answer. */
const char *scopeless(const char *name, int columns, char *out, size_t n);

#endif
