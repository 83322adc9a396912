/*
 * An entry and every function that it can reach as one function: their registers, instructions
 * and blocks one behind the other. Instructions that no text has are added (ptx_inst.made): the
 * arrival at a called function, the landing behind a call, the branch around a guarded call.
 */
#ifndef PMPP_PTX_LINK_H
#define PMPP_PTX_LINK_H

#include "base/err.h"
#include "ptx/ptx.h"

struct link_part { /* one function in the linked one */
	const struct ptx_func *f;
	int32_t index; /* in the module */
	bool called;   /* not the entry */
	bool recursive;
	uint32_t first_inst, first_reg, first_block, first_param;
	uint32_t local_base; /* of its variables: in local memory, or in a frame if recursive */
};

struct linked {
	struct ptx_func func; /* its params are borrowed from the entry */
	unsigned n_parts;     /* 1: the entry calls nothing, and func is empty */
	struct link_part *part;
	int32_t *part_of;     /* by function of the module, -1 = not there */
	uint64_t *reach;      /* parts that each part can reach by calls: rows of bits */
	uint32_t local_bytes; /* of all that do not call themselves */
	uint32_t frame_bytes; /* largest frame of those that do */
	unsigned n_params;    /* of all parts */
};

/* Links @entry of @m; linked_free() it. False only for a broken promise of the parser. */
bool link_functions(struct linked *l, const struct ptx_module *m, const struct ptx_func *entry,
                    struct err *err);
void linked_free(struct linked *l);
/* The function of the module that @index stands for, behind aliases; with or without a body. */
int32_t link_resolve(const struct ptx_module *m, int32_t index);
/* Can @from come back to itself through a call of @to? */
bool link_recurses(const struct linked *l, unsigned from, unsigned to);

#endif
