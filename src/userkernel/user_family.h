/*
 * A family made of a person's own file: what its parts share. Private to src/userkernel/.
 *
 * user_args.c turns words into parameters and arguments, user_plan.c those into launches,
 * user_file.c files and snapshots into families.
 */
#ifndef PMPP_USERKERNEL_USER_FAMILY_H
#define PMPP_USERKERNEL_USER_FAMILY_H

#include "compile/compile.h"
#include "model/array.h"
#include "userkernel/user_file.h"
#include "userkernel/user_source.h"
#include "userkernel/user_words.h"

/* One argument of the kernel. */
struct user_arg {
	const struct user_param *param;
	const char *words; /* behind the '='; NULL = not given */
	int number;        /* index of the family's parameter, -1 = fixed */
	struct kernel_arg fixed;
	struct user_buffer buffer; /* of a pointer */
	enum elem_type elem;
	bool is_buffer;
	bool variable;     /* no argument: a variable of the module */
	int alias;         /* points into the buffer of that argument; -1 = not */
	char offset[64];   /* by how many of its elements, an expression */
	struct array file; /* contents from a file */
	void *bytes;       /* of a structure */
};

/* A number that is a parameter (index) or worked out (expression). */
struct user_size {
	int param;
	char text[64];
};

struct user_family {
	struct kernel_desc desc;
	struct variant_desc variant;
	struct param_desc params[KERNEL_MAX_PARAMS];
	struct user_spec spec;
	struct user_source source;
	const struct user_kernel *kernel;
	char name[64], file[128], names[400];
	char text[KERNEL_MAX_PARAMS][40];      /* names of parameters */
	struct user_arg args[KERNEL_MAX_ARGS]; /* n_args: of the kernel, then variables that are set */
	unsigned n_args;
	struct user_size block[3], grid[3], shared;
	struct compile_own own;
	/* Makes a family of the same file by another spec for a moment, and tries its launch. */
	void (*try_launch)(const struct user_family *o, const struct user_kernel *k,
	                   const struct user_spec *spec, struct user_trial *out);
	/* of a launch that was not said whole: which parts were guessed; the command line that says it;
	 * and the words as they were, which the parts above may point to */
	struct text guessed, line;
	char **given, *given_path;
	const char *const *given_compiler;
	char **words, *path; /* what spec points to; words as a list, ended by NULL, for snapshots */
	bool ptx;            /* the file is PTX */
	bool restored;       /* from a snapshot: no file behind it */
	struct user_family *older;
};

/* Names and their values, for expressions. */
struct user_env {
	const struct user_family *family;
	const int64_t *params;
};
bool user_value(const struct user_env *e, const char *text, const char *what, int64_t *v,
                struct err *err);

/* user_args.c: fills parameters from the spec, by user_values.c arguments. */
bool user_read_arguments(struct user_family *o, struct err *err);
/* user_family.c */
bool user_add_param(struct user_family *o, const char *name, const char *title,
                    enum param_kind kind, int64_t def, int64_t min, int64_t max, int *index,
                    struct err *err);
/* user_values.c: what stands behind each parameter's name. */
bool user_read_values(struct user_family *o, struct err *err);
void user_free_values(struct user_family *o);
/* What stands behind "@name=", or NULL. */
const char *user_words_for(const struct user_spec *spec, const char *name);
/* Every word names a parameter of the kernel. */
bool user_check_words(const struct user_family *o, struct err *err);

/* user_usage.c: ERR_USAGE "file: @what", every kernel with its signature, and as the remedy a
 * command line that launches @k (NULL = each that can be). Returns false. */
bool user_usage(const struct user_family *o, const struct user_kernel *k, const char *what,
                struct err *err);

/* user_plan.c: functions of the family's descriptor. */
bool user_plan(const struct kernel_desc *k, const int64_t *params, struct launch_plan *plan,
               struct err *err);
void user_fill_buffer(const struct launch_plan *plan, const int64_t *params, unsigned b,
                      uint64_t seed, void *data);
void user_cost(unsigned variant, const struct launch_plan *plan, const int64_t *params,
               struct kernel_cost *cost);

#endif
