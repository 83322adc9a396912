/*
 * The steps of one run, shared by batch use (run.c) and the worker thread (lab_worker.c).
 *
 * Private to src/lab/. Knows no thread, session or screen.
 */
#ifndef PMPP_LAB_RUN_STEPS_H
#define PMPP_LAB_RUN_STEPS_H

#include "run.h"
#include "run_buffers.h"
#include "workbench.h"

/* A selection ready to run: planned, compiled, inputs filled. May be executed several times. */
struct prepared {
	struct selection sel;
	struct launch_plan plan;
	struct usage usage;
	struct workbench *bench;
	struct run_buffers buffers;
};
/* @cancel may be NULL; polled between buffers. On false there is nothing to release. */
bool run_prepare(struct prepared *p, struct workbench *w, const struct selection *sel,
                 const atomic_bool *cancel, struct err *err);
/* The buffers go back to the workbench, which keeps them for the next run. */
void run_release(struct prepared *p);
/* One launch to one record. The record says "not verified yet". */
bool run_execute(struct prepared *p, const struct run_options *options,
                 const struct run_hooks *hooks, struct run_record **out, struct err *err);

/* The machine code of @p's kernel, or why it is not there; NULL = cancelled. Takes half a second
 * where it was never asked for. */
struct code_listing *run_code(struct prepared *p, const atomic_bool *cancel);

/* What the last run_execute() left in the buffers; NULL = cancelled. buffer_looks_free(). */
struct buffer_looks *run_look(const struct prepared *p, const atomic_bool *cancel);

/* Compares the outputs of the last run_execute() with the reference and completes the record. */
void run_verify(struct prepared *p, struct run_record *r);

#endif
