/*
 * One thread that builds and runs a person's program as it was last asked for, and what came of
 * it. A new order takes the place of what is under way. Private to src/lab/.
 */
#ifndef PMPP_LAB_PROGRAM_WORKER_H
#define PMPP_LAB_PROGRAM_WORKER_H

#include "launch_data.h"
#include "program_words.h"

struct program_worker;

struct program_order {
	const struct gpu_spec *gpu;
	bool newer;    /* a newer one may take its place */
	bool measured; /* on it, as this machine has it; else emulated */
	struct record_config config;
	/* instead of a run: this launch once more, alone; it was kept by @of, which stays until the
	 * order is done */
	struct program *of;
	uint64_t launch;
	struct launch_shape shape;
	/* its memory is looked at, and nothing counted; the text of its kernel's file, which lasts;
	 * NULL = it is not */
	const char *looked_at;
	/* the machine code of its kernel is listed, and nothing run; and that of launch
	 * @launch_before of @before, which stays likewise; NULL = of none */
	bool listed;
	const struct program *before;
	uint64_t launch_before;
};
struct program_progress {
	bool built;
	uint64_t launches, copies;
	char *output; /* the end of what it wrote; the taker's; NULL = nothing new */
};
struct program_news {
	struct program *program; /* the taker's; NULL = nothing ran */
	bool whole;              /* it was watched to its end */
	bool cancelled;
	bool again;      /* one launch run once more: `program` holds nothing else */
	bool looked;     /* one launch was looked at; there is no program */
	uint64_t launch; /* again, looked: which one */
	struct launch_shape shape;
	struct buffer_looks *data;               /* the taker's; NULL = it was cancelled */
	bool listed;                             /* there is no program, but machine code: */
	struct code_listing *code, *code_before; /* the taker's; NULL = it was cancelled, or of none */
	struct err err;                          /* not whole: why */
};

/* @words are copied. @tell is called on the worker's thread when there is progress or news. NULL:
 * no thread to be had. */
struct program_worker *program_worker_new(const struct program_words *words,
                                          void (*tell)(void *ctx), void *ctx);
/* Ends what runs, the program's process too, and the thread. NULL is fine. */
void program_worker_free(struct program_worker *w);
/* What the next order builds and runs; @words are copied. */
void program_worker_words(struct program_worker *w, const struct program_words *words);
void program_worker_post(struct program_worker *w, const struct program_order *order);
void program_worker_cancel(struct program_worker *w);
/* What came of the newest order; false: nothing yet. Outcomes of replaced orders are dropped. */
bool program_worker_next(struct program_worker *w, struct program_news *out);
bool program_worker_progress(struct program_worker *w, struct program_progress *out);

#endif
