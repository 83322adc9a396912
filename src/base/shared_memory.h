/* Memory that another process can map too: a file without a name, of a fixed size. */
#ifndef PMPP_BASE_SHARED_MEMORY_H
#define PMPP_BASE_SHARED_MEMORY_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct shared_memory {
	int fd;        /* to be passed to the other process; where data is NULL, nothing */
	uint8_t *data; /* NULL = there is none */
	size_t bytes;
};

/* Zeroed. @what for the message: "the buffers of this run". False: @m is empty. */
bool shared_memory_make(struct shared_memory *m, size_t bytes, const char *what, struct err *err);
void shared_memory_drop(struct shared_memory *m); /* an empty one is fine */

#endif
