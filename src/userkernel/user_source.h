/*
 * A person's own CUDA file as text: its kernels with their signatures, and what of it is device
 * code.
 *
 * A scanner, no compiler: comments, strings, preprocessor lines and braces are told apart, names
 * are not looked up. A file may hold its host code as well; that is blanked for the compiler, line
 * by line, so that every line number stays. Knows no launch and no file.
 */
#ifndef PMPP_USERKERNEL_USER_SOURCE_H
#define PMPP_USERKERNEL_USER_SOURCE_H

#include "base/err.h"
#include "model/kernel.h"

#define USER_MAX_KERNELS 32

struct user_param {
	char name[40];
	char type[56]; /* as written: "const float *" */
	bool pointer, is_const;
	bool known;          /* kind or elem says what it is */
	enum arg_kind kind;  /* ARG_BUFFER or the scalar's */
	enum elem_type elem; /* of a pointer */
	unsigned lanes;      /* of a vector type: float4 = 4 of elem; else 1 */
};

struct user_kernel {
	char name[64];
	unsigned line;
	unsigned n_params;
	struct user_param params[KERNEL_MAX_ARGS];
	char why_not[96]; /* "" = can be launched by name */
};

struct user_source {
	char *shown;  /* the file */
	char *device; /* what is compiled: the same lines, host code blank, kernels extern "C" */
	unsigned n_kernels;
	struct user_kernel kernels[USER_MAX_KERNELS];
};

/* Takes the text apart; it never fails, but may find no kernel. user_source_free() it. */
void user_source_scan(const char *text, struct user_source *out);
void user_source_free(struct user_source *s);
/* Does the text define main() at file scope: is it a program of its own? */
bool user_source_has_main(const char *text);
const struct user_kernel *user_source_find(const struct user_source *s, const char *name);
/* "saxpy(int n, float a, const float *x, float *y)" */
void user_signature(const struct user_kernel *k, char *out, size_t n);
/* user_usage.c: ERR_USAGE "file: @what", every kernel with its signature, and as the remedy a
 * command line that launches @k (NULL = the first that can be). Returns false. */
bool user_usage(const struct user_source *s, const char *path, const struct user_kernel *k,
                const char *what, struct err *err);

#endif
