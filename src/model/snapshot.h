/*
 * Snapshots: a session as one JSON document, and back.
 *
 * Everything a panel needs is in the document, or follows from it by pure functions (plan, cost,
 * occupancy): a snapshot taken on a GPU machine opens on a laptop and draws the same panels.
 * Unknown keys are ignored; a document of a newer version is refused by name. Every error names
 * the place: "s.json: now.counts.total.ld_sectors: a number is needed". See snapshot.schema.json.
 */
#ifndef PMPP_MODEL_SNAPSHOT_H
#define PMPP_MODEL_SNAPSHOT_H

#include "base/err.h"
#include "model/session.h"

#include <jansson.h>
#include <stddef.h>

#define SNAPSHOT_SCHEMA "pmpp-explore/snapshot"
#define SNAPSHOT_VERSION 1
#define SNAPSHOT_MAX_BYTES (64u * 1024u * 1024u)

/* The document as text, ending in a newline. Caller frees. NULL: it cannot be one. */
char *snapshot_write(const struct session *s, const char *tool_version);

/* How names become descriptors: the registry, or a test's own. */
struct snapshot_names {
	const struct kernel_desc *(*kernel)(const char *name);
	const char *(*source)(const struct kernel_desc *k);
	/* The family of a person's own file, which the snapshot carries; NULL = there are none. */
	const struct kernel_desc *(*restore_user)(const char *file, const char *source,
	                                          unsigned n_words, const char *const *words,
	                                          struct err *err);
};

/*
 * Fills @s with a whole session (state RUN_DONE or RUN_NONE); its records are the caller's. A tour
 * comes without its preset: tour.name says which to load. The
 * kernel's source is the snapshot's own when it differs from this build's; @note then says so
 * ("" = same). Lasting texts are interned.
 */
bool snapshot_read(const char *text, size_t len, const char *origin,
                   const struct snapshot_names *names, struct session *s, char *note, size_t n,
                   struct err *err);

/* Who says to have written @doc, when and with what, and whether its digest is of something else;
 * takes the digest out of it. */
void snapshot_written(json_t *doc, struct session_written *w);

#endif
