/*
 * Records between two processes of this program, by their tables: the fields that a snapshot keeps,
 * in the table's order, bounds-checked on reading. Names of fields do not travel: both ends have
 * the same tables.
 */
#ifndef PMPP_MODEL_RECORD_WIRE_H
#define PMPP_MODEL_RECORD_WIRE_H

#include "base/wire.h"
#include "model/record_fields.h"

/* @t has no CODED or POINTER field. */
void record_put(struct wire_msg *m, const struct record_table *t, const void *x);
/* Into @x, which is zeroed. False: the message is bad; @x then owns what its lists have. */
bool record_get(struct wire_msg *m, const struct record_table *t, void *x);

#endif
