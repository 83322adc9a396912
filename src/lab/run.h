/*
 * The steps of one run, shared by batch use (run_selection) and the worker thread.
 *
 * Private to src/lab/. Knows no thread, session or screen.
 */
#ifndef PMPP_LAB_RUN_H
#define PMPP_LAB_RUN_H

#include "lab.h"

#include <pthread.h>

/* Static facts of one entry: what occupancy needs from the compiler. */
struct usage {
	unsigned registers, static_shared_bytes, stack_bytes, spill_bytes, barriers;
};

struct usage usage_of(const struct entry_usage *e);

/* What decides the compiled code: the source, its macros and the architecture. */
struct build_id {
	const struct kernel_desc *kernel;
	int cc_major, cc_minor;
	int64_t macros[KERNEL_MAX_PARAMS]; /* 0 where the parameter is no macro */
};
void build_id_of(const struct selection *sel, struct build_id *id);
bool build_id_equal(const struct build_id *a, const struct build_id *b);

/* Usage of every entry compiled so far. Thread-safe. */
struct usage_table;
struct usage_table *usage_table_new(void);
void usage_table_free(struct usage_table *t);
void usage_learn(struct usage_table *t, const struct build_id *id, const struct module *m);
bool usage_find(struct usage_table *t, const struct build_id *id, const char *entry,
                struct usage *out);

/* What occupancy needs of it; the launch's own fields are left 0 (session_occ_input). */
struct occ_input usage_occ_input(const struct usage *u);
/* "auto" or a back end's name. False: there is none of that name (the nearest is suggested). */
bool backend_named(const char *name, struct err *err);
/* Where *gpu is a device ("cuda1"): no sheet, and that device's back end. */
bool choose_device(const char **gpu, const char **backend, struct err *err);
/* choose_gpu_and_backend() when @sel->gpu holds the person's GPU already (@gpu_given) or is still
 * open. */
bool choose_backend(bool gpu_given, const char *backend, struct selection *sel, struct err *err);
/* The sheet whose id is spelt by whole words of a device's name; NULL = none. */
const struct gpu_spec *sheet_of_device(const char *device);

/* What is kept from one run to the next: the last module and the open back end. */
struct workbench {
	bool has_module;
	struct build_id id;
	struct module module;
	const struct backend_ops *ops; /* NULL = none open */
	struct backend *be;
	const struct gpu_spec *be_gpu; /* the sheet that `be` was opened with */
};
void workbench_close(struct workbench *w);
bool workbench_compile(struct workbench *w, const struct selection *sel, const atomic_bool *cancel,
                       struct err *err);

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
	uint64_t print[KERNEL_MAX_BUFFERS]; /* of inputs: buffer_print() */
	bool used;                          /* outputs hold an earlier run's results */
};
/* @cancel may be NULL; polled between buffers. On false there is nothing to release. */
bool run_prepare(struct prepared *p, struct workbench *w, const struct selection *sel,
                 const atomic_bool *cancel, struct err *err);
void run_release(struct prepared *p);
/* One launch to one record. The record says "not verified yet". */
bool run_execute(struct prepared *p, const struct run_options *options,
                 const struct run_hooks *hooks, struct run_record **out, struct err *err);

/* verify.c: contents of the buffers, and the comparison. */
/* What a plain output holds before the run: NaN in floating point, a recognisable pattern else. */
void poison_fill(enum elem_type type, void *data, size_t count);
/* A fingerprint of the contents; quick rather than strong. */
uint64_t buffer_print(const void *data, size_t bytes);
/* Index of the first element that still holds it; count = none. */
size_t poison_first(enum elem_type type, const void *data, size_t count);
/* Compares the outputs of the last run_execute() with the reference and completes the record. */
void run_verify(struct prepared *p, struct run_record *r);

#endif
