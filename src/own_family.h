/*
 * A family made of a person's own file: what its parts share. Private to src/own_*.c.
 *
 * own_args.c turns words into parameters and arguments, own_plan.c those into launches, own_file.c
 * files and snapshots into families.
 */
#ifndef PMPP_OWN_FAMILY_H
#define PMPP_OWN_FAMILY_H

#include "own_file.h"
#include "own_source.h"
#include "own_words.h"

/* One argument of the kernel. */
struct own_arg {
	const struct own_param *param;
	const char *words;        /* behind the '='; NULL = not given */
	int number;               /* index of the family's parameter, -1 = fixed */
	struct kernel_arg fixed;
	struct own_buffer buffer; /* of a pointer */
	enum elem_type elem;
	bool is_buffer;
};

/* A number that is a parameter (index) or worked out (expression). */
struct own_size {
	int param;
	char text[64];
};

struct own {
	struct kernel_desc desc;
	struct variant_desc variant;
	struct param_desc params[KERNEL_MAX_PARAMS];
	struct own_spec spec;
	struct own_source source;
	const struct own_kernel *kernel;
	char name[64], file[128], names[400];
	char text[KERNEL_MAX_PARAMS][40]; /* names of parameters */
	struct own_arg args[KERNEL_MAX_ARGS];
	struct own_size block[3], grid[3], shared;
	char **words, *path;      /* what spec points to; words as a list, ended by NULL, for snapshots */
	bool restored;            /* from a snapshot: no file behind it */
	struct own *older;
};

/* Names and their values, for expressions. */
struct own_env {
	const struct own *own;
	const int64_t *params;
};
bool own_value(const struct own_env *e, const char *text, const char *what, int64_t *v, struct err *err);

/* own_args.c: fills parameters and arguments from the spec. */
bool own_take_words(struct own *o, struct err *err);
/* What stands behind "@name=", or NULL. */
const char *own_words_for(const struct own_spec *spec, const char *name);
/* Every word names a parameter of the kernel. */
bool own_check_words(const struct own *o, struct err *err);

/* own_plan.c: functions of the family's descriptor. */
bool own_plan(const struct kernel_desc *k, const int64_t *params, struct launch_plan *plan, struct err *err);
void own_fill_buffer(const struct launch_plan *plan, const int64_t *params, unsigned b, uint64_t seed,
                     void *data);
void own_cost(unsigned variant, const struct launch_plan *plan, const int64_t *params,
              struct kernel_cost *cost);

#endif
