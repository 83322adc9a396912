/*
 * The launches that checks on a GPU walk through: every kernel x variant x point, or random ones.
 */
#ifndef PMPP_GPU_LAUNCHES_H
#define PMPP_GPU_LAUNCHES_H

#include "backend/backend.h"

#include <stdbool.h>

struct gpu_options {
	unsigned first, points, caps, repeat; /* points first .. points - 1 */
	const char *only, *skip;              /* parts of "kernel/variant", with commas */
	bool stalls, warm;
	double timeout_s;
	enum run_level level;       /* of the emulator */
	const struct gpu_spec *gpu; /* compiled for this */
	unsigned seed;              /* random: of the draw */
	unsigned count;             /* random: launches; 0 = not random */
};
extern struct gpu_options opt;

/* One launch, ready to run any number of times. */
struct instance {
	const struct kernel_desc *kernel;
	unsigned variant, point;
	uint64_t input_seed;
	char name[128], file[128];
	int64_t params[KERNEL_MAX_PARAMS];
	struct launch_plan plan;
	struct module module;
	size_t bytes[KERNEL_MAX_BUFFERS];
	void *before[KERNEL_MAX_BUFFERS], *after[KERNEL_MAX_BUFFERS];
};

bool instance_make(struct instance *i, const struct kernel_desc *k, unsigned variant,
                   unsigned point, struct err *err);
/* From the parameters and the input seed that are in it; the rest is filled. */
bool instance_build(struct instance *i, const struct kernel_desc *k, unsigned variant,
                    struct err *err);
/* The families: the program's, and behind them those of tests/gpu/families. NULL past the end. */
const struct kernel_desc *launch_family(size_t i);
/* "tests/gpu/families/keyed.cu"; NULL for a family of the program's. */
const char *launch_family_file(const struct kernel_desc *k);
/* Buffers are set to their contents before, then changed by the run. */
bool instance_run(struct instance *i, const struct backend_ops *ops, struct backend *be,
                  struct run_result *res, struct err *err);
void instance_check(const struct instance *i, struct check_result *check);
void instance_free(struct instance *i);
/* Is one of the comma-separated parts of @list in @name? */
bool name_is_listed(const char *list, const char *name);
/* Calls @f for every launch that the options allow; returns how many said false. */
unsigned each_launch(bool (*f)(struct instance *i, void *ctx), void *ctx);

/* JSON pieces on stdout. */
double seconds(void);
void put_text(const char *key, const char *s);
void put_num(const char *key, double v);
int put_error(const char *what, const struct err *err);

/* The same for opt.count random ones of opt.seed; a tenth of them may be refused, as where a block
 * needs more registers than there are. */
unsigned each_random(bool (*f)(struct instance *i, void *ctx), void *ctx);
/* The GPU that was asked for, with its live sheet in opt.gpu. */
bool gpu_check_open(struct backend **be, struct err *err);
int do_cases(void);
/* Prints them, one JSON object a line, without running any. */
int do_draw(void);
int do_agree(void);
int do_names(void);
int do_passes(const char *number, const char *cc);
int do_ncu(const char *jsonl, const char *csv);

#endif
