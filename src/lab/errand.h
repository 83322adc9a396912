/*
 * Slow work that is not the worker's: a file read or written while whatever runs goes on.
 *
 * Each errand has a thread that carries it out and one that watches it, so that a disk that does
 * not answer holds up nobody: past its limit, or cancelled and deaf to it, an errand is left to
 * itself. Private to src/lab/. Knows no session, no screen and no file.
 */
#ifndef PMPP_LAB_ERRAND_H
#define PMPP_LAB_ERRAND_H

#include <stdatomic.h>
#include <stdbool.h>

struct errand;

struct errand_order {
	/* Polls @cancel where it can; says in @part how far it is, 0 to 1000. */
	void (*work)(void *ctx, const atomic_bool *cancel, atomic_uint *part);
	void (*drop)(void *ctx); /* frees @ctx, whatever came of it */
	void *ctx;
	double limit_s;
	/* Called when the errand has ended or moved, from a thread of its own. */
	void (*tell)(void *told);
	void *told;
};

enum errand_end {
	ERRAND_UNDER_WAY,
	ERRAND_DONE,
	ERRAND_CANCELLED, /* it did not end by itself soon after errand_cancel() */
	ERRAND_LATE,      /* it passed its limit, and was given up */
};

/* Never fails: where no thread is to be had, the work is done before it returns. */
struct errand *errand_begin(const struct errand_order *order);
enum errand_end errand_state(struct errand *e);
double errand_part(const struct errand *e); /* 0..1 */
void errand_cancel(struct errand *e);
/* Waits for its end. Returns its ctx, the caller's now, if it is ERRAND_DONE; else NULL: what works
 * on it drops it, if ever it ends. */
void *errand_close(struct errand *e);
/* Errands that were given up and still work: the process must end by _Exit(). */
bool errands_left(void);

#endif
