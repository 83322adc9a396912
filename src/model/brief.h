/*
 * Runs in brief: what was run, on what, and every metric that came out; no tables, no spans.
 *
 * A session remembers its runs so, and a run that was recorded on another machine stands beside
 * ours so (the reference run). Plain data; reads no file. See snapshot.h for both in a document.
 */
#ifndef PMPP_MODEL_BRIEF_H
#define PMPP_MODEL_BRIEF_H

#include "model/session.h"

/* A session remembers at most so many runs; the oldest go first. */
#define HISTORY_MAX 64

struct run_brief {
	struct selection
		sel; /* of the GPU sheet only id, name and live hold in a brief that was read */
	enum verify_state verify;
	bool machine_code; /* the emulator counted that, not PTX */
	char source[17];   /* hash of what a GPU runs of the source: source_hash() */
	struct metric_set metrics;
};

/* "af63bd4c8601b7df", of the device half: descriptors may change without making recordings old.
 * @source NULL counts as "". */
void source_hash(const char *source, char out[17]);
/* @source: text of the kernel's file. */
void brief_of(const struct run_record *r, const char *source, struct run_brief *out);
/* The same launch: kernel, variant and every parameter that the variant uses; whatever the GPU,
 * back end and seed. */
bool brief_same_launch(const struct run_brief *b, const struct selection *sel);
/* Adds @r to the session's runs; a run of the same selection is replaced and moves to the end.
 * Families made at run time are not remembered: their descriptors do not last. */
void session_remember(struct session *s, const struct run_record *r, const char *source);
/* Pins `now`: from here on figures are held against it. Unpins where it is the pinned run. */
void session_pin(struct session *s);
/* The recorded run that stands beside `now`, unless it is hidden; NULL = none. */
const struct run_brief *session_reference_run(const struct session *s);
/* Frees the history, the pinned run and the reference run. */
void session_forget(struct session *s);

#endif
