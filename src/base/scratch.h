/*
 * Folders for a moment: what a tool reads and writes, gone with all that is in them when it has
 * ended. A folder belongs to whoever holds a lock on it, so that the folders of programs that were
 * killed can be told from those in use, and are removed by the next one.
 */
#ifndef PMPP_BASE_SCRATCH_H
#define PMPP_BASE_SCRATCH_H

#include "base/err.h"

#include <stddef.h>

struct scratch {
	char path[512];
	int fd; /* the folder, locked */
};

#define SCRATCH_NONE { .fd = -1 }

/* A new folder of this person alone in $TMPDIR, else /tmp. ERR_IO. */
bool scratch_make(struct scratch *s, struct err *err);
/* "PATH/NAME"; returns @out. */
const char *scratch_file(const struct scratch *s, const char *name, char *out, size_t n);
/* Removes it and everything in it; one that was never made is fine. */
void scratch_remove(struct scratch *s);
/* Removes this person's folders that nobody holds any more. Returns how many. */
unsigned scratch_sweep(void);

#endif
