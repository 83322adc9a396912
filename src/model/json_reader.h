/*
 * Reading a JSON document with checks: every value has its type and range, and every error names
 * its place: "s.json: now.counts.total.ld_sectors: a number is needed".
 */
#ifndef PMPP_MODEL_JSON_READER_H
#define PMPP_MODEL_JSON_READER_H

#include "base/err.h"

#include <jansson.h>
#include <stdint.h>

#define READER_MOST_VALUES ((size_t)1 << 20) /* of a snapshot; ours have some ten thousand */

struct reader {
	const char *origin; /* the file's name, for messages */
	char path[256];
	size_t depth; /* length of path */
	struct err *err;
	const void *context; /* the caller's */
};

/* False, with "origin: path.key: what". */
bool reader_complain(struct reader *r, const char *key, const char *what);
/*
 * The document in @text, or NULL with an error at its line and column. More than @most values are
 * refused before any of them takes memory: that is up to a hundred times what it takes in a file.
 */
json_t *reader_parse(const char *text, size_t len, const char *origin, size_t flags, size_t most,
                     struct err *err);

/* Goes into @key of @o, which must be of @type; the path grows until reader_leave(). */
json_t *reader_enter(struct reader *r, json_t *o, const char *key, json_type type);
/* Back to the path of length @depth. */
void reader_leave(struct reader *r, size_t depth);
/* null reads as NAN. */
bool reader_number(struct reader *r, json_t *o, const char *key, double *out);
/* A whole number from @least to @most. */
bool reader_whole(struct reader *r, json_t *o, const char *key, int64_t least, uint64_t most,
                  int64_t *out);
bool reader_bool(struct reader *r, json_t *o, const char *key, bool *out);
/* NULL with a complaint. */
const char *reader_text(struct reader *r, json_t *o, const char *key);
/* Longer than @n - 1 is refused. */
bool reader_chars(struct reader *r, json_t *o, const char *key, char *out, size_t n);
/* Index of the text in @names, which has @n; -1 with a complaint. */
int reader_name(struct reader *r, json_t *o, const char *key, const char *const *names, int n);

#endif
