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
	FIELD_UNSIGNED, /* uint8_t, int that is never negative, unsigned, size_t, uint64_t: by size */
	FIELD_INDEX,    /* int8_t from -1 (none) on */
	FIELD_DOUBLE,   /* null = not known: NAN */
	FIELD_BOOL,
	FIELD_CHARS,   /* an array of char */
	FIELD_TEXT,    /* a pointer to a text that lasts (base/intern.h); NULL = "" */
	FIELD_NAME,    /* an enum, by its names */
	FIELD_VECTOR,  /* an array of uint64_t, or uint32_t: a list of exactly so many numbers */
	FIELD_RECORD,  /* a struct of `table` */
	FIELD_POINTER, /* a pointer to an owned struct of `table`; NULL = null */
	FIELD_LIST,    /* a pointer to structs of `table`, their number in an unsigned */
	FIELD_ARRAY,   /* an array of structs of `table`, their number in an unsigned, or all of them */
	FIELD_MAP,     /* an array of structs of `table`: an object of its second field by its first, a
	                * CHARS; their number in an unsigned */
	FIELD_CODED,   /* by `codec` alone */
	FIELD_OTHER,   /* not by this table: the schema alone speaks of it */
};

/* Where a record is written to: a snapshot, which is read again, or the object of `run --json`. */
enum record_form { FORM_SNAPSHOT, FORM_RUN };

struct record_table;

/* What no kind of field says: @record is the struct that the field belongs to. NULL = by the kind,
 * and a CODED field is skipped. */
struct record_codec {
	json_t *(*write)(const void *record, enum record_form form); /* gives NULL = left out */
	/* Member @key of @o. */
	bool (*read)(struct reader *r, json_t *o, const char *key, void *record);
};

struct record_names {
	const char *definition, *about; /* of the schema; NULL = the names stand in place */
	const char *const *names;
	unsigned n;
};

struct record_field {
	/* In a snapshot. "" (a RECORD or POINTER): its members stand in the object itself; NULL = it is
	 * not there, because it follows from the others. */
	const char *key;
	/* The same in `run --json`; "check.text": within an object there. */
	const char *run_key;
	enum field_kind kind;
	size_t offset, size;               /* in the struct; bytes */
	bool optional;                     /* left out where it is 0; absent reads as 0 */
	bool younger;                      /* than the first snapshots: absent reads as 0 */
	bool (*there)(const void *record); /* left out where it says no; absent reads as 0 */
	const struct record_codec *codec;  /* writes and reads it in place of what its kind says */
	const char *about;                 /* for the schema; NULL = the key says it */
	const char *schema;                /* JSON text in place of what its kind says; CODED, OTHER */
	const char *definition;            /* the schema stands there, under this name */
	const struct record_names *names;  /* NAME */
	const struct record_table *table;  /* RECORD, POINTER, LIST, ARRAY, MAP; CODED: what is in it */
	size_t count_offset;               /* LIST, ARRAY, MAP: where its number is */
	bool whole;                        /* ARRAY: all of it, no number */
	bool word;                         /* CHARS: a word, for names of files and commands */
	size_t most; /* LIST: more items are refused; UNSIGNED: a greater one reads
	              * as this; 0 = any. ARRAY and MAP: more are not read */
	struct {
		double least, most;
	} range; /* a figure outside is refused; 0, 0 = none is */
};

struct record_table {
	const char *name; /* of the schema's definition */
	const char *about;
	size_t size; /* of the struct */
	const struct record_field *fields;
	unsigned n;
	const char *rules; /* JSON text: what the schema has to say beyond the fields; NULL = nothing */
	/* After reading @x from @o: checks, and what follows from the fields; NULL = nothing. */
	bool (*finish)(struct reader *r, json_t *o, void *x);
};

/* The object of @x, a struct of @t. */
json_t *record_write(const struct record_table *t, const void *x);
/* The same with the members and keys of `run --json`. */
json_t *record_write_run(const struct record_table *t, const void *x);
/* Sets the members of @o, which keeps what it has. */
void record_write_into(const struct record_table *t, const void *x, json_t *o,
                       enum record_form form);
/*
 * From @o's members into @x, which is zeroed. Lists and pointers are allocated. False with an error
 * that names the place; @x then owns what its lists and pointers have.
 */
bool record_read(struct reader *r, json_t *o, const struct record_table *t, void *x);
/* The same from the object that is @from's member @key. */
bool record_read_member(struct reader *r, json_t *from, const char *key,
                        const struct record_table *t, void *x);
/* The schema (JSON Schema, draft 7) of @t's object. */
json_t *record_schema(const struct record_table *t);
/* The definitions that the schemas of @t and of all within it refer to; into @definitions. */
void record_definitions(const struct record_table *t, json_t *definitions);
/* May a document lack the field? */
static inline bool record_field_optional(const struct record_field *f)
{
	return f->optional || f->younger || f->there;
}
/* How many items an ARRAY or MAP has room for. */
unsigned record_room(const struct record_field *f);
/* The number of items of a LIST, ARRAY or MAP of @record. */
unsigned record_length(const struct record_field *f, const void *record);
/* An unsigned number or enum of @size bytes. */
uint64_t record_load(const void *at, size_t size);
void record_store(void *at, size_t size, uint64_t v);
/* The largest number that is read into @size bytes. */
uint64_t record_largest(size_t size);

/* Whole numbers as such; what is not finite is null. */
json_t *json_number(double v);
/* JSON integers are signed: saturates. */
json_t *json_whole(uint64_t v);
/* What is not UTF-8 is taken byte by byte as Latin-1. */
json_t *json_utf8(const char *s);

#endif
