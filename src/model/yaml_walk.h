/*
 * A text as libyaml's events, with errors that name the place; private to yaml_*.c. One node at a
 * time; an event is deleted by whoever asked for it.
 */
#ifndef PMPP_MODEL_YAML_WALK_H
#define PMPP_MODEL_YAML_WALK_H

#include "base/err.h"
#include "model/text_place.h"

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

struct cyaml_schema_value;

struct yaml_walk {
	yaml_parser_t parser;
	struct source_text text;
	struct err *err; /* NULL = nobody wants the errors */
};

/* Makes the parser for w->text; the caller ends it with yaml_parser_delete(). */
bool walk_open(struct yaml_walk *w);
/* The next event; false with an error where the text is no YAML, or has an alias. */
bool walk_next(struct yaml_walk *w, yaml_event_t *ev);
/* Passes over the rest of a node whose first event is @ev (which is deleted). */
bool walk_skip(struct yaml_walk *w, yaml_event_t *ev);
/* Byte offset of a mark. */
size_t walk_place(const struct yaml_walk *w, yaml_mark_t mark);
/* ERR_PARSE at byte @at; returns false. */
bool walk_error(const struct yaml_walk *w, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Is the scalar @ev what @schema wants? @name is its key, for messages. (yaml_scalar.c) */
bool walk_check_scalar(const struct yaml_walk *w, const yaml_event_t *ev, const char *name,
                       const struct cyaml_schema_value *schema);

#endif
