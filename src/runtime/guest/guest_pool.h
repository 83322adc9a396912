/* Pools of memory: which allocation is whose, and what others may have of them. */
#ifndef PMPP_RUNTIME_GUEST_POOL_H
#define PMPP_RUNTIME_GUEST_POOL_H

#include "runtime/guest/guest.h"

struct guest_pool {
	struct guest_pool *next;
	bool shares,
		imported;       /* may be given to other processes; is another's, and allocates nothing */
	int32_t pid, id;    /* whose it is, and its number there: 1, 2, ..., 0 for the default one */
	uint64_t threshold; /* bytes that it keeps of what is free */
	uint64_t used, most_used, reserved, most_reserved; /* bytes */
};

/* NULL = it is none, or no longer. */
struct guest_pool *pool_of(cudaMemPool_t handle);
struct guest_pool *pool_current(void); /* which cudaMallocAsync() takes from */
struct guest_pool *pool_add(void);
/* The pool that an allocation, or one of another process, is of; NULL = of none. */
struct guest_pool *pool_holding(uint64_t address);
void pool_took(struct guest_pool *pool, uint64_t address, uint64_t bytes);
/* The allocation is given back, whatever call did it; one of no pool is nobody's loss. */
void pool_lost(uint64_t address);
/* All memory is given back, and the current pool is the default one. */
void pool_reset(void);

#endif
