/* Libraries that programs load, as files: they are built into this program. */
#ifndef PMPP_RUNTIME_GUEST_LIBRARY_H
#define PMPP_RUNTIME_GUEST_LIBRARY_H

#include "base/err.h"

#include <stddef.h>

/* Writes the library into the cache folder unless it is there, under every name that programs ask
 * for; @folder is where. False: nothing can be written there. */
bool guest_library_place(char *folder, size_t n, struct err *err);
#define GUEST_LIBRARY "libcudart.so.13"
/* The library that NVIDIA's driver loads into a program on a real GPU; @path is the file. */
bool inject_library_place(char *path, size_t n, struct err *err);

#endif
