/* cudaLimit...: what the program may set, and what a device makes of it. */
#ifndef PMPP_RUNTIME_GUEST_LIMIT_H
#define PMPP_RUNTIME_GUEST_LIMIT_H

#include "runtime/guest/guest.h"

/* All as at the program's begin. */
void guest_limits_begin(void);
/* Sets *@set and gets *@get; NULL = does not. */
cudaError_t guest_limit(enum cudaLimit which, const size_t *set, size_t *get);
/* A launch of @f: its heap, and room for what it prints, have their size from here on. */
void guest_limits_use(struct guest_function *f);
/* What of L2 can be set aside, since compute capability 8; a hint, which changes no result here. */
int guest_persisting_bytes(void);

#endif
