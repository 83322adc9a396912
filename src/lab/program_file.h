/*
 * A program's run in a file, read back as it was written by `launches --json`, `export` and the key
 * e. The latter two write a "session" besides: what was counted in each launch, and the texts of
 * its kernels' files; without it figures are known, but no lines of a source.
 */
#ifndef PMPP_LAB_PROGRAM_FILE_H
#define PMPP_LAB_PROGRAM_FILE_H

#include "base/err.h"
#include "model/code_listing.h"
#include "model/whole_program.h"

#include <jansson.h>

#define PROGRAM_FILE_SCHEMA "pmpp-explore/1" /* that of all that verbs write as JSON */

/* Is @path a file that looks like one, by its first bytes? */
bool program_file_is(const char *path);
/* program_free() it in any case. False: @err names the place. */
bool program_file_read(const char *path, struct program *out, struct err *err);
/* The machine code of @k as the file has it; NULL = it has none. The caller's. */
struct code_listing *program_file_code(const struct program_kernel *k);
/* Adds the session of @p to @document, an object that has its launches. */
void program_file_add_session(json_t *document, const struct program *p);

#endif
