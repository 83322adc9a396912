/*
 * Folders of the cache, of built programs and of what programs load: each says by its time when it
 * was used last (store_folder() of module_store.h).
 */
#ifndef PMPP_COMPILE_STORE_FOLDERS_H
#define PMPP_COMPILE_STORE_FOLDERS_H

#include <time.h>

/* Removes those in folder @path whose name begins with @begin and which have not been used since
 * then. What cannot be removed stays. */
void store_trim_folders(const char *path, const char *begin, time_t used_since);

#endif
