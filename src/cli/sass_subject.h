/*
 * What the verb sass is asked for, found and disassembled: a kernel, a .cu or .ptx file, a cubin;
 * and where counts are wanted, a launch of it, or of a whole program, run in the emulator.
 */
#ifndef PMPP_CLI_SASS_SUBJECT_H
#define PMPP_CLI_SASS_SUBJECT_H

#include "cli/sass_out.h"

/* The command line. */
struct sass_ask {
	const char *gpu, *diff;
	uint64_t max_registers; /* 0 = not given */
	uint64_t launch;        /* of a program; 0 = not given */
	bool json, counts;
	struct user_spec user; /* how a file's kernel is launched; its kernel also without a launch */
};

/* A subject: sass_drop(). */
struct sass_code {
	char *source;    /* NULL: a cubin */
	char file[4096]; /* as the line tables name it */
	struct text cubin;
	char compiler[32]; /* "" = a cubin: its own note tells */
	char only[512];    /* function to show; "" = all */
	struct sass_module module;
	struct sass_counts counts; /* of what ran */
	struct sass_show show;
	int status; /* of the run: CLI_OK, or CLI_WRONG where it had a fault or its program failed */
};

/* Is what @s and @args say a launch, whose instructions are counted? */
bool sass_ask_counts(const struct sass_ask *s);
/* False with ERR_NONE: what was wrong has been said, and out->status is the verb's. */
bool sass_find(struct cli *c, const struct sass_ask *s, unsigned n, char **args,
               struct sass_code *out, struct err *err);
void sass_drop(struct sass_code *code);

/* sass_run.c: runs the launch that @args mean and puts its kernel's cubin, text, name and counts
 * into @out. As sass_find(). */
bool sass_run(struct cli *c, const struct sass_ask *s, unsigned n, char **args,
              struct sass_code *out, struct err *err);

#endif
