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

#include <stdatomic.h>

/* What came of a launch that was tried on a few blocks, the mildest first. */
enum user_trial_kind {
	TRIAL_FINE,
	TRIAL_FOUND, /* it went through, and something was found that is not about sizes */
	TRIAL_SLOW,
	TRIAL_SHARED, /* outside shared memory */
	TRIAL_BOUNDS, /* outside a buffer */
	TRIAL_FAULT,
	TRIAL_IMPOSSIBLE, /* there is nothing to run it */
};
struct user_trial {
	enum user_trial_kind kind;
	char buffer[64]; /* TRIAL_BOUNDS: which */
};

/* The words of the command line. */
struct user_spec {
	const char *path;
	const char *kernel; /* as user_kernel.name; NULL: the only one of the file */
	const char *grid;   /* "X[,Y[,Z]]", expressions */
	const char *block;  /* the same; numbers are parameters to be changed */
	const char *shared; /* bytes of dynamic shared memory, an expression; NULL = 0 */
	const char *define; /* "TILE=16,RADIUS=3": macros, parameters to be changed; NULL = none */
	unsigned n_words;   /* for the compiler: -I, -D, -std=... */
	const char *const *words;
	const char *as; /* in snapshots: the kernel as the compiler had it; NULL = ask it */
	unsigned n_args;
	const char *const *args;   /* "name=..." */
	const atomic_bool *cancel; /* polled while compilers run, *cancel ends them; NULL = never */
	/* Tries a launch, for suggestions that work; NULL = they are guesses. */
	void (*trial)(const struct kernel_desc *k, struct user_trial *out);
};

/* "x.cu", "x.ptx": is a file meant, and not a kernel of this program? */
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
/* How many words from @words on are for the compiler, as in "-I DIR": 0 = the first is not. */
unsigned user_compiler_words(unsigned n, char *const *words);
/* Where the family's file lies; NULL = it has none behind it. */
const char *user_file_path(const struct kernel_desc *k);
/* The file once more, launched as @k was. *@out = @k when nothing changed. @k unless own: nothing
 * to do. */
bool user_file_reload(const struct kernel_desc *k, const atomic_bool *cancel,
                      const struct kernel_desc **out, struct err *err);

#endif
