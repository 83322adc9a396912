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

struct user_param {
	char name[48];
	char type[120]; /* as written, or as the compiler has it: "const float *" */
	bool pointer, is_const;
	bool known;          /* kind or elem says what it is */
	enum arg_kind kind;  /* ARG_BUFFER or the scalar's; ARG_BYTES: several numbers in a row */
	enum elem_type elem; /* of a pointer, of a number or of the numbers in a row */
	unsigned lanes;      /* of a vector type: float4 = 4 of elem; else 1 */
	bool structure;      /* of a person's own: elem and lanes are only how it is shown */
	bool choice;         /* an enum */
	unsigned bytes;      /* of a value: what the kernel takes; 0 = the type says it */
};

/* A __constant__ or __device__ variable at file scope; its elem is what an array holds. */
struct user_variable {
	struct user_param as; /* pointer: as a buffer is given */
	bool constant, has_value;
	char size[64]; /* between [ and ], or "1" */
};

/* How a kernel's text uses its launch; for suggestions. */
struct user_shape {
	unsigned block_dims, grid_dims; /* 1..3: threadIdx.y is read: 2 */
	unsigned max_threads;           /* __launch_bounds__; 0 = none */
	bool dynamic_shared;            /* extern __shared__ */
};

struct user_kernel {
	char name[160];      /* as it is called on the command line: "axpy<float,64>" */
	char base[64];       /* the name alone */
	char scope[64];      /* "outer::inner::" */
	char templates[200]; /* between template's < >; "" = no template */
	char *entry;         /* symbol in the compiled module; NULL = the name */
	bool c_linkage, internal, overloaded;
	unsigned line;
	unsigned n_params;
	struct user_param params[KERNEL_MAX_ARGS];
	struct user_shape shape;
	char why_not[160]; /* "" = can be launched by name */
};

struct user_source {
	char *shown;   /* the file */
	char *device;  /* for NVRTC: the same lines, host code blank, kernels extern "C" */
	char *linked;  /* the text with kernels extern "C", nothing blank */
	char *extra;   /* for nvcc: what stands behind the file (user_resolve.h); NULL = nothing */
	bool resolved; /* symbols and types are the compiler's */
	bool quotes;   /* it includes files of its own */
	bool plain;    /* NVRTC can do it: no templates, no names used twice */
	unsigned n_kernels;
	struct user_kernel *kernels;
	unsigned n_variables;
	struct user_variable *variables;
};

/* Takes the text apart; it never fails, but may find no kernel. user_source_free() it. */
void user_source_scan(const char *text, struct user_source *out);
void user_source_free(struct user_source *s);
/* Does the text define main() at file scope: is it a program of its own? */
bool user_source_has_main(const char *text);
const struct user_kernel *user_source_find(const struct user_source *s, const char *name);
/* "saxpy(int n, float a, const float *x, float *y)" */
void user_signature(const struct user_kernel *k, char *out, size_t n);

#endif
