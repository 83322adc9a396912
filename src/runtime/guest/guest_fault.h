/*
 * Accesses of the program's own code to memory that it should leave alone now: SIGSEGV, where the
 * program does not look after that itself.
 *
 * Device memory is such memory always: a GPU's host has nothing there, and ends. What is closed for
 * a while only: guest_early.h.
 */
#ifndef PMPP_RUNTIME_GUEST_FAULT_H
#define PMPP_RUNTIME_GUEST_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_FRAMES 12 /* of a library's function that touches it, up to the program's own */
struct fault {
	uint64_t address;
	bool write;
	bool inside; /* in a call of the runtime */
	int n_frames;
	void *frame[FAULT_FRAMES];
};

/* Faults are seen from now on, and @takes (NULL = as it was) is asked first whether the program may
 * go on; false: the program sees to them itself. */
bool fault_watch(bool (*takes)(const struct fault *f));
/* The line in the program of the innermost frame that is no library's; "" = unknown. */
void fault_place(const struct fault *f, char *place, size_t n);
/* This thread is in a call of the runtime and may touch everything, or no longer; may be nested. */
void fault_enter(void);
void fault_leave(void);
/* Device memory is guarded from now on, where the processor can do that; no longer. */
void fault_guard(void);
void fault_guard_end(void);

#endif
