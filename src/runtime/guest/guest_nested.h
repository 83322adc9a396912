/*
 * Launches by kernels (dynamic parallelism): what a kernel launched, copied and set is done when it
 * has ended, before the host goes on.
 */
#ifndef PMPP_RUNTIME_GUEST_NESTED_H
#define PMPP_RUNTIME_GUEST_NESTED_H

#include "runtime/guest/guest_op.h"

/* Something that a kernel asked for. */
struct nested {
	struct guest_op op; /* owned */
	uint64_t parent;    /* number of the launch whose kernel asked */
	unsigned depth;     /* of launches in launches */
	bool tail;          /* when the parent and all that it launched have ended */
};
struct nested_list { /* a stack */
	struct nested *all;
	size_t n, cap;
};
/* Which launch a kernel is: 0 and 0 = the host's own. */
struct guest_nesting {
	uint64_t parent;
	unsigned depth;
	struct nested_list *list;    /* where what it asks for goes; NULL = nowhere */
	struct guest_module *module; /* its own, while it runs */
	bool (*breathe)(void *ctx);  /* of a launch that may go on beside the host; else NULL */
	guest_launch *again;         /* runs it again where it is kept, with all that it launches */
};

/* What a kernel asks for, told by the emulator; @ctx: struct guest_nesting. */
void nested_note(void *ctx, const struct device_work *w);
/* What it wants to know; see device_ask. */
int nested_answer(void *ctx, enum device_question question, const char *kernel, const uint64_t *arg,
                  struct device_answer *answer);
/* A kernel has ended; what it asked for begins at @from of the list. */
void nested_stack(struct nested_list *l, size_t from);
/* What is to be done next. False: nothing is left, and the list holds no memory. */
bool nested_take(struct nested_list *l, struct nested *x);

/* guest_kernel.c: runs one kernel, places it on the clock and records it. */
cudaError_t guest_run_kernel(const struct guest_op *op, struct guest_stream *s,
                             struct guest_nesting *nesting);

/* The same in steps, for a launch that may wait for others (guest_flight.c): between begin and end
 * it is emulated, unless that is NULL. */
struct kernel_run;
struct kernel_run *kernel_run_begin(const struct guest_op *op, struct guest_stream *s,
                                    struct guest_nesting *nesting);
struct emu_running *kernel_run_emulated(const struct kernel_run *k);
/* The host goes on meanwhile. */
void kernel_run_apart(struct kernel_run *k);
cudaError_t kernel_run_end(struct kernel_run *k);

#endif
