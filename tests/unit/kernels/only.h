/*
 * Tests that walk all kernels leave out those that ONLY, words in the environment, does not name:
 * make cost tries the one it added.
 */
#ifndef PMPP_TEST_ONLY_H
#define PMPP_TEST_ONLY_H

#include "model/kernel.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool left_out_by_name(const struct kernel_desc *k)
{
	const char *at = getenv("ONLY");
	const size_t len = strlen(k->name);
	if (!at)
		return false;
	while (at[0] && (strncmp(at, k->name, len) != 0 || !strchr(" ", at[len]))) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return !at[0];
}

#endif
