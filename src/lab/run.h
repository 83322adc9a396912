/*
 * Batch use: one selection, run on the calling thread, to one record.
 */
#ifndef PMPP_LAB_RUN_H
#define PMPP_LAB_RUN_H

#include "backend/backend.h"
#include "model/session.h"

struct workbench;

/* What a row of a table needs of a back end: neither timeline nor lines. */
#define CAPS_OF_A_ROW (CAP_TIME | CAP_STATIC | CAP_COUNTERS)

/* How to run, where the defaults do not do. */
struct run_options {
	uint64_t max_blocks; /* emulator: a spread sample of at most this many blocks; 0 = all */
	unsigned threads;    /* emulator: 0 = all cores */
	enum race_check
		races;            /* emulator; RACES_USUAL = a person's own kernel: a spread, others: not */
	enum run_level level; /* emulator: what is counted */
	bool code;            /* the record gets the machine code of its kernel */
	bool stalls;          /* a GPU: also why warps waited; some passes more */
	unsigned caps;        /* what is wanted, enum backend_cap; 0 = all */
	bool no_verify;       /* leave the results uncompared: the record says so */
	double timeout_s;     /* 0 = the back end's default */
	struct workbench *bench; /* what is kept from one run to the next; NULL = nothing */
	/* Sees the buffers after the launch, before they go; NULL = nobody does. */
	void (*outputs)(void *ctx, const struct launch_plan *plan, void *const *data);
	void *outputs_ctx;
};

/* Batch use, on the calling thread: compile, plan, run, verify, derive every metric. The record is
 * the caller's (record_free). False: nothing ran; @err says why. A wrong result is a record. */
bool run_selection(const struct selection *sel, const struct run_hooks *hooks,
                   struct run_record **out, struct err *err);
bool run_selection_with(const struct selection *sel, const struct run_options *options,
                        const struct run_hooks *hooks, struct run_record **out, struct err *err);

/* The vendor library's times for the same product, where the back end has one and the family is
 * one; returns how many of @max. May take seconds. */
unsigned library_lines(const struct selection *sel, const atomic_bool *cancel,
                       struct library_line *out, unsigned max);

#endif
