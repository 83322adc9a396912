/* What reading a snapshot needs to know beside the document; private to the files that do. */
#ifndef PMPP_MODEL_SNAPSHOT_READER_H
#define PMPP_MODEL_SNAPSHOT_READER_H

#include "model/record_tables.h"
#include "model/snapshot.h"

/* The context of a struct reader. */
struct snapshot_reading {
	const struct snapshot_names *names;
	char *note; /* what the person should know of it; "" = nothing */
	size_t note_size;
};

/* The digest of a document that has none yet. */
void snapshot_digest(const json_t *doc, char out[72]);

/* How names become descriptors, here. */
static inline const struct snapshot_names *names_of(const struct reader *r)
{
	return ((const struct snapshot_reading *)r->context)->names;
}

/* What follows from a struct run_record that was read: plan, cost, occupancy. */
bool snapshot_derive(struct reader *r, json_t *o, void *record);

#endif
