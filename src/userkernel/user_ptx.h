/*
 * What PTX says of its entries: symbol, parameters with their sizes, the bound on threads; and what
 * a symbol means in C++. A reader of heads, no parser. Private to src/userkernel/.
 */
#ifndef PMPP_USERKERNEL_USER_PTX_H
#define PMPP_USERKERNEL_USER_PTX_H

#include "model/kernel.h"

struct user_entry {
	char *symbol, *meaning; /* "_Z2axPfi", "ax(float*, int)"; the same where it is plain C */
	unsigned line;          /* of .entry in the PTX */
	unsigned n_params;
	struct {
		unsigned bytes;
		char type[8];   /* "f32", "u64", "b8" */
		bool aggregate; /* an array of bytes: a structure */
	} param[KERNEL_MAX_ARGS];
	unsigned max_threads;           /* .maxntid or .reqntid; 0 = none */
	unsigned block_dims, grid_dims; /* 1..3: %tid.y or %ntid.y is read: 2 */
	bool dynamic_shared;            /* the module has an extern .shared array that it names */
};

/* Every entry with a body, in order. The list is the caller's: user_entries_free(). */
unsigned user_entries(const char *ptx, struct user_entry **out);
void user_entries_free(struct user_entry *entries, unsigned n);
/* "= 24;" behind variable @name; 0 = there is none. */
unsigned user_ptx_value(const char *ptx, const char *name);
/* The PTX with line information of its own: every instruction's line is where it stands in @ptx,
 * a file called @file. The caller's to free. */
char *user_ptx_with_lines(const char *ptx, const char *file);

#endif
