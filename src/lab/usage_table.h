/*
 * What the compiler said about every entry compiled so far, so that occupancy follows a change of
 * block size or GPU at once.
 */
#ifndef PMPP_LAB_USAGE_TABLE_H
#define PMPP_LAB_USAGE_TABLE_H

#include "compile/compile.h"
#include "model/session.h"

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

#endif
