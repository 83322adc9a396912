/*
 * A person's own CUDA file as a kernel family: `pmpp-explore my.cu --kernel saxpy --grid n/block
 * ...`.
 *
 * The launch is said on the command line (user_words.h); names and types come from the kernel's
 * signature. What a family needs stays in memory until the program ends: records and the worker
 * may still speak of an older version of the file. Runs nothing and draws nothing.
 */
#ifndef PMPP_USERKERNEL_USER_FILE_H
#define PMPP_USERKERNEL_USER_FILE_H

#include "base/err.h"
#include "model/kernel.h"

/* The words of the command line. */
struct user_spec {
	const char *path;
	const char *kernel; /* NULL: the only one of the file */
	const char *grid;   /* "X[,Y[,Z]]", expressions */
	const char *block;  /* "X[,Y[,Z]]", numbers: parameters to be changed */
	const char *shared; /* bytes of dynamic shared memory, an expression; NULL = 0 */
	const char *define; /* "TILE=16,RADIUS=3": macros, parameters to be changed; NULL = none */
	unsigned n_args;
	const char *const *args; /* "name=..." */
};

/* "x.cu": is a file meant, and not a kernel of this program? */
bool user_file_named(const char *word);
/* Reads the file, finds the kernel, checks the launch; the family is known to the registry then. A
 * file with a descriptor (user_plugin.h) says its launches itself: arguments are its parameters.
 * Without a complete launch: ERR_USAGE, the kernels with their signatures, and a command line that
 * works. */
bool user_file_load(const struct user_spec *spec, const struct kernel_desc **out, struct err *err);
/* The family a snapshot carries, from the words of kernel_desc.launch_words; NULL = refused, @err
 * says why. There is no file to read again. */
const struct kernel_desc *user_file_restore(const char *file, const char *source, unsigned n,
                                            const char *const *words, struct err *err);
/* Where the family's file lies; NULL = it has none behind it. */
const char *user_file_path(const struct kernel_desc *k);
/* The file once more, launched as @k was. *@out = @k when nothing changed. @k unless own: nothing
 * to do. */
bool user_file_reload(const struct kernel_desc *k, const struct kernel_desc **out, struct err *err);

#endif
