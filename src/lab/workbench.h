/*
 * What is kept from one run to the next: the module compiled last and the open back end, so that a
 * change of block size compiles nothing and a change of kernel opens nothing.
 */
#ifndef PMPP_LAB_WORKBENCH_H
#define PMPP_LAB_WORKBENCH_H

#include "backend/backend.h"
#include "run_buffers.h"
#include "sass/sass.h"
#include "usage_table.h"

struct workbench {
	bool has_module;
	struct build_id id; /* of the module */
	struct module module;
	/* the module's machine code, once it was asked for */
	enum { CODE_NOT_ASKED, CODE_THERE, CODE_MISSING } code_state;
	struct sass_module code;
	struct err code_err;           /* why it is missing */
	const struct backend_ops *ops; /* NULL = none open */
	struct backend *be;
	const struct gpu_spec *be_gpu; /* the sheet that `be` was opened with */
	struct run_buffers kept;       /* of the last run */
	struct head_start *early;      /* fills `kept` now; see head_start.h */
};

/* Compiles what @sel needs unless it is at hand. False: the compiler's words, or cancelled. */
bool workbench_compile(struct workbench *w, const struct selection *sel, const atomic_bool *cancel,
                       struct err *err);
/* Opens the back end and sheet of @sel unless they are open. False: unknown, or not usable here. */
bool workbench_open(struct workbench *w, const struct selection *sel, struct err *err);
/* Gives memory back to the system that is held only for the next run, the buffers with it. */
void workbench_rest(struct workbench *w);
/* Is what workbench_code() would answer known, or at least in the cache? Returns at once. */
bool workbench_code_ready(struct workbench *w);
/* The machine code of the module, disassembled, which may take half a second. NULL with the reason:
 * there is none, or cancelled. */
const struct sass_module *workbench_code(struct workbench *w, const atomic_bool *cancel,
                                         struct err *err);
void workbench_close(struct workbench *w);

#endif
