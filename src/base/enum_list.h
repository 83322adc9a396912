/*
 * A list that an enum and its tables are made from is written once, as a macro of rows
 * X(ID, "name", "what it is"). These take a column of it: enum kind { KINDS(LIST_ID) N_KINDS };
 */
#ifndef PMPP_BASE_ENUM_LIST_H
#define PMPP_BASE_ENUM_LIST_H

#include <stddef.h>

#define LIST_ID(id, ...) id,
#define LIST_NAME(id, name, ...) [id] = (name),
#define LIST_ABOUT(id, name, about, ...) [id] = (about),

/* Which of @n things is number @i in the order of order(k), those of one order as they stand; @n
 * where there are not so many. For lists of a few. */
static inline size_t list_nth(size_t i, size_t n, int (*order)(size_t k))
{
	for (size_t v = 0; v < n; v++) {
		size_t before = 0;
		for (size_t w = 0; w < n; w++)
			before += order(w) < order(v) || (order(w) == order(v) && w < v);
		if (before == i)
			return v;
	}
	return n;
}

#endif
