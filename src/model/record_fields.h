/*
 * Records by a table of their fields: one list says how a struct's members are called in a
 * document, of which kind they are and where they lie. Writing, reading with checks, and the JSON
 * schema follow from it. The tables of a run's record: record_tables.h.
 */
#ifndef PMPP_MODEL_RECORD_FIELDS_H
#define PMPP_MODEL_RECORD_FIELDS_H

#include "model/json_reader.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum field_kind {
	FIELD_UNSIGNED, /* uint8_t, unsigned, size_t, uint64_t: by size */
	FIELD_INDEX,    /* int8_t from -1 (none) on */
	FIELD_DOUBLE,   /* null = not known: NAN */
	FIELD_BOOL,
	FIELD_CHARS,  /* an array of char */
	FIELD_TEXT,   /* a pointer to a text that lasts (base/intern.h); NULL = "" */
	FIELD_NAME,   /* an enum, by its names */
	FIELD_VECTOR, /* an array of uint64_t: a list of exactly so many numbers */
	FIELD_RECORD, /* a struct of `table` */
	FIELD_LIST,   /* a pointer to structs of `table`, their number in an unsigned */
	FIELD_MAP,    /* an array of structs of `table`: an object of its second field by its first, a
	               * CHARS; their number in an unsigned */
	FIELD_OTHER,  /* not by this table: the schema alone speaks of it, as `definition` */
};

struct record_table;

struct record_field {
	const char *key;     /* in a snapshot */
	const char *run_key; /* in the object of `run --json`; NULL = it is not there */
	enum field_kind kind;
	size_t offset, size; /* in the struct; bytes */
	bool optional;       /* left out where it is 0; what is not there reads as 0 */
	bool younger;        /* than the first snapshots: what is not there reads as 0 */
	const char *about;   /* for the schema; NULL = the key says it */
	const char *const *names;
	unsigned n_names;       /* NAME */
	const char *definition; /* NAME, OTHER: of the schema; NULL = the names stand in place */
	const struct record_table *table; /* RECORD, LIST, MAP */
	size_t count_offset;              /* LIST, MAP: where its number is */
	size_t most; /* LIST: more items are refused; MAP: not read; UNSIGNED: a greater one reads as
	              * this; 0 = any */
};

struct record_table {
	const char *name; /* of the schema's definition */
	const char *about;
	size_t size; /* of the struct */
	const struct record_field *fields;
	unsigned n;
};

/* The object of @x, a struct of @t. */
json_t *record_write(const struct record_table *t, const void *x);
/* The same with the members and keys of `run --json`. */
json_t *record_write_run(const struct record_table *t, const void *x);
/* Sets the members of @o, which keeps what it has. */
void record_write_into(const struct record_table *t, const void *x, json_t *o);
/*
 * From @o's members into @x, which is zeroed. Lists are allocated. False with an error that names
 * the place; @x then owns what its lists have.
 */
bool record_read(struct reader *r, json_t *o, const struct record_table *t, void *x);
/* The same from the object that is @from's member @key. */
bool record_read_member(struct reader *r, json_t *from, const char *key,
                        const struct record_table *t, void *x);
/* The schema (JSON Schema, draft 7) of @t's object. */
json_t *record_schema(const struct record_table *t);

/* Whole numbers as such; what is not finite is null. */
json_t *json_number(double v);
/* JSON integers are signed: saturates. */
json_t *json_whole(uint64_t v);
/* What is not UTF-8 is taken byte by byte as Latin-1. */
json_t *json_utf8(const char *s);

#endif
