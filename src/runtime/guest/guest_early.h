/*
 * Memory that the host touches before it knows that the launch, or the asynchronous copy, which
 * uses it has ended: cudaDeviceSynchronize(), or another wait, is missing.
 *
 * Here all has ended when the call returns, so the mistake would not be seen. Therefore the pages
 * of managed memory that a launch wrote, and of pinned memory that a copy fills, are closed to the
 * host until it waits; those that are only read may be read. The first access is told, with its
 * line, and they are open again. Kernels that speak to the host while they run (system scope,
 * volatile) are left out.
 */
#ifndef PMPP_RUNTIME_GUEST_EARLY_H
#define PMPP_RUNTIME_GUEST_EARLY_H

#include "runtime/guest/guest.h"

/* Around what the runtime does with memory; may be nested. */
void early_open(void);
void early_shut(void);
/* A launch, number @launch, of @s has run. */
void early_launched(const struct guest_stream *s, uint64_t launch);
/* The same of an asynchronous copy into pinned memory (@written), or out of it. */
void early_copied(uint64_t address, uint64_t bytes, bool written, double until_ns, uint64_t copy);
/* Tells what was found since the last time. */
void early_tell(void);
/* For good, as the program ends, or in a copy of it. */
void early_end(void);
/* What a call has waited for is open behind it. */
void early_waited(void);

#endif
