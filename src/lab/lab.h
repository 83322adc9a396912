/*
 * The session and the worker thread: selection in, run records out.
 *
 * The caller's thread owns the session and calls the functions below; one worker thread compiles
 * and runs. A change of selection makes occupancy at once (from cached register counts), cancels
 * a run that is no longer wanted, and starts the next. Nothing here draws or parses arguments.
 */
#ifndef PMPP_LAB_LAB_H
#define PMPP_LAB_LAB_H

#include "base/err.h"
#include "backend/backend.h"
#include "model/session.h"

struct lab;

/* What the lab knows of a panel. */
struct lab_panel {
	const char *name; /* lasts as long as the program */
	unsigned needs;   /* bits of enum panel_needs: what is run while it has the focus */
};
/* The panel called @name; "" or NULL = the first one. False: there is none. */
typedef bool lab_panels(const char *name, struct lab_panel *out);

/* @gpu and @backend as typed ("a100", "auto"); auto = cuda when it has a device, else emu: the
 * worker finds out, so that this returns at once. @gpu NULL = the live device's sheet if cuda is
 * used, else LAB_DEFAULT_GPU. @panels NULL = there are none. The first kernel of the registry is
 * selected; nothing runs before lab_start(). */
bool lab_new(struct lab **out, const char *gpu, const char *backend, lab_panels *panels,
             struct err *err);
/* NULL is fine. False: the worker could not be stopped in time, and what it uses is left as it is:
 * the process must end by _Exit(), without destructors under a running thread. */
bool lab_free(struct lab *lab);
struct session *lab_session(struct lab *lab);

/* A whole program instead of kernels: called once, before lab_start(), which builds and runs it.
 * The session's `program` then holds its runs, and each launch is a selection. @live: the sheet of
 * this machine's GPU, on which it is measured; NULL: it is emulated. @newer: nobody asked for the
 * session's GPU, and one that it is too old for is built and run for a newer one. */
struct program_words; /* lab/program_words.h */
struct record_config; /* runtime/record.h */
bool lab_program(struct lab *lab, const struct program_words *words,
                 const struct record_config *config, const struct gpu_spec *live, bool newer,
                 struct err *err);
/* Shows launch @number in all panels. Nothing happens without a program or such a launch. */
void lab_launch(struct lab *lab, uint64_t number);

/* Selection. Refused values stay in the selection with session.plan_err set. */
void lab_select(struct lab *lab, const struct kernel_desc *k, unsigned variant);
void lab_param(struct lab *lab, unsigned param, int64_t value);
void lab_gpu(struct lab *lab, const struct gpu_spec *g);
void lab_backend(struct lab *lab, const char *name);
void lab_seed(struct lab *lab, uint64_t seed);
/* All of it at once, as it was before. */
void lab_selection(struct lab *lab, const struct selection *sel);

/* Interactive use: start, stop, collect. lab_wake_fd() is readable when lab_poll() has news. */
void lab_start(struct lab *lab);
/* The same by a key: a person's own file is read again first, and its values stay by name. */
void lab_rerun(struct lab *lab);
void lab_cancel(struct lab *lab);
/* The person looks at another panel: what it needs is run while it has the focus. */
void lab_focus(struct lab *lab);
bool lab_poll(struct lab *lab);
int lab_wake_fd(struct lab *lab);

/* Presets: choose one (name or path), step by +1 or -1, show a mystery's answer. ERR_USAGE when
 * there is nowhere to go; the session is then as it was. */
bool lab_tour(struct lab *lab, const char *preset, struct err *err);
bool lab_tour_step(struct lab *lab, int direction, struct err *err);
bool lab_tour_reveal(struct lab *lab, struct err *err);

/* Files: read and written on threads of their own; lab_poll() takes what came of it. */
/* Writes the session to a file in the working folder; @name tells which. What came of it:
 * lab_said(). */
bool lab_export(struct lab *lab, char *name, size_t n, struct err *err);
/* The same for any text, which is the lab's from then on; @said: what lab_said() tells when it is
 * written. False: another file is still being written. */
bool lab_write(struct lab *lab, const char *path, char *text, const char *said, struct err *err);
/* What came of the file that was written; once. False: nothing new. @bad: it is not there. */
bool lab_said(struct lab *lab, char *out, size_t n, bool *bad);
/* Waits for a file that is being written. False: it is not there, and nobody was told yet. */
bool lab_written(struct lab *lab, struct err *err);
/* Reads a snapshot and then shows it; nothing runs until the person changes something. Until then
 * session.opening names it, lab_cancel() ends it, and a failure is the session's run_err. */
void lab_open(struct lab *lab, const char *path);
/* Waits at most @patience_s for it. False: it is still being read. @err: why it is not shown, or
 * ERR_NONE. */
bool lab_opened(struct lab *lab, double patience_s, struct err *err);
/* Where the snapshot is from, and what else is to be said of it; "" = none was opened. */
const char *lab_note(struct lab *lab);
/* Its reading is no longer wanted. */
void lab_open_cancel(struct lab *lab);

#endif
