/*
 * What a kernel family promises: its parameters, variants, launches, inputs, reference and cost.
 *
 * One file kernels/<name>.cu holds both halves: device code behind `#ifdef __CUDACC__`
 * (entries are `extern "C" __global__`), and otherwise `const struct kernel_desc kernel_<name>`.
 * The registry finds it by its file name. Nothing here knows a back end, a file or a screen.
 *
 * Source lines may carry a tag in a trailing comment, `//@ load-A`: counts are then also
 * added up per tag, and presets, tests and panels can speak of "the add line" by name.
 */
#ifndef PMPP_MODEL_KERNEL_H
#define PMPP_MODEL_KERNEL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_MAX_PARAMS 40
#define KERNEL_MAX_VARIANTS 32 /* bits of param_desc.variants */
#define KERNEL_MAX_BUFFERS 32
#define KERNEL_MAX_ARGS 48
#define KERNEL_BLOCK "block" /* the threads of a block, by this name everywhere */
#define KERNEL_GRID "grid"
#define KERNEL_SHARED "shared" /* bytes of dynamic shared memory */

enum param_kind {
	PARAM_LAUNCH,  /* changes the launch only: block size, N */
	PARAM_COMPILE, /* becomes -DNAME=value (the name in capitals, as `macro` says) */
	PARAM_STREAM, /* changes what surrounds the kernel only: streams, chunks, pinned (stream_plan.h)
	               */
};

/* What a parameter is to a person, beyond its name. */
enum param_role {
	PARAM_PLAIN,
	PARAM_KNOB,  /* worth turning first; the first that a variant uses is its main knob */
	PARAM_BLOCK, /* the threads of a block, all of them; the main knob where there is one */
};

/* One knob. Values are whole numbers; `words` names them when they stand for something else. */
struct param_desc {
	const char *name;  /* as typed: "block", "N", "TILE" */
	const char *title; /* "threads per block" */
	const char *unit;  /* "threads", "elements", "" */
	enum param_kind kind;
	enum param_role role;
	const char *macro; /* PARAM_COMPILE: macro to define; NULL = name */
	int64_t def, min, max;
	const int64_t *choices; /* legal values in order, ended by INT64_MIN; NULL = min..max */
	const int64_t
		*steps; /* values that + and - walk through, same ending; NULL = choices or powers of 2 */
	const char *const *words; /* words[i] names choices[i]; NULL = numbers */
	uint32_t variants;        /* bit v: used by variant v; 0 = used by all */
};

struct variant_desc {
	const char *name;       /* "tiled" as in sgemm/tiled */
	const char *entry;      /* PTX entry "sgemm_v2_tiled" */
	const char *title;      /* "shared-memory tiles" */
	const char *idea;       /* one line: what this variant changes and why */
	const char *section;    /* "PMPP 5.4" */
	const char *seeds;      /* "S-020 S-021": checklist ids it covers */
	const char *book_lanes; /* the lane count the book prints, and why ours may differ; NULL = none:
	                         * "255/736 = 35 %: it stops counting after five iterations" */
	bool wrong; /* wrong by design: shows a mistake, so verification is expected to fail */
	/* What it asks of a GPU: 10 * major + minor of the least compute capability (0 = any), and
	 * whether it runs on no other, since its instructions are that architecture's own (sm_90a). */
	int least_cc;
	bool that_cc_only;
};

struct dim3u {
	uint32_t x, y, z;
};

enum elem_type {
	ELEM_F32,
	ELEM_F64,
	ELEM_F16,
	ELEM_I32,
	ELEM_U32,
	ELEM_U8,
	ELEM_BF16,
	ELEM_I8,
	ELEM_I16,
	ELEM_U16,
	ELEM_I64,
	ELEM_U64,
	ELEM_TYPES
};

enum buffer_role {
	BUF_IN,    /* filled, must not change */
	BUF_OUT,   /* poisoned before the run; every element must be written unless `partial` */
	BUF_INOUT, /* filled, changed in place: restored between replays */
};

struct buffer_plan {
	const char *name; /* "A": shown in errors and lenses */
	enum elem_type type;
	enum buffer_role role;
	bool variable;       /* it is the module's __device__ or __constant__ variable of this name */
	bool partial;        /* BUF_OUT: filled like BUF_INOUT, elements may stay unwritten */
	size_t count;        /* elements; >= 1 */
	uint32_t rows, cols; /* shape for display; 0 = vector */
};

enum arg_kind { ARG_BUFFER, ARG_I32, ARG_U32, ARG_I64, ARG_F32, ARG_F64, ARG_BYTES };

struct kernel_arg {
	enum arg_kind kind;
	union {
		unsigned buffer; /* index into buffers */
		int32_t i32;
		uint32_t u32;
		int64_t i64;
		float f32;
		double f64;
		const void *bytes; /* ARG_BYTES: a number of another size, or a structure */
	};
	unsigned size;   /* of ARG_BYTES; of ARG_I64 where it is below 8 */
	uint64_t offset; /* of ARG_BUFFER: bytes from its start */
};

/* One launch, completely described. */
struct launch_plan {
	const char *entry;
	struct dim3u grid, block;
	uint32_t dynamic_shared_bytes;
	unsigned n_buffers, n_args;
	struct buffer_plan buffers[KERNEL_MAX_BUFFERS];
	struct kernel_arg args[KERNEL_MAX_ARGS];
	const void *user; /* of a family made at run time: what its fill() and cost() need */
};

/* What tensor cores multiply, with sums in single precision. */
enum tensor_input { TENSOR_NONE, TENSOR_F16, TENSOR_TF32 };

/* Work as the algorithm needs it, not as the machine does it. */
struct kernel_cost {
	double flop;              /* floating-point operations of the definition (FMA = 2) */
	enum tensor_input tensor; /* tensor cores do them, on inputs of this kind */
	double min_bytes;         /* every input read once, every output written once */
	double book_flop;         /* the book's count: operations ... */
	double book_bytes;     /* ... per this many bytes of global memory; 0 = the book gives none */
	const char *book_note; /* "2 FLOP per 8 bytes (PMPP 5.1)"; NULL = none */
};

struct check_result {
	bool ok;
	size_t errors;   /* elements outside the tolerance */
	size_t first;    /* index of the first of them */
	unsigned buffer; /* in this buffer */
	double got, want, tolerance;
	double max_rel_error; /* over all elements */
	double rel_limit;     /* relative tolerance it was held against; 0 = none was given */
	char note[160];       /* "race: 768 expected, 3 seen": optional wording for this kernel */
};

/* A launch that was worked out by hand: these settings must give it. */
struct kernel_example {
	const char *variant;      /* NULL ends a list */
	const char *words;        /* "M=100 block_x=32"; the other parameters are defaults */
	struct dim3u grid, block; /* grid.x 0: nothing is said of the launch */
	uint32_t dynamic_shared_bytes;
	double book_intensity; /* operations per byte as the book has it; 0 = nothing is said */
};

/* Settings that are legal one by one and impossible together. */
struct kernel_refusal {
	const char *variant; /* NULL ends a list */
	const char *words;
	const char *param, *reason; /* parts of the message: the parameter's name, and why */
};

struct stream_program; /* model/stream.h */
struct compile_own;    /* compile/compile.h */

struct kernel_desc {
	const char *name; /* = file name */
	const char *title;
	const char *section; /* "PMPP ch. 5-6" */
	const char *about;   /* two or three sentences for a newcomer */
	unsigned n_params, n_variants;
	const struct param_desc *params;
	const struct variant_desc *variants;
	unsigned usual; /* the variant that is meant where none is named */
	/* A matrix product C = A B: which parameters are the rows of A, the columns of B and the length
	 * between them. NULL = it computes something else. */
	const unsigned *product;
	/*
	 * Parameters (one value per param, in order) to a launch. Refuses the impossible with the
	 * parameter's name and the reason (ERR_USAGE); what it accepts can be launched on every
	 * device (block <= 1024 threads, grid within 2^31-1 x 65535 x 65535, CUDA guide table
	 * "technical specifications").
	 */
	bool (*plan)(unsigned variant, const int64_t *params, struct launch_plan *plan,
	             struct err *err);
	/* Deterministic contents of buffer @b (role IN or INOUT) from @seed. */
	void (*fill)(const struct launch_plan *plan, const int64_t *params, unsigned b, uint64_t seed,
	             void *data);
	/* Compares @after with a CPU reference in double made from @before (same layout as buffers;
	 * NULL for a plain output, and an input may be the same memory in both).
	 * The tolerance and its reason are stated in the kernel's file. NULL = there is no reference.
	 */
	void (*check)(unsigned variant, const struct launch_plan *plan, const int64_t *params,
	              void *const *before, void *const *after, struct check_result *result);
	void (*cost)(unsigned variant, const struct launch_plan *plan, const int64_t *params,
	             struct kernel_cost *cost);
	/* What the host does around the kernel, which takes @kernel_ns alone. NULL = the pipeline of
	 * stream_plan.h: inputs up, kernel, outputs down, as the PARAM_STREAM parameters say. */
	void (*program)(unsigned variant, const struct launch_plan *plan, const int64_t *params,
	                double kernel_ns, struct stream_program *out);
	/* What the build holds plan() and cost() against. */
	const struct kernel_example *examples;
	const struct kernel_refusal *refusals; /* NULL = none */
	/* A family made at run time from a person's own file (NULL in all others): its text as the
	 * person sees it, the file's name and the text that is compiled; and plan() with the family
	 * itself. */
	const char *source, *file, *device_source;
	const struct compile_own *own_build; /* what else the compiler needs (compile.h); NULL */
	const char *const
		*launch_words;        /* its launch as the person wrote it, ended by NULL: for snapshots */
	const char *guessed;      /* parts of that launch which nobody said: "--grid, x"; NULL = none */
	const char *guessed_line; /* the command line that says the same launch; NULL */
	const void *user;
	bool (*plan_user)(const struct kernel_desc *k, const int64_t *params, struct launch_plan *plan,
	                  struct err *err);
};

/* Name and entry of a variant: KERNEL_VARIANT(sgemm, 3, tiled) is "tiled", "sgemm_v3_tiled". */
#define KERNEL_VARIANT(family, number, variant) \
	.name = #variant, .entry = #family "_v" #number "_" #variant
/* The parts of a descriptor that every family has, each a table or function of that name; fill is
 * said apart, as two of kernel_desc's kind are below. */
#define KERNEL_PARTS                                                                        \
	.n_params = N_PARAMS, .n_variants = N_VARIANTS, .params = params, .variants = variants, \
	.plan = plan, .check = check, .cost = cost
/* What the build holds plan() and cost() against; the lists close themselves. */
#define KERNEL_EXAMPLES(...)                    \
	.examples = (const struct kernel_example[]) \
	{                                           \
		__VA_ARGS__,                            \
		{                                       \
			0                                   \
		}                                       \
	}
#define KERNEL_REFUSALS(...)                    \
	.refusals = (const struct kernel_refusal[]) \
	{                                           \
		__VA_ARGS__,                            \
		{                                       \
			0                                   \
		}                                       \
	}
/* Rows of kernel_desc.params: the threads of a one-dimensional block, and of one side of a block
 * of two ("x", "y"); more fields may follow. */
#define KERNEL_BLOCK_SIZE(called, threads, offered, ...) \
	{ .name = (called),                                  \
	  .title = "threads per block",                      \
	  .unit = "threads",                                 \
	  .kind = PARAM_LAUNCH,                              \
	  .role = PARAM_BLOCK,                               \
	  .def = (threads),                                  \
	  .min = 1,                                          \
	  .max = 1024,                                       \
	  .steps = (offered),                                \
	  __VA_ARGS__ }
#define KERNEL_SIDE(called, axis, ...)     \
	{ .name = (called),                    \
	  .title = "threads per block, " axis, \
	  .unit = "threads",                   \
	  .kind = PARAM_LAUNCH,                \
	  .def = 16,                           \
	  .min = 1,                            \
	  .max = 1024,                         \
	  .steps = kernel_side_steps,          \
	  __VA_ARGS__ }
extern const int64_t kernel_block_steps[], kernel_side_steps[];
/* The head of a launch_plan: entry, blocks of the grid in x and y, threads of a block in x and y */
#define KERNEL_LAUNCH(name, grid_x, grid_y, block_x, block_y)               \
	.entry = (name), .grid = { (uint32_t)(grid_x), (uint32_t)(grid_y), 1 }, \
	.block = { (uint32_t)(block_x), (uint32_t)(block_y), 1 }
/* The arguments of a launch_plan, counted */
#define KERNEL_ARGS(...)                                                                \
	.n_args = sizeof((struct kernel_arg[]){ __VA_ARGS__ }) / sizeof(struct kernel_arg), \
	.args = { __VA_ARGS__ }
/* Rows of launch_plan.args and launch_plan.buffers. */
#define KERNEL_ARG_BUFFER(index) { .kind = ARG_BUFFER, .buffer = (index) }
#define KERNEL_ARG_I32(value) { .kind = ARG_I32, .i32 = (int32_t)(value) }
#define KERNEL_ARG_U32(value) { .kind = ARG_U32, .u32 = (uint32_t)(value) }
static inline struct buffer_plan kernel_vector(const char *name, enum elem_type type,
                                               enum buffer_role role, int64_t count)
{
	return (struct buffer_plan){ .name = name, .type = type, .role = role, .count = (size_t)count };
}
static inline struct buffer_plan kernel_matrix(const char *name, enum elem_type type,
                                               enum buffer_role role, int64_t rows, int64_t cols)
{
	struct buffer_plan b = kernel_vector(name, type, role, rows * cols);
	b.rows = (uint32_t)rows;
	b.cols = (uint32_t)cols;
	return b;
}
/* The arguments of C = A B: buffers 0 (A, @m x @k), 1 (B, @k x @n; its transpose in memory where
 * @b_by_columns) and 2 (C), then m, n and k as int. */
void kernel_product_args(struct launch_plan *plan, int64_t m, int64_t n, int64_t k,
                         bool b_by_columns);

/* "sgemm.cu": as messages and line tables name it. */
const char *kernel_file(const struct kernel_desc *k, char *buf, size_t n);

/* The most common helpers of kernel files. */
size_t elem_size(enum elem_type type);
const char *elem_name(enum elem_type type);
bool elem_is_real(enum elem_type type);
/* "f32" to the type; false = there is none of that name. */
bool elem_find(const char *name, enum elem_type *out);
static inline uint64_t ceil_div(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}
/* ERR_USAGE "parameter 'block': 4096: reason"; returns false. */
bool kernel_refuse(struct err *err, const char *param, int64_t value, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The device limits every launch must keep, with the reason; plan() ends with it. */
bool kernel_launch_legal(const struct launch_plan *plan, struct err *err);
/* Every value that @variant uses is one that its row of @params, which has @n, allows. plan()
 * begins with it; what it refuses itself are values that do not fit each other. */
bool kernel_values_legal(const struct param_desc *params, unsigned n, unsigned variant,
                         const int64_t *values, struct err *err);
/* A block of block_x times block_y threads: sides of at least 1, at most 1024 threads. */
bool kernel_sides_legal(int64_t x, int64_t y, struct err *err);
/* Uniform values in [-1, 1) in float32, reproducible across machines. */
void fill_uniform_f32(float *out, size_t n, uint64_t seed);
/* Element-wise |got - want| <= rel*|want| + abs; records the first failure and the largest error.
 * NaN never passes. May be called for several buffers in turn. Start from a zeroed result.
 * max_rel_error is |got - want| / (|want| + abs/rel), so it is <= rel exactly where an element
 * passes; elements that are not finite count as errors and leave it alone. */
void check_close_f32(const float *got, const double *want, size_t n, double rel, double abs,
                     unsigned buffer, struct check_result *r);

/* One element, |got - want| <= tolerance; NaN never passes. Recorded like check_close_f32(); the
 * caller sets ok = (errors == 0) when all elements have been seen. */
void check_element(double got, double want, double tolerance, size_t index, unsigned buffer,
                   struct check_result *r);
/* A check of elements that do not depend on one another, on all processors: @part looks at @from to
 * @to of @n, by check_element(); @r is what one look at all of them would have left. */
typedef void check_part(const void *ctx, size_t from, size_t to, struct check_result *r);
void check_in_parts(size_t n, check_part *part, const void *ctx, struct check_result *r);
/* Whole numbers in [lo, hi]: sums of them are exact in float32 in any order while below 2^24. */
void fill_integers_f32(float *out, size_t n, int lo, int hi, uint64_t seed);
/* kernel_desc.fill of a family whose inputs are all fill_uniform_f32(), or all fill_bytes(). */
void kernel_fill_uniform(const struct launch_plan *plan, const int64_t *params, unsigned b,
                         uint64_t seed, void *data);
void kernel_fill_bytes(const struct launch_plan *plan, const int64_t *params, unsigned b,
                       uint64_t seed, void *data);
/* Random bytes. */
void fill_bytes(unsigned char *out, size_t n, uint64_t seed);
/* Multiples of 2^-q in [-1, 1), q as large as keeps every sum of @terms products of two such values
 * exact in float32: then any order of summation, fused or not, gives the same bits. */
void fill_products_f32(float *out, size_t n, size_t terms, uint64_t seed);
/* C = A * B with inputs of fill_products_f32(terms = k), tolerance 0. Every element is checked: by
 * exact row checksums, and row by row against a double reference as far as 10^8 products reach. */
struct matmul_ref {
	const float *a, *b, *c; /* a: m x k, c: m x n, row-major */
	size_t m, n, k;
	bool b_by_columns; /* b: n x k in memory (column-major), else k x n */
	unsigned buffer;   /* of c, for the result */
};
void check_matmul_f32(const struct matmul_ref *ref, struct check_result *r);

/* Parameter access by the person's words. */
int kernel_param_index(const struct kernel_desc *k, const char *name);   /* -1: none */
int kernel_variant_index(const struct kernel_desc *k, const char *name); /* -1: none */
bool kernel_param_used(const struct kernel_desc *k, unsigned variant, unsigned param);
/* The parameter that gets the focus first: PARAM_BLOCK, else PARAM_KNOB, else the first. */
unsigned kernel_main_knob(const struct kernel_desc *k, unsigned variant);
/* Rows, columns and inner length of the product that @params describe; false = it is none. */
bool kernel_product(const struct kernel_desc *k, const int64_t *params, int64_t size[3]);
void kernel_defaults(const struct kernel_desc *k, int64_t *params);
/* Range and choice check of one value; the message lists what is legal. */
bool kernel_param_legal(const struct kernel_desc *k, unsigned param, int64_t value,
                        struct err *err);
/* The next legal step up (+1) or down (-1) from a value; the same value at the end. */
int64_t kernel_param_step(const struct kernel_desc *k, unsigned param, int64_t value,
                          int direction);
/* Number or word to value and back. */
bool kernel_param_parse(const struct kernel_desc *k, unsigned param, const char *text,
                        int64_t *value, struct err *err);
void kernel_param_format(const struct kernel_desc *k, unsigned param, int64_t value, char *out,
                         size_t n);

#endif
