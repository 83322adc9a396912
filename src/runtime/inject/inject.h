/*
 * The library that NVIDIA's driver loads into a person's program on a real GPU, because
 * CUDA_INJECTION64_PATH names it: CUPTI tells it what the GPU does, and it tells the explorer.
 *
 * Private to runtime/inject/. The program is not to notice: nothing here prints, changes its
 * descriptors or ends it; where something fails, the program goes on and the explorer is told why.
 */
#ifndef PMPP_RUNTIME_INJECT_H
#define PMPP_RUNTIME_INJECT_H

#include "cuda/cuda_dl.h"
#include "runtime/record.h"

/* What the process has one of. */
extern struct inject {
	struct cupti_fns cupti;
	struct record_config config;
	struct gpu_spec gpu;
} inject;

/* inject_send.c: the program's end of the records. */
/* Takes the explorer's descriptor for this process. False: there is none, or another process of
 * the program has it. */
bool send_open(struct record_config *config, struct gpu_spec *gpu);
/* Sends @m and frees it. Any thread. */
void send_frame(struct wire_msg *m);
/* What cannot be told, and why. */
void send_refusal(enum record_refused what, const struct cuda_fault *why);
void send_seen(const struct record_seen *s, size_t n);
/* Is this the process that opened, and the explorer still there? */
bool send_is_open(void);

/* inject_kernel.c: number of a kernel; the explorer is told of it when it is new. */
struct kernel_facts {
	const char *name;   /* mangled */
	unsigned registers; /* that the code uses; 0 = not known, but for those it is given: */
	unsigned allocated, static_shared, local, max_threads;
};
unsigned kernel_number(const struct kernel_facts *k);

/* inject_activity.c: what the GPU did, by CUPTI's activity records. */
bool activity_start(struct cuda_fault *why);
/* Brings what CUPTI holds to the explorer, unless counters are read; @all: with what the GPU has
 * not finished. */
void activity_flush(bool all);
/* Whether anything is recorded; off while counters are read. */
void activity_record(bool on);

/* inject_count.c: counters of the launches that the configuration names. False: @why none can be
 * read. */
bool count_start(struct cuda_fault *why);
void count_end(void);

/* inject_thread.c: flushes now and then, on a thread of its own; calls @tell there before a signal
 * ends the program. */
void thread_start(void (*tell)(void));

#endif
