/*
 * Whole files as text, with the path in every message. No names of our own formats here.
 */
#ifndef PMPP_BASE_FILE_H
#define PMPP_BASE_FILE_H

#include "base/err.h"
#include "base/text.h"

#include <stdatomic.h>

/* Reads at most @max bytes of @path into @out (NUL-terminated, text_free() it); a leading mark of
 * byte order is left away. ERR_IO with the
 * path and the system's reason, also for a pipe or a device, which might never end; ERR_PARSE when
 * the file is longer than @max. */
bool file_read(const char *path, size_t max, struct text *out, struct err *err);
/* The same for a reader who may have enough of it. @cancel is polled between pieces
 * (ERR_CANCELLED); @read says how much of the file has come, 0 to 1000. NULL each: not wanted. */
bool file_read_while(const char *path, size_t max, const atomic_bool *cancel, atomic_uint *read,
                     struct text *out, struct err *err);
/* Could file_read() read it, as far as its kind and size say? For a file that another program is to
 * read, which would wait for a pipe's writer, or read a device without end. */
bool file_check(const char *path, size_t max, struct err *err);
/* Writes @bytes to a temporary file, syncs it, renames it over @path: at any moment the old file or
 * the new one is there, whole. ERR_IO leaves the old one. Killed while it writes, it leaves nothing
 * where the file system has unnamed files; else a ".NAME.pmpp-??????", which the next successful
 * write removes once it is an hour old. A device or pipe is written to as it is; nobody who reads
 * the pipe is waited for longer than a second. */
bool file_replace(const char *path, const void *bytes, size_t n, struct err *err);
/* Makes the folder and what leads to it, for this person alone. False with errno: it
 * cannot be, or a file stands in its place. */
bool folder_make(const char *path);
/* Has a '/' or ends in @ext ("." included, any case): the person means a file, not a name. */
bool file_looks_like_path(const char *s, const char *ext);

#endif
