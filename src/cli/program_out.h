/* A program's launches in the three forms that verbs give. */
#ifndef PMPP_CLI_PROGRAM_OUT_H
#define PMPP_CLI_PROGRAM_OUT_H

#include "cli/cli.h"
#include "model/code_listing.h"
#include "model/whole_program.h"

/* @arguments: argv of the program, ended by NULL. */
json_t *program_json(const struct program *p, char *const *arguments);
/* @all: a row for every group; else those of a kernel of many are folded where the table is long.
 */
void program_print(struct cli *c, FILE *f, const struct program *p, bool all);

/* program_rows.c: the table of it. */
void program_print_groups(struct cli *c, FILE *f, const struct program *p, bool all);
/* A kernel's name for a table: a longer one without its namespaces, and cut, with a sign of that,
 * if it is longer still. Templates of libraries have names of a thousand columns. */
enum { PROGRAM_NAME_COLUMNS = 72, PROGRAM_NAME_BYTES = PROGRAM_NAME_COLUMNS + 4 };
void program_kernel_name(const struct cli *c, const char *whole, char out[PROGRAM_NAME_BYTES]);
void program_print_csv(FILE *f, const struct program *p);

/* program_notes.c: which launches count PTX and why, and what a card counts differently each time.
 */
void program_print_notes(FILE *f, const struct program *p);

/* program_code_out.c: into what program_json() made of @p, as "code" of each launch whose machine
 * code was counted how often each instruction ran; as one more of "machine_code" a kernel's
 * listing, instructions and PTX. */
void program_json_counts(json_t *document, const struct program *p);
void program_json_listing(json_t *document, const struct program_kernel *k,
                          const struct code_listing *code);

#endif
