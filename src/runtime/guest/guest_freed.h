/*
 * Memory that the program has freed, as far as it is remembered: for a word about who uses it
 * still, or frees it again.
 */
#ifndef PMPP_RUNTIME_GUEST_FREED_H
#define PMPP_RUNTIME_GUEST_FREED_H

#include "emu/device.h"

struct guest_freed {
	struct emu_allocation was;
	const void *caller; /* of cudaFree() */
};

void freed_note(const struct emu_allocation *was, const void *caller);
/* What held @address last; NULL = nothing that is remembered. */
const struct guest_freed *freed_find(uint64_t address);

#endif
