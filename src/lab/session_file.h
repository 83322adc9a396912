/*
 * Sessions in files: snapshots to and from disk, and a session made of one record.
 *
 * Above model and registry; draws nothing, runs nothing.
 */
#ifndef PMPP_LAB_SESSION_FILE_H
#define PMPP_LAB_SESSION_FILE_H

#include "base/err.h"
#include "model/session.h"

#include <jansson.h>
#include <stdatomic.h>

/* Writes @s atomically: at any moment the old file or the new one is there. */
bool session_save(const struct session *s, const char *path, struct err *err);
/* The snapshot of @s, with who writes it and when; one that was only read stays its writer's.
 * Caller frees; NULL: it cannot be a document. */
char *session_document(const struct session *s);
/* "from a file, written by alice@laptop at 2026-11-22T20:41:07Z with ...; its digest holds" */
void session_provenance(const struct session_written *w, char *out, size_t n);
#define SESSION_NOTE_BYTES 1200
/* That and the signature in words, of the snapshot @doc, read from @text of @path, for who opens
 * no session of it. False: the signature does not hold. */
bool session_vouch(const char *path, const char *text, size_t len, json_t *doc, char *note,
                   size_t n, struct err *err);
/* Opens a snapshot: a file, or the path of a recording that is built in
 * ("presets/GPU/sgemm.json"). @note: where it is from, its signature, and what else there is to
 * know; a signature that does not hold is an error. The session's records are the caller's:
 * session_drop(). */
bool session_open(const char *path, struct session *s, char *note, size_t n, struct err *err);
/* The same for a reader who may have enough of it: see file_read_while(). */
bool session_open_while(const char *path, const atomic_bool *cancel, atomic_uint *read,
                        struct session *s, char *note, size_t n, struct err *err);
/* The same from its text; @origin is what messages call it. */
bool session_parse(const char *text, size_t len, const char *origin, struct session *s, char *note,
                   size_t n, struct err *err);
/* A session that shows @r, which it does not own. */
void session_of_record(struct run_record *r, const char *view, struct session *s);
void session_drop(struct session *s);
/* "sgemm-tiled-a100-20261120-201530.json": for `export` without a name. @now from time(). */
void session_file_name(const struct session *s, long long now, char *out, size_t n);

#endif
