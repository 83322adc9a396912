/*
 * Parts of reading a snapshot, private to snapshot_*.c: each reads a member of @from, or @o itself,
 * into a struct. False with an error that names the place.
 */
#ifndef PMPP_MODEL_SNAPSHOT_READER_H
#define PMPP_MODEL_SNAPSHOT_READER_H

#include "model/record_tables.h"
#include "model/snapshot.h"

/* How names become descriptors, here. */
static inline const struct snapshot_names *names_of(const struct reader *r)
{
	return r->context;
}

/* What write_launch() wrote into @o. */
bool snapshot_launch(struct reader *r, json_t *o, struct selection *sel);
bool snapshot_selection(struct reader *r, json_t *from, struct selection *sel);
bool snapshot_metrics(struct reader *r, json_t *from, struct metric_set *m);
bool snapshot_record(struct reader *r, json_t *doc, const char *key, struct run_record **out);

#endif
