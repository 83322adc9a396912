/*
 * A whole program as it used the GPU: its launches, copies and findings, in the order of its calls,
 * and groups of launches that are alike. Plain data, filled from the records of a run; panels and
 * verbs read it and do not ask where it came from.
 */
#ifndef PMPP_MODEL_WHOLE_PROGRAM_H
#define PMPP_MODEL_WHOLE_PROGRAM_H

#include "model/counts.h"
#include "model/gpu.h"
#include "model/metric.h"
#include "model/occupancy.h"
#include "model/run_result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Code that its kernels are part of, as far as it was told. */
struct program_module {
	unsigned id; /* from 1 on */
	char *ptx;   /* NULL = not known */
	size_t ptx_bytes;
	/* for the GPU of the run: the machine code that the launches ran, or would have, and its
	 * disassembly; NULL = nobody asked yet */
	char *cubin, *listing;
	size_t cubin_bytes, listing_bytes;
};

struct program_kernel {
	char *name;      /* "gemm<128, 128>": without its parameters */
	char *signature; /* "gemm<128, 128>(float const*, int)" */
	char *mangled;
	char *file; /* of its source, as the compiler was given it; "" = not known */
	char *
		code; /* of a run that was read: its machine code, as the file has it; NULL = it has none */
	unsigned id, registers, static_shared_bytes, local_bytes;
	unsigned module;              /* id of its module; 0 = not known */
	unsigned max_threads;         /* __launch_bounds__; 0 = no bound stated */
	unsigned allocated_registers; /* on a GPU: of a thread, as it is given them; 0 = not known */
	bool code_read; /* on a GPU: registers, bound and file were read off its machine code */
};

enum program_direction { PROGRAM_H2D, PROGRAM_D2H, PROGRAM_D2D, PROGRAM_H2H, PROGRAM_DIRECTIONS };
const char *program_direction_name(enum program_direction d);

/* When, in ns of the program's clock: the host's call; the work on the GPU. */
struct program_span {
	double call_ns, start_ns, end_ns;
};

/* One flag per thing that a reader should know of a launch. X(ID, "word") */
#define PROGRAM_FLAGS(X)          \
	X(FAILED, "failed")           \
	X(FAULT, "fault")             \
	X(RACE, "race")               \
	X(PRINTF, "printf")           \
	X(SAMPLED, "sampled")         \
	X(REPEAT, "as #")             \
	X(COOPERATIVE, "cooperative") \
	X(NESTED, "by a kernel")      \
	X(UNTIMED, "no time")

enum program_flag {
#define X(id, word) PROGRAM_FLAG_##id,
	PROGRAM_FLAGS(X)
#undef X
		PROGRAM_FLAG_COUNT
};
const char *program_flag_word(enum program_flag f);
/* The words of all that are set, between commas; that a launch repeats another is none. */
void program_flag_words(unsigned flags, char *out, size_t n);
/* A grid or a block, with @times between its dimensions; those at the end that are 1 are left out.
 */
void program_dimensions(const unsigned v[3], const char *times, char *out, size_t n);

struct program_launch {
	uint64_t number; /* 1, 2, ... */
	unsigned kernel; /* index into kernels */
	unsigned group;  /* index into groups */
	unsigned stream;
	unsigned grid[3], block[3], dynamic_shared_bytes;
	struct program_span span;
	uint64_t call;      /* on a GPU: number of the call that launched it, as CUPTI counts */
	unsigned flags;     /* bits by enum program_flag */
	uint64_t parent;    /* number of the launch whose kernel launched it; 0 = the host did */
	uint64_t like;      /* counts are those of this launch; its own number where it was counted */
	uint64_t same_as;   /* proved to repeat that launch, and so not run; 0 = it ran */
	uint64_t counts_as; /* proved to count what that launch counts; 0 = not proved */
	double wall_s;      /* what running it here took */
	struct metric_set *metrics; /* NULL = not counted */
	struct run_counts *counts;  /* NULL = not counted */
	struct occ_result occ;
	struct run_races races;
	char level[64];       /* whose counts they are: "PTX", "sm_90 machine code, ptxas 13.0.88" */
	char level_note[256]; /* why not the machine code's; "" = nothing to say */
};

struct program_copy {
	uint64_t number;
	enum program_direction direction;
	unsigned stream;
	uint64_t bytes;
	bool pinned, async, set; /* set: a memset */
	struct program_span span;
	uint64_t before; /* number of the launch that it precedes */
	uint64_t call;   /* on a GPU: number of the call that made it, as CUPTI counts */
};

/* An event recorded in a stream, or a stream that waits for one. */
struct program_mark {
	unsigned event, stream;
	bool wait;
	double at_ns;
};

struct program_finding {
	uint64_t launch; /* 0 = of the host's calls */
	uint64_t times;
	char *kind, *text, *remedy, *file;
	unsigned line;
	bool error;
};

/* A launch that can be run again, by a process at the other end of @fd; -1 = no longer. */
struct program_keeper {
	uint64_t launch;
	int fd; /* owned */
};

/* Launches of one kernel with one grid, block and shared memory. */
struct program_group {
	unsigned kernel, grid[3], block[3], dynamic_shared_bytes;
	uint64_t launches, first;    /* how many; number of the first */
	double total_ns, dram_bytes; /* dram_bytes: of all; negative = not known */
	unsigned flags;
	const char *bound; /* what limits the last, a name of the time model; "" = not known */
};

/* The text of a file of its kernels, as it was when the run was written. */
struct program_text {
	char *file, *text;
};

struct program {
	char *path, *command; /* the program; with its arguments */
	const struct gpu_spec *gpu;
	char backend[16];
	enum origin time_origin;
	bool told; /* it made a CUDA call, as far as this run heard; of a file: false */
	unsigned n_modules;
	struct program_module *modules;
	unsigned n_kernels;
	struct program_kernel *kernels;
	size_t n_launches, cap_launches;
	struct program_launch *launches;
	size_t n_copies, cap_copies;
	struct program_copy *copies;
	size_t n_keepers;
	struct program_keeper *keepers;
	size_t n_marks, cap_marks;
	struct program_mark *marks;
	size_t n_findings;
	struct program_finding *findings;
	size_t n_groups;
	struct program_group *groups; /* by total time, longest first */
	/* while it runs: the launch that takes long, 0 = none; its kernel's index; part that is done */
	uint64_t running;
	unsigned running_kernel;
	double running_fraction;
	/* how it ended */
	bool ended;      /* by exit() or return from main() */
	int exit_status; /* of the program; 128 + signal where one ended it */
	int signal;      /* 0 = none */
	double host_ns;  /* the program's time on its clock, with waits for the GPU */
	double gpu_ns;   /* sum of all launches */
	double copy_ns;
	bool from_file; /* read: nothing of it can be run */
	unsigned n_texts;
	struct program_text *texts;
	char *output, *errors; /* what it wrote, where that was caught; NULL = it was not */
};

/* Sorts launches into groups and sums up; after the last record. */
void program_sum_up(struct program *p);
/* Adds a remark that belongs to no launch. */
void program_note(struct program *p, const char *kind, const char *text);
/* Number of findings that are errors. */
size_t program_errors(const struct program *p);
/* Leaves the launches for which @keep is true, with what was found in them; counts of a launch that
 * goes stay with the first that is like it. Copies stay. */
void program_keep(struct program *p, bool (*keep)(void *ctx, const struct program_launch *l),
                  void *ctx);
/* NULL = there is none of that number. */
struct program_module *program_module(const struct program *p, unsigned id);
/* A new one, empty; what is returned is valid until the next is added. */
struct program_module *program_add_module(struct program *p, unsigned id);
const struct program_launch *program_launch_numbered(const struct program *p, uint64_t number);
/* The counts that are shown of @l, those of another launch, are proved to be its own. What follows
 * from a kernel's PTX says nothing of its machine code: that takes a launch that repeats another.
 */
bool program_counts_proved(const struct program *p, const struct program_launch *l);
/* For occupancy: used, else allocated, else a guess of 32. */
unsigned program_kernel_registers(const struct program_kernel *k);
/* Did a GPU tell when it began and ended? */
bool program_launch_timed(const struct program_launch *l);
/* The same, and its one time, as a GPU told it; @t stays as it is where it told none. */
void program_launch_timing(const struct program_launch *l, struct run_timing *t);
/* Puts the time of @l, measured on a GPU, into @m; n/a where it never ended. */
void program_launch_time(const struct program_launch *l, struct metric_set *m);
void program_free(struct program *p);

#endif
