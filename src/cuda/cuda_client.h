/*
 * The program's end of the GPU worker: started when needed, killed when dead, hung or unwanted.
 *
 * No CUDA library is loaded on this side. One client serves one thread at a time.
 */
#ifndef PMPP_CUDA_CUDA_CLIENT_H
#define PMPP_CUDA_CUDA_CLIENT_H

#include "cuda/cuda_msg.h"
#include "base/child.h"

struct cuda_client {
	struct child child;
	char step[160];   /* the last it said it was doing */
	unsigned started; /* how many workers there were */
	int device;       /* the one it made a context on; -1 = none yet */
};

#define CUDA_CLIENT_INIT { .child = CHILD_INIT, .device = -1 }

struct client_wait {
	double quiet_s;            /* the watchdog: this long without a word; 0 = 60 */
	const atomic_bool *cancel; /* NULL = cannot be cancelled */
	void (*progress)(void *ctx, double fraction);
	void *ctx;
	const char *what; /* "kernel sgemm_v2" for messages */
};

/*
 * Sends @request (a descriptor @pass_fd may go with it) and waits for an answer of type @want,
 * which the caller frees. On false the worker may be gone: the next call starts another. A refusal
 * is put into @fault (may be NULL) as well as @err.
 */
bool client_call(struct cuda_client *c, const struct wire_msg *request, int pass_fd,
                 enum cuda_msg want, const struct client_wait *wait, struct wire_msg *answer,
                 struct cuda_fault *fault, struct err *err);
/* Ends the worker at once, whatever it is doing. */
void client_stop(struct cuda_client *c);

#endif
