/*
 * The session and the worker thread: selection in, run records out.
 *
 * The caller's thread owns the session and calls the functions below; one worker thread compiles
 * and runs. A change of selection makes occupancy at once (from cached register counts), cancels
 * a run that is no longer wanted, and starts the next. Nothing here draws or parses arguments.
 */
#ifndef PMPP_APP_H
#define PMPP_APP_H

#include "base/err.h"
#include "model/session.h"
#include "registry.h"

struct app;

/* @gpu and @backend as typed ("a100", "auto"); auto = cuda when it has a device, else emu. */
bool app_new(struct app **out, const char *gpu, const char *backend, struct err *err);
void app_free(struct app *a);
struct session *app_session(struct app *a);

/* Selection. Refused values stay in the selection with session.plan_err set. */
void app_select(struct app *a, const struct kernel_desc *k, unsigned variant);
void app_param(struct app *a, unsigned param, int64_t value);
void app_gpu(struct app *a, const struct gpu_spec *g);
void app_backend(struct app *a, const char *name);

/* Interactive use: start, stop, collect. app_wake_fd() is readable when app_poll() has news. */
void app_start(struct app *a);
void app_cancel(struct app *a);
bool app_poll(struct app *a);
int app_wake_fd(struct app *a);

/* Batch use, on the calling thread: compile, plan, run, verify, derive every metric. The record is
 * the caller's (record_free). False: nothing ran; @err says why. A wrong result is a record. */
bool app_run(const struct selection *sel, const struct run_hooks *hooks, struct run_record **out,
             struct err *err);

#endif
