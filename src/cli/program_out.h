/* A program's launches in the three forms that verbs give. */
#ifndef PMPP_CLI_PROGRAM_OUT_H
#define PMPP_CLI_PROGRAM_OUT_H

#include "cli/cli.h"
#include "model/whole_program.h"

/* @arguments: argv of the program, ended by NULL. */
json_t *program_json(const struct program *p, char *const *arguments);
void program_print(struct cli *c, FILE *f, const struct program *p);
void program_print_csv(FILE *f, const struct program *p);

/* program_read.c: a run from the object that program_json() made: its launches and their metrics.
 * program_free() it in any case. */
bool program_read(const char *path, struct program *out, struct err *err);

#endif
