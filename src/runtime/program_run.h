/*
 * Runs a person's program as a child of ours, with the emulated runtime in front of NVIDIA's or, on
 * a real GPU, with a library of ours that NVIDIA's driver loads, and collects its records. The
 * program's arguments, environment, working folder and standard input are the person's own.
 */
#ifndef PMPP_RUNTIME_PROGRAM_RUN_H
#define PMPP_RUNTIME_PROGRAM_RUN_H

#include "base/err.h"
#include "model/whole_program.h"
#include "runtime/record.h"

#include <stdatomic.h>

struct program_request {
	const char *path;       /* of the executable */
	char *const *arguments; /* argv, ended by NULL; [0] is the program's name */
	const struct gpu_spec *gpu;
	bool measured; /* on the GPU of this machine, which @gpu describes; else emulated */
	struct record_config config;
	bool catch_output;         /* into program.output and .errors; else it goes where ours goes */
	bool no_input;             /* it reads an empty standard input; else ours */
	const atomic_bool *cancel; /* NULL = cannot be cancelled */
	double timeout_s;          /* for the whole program; 0 = none */
	/* Called as records come in, at most some 30 times a second; may be NULL. */
	void (*progress)(void *ctx, const struct program *so_far);
	void *ctx;
};

/* How the executable holds the CUDA runtime. */
enum program_form {
	PROGRAM_SHARED_RUNTIME, /* imports libcudart */
	PROGRAM_STATIC_RUNTIME, /* has it linked in, with names */
	PROGRAM_NO_CUDA,        /* neither: perhaps a script, or it loads CUDA later */
};
/* Can @path be run at all? False with the reason and the remedy: no ELF file, another machine's,
 * stripped with a static runtime, only libraries that need a GPU (cuBLAS ...). */
bool program_inspect(const char *path, enum program_form *form, struct err *err);
/* The same for a run on a real GPU, where the program may be of any form. */
bool program_inspect_for_gpu(const char *path, struct err *err);
/* The least compute capability (90) for which executable @path holds code of every part of it; 0 =
 * it has none, or cannot be read. */
unsigned program_least_cc(const char *path);

/* True: the program ran, well or not; @out tells. False: it could not be started or watched. */
bool program_run(const struct program_request *req, struct program *out, struct err *err);

#endif
