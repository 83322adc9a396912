/*
 * The memory of one launch of a program, by names: what its arguments point to (as the source calls
 * them, else arg0, arg1 ...; a pointer inside a structure is arg0.8), __device__ and __constant__
 * variables, and the other allocations as mem1, mem2 ... in the order of their making. It can be
 * set in front of the launch and looked at behind it.
 */
#ifndef PMPP_LAB_LAUNCH_MEMORY_H
#define PMPP_LAB_LAUNCH_MEMORY_H

#include "base/err.h"
#include "model/kernel.h"
#include "model/whole_program.h"
#include "runtime/program_again.h"

struct launch_memory {
	unsigned n;
	struct buffer_plan *buffer; /* names, types, counts */
	char **name;                /* those names, owned */
	uint64_t *address;
	bool *guessed; /* nothing tells its type: shown as f32 */
};

/* Of launch @number, which was kept; @source: the text of its kernel's file, "" = not known.
 * launch_memory_free() in any case. */
bool launch_memory_look(struct program *p, uint64_t number, const char *source,
                        struct launch_memory *out, struct err *err);
void launch_memory_free(struct launch_memory *m);

/*
 * What "NAME=VALUES" says, several between semicolons, into again->set. VALUES: numbers (one for
 * all elements, or one each), @FILE, or contents as buffers of single kernels have them (rand,
 * iota, zero). free() the data of each. False: ERR_USAGE.
 */
bool launch_memory_set(const struct launch_memory *m, const char *words, struct record_again *again,
                       struct err *err);
/* Buffer @b is wanted behind the launch. False: no more can be. */
bool launch_memory_want(const struct launch_memory *m, unsigned b, struct record_again *again);

#endif
