/*
 * What a program does with the GPU, as records from the program's process to ours: one wire frame
 * (base/wire.h) each, in the order of the program's calls. The same records come from the emulated
 * runtime inside the program and, on a real GPU, from the injected library.
 *
 * Both ends are built from the same source; a frame of another version is refused by name.
 */
#ifndef PMPP_RUNTIME_RECORD_H
#define PMPP_RUNTIME_RECORD_H

#include "backend/backend.h"
#include "base/wire.h"

#include <stdbool.h>
#include <stdint.h>

#define RECORD_VERSION 6u
#define RECORD_FD_VARIABLE "PMPP_RUNTIME_FD" /* the descriptor's number, in the environment */
#define RECORD_MAX_NAME 1024

/* X(ID, "name"): from us to the program, then from it */
#define RECORD_KINDS(X)     \
	X(CONFIG, "config")     \
	X(HELLO, "hello")       \
	X(MODULE, "module")     \
	X(KERNEL, "kernel")     \
	X(LAUNCH, "launch")     \
	X(COPY, "copy")         \
	X(SET, "set")           \
	X(EVENT, "event")       \
	X(HOST, "host")         \
	X(FINDING, "finding")   \
	X(PROBLEM, "problem")   \
	X(COUNTS, "counts")     \
	X(PROGRESS, "progress") \
	X(KEEPER, "keeper")     \
	X(AGAIN, "again")       \
	X(STOP, "stop")         \
	X(LOOK, "look")         \
	X(MEMORY, "memory")     \
	X(CONTENTS, "contents") \
	X(CODE, "code")         \
	X(SEEN, "seen")         \
	X(REFUSAL, "refusal")   \
	X(MEASURED, "measured") \
	X(END, "end")

enum record_kind {
	RECORD_NONE,
#define X(id, name) RECORD_##id,
	RECORD_KINDS(X)
#undef X
		RECORD_KIND_COUNT
};

/* What the explorer asks of the program's runtime, first of all. */
struct record_config {
	bool strict;           /* the first out-of-bounds access stops its launch */
	enum race_check races; /* in launches that are counted; USUAL = in a spread of their blocks */
	uint64_t max_blocks;   /* of a launch that is counted: a sample of so many; 0 = all */
	unsigned threads;      /* of the host; 0 = all cores */
	uint64_t count_first;  /* how many launches of one kernel, grid and block are counted in full */
	uint64_t count_from, count_to; /* and these, by number; 0, 0 = none */
	unsigned keep;                 /* so many of the counted launches can be run again; 0 = none */
	uint64_t stop_after;           /* end the program behind this launch; 0 = never */
	double launch_timeout_s;
	double deadline_s;    /* by clock_now_s(): the launch that runs then is to be ended; 0 = none */
	enum run_level level; /* what is counted */
};

struct record_module {
	unsigned id;
	uint64_t hash; /* of the PTX */
};

struct record_kernel {
	unsigned id, module;
	char name[RECORD_MAX_NAME];      /* mangled */
	char signature[RECORD_MAX_NAME]; /* demangled; "" = the program has no demangler */
	char file[512];                  /* of its source, from -lineinfo; "" = not known */
	unsigned registers, static_shared_bytes, local_bytes, max_threads; /* 0 = unknown, no bound */
	unsigned allocated_registers; /* on a GPU: that a thread is given, rounded up; 0 = unknown */
};

/* When, on the program's clocks: the host's call, and the work on the GPU. */
struct record_span {
	double call_ns, start_ns, end_ns;
};

enum record_counted {
	RECORD_COUNTED, /* its counts follow */
	RECORD_REPEATS, /* results only: the time is that of launch `like` */
	RECORD_FAILED,
};

/* A launch that takes long is under way. */
struct record_progress {
	uint64_t launch;
	unsigned kernel;
	double fraction; /* of its blocks */
};

struct record_launch {
	uint64_t number; /* 1, 2, ... over all launches of the program */
	unsigned kernel, stream;
	unsigned grid[3], block[3], dynamic_shared_bytes;
	bool cooperative;
	uint64_t parent; /* the launch whose kernel launched it; 0 = the host did */
	struct record_span span;
	enum record_counted counted;
	uint64_t like;
	uint64_t same_as;   /* proved to repeat that launch, and not run; 0 = it ran */
	uint64_t counts_as; /* proved to count what that launch counted; 0 = not proved */
	double wall_s;      /* what emulating it took */
	double share;       /* of the SMs that it filled, 0..1 */
	unsigned printed_bytes;
	struct run_races races;
	char level[64]; /* whose counts they are: "PTX", "sm_90 machine code, ptxas 13.0.88" */
	char note[256]; /* why not the machine code's, or how its results differ; "" = nothing to say */
};

/* The program's runtime asks for machine code of module @id that it can run. */
struct record_code_request {
	unsigned id, cc;   /* of the module; 90 for compute capability 9.0 */
	const void *cubin; /* NULL: there is only PTX */
	size_t cubin_bytes;
	const char *ptx; /* only without a cubin */
	size_t ptx_bytes;
};
/* The answer: a cubin and its disassembly, or why there is none. */
struct record_code {
	char why[256]; /* "" = here it is */
	const void *cubin;
	size_t cubin_bytes;
	const char *listing;
	size_t listing_bytes;
};

/* X(ID, "name") */
#define RECORD_DIRECTIONS(X) \
	X(H2D, "H2D")            \
	X(D2H, "D2H")            \
	X(D2D, "D2D")            \
	X(H2H, "H2H")

enum record_direction {
#define X(id, name) RECORD_##id,
	RECORD_DIRECTIONS(X)
#undef X
};

struct record_copy {
	uint64_t number;
	enum record_direction direction;
	unsigned stream;
	uint64_t bytes;
	bool pinned, async;
	bool set; /* a memset: no source */
	struct record_span span;
};

struct record_event {
	unsigned event, stream;
	bool wait; /* the stream waits for it; else it is recorded */
	double at_ns;
};

/* Bytes in the memory of a launch; @data: what they are to be, or were found to be. */
struct record_range {
	uint64_t address, bytes;
	const void *data;
};
#define RECORD_MAX_RANGES 64
/* From us to what keeps a launch: run it with this grid, block and dynamic shared memory, ... */
struct record_again {
	unsigned grid[3], block[3], shared_bytes;
	bool uncounted;
	bool before; /* what is wanted is given as the launch finds it, too, before it runs */
	unsigned n_set, n_wanted;
	struct record_range set[RECORD_MAX_RANGES];    /* ... from memory with these bytes, ... */
	struct record_range wanted[RECORD_MAX_RANGES]; /* ... and give these back; their data: NULL */
};
/* Memory that a kept launch finds, as what keeps it answers RECORD_LOOK: what its arguments point
 * to, variables of its module, all the rest. */
struct record_memory {
	int param;             /* the argument that points there; -1 = none does */
	unsigned param_offset; /* the pointer's place in it, in bytes */
	char variable[256];    /* "" = it is none */
	bool constant;
	uint64_t address, bytes; /* from there to its allocation's end */
	uint64_t serial;         /* of the allocation: 1, 2, ... in the order of their making */
};

/* Something that is wrong with the program. */
struct record_finding {
	uint64_t launch; /* 0 = none: of the host's calls */
	char kind[24];   /* "out-of-bounds", "leak", "double-free", "wrong-direction" ... */
	char text[1024], remedy[512];
	char file[512];
	unsigned line; /* 0 = unknown */
	uint64_t times;
	bool error; /* counts for the exit status; else a remark */
};

struct record_end {
	int status;        /* as given to exit(); -1 = it did not end by exit() */
	double host_ns;    /* the program's own time on its clock */
	double gpu_end_ns; /* everything was done */
	uint64_t launches, copies;
	uint64_t leaked_bytes, leaked_allocations;
};

/* What a real GPU did, and the calls behind it, as CUPTI tells it: many in a frame, in no order. */
enum record_seen_kind {
	RECORD_SEEN_BEGIN, /* the program's clock begins: start_ns */
	RECORD_SEEN_LAUNCH,
	RECORD_SEEN_COPY,
	RECORD_SEEN_SET,
	RECORD_SEEN_CALL,    /* of the runtime or the driver */
	RECORD_SEEN_CONTEXT, /* `stream` is its default stream */
	RECORD_SEEN_KINDS
};
struct record_seen {
	uint8_t kind;
	uint8_t direction;                /* enum record_direction */
	bool pinned, async;               /* of a copy */
	bool cooperative, by_kernel;      /* of a launch */
	bool fault, launches, runtime;    /* of a call: it told of a kernel's fault; it launches
	                                   * kernels; it is the runtime's, not the driver's */
	uint32_t result;                  /* of a call: 0 = it succeeded */
	uint32_t call;                    /* its number: 1, 2, ...; whose call this work is */
	uint32_t stream, context, device; /* as CUPTI numbers them */
	uint64_t start_ns, end_ns;        /* CUPTI's clock; 0 = not known */
	uint64_t bytes;                   /* of a copy or set */
	unsigned kernel, grid[3], block[3], dynamic_shared_bytes; /* of a launch */
};

/* What the library inside the program could not do; `fault` is a fault_id of the GPU back end. */
enum record_refused { RECORD_REFUSED_ALL, RECORD_REFUSED_COUNTERS, RECORD_REFUSED_SOME };
struct record_refusal {
	enum record_refused what;
	uint32_t fault;
	char detail[256];
};

/* Hardware counters of one launch: values of the catalogue, NAN with the reason (a fault_id). */
struct record_measured {
	uint32_t call;   /* of the launch */
	unsigned passes; /* replays that it took */
	double ns;       /* its time in the profiler's replay; NAN = not known */
	double metric[METRIC_COUNT];
	uint16_t why[METRIC_COUNT];
};

void record_put_config(struct wire_msg *m, const struct record_config *c,
                       const struct gpu_spec *gpu);
bool record_get_config(struct wire_msg *m, struct record_config *c, struct gpu_spec *gpu);
void record_put_module(struct wire_msg *m, const struct record_module *r, const char *ptx,
                       size_t n);
/* @ptx points into the message. */
bool record_get_module(struct wire_msg *m, struct record_module *r, const char **ptx, size_t *n);
/* Records that are one structure on the wire: name, type of the message, what makes a structure
 * that was read legal. Each has record_put_NAME() and record_get_NAME(), which is false for a
 * message that is no such record. */
#define RECORD_STRUCTS(X)                                       \
	X(kernel, RECORD_KERNEL, terminate_kernel)                  \
	X(launch, RECORD_LAUNCH, make_launch_legal)                 \
	X(copy, r->set ? RECORD_SET : RECORD_COPY, make_copy_legal) \
	X(progress, RECORD_PROGRESS, (void))                        \
	X(event, RECORD_EVENT, make_event_legal)                    \
	X(finding, RECORD_FINDING, make_finding_legal)              \
	X(memory, RECORD_MEMORY, make_memory_legal)                 \
	X(refusal, RECORD_REFUSAL, make_refusal_legal)              \
	X(measured, RECORD_MEASURED, (void))                        \
	X(end, RECORD_END, (void))
#define RECORD_DECLARE(name, type, legal)                                      \
	void record_put_##name(struct wire_msg *m, const struct record_##name *r); \
	bool record_get_##name(struct wire_msg *m, struct record_##name *r);
RECORD_STRUCTS(RECORD_DECLARE)
#undef RECORD_DECLARE
/* Launch @number is kept by whoever is at the other end of the descriptor that goes along. */
void record_put_keeper(struct wire_msg *m, uint64_t number);
bool record_get_keeper(struct wire_msg *m, uint64_t *number);
/* Pointers of what is read lie in the message. */
void record_put_again(struct wire_msg *m, const struct record_again *r);
bool record_get_again(struct wire_msg *m, struct record_again *r);
/* The bytes of @r are in the descriptor that goes along. */
void record_put_contents(struct wire_msg *m, const struct record_range *r);
bool record_get_contents(struct wire_msg *m, struct record_range *r);
/* Pointers of both lie in the message that is read. */
void record_put_code_request(struct wire_msg *m, const struct record_code_request *r);
bool record_get_code_request(struct wire_msg *m, struct record_code_request *r);
void record_put_code(struct wire_msg *m, const struct record_code *r);
bool record_get_code(struct wire_msg *m, struct record_code *r);
/* @s of what is read is the caller's: free(). */
void record_put_seen(struct wire_msg *m, const struct record_seen *s, size_t n);
bool record_get_seen(struct wire_msg *m, struct record_seen **s, size_t *n);
/* What was counted in launch @number. On reading @c is the caller's: run_counts_free(). */
void record_put_counts(struct wire_msg *m, uint64_t number, const struct run_counts *c);
bool record_get_counts(struct wire_msg *m, uint64_t *number, struct run_counts *c);

#endif
