/*
 * A person's whole program as words of a command line: what is compiled and how, what is run with
 * which arguments. Building and running it, on the calling thread.
 */
#ifndef PMPP_LAB_PROGRAM_WORDS_H
#define PMPP_LAB_PROGRAM_WORDS_H

#include "base/err.h"
#include "model/whole_program.h"
#include "runtime/program_run.h"

/* Owned: program_words_free(). */
struct program_words {
	bool is_source;   /* else [0] of `arguments` is an executable, */
	bool recorded;    /* or a file of an earlier run, which is read (program_file.h) */
	unsigned n;       /* words for the compiler */
	char **words;     /* as typed, in front of "--" */
	char **arguments; /* argv of the program, ended by NULL */
	char *command;    /* all of it, as typed */
};

/* Is @word a program: an executable, a source with a function main(), or the file of a run? */
bool program_words_begin(const char *word);
/* @args: as typed: "prog.cu -O3 -- 1000", "./a.out 1000" or "run.json". False: there is no word. */
bool program_words_parse(unsigned n, char *const *args, struct program_words *out);
/* Names @w, made of @args, a program, and is every source of it there? The compiler would miss a
 * header, and the system's word for a folder would name no remedy. */
bool program_words_are_there(const struct program_words *w, unsigned n, char *const *args,
                             struct err *err);
/* Is @word no folder, where a program or a kernel is wanted? */
bool program_words_no_folder(const char *word, struct err *err);
void program_words_copy(struct program_words *to, const struct program_words *from);
void program_words_free(struct program_words *w);
/* Word @i that is a file of the person's: a source or the executable; NULL past the end. */
const char *program_words_file(const struct program_words *w, unsigned i);
/* "saxpy" of "src/saxpy.cu". */
void program_words_name(const struct program_words *w, char *out, size_t n);

/* The sheet that a program is meant for where no GPU was asked for: @usual, or the first one of the
 * highest architecture that nvcc's words name, if @usual is too old for it. */
const struct gpu_spec *program_words_gpu(const struct program_words *w,
                                         const struct gpu_spec *usual);

struct program_job {
	const struct program_words *words;
	const struct gpu_spec *gpu;
	bool newer;    /* a newer one may take its place: nobody asked for this one */
	bool measured; /* on the GPU of this machine; else emulated */
	struct record_config config;
	bool catch_output, no_input;
	double timeout_s; /* of the run; 0 = none */
	const atomic_bool *cancel;
	void (*built)(void *ctx); /* the program is compiled and starts; may be NULL */
	void (*progress)(void *ctx, const struct program *so_far);
	void *ctx;
};
/*
 * Compiles it if need be and runs it. False: it was not built, or the run was not watched to its
 * end; @out then holds what was seen (out->path is NULL: nothing ran). program_free() it always.
 */
bool program_job_run(const struct program_job *job, struct program *out, struct err *err);

#endif
