/*
 * The steps of one run, shared by batch use (run.c) and the worker thread (lab_worker.c).
 *
 * Private to src/lab/. Knows no thread, session or screen.
 */
#ifndef PMPP_LAB_RUN_STEPS_H
#define PMPP_LAB_RUN_STEPS_H

#include "run.h"
#include "workbench.h"

/* A selection ready to run: planned, compiled, inputs filled. May be executed several times. */
struct prepared {
	struct selection sel;
	struct launch_plan plan;
	struct usage usage;
	struct workbench *bench;
	size_t bytes[KERNEL_MAX_BUFFERS];
	void *data[KERNEL_MAX_BUFFERS];   /* what the back end works on */
	void *before[KERNEL_MAX_BUFFERS]; /* contents at first: a copy for what is changed in place, the
	                                   * buffer itself for inputs, NULL for plain outputs */
	uint64_t fingerprint[KERNEL_MAX_BUFFERS]; /* of inputs: buffer_fingerprint() */
	bool used;                                /* outputs hold an earlier run's results */
};
/* @cancel may be NULL; polled between buffers. On false there is nothing to release. */
bool run_prepare(struct prepared *p, struct workbench *w, const struct selection *sel,
                 const atomic_bool *cancel, struct err *err);
void run_release(struct prepared *p);
/* Buffers as they were before the first run. An input that was written stays so: verification
 * tells. */
void run_restore(struct prepared *p);
/* One launch to one record. The record says "not verified yet". */
bool run_execute(struct prepared *p, const struct run_options *options,
                 const struct run_hooks *hooks, struct run_record **out, struct err *err);

/* The machine code of @p's kernel, or why it is not there; NULL = cancelled. Takes half a second
 * where it was never asked for. */
struct code_listing *run_code(struct prepared *p, const atomic_bool *cancel);

/* verify.c: contents of the buffers, and the comparison. */
/* What a plain output holds before the run: NaN in floating point, a recognisable pattern else. */
void poison_fill(enum elem_type type, void *data, size_t count);
/* A fingerprint of the contents; quick rather than strong. */
uint64_t buffer_fingerprint(const void *data, size_t bytes);
/* Index of the first element that still holds it; count = none. */
size_t poison_first(enum elem_type type, const void *data, size_t count);
/* Compares the outputs of the last run_execute() with the reference and completes the record. */
void run_verify(struct prepared *p, struct run_record *r);

#endif
