/* Events of libyaml with places; see yaml_walk.h. */
#include "model/yaml_walk.h"

#include <stdarg.h>

bool walk_open(struct yaml_walk *w)
{
	if (!yaml_parser_initialize(&w->parser))
		return err_set(w->err, ERR_PARSE, "%s: out of memory in libyaml", w->text.origin);
	yaml_parser_set_encoding(&w->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&w->parser, (const unsigned char *)w->text.bytes, w->text.len);
	return true;
}

bool walk_error(const struct yaml_walk *w, size_t at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	place_error_v(&w->text, at, w->err, fmt, ap);
	va_end(ap);
	return false;
}

/* libyaml's marks count characters, a byte-order mark as one. */
size_t walk_place(const struct yaml_walk *w, yaml_mark_t mark)
{
	return place_of_character(&w->text, mark.index);
}

bool walk_next(struct yaml_walk *w, yaml_event_t *ev)
{
	if (!yaml_parser_parse(&w->parser, ev)) {
		const yaml_parser_t *p = &w->parser;
		if (p->error == YAML_READER_ERROR)
			return walk_error(w, p->problem_offset, "%s", p->problem ? p->problem : "unreadable");
		if (p->error == YAML_MEMORY_ERROR)
			return err_set(w->err, ERR_PARSE, "%s: out of memory in libyaml", w->text.origin);
		return walk_error(w, walk_place(w, p->problem_mark), "%s%s%s", p->context ? p->context : "",
		                  p->context ? ": " : "", p->problem ? p->problem : "malformed YAML");
	}
	if (ev->type == YAML_ALIAS_EVENT) {
		walk_error(w, walk_place(w, ev->start_mark), "aliases (*name) are not supported");
		yaml_event_delete(ev);
		return false;
	}
	return true;
}

bool walk_skip(struct yaml_walk *w, yaml_event_t *ev)
{
	unsigned depth = 0;
	for (;;) {
		yaml_event_type_t t = ev->type;
		yaml_event_delete(ev);
		if (t == YAML_MAPPING_START_EVENT || t == YAML_SEQUENCE_START_EVENT)
			depth++;
		else if (t == YAML_MAPPING_END_EVENT || t == YAML_SEQUENCE_END_EVENT)
			depth--;
		if (!depth)
			return true;
		if (!walk_next(w, ev))
			return false;
	}
}
