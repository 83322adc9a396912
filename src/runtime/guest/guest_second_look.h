/*
 * Does it matter that a launch read shared memory without a value, or in which order its blocks
 * ran?
 *
 * Kernels that are right do that: a warp scans 32 partial sums of which a block of four warps has
 * written four, and drops the rest. So the launch runs once more, in a copy of the program with
 * memory as it was in front of it, where such memory holds other bytes. If that leaves the same in
 * memory and prints the same, the reading does no harm. Likewise where blocks that learn nothing of
 * each other race, as in a level of a breadth-first search, where many store the same number while
 * others look at it: there the blocks, and the warps of each, run in two other orders.
 */
#ifndef PMPP_RUNTIME_GUEST_SECOND_LOOK_H
#define PMPP_RUNTIME_GUEST_SECOND_LOOK_H

#include "runtime/guest/guest.h"

/* What a launch printed. */
struct launch_print {
	unsigned bytes;
	uint64_t hash;
};
void launch_print_add(struct launch_print *p, const char *text, size_t n);

struct second_look {
	const struct emu_launch_request *req;
	struct emu_memory_copy *memory;  /* the copy is made if it is asked; NULL = ... */
	int fd;                          /* ... it was made in front; -1 = there is none */
	double began_system_s, copied_s; /* of the system's work: in front, and for the copy alone */
};

/* In front of the launch. @other: one like it was looked at, and others may need what is left of
 * the time for copies more. */
struct second_look second_look_begin(const struct emu_launch_request *req, bool other);
static inline bool second_look_can_be(const struct second_look *s)
{
	return s->memory || s->fd >= 0;
}
/* Behind it: true = nothing of what it left depends on memory without a value (@contents), or on
 * the order of its blocks (@order). @took_s: the launch. */
bool second_look_agrees(struct second_look *s, bool contents, bool order,
                        const struct launch_print *printed, double took_s);
void second_look_end(struct second_look *s);

#endif
