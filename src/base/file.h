/*
 * Whole files as text, with the path in every message. No names of our own formats here.
 */
#ifndef PMPP_BASE_FILE_H
#define PMPP_BASE_FILE_H

#include "base/err.h"
#include "base/text.h"

/* Reads at most @max bytes of @path into @out (NUL-terminated, text_free() it); a leading mark of
 * byte order is left away. ERR_IO with the
 * path and the system's reason, also for a pipe or a device, which might never end; ERR_PARSE when
 * the file is longer than @max. */
bool file_read(const char *path, size_t max, struct text *out, struct err *err);
/* Writes @bytes to a temporary file, syncs it, renames it over @path: at any moment the old file or
 * the new one is there, whole. ERR_IO leaves the old one. Killed while it writes, it leaves nothing
 * where the file system has unnamed files; else a ".NAME.pmpp-??????", which the next successful
 * write removes once it is an hour old. A device or pipe is written to as it is. */
bool file_replace(const char *path, const void *bytes, size_t n, struct err *err);
/* Makes the folder and what leads to it, for this person alone. False with errno: it
 * cannot be, or a file stands in its place. */
bool folder_make(const char *path);
/* Has a '/' or ends in @ext ("." included, any case): the person means a file, not a name. */
bool file_looks_like_path(const char *s, const char *ext);

#endif
