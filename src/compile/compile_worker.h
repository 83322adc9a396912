/*
 * NVRTC in a process of its own: it dies of some valid programs (NVRTC 13.0, SIGILL), and with it
 * whatever it runs in.
 *
 * Only a program that knows COMPILE_WORKER_OPTION may use it; others compile in their own process.
 * Started by the first compilation that no cache serves, and kept for the next.
 */
#ifndef PMPP_COMPILE_COMPILE_WORKER_H
#define PMPP_COMPILE_COMPILE_WORKER_H

#include "compile/rtc.h"

#include <stdatomic.h>

#define COMPILE_WORKER_OPTION "--compile-worker"

/* Compilations go to the worker from now on; one is ended after @limit_s. Call once, from main().
 */
void compile_use_worker(double limit_s);
bool compile_worker_used(void);
/* rtc_compile() there. ERR_COMPILE: NVRTC died; the message says how, and where source and options
 * are kept. ERR_TIMEOUT, ERR_CANCELLED: the worker was ended; the next call starts another. */
bool compile_in_worker(const char *file, const char *source, const char *const *options,
                       int n_options, const atomic_bool *cancel, struct rtc_output *out,
                       struct err *err);
/* The worker's main(): the exit status. */
int compile_worker_main(int fd);

#endif
