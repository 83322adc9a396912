/*
 * A person's program in a sandbox (bubblewrap): no network, a read-only file system, an empty /tmp
 * and /run of its own, no process but its own, and nothing left of it when we end.
 */
#ifndef PMPP_RUNTIME_SANDBOX_H
#define PMPP_RUNTIME_SANDBOX_H

#include "base/err.h"

#include <stdbool.h>

/* From now on every program runs in one, or not at all. */
void sandbox_wanted(void);
bool sandbox_is_wanted(void);

/*
 * The command that runs @path with @arguments (argv, ended by NULL) and the variables @set
 * ("NAME=value", ended by NULL; for the program, not for bubblewrap), with the folder @library to
 * be seen. Tried out first. sandbox_free() it. False: there is no bubblewrap, or it may make no
 * sandbox here; @err says what to do.
 */
bool sandbox_command(const char *path, char *const *arguments, char *const *set,
                     const char *library, char ***out, struct err *err);
void sandbox_free(char **command);
/* bubblewrap's exit status as the program's: 128 + n where signal n ended it. Returns n, else 0. */
int sandbox_signal(int exit_status);

#endif
