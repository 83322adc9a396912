/*
 * What is kept from one run to the next: the module compiled last and the open back end, so that a
 * change of block size compiles nothing and a change of kernel opens nothing.
 */
#ifndef PMPP_LAB_WORKBENCH_H
#define PMPP_LAB_WORKBENCH_H

#include "backend/backend.h"
#include "usage_table.h"

struct workbench {
	bool has_module;
	struct build_id id; /* of the module */
	struct module module;
	const struct backend_ops *ops; /* NULL = none open */
	struct backend *be;
	const struct gpu_spec *be_gpu; /* the sheet that `be` was opened with */
};

/* Compiles what @sel needs unless it is at hand. False: the compiler's words, or cancelled. */
bool workbench_compile(struct workbench *w, const struct selection *sel, const atomic_bool *cancel,
                       struct err *err);
/* Opens the back end and sheet of @sel unless they are open. False: unknown, or not usable here. */
bool workbench_open(struct workbench *w, const struct selection *sel, struct err *err);
/* Gives memory back to the system that is held only for the next run. */
void workbench_rest(struct workbench *w);
void workbench_close(struct workbench *w);

#endif
