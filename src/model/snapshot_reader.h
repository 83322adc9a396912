/*
 * Parts of reading a snapshot, private to snapshot_*.c: each reads a member of @from, or @o itself,
 * into a struct. False with an error that names the place.
 */
#ifndef PMPP_MODEL_SNAPSHOT_READER_H
#define PMPP_MODEL_SNAPSHOT_READER_H

#include "model/json_reader.h"
#include "model/snapshot.h"
#include "model/snapshot_fields.h"

/* How names become descriptors, here. */
static inline const struct snapshot_names *names_of(const struct reader *r)
{
	return r->context;
}

/* What write_launch() wrote into @o. */
bool snapshot_launch(struct reader *r, json_t *o, struct selection *sel);
bool snapshot_selection(struct reader *r, json_t *from, struct selection *sel);
bool snapshot_metrics(struct reader *r, json_t *from, struct metric_set *m);
int snapshot_origin(struct reader *r, json_t *o);

bool snapshot_perf(struct reader *r, json_t *from, struct perf_result *x);
bool snapshot_occ_in(struct reader *r, json_t *from, struct occ_input *x);
bool snapshot_record(struct reader *r, json_t *doc, const char *key, struct run_record **out);

/* The field macros of snapshot_fields.h, reading into *x from o. */
#define INTO(field) (__typeof__(x->field))whole
#define GET_D(field) ok = ok && reader_number(r, o, #field, &x->field);
#define GET_B(field) ok = ok && reader_bool(r, o, #field, &x->field);
#define GET_T(field) ok = ok && reader_chars(r, o, #field, x->field, sizeof x->field);
#define GET_U(field)                                                                  \
	if ((ok = ok && reader_whole(r, o, #field, 0, (__typeof__(x->field))-1, &whole))) \
		x->field = INTO(field);
#define GET_L(field)                                                   \
	if ((ok = ok && reader_whole(r, o, #field, 0, INT64_MAX, &whole))) \
		x->field = INTO(field);
#define GET_I(field)                                              \
	if ((ok = ok && reader_whole(r, o, #field, -1, 127, &whole))) \
		x->field = INTO(field);
#define GET(kind, field) GET_##kind(field)

#endif
