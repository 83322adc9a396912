/*
 * A whole program from the command line of a verb: options, build, run, and which of its launches
 * are asked for.
 */
#ifndef PMPP_CLI_PROGRAM_START_H
#define PMPP_CLI_PROGRAM_START_H

#include "cli/cli.h"
#include "lab/program_family.h"
#include "lab/program_words.h"
#include "model/whole_program.h"

struct program_options {
	const char *gpu, *backend, *level;
	const char *kernel; /* only launches of this one; NULL = of all */
	const char *range;  /* "A..B" or "A": only these launches; NULL = all */
	uint64_t launch;    /* only this one; 0 = all */
	uint64_t count;     /* of each kernel, grid and block; 0 = as usual: 1, on a GPU none */
	uint64_t stop_after, threads;
	uint64_t max_blocks; /* count a sample of so many blocks; 0 = all */
	bool strict;
	/* of one launch, which is run again alone; NULL = as it is */
	const char *block, *grid, *shared, *set, *dump;
	bool csv; /* of one launch: its figures as rows */
	struct race_options races;
	double timeout_s;
};

/* Where the program is to run: @sel's back end and sheet. False: there is no such back end, it does
 * not work here, or an option is not for it. */
bool program_where(const struct program_options *o, struct selection *sel, struct err *err);
/*
 * Builds and runs the program that @args name; Ctrl-C ends it. @catch: its output goes into @out,
 * else where ours goes. False: @err, and @out holds what was seen (out->path NULL: nothing ran).
 * @words and @out are the caller's to free in any case.
 */
bool program_start(const struct program_options *o, unsigned n, char **args, bool catch,
                   struct program_words *words, struct program *out, struct err *err);
/* Leaves the launches asked for in @p. False: there are none such; @err says which there are. */
bool program_select(struct program *p, const struct program_options *o, struct err *err);
/* Does the line name a program, and not how one kernel of it is launched? @numbered: a launch of it
 * is asked for by its number; block, grid and shared memory are then that launch's, and a source
 * whose main() comes from a header is a program, too. */
bool program_meant(const struct user_spec *spec, bool numbered, unsigned n, char **args);
/* program_show.c: runs the program and, if it made launches that were asked for, does @use with it;
 * @status is the program's. @catch: as program_start(). Returns the exit status. */
typedef int program_use(void *ctx, const struct program_words *words, struct program *p,
                        int status);
int program_with(struct cli *c, const struct program_options *o, unsigned n, char **args,
                 bool catch, program_use *use, void *ctx);
/* The first launch of the group that takes longest, as a run's record; record_free(). Lasts as long
 * as @p. */
struct run_record *program_longest(const struct program_words *words, const struct program *p);
/* Runs the program, shows the launches asked for as `run` shows a kernel; without a
 * wish the first of the group that takes longest. Returns the exit status. */
int program_show(struct cli *c, const struct program_options *o, unsigned n, char **args);
/* launch_again.c: is the launch to be run again, with something changed or to see its memory? */
bool program_wants_again(const struct program_options *o);
/* Runs launch @number of @p again as @o says and shows it. Returns the exit status; @status: of the
 * program. */
int program_show_again(struct cli *c, const struct program_options *o, struct program_family *f,
                       struct program *p, uint64_t number, int status);
/* program_diff.c: is @word a program, or the file of a program's run? */
bool program_is_side(const char *word);
/* Compares args[0] and args[1], which are such, kernel by kernel; the rest goes to both where they
 * are built and run. Returns 0 the same, 1 different, 2 trouble. */
int program_diff(struct cli *c, const char *gpu, unsigned n, char **args);
/* 0 the program ended well and nothing is wrong with it, else 1. */
int program_status(const struct program *p);

#endif
