/*
 * A person's whole program, host code and all, from source to an executable, by nvcc.
 *
 * The executable imports the CUDA runtime (-cudart shared) and holds PTX and machine code for the
 * chosen GPU, with line tables. It is kept in the cache folder and built again only when a file
 * that went into it, an option or the compiler has changed.
 */
#ifndef PMPP_COMPILE_PROGRAM_BUILD_H
#define PMPP_COMPILE_PROGRAM_BUILD_H

#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* What PROGRAM_REPAIR_NEWER builds for. */
#define PROGRAM_NEWER_CC 90

struct program_source {
	unsigned n_words;
	char *const *words; /* as on nvcc's command line: files, -I, -D, -std=... */
	int cc_major, cc_minor;
	bool newer;                /* may be built for a newer GPU than that: PROGRAM_REPAIR_NEWER */
	const atomic_bool *cancel; /* NULL = cannot be cancelled */
};

/* Is @word a file that nvcc compiles or links (.cu .cpp .cc .cxx .c .o .a)? */
bool program_is_source(const char *word);
/*
 * @path receives the executable. ERR_COMPILE: nvcc's messages, as it wrote them, with file, line
 * and caret; ERR_UNAVAILABLE: there is no nvcc, or no host compiler for it. @repairs: what had to
 * be done that nvcc takes it, bits by enum program_repair.
 */
bool program_build(const struct program_source *source, char *path, size_t n, unsigned *repairs,
                   struct err *err);

#endif
