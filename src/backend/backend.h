/*
 * The one seam between "what to run" and "where": cuda, emu, replay.
 *
 * A back end executes one launch of a compiled module on given buffers and reports what it saw.
 * It does not know kernels, verification, views or sessions.
 */
#ifndef PMPP_BACKEND_BACKEND_H
#define PMPP_BACKEND_BACKEND_H

#include "base/err.h"
#include "base/shared_memory.h"
#include "base/text.h"
#include "compile/compile.h"
#include "model/gpu.h"
#include "model/kernel.h"
#include "model/run_result.h"
#include "model/stream_plan.h"

#include <stdatomic.h>

enum backend_cap {
	CAP_TIME = 1,
	CAP_STATIC = 2,
	CAP_COUNTERS = 4,
	CAP_TIMELINE = 8,
	CAP_PER_LINE = 16
};

/* What `doctor` and the device page show: each capability fails alone, with its reason. */
struct backend_info {
	unsigned caps;  /* enum backend_cap bits that work here */
	char title[96]; /* "PTX emulator, 2 threads, AVX-512" */
	struct {
		char reason[256], remedy[512];
	} missing[RUN_CAPS];        /* by bit number; "" = works */
	unsigned n_devices, chosen; /* one of them runs */
	char device[8][64];
};

struct run_buffer {
	void *data; /* in: contents before; out: contents after the run */
	size_t bytes;
	const void
		*before;       /* the contents before once more, for a second try; NULL: @data keeps them */
	uint64_t contents; /* of an input: equal names, equal bytes; 0 = not known */
	bool patterned; /* every 32-bit word of it is @pattern before the run, whatever @data holds */
	uint32_t pattern;
};

/* What the emulator counts: PTX, or after it the machine code that the assembler made of it, as a
 * card counts. AUTO: machine code where the emulator knows all of it. */
enum run_level { RUN_LEVEL_PTX, RUN_LEVEL_SASS, RUN_LEVEL_AUTO };

/* Where the emulator looks for races: nowhere, in a spread of the blocks, or in every block, which
 * is much slower. USUAL: what whoever asks makes of it; to a back end, nowhere. */
enum race_check { RACES_USUAL, RACES_OFF, RACES_SPREAD, RACES_ALL };

struct run_request {
	const struct module *module;
	const struct launch_plan *plan;
	struct run_buffer buffers[KERNEL_MAX_BUFFERS]; /* n = plan->n_buffers; written in place */
	const struct shared_memory *memory;            /* they all lie in it; NULL = elsewhere */
	const char *source_file;                       /* "sgemm.cu" for messages */
	unsigned caps;                                 /* what is wanted; 0 = all */
	uint64_t max_blocks;         /* emu: run a spread sample of at most this many; 0 = all */
	double timeout_s;            /* watchdog; 0 = the back end's default (60 s) */
	unsigned threads;            /* emu: 0 = all cores */
	enum run_level level;        /* emu */
	enum race_check check_races; /* emu */
	/* cuda only */
	unsigned repeat; /* timed launches; 0 = as many as fit a tenth of a second, 3..50 */
	bool warm_l2;    /* time with L2 as the last launch left it; default: flushed */
	bool stalls;     /* counters: also why warps waited (2-3 passes more) */
	/* timeline: the program to run around the kernel, and the launches it means (STREAM_LAUNCHES of
	 * them). NULL = inputs up, kernel, outputs down in one stream. Span correlation - 1 is the op
	 */
	const struct stream_program *program;
	const struct launch_plan *launches;
};

struct run_hooks {
	/* Called from the running thread, at most some 30 times a second; fraction is 0..1. */
	void (*progress)(void *ctx, double fraction);
	void *ctx;
	const atomic_bool *cancel; /* polled; NULL = cannot be cancelled */
};

/* A library's time for the same work, as a line above a ladder. */
struct library_line {
	char name[32], about[96];
	bool comparable; /* the same precision as our kernels */
	struct run_timing timing;
};

/* What a back end would refuse of a kernel. */
struct examine_finding {
	const char *kernel;
	const char *what, *why, *remedy; /* instruction, reason, "" = nothing to do; NULL: a kernel */
	unsigned line, ptx_line;         /* begins, of which refusals may follow. Lines: 0 = unknown */
};

struct backend; /* opaque, per implementation */

struct backend_ops {
	const char *name;
	bool wants_shared_memory; /* buffers there spare it a copy */
	bool (*probe)(struct backend_info *info, struct err *err);
	/* @gpu must outlive the back end, as an interned sheet does. */
	bool (*open)(struct backend **be, const struct gpu_spec *gpu, struct err *err);
	bool (*run)(struct backend *be, const struct run_request *req, const struct run_hooks *hooks,
	            struct run_result *res, struct err *err);
	/* Gives back what is kept only to make the next run quicker. NULL = nothing is. */
	void (*rest)(struct backend *be);
	void (*close)(struct backend *be);
	/* Tells every kernel of @code, PTX or a cubin, called @name in messages, and all that would be
	 * refused of it. False: it cannot be read. NULL = it refuses nothing by itself. */
	bool (*examine)(const struct text *code, const char *name,
	                void (*tell)(void *ctx, const struct examine_finding *r), void *ctx,
	                struct err *err);
	/* The sheet of the device it runs on; may take as long as probe(). NULL = any sheet will do. */
	bool (*sheet)(const struct gpu_spec **out, struct err *err);
	/* Does @gpu name a device of its own ("cuda1")? From now on that one is meant. To be called
	 * before the first probe(). NULL = it has none. */
	bool (*choose)(const char *gpu);
	/* The vendor library's times for an m x k by k x n product, the comparable one first: that of
	 * tensor cores where ours have @inputs for them. Returns how many of @max were measured; 0 with
	 * the reason. NULL = no library here. */
	unsigned (*library)(unsigned m, unsigned n, unsigned k, enum tensor_input inputs,
	                    const atomic_bool *cancel, struct library_line *out, unsigned max,
	                    struct err *err);
};

extern const struct backend_ops backend_emu;
extern const struct backend_ops backend_cuda;

#endif
