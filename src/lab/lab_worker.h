/*
 * One thread that compiles and runs what it was last asked for, and a mailbox of what came of it.
 *
 * Orders replace one another: only the newest is worth running, and a running one that is no
 * longer wanted is cancelled. Private to src/lab/. Knows no session and no screen.
 */
#ifndef PMPP_LAB_LAB_WORKER_H
#define PMPP_LAB_LAB_WORKER_H

#include "order.h"
#include "run_steps.h"

struct lab_worker;

enum news_kind {
	NEWS_BACKEND, /* what was wanted is decided: sel.gpu and sel.backend */
	NEWS_USAGE,   /* the compiler's facts are in the usage table */
	NEWS_RECORD,  /* a record; more follow for this order unless `final` */
	NEWS_FAILED,  /* err */
	NEWS_CODE,    /* the machine code of the order's last record */
	NEWS_LIBRARY, /* the library's line, if there is one */
	NEWS_CANCELLED,
};

struct news {
	enum news_kind kind;
	enum order_kind order;       /* of what kind the order was, */
	uint64_t serial;             /* and which one */
	struct selection sel;        /* NEWS_BACKEND */
	struct run_record *record;   /* NEWS_RECORD; the taker's */
	struct code_listing *code;   /* NEWS_CODE; the taker's */
	bool final;                  /* nothing more comes of this order */
	struct library_line library; /* NEWS_LIBRARY; no name = none */
	struct err err;
};

/* @usage is shared and outlives the worker. False: no thread or pipe to be had. */
bool lab_worker_new(struct lab_worker **out, struct usage_table *usage, struct err *err);
/* Cancels what runs, waits for the thread, drops what nobody took. NULL is fine. False: the thread
 * is deep in something that cannot be interrupted (a compiler, gigabytes to fill); it and all it
 * uses are left to the end of the process, which must come by _Exit(). */
bool lab_worker_free(struct lab_worker *w);
void lab_worker_post(struct lab_worker *w, const struct work_order *order);
/* Stops what runs and forgets what waits; NEWS_CANCELLED follows if there was anything. */
void lab_worker_cancel(struct lab_worker *w);
/* The oldest news, or false. The caller frees news.record. */
bool lab_worker_next(struct lab_worker *w, struct news *out);
/* 0..1 of the current order, of which a sample of the blocks is the first part. */
#define SAMPLE_SHARE 0.1
double lab_worker_progress(struct lab_worker *w);
/* Readable when lab_worker_next() has news or lab_worker_progress() moved, until
 * lab_worker_drain(). */
int lab_worker_fd(struct lab_worker *w);
void lab_worker_drain(struct lab_worker *w);
/* Makes the descriptor readable: there is other news. From any thread. */
void lab_worker_wake(struct lab_worker *w);

#endif
