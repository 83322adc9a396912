/* The place of a value by its path, "steps[3].kernel"; see yaml_load.h. */
#include "model/yaml_load.h"
#include "model/yaml_walk.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Follows @path from the node that starts with @ev (deleted); *found moves inward on the way. */
static void follow(struct yaml_walk *w, yaml_event_t *ev, const char *path, size_t *found)
{
	for (;;) {
		*found = walk_place(w, ev->start_mark);
		if (!*path)
			break;
		if (*path == '[' && ev->type == YAML_SEQUENCE_START_EVENT) {
			unsigned long want = strtoul(path + 1, NULL, 10);
			yaml_event_delete(ev);
			for (unsigned long i = 0;; i++) {
				if (!walk_next(w, ev))
					return;
				if (ev->type == YAML_SEQUENCE_END_EVENT || i == want)
					break;
				if (!walk_skip(w, ev))
					return;
			}
			if (ev->type == YAML_SEQUENCE_END_EVENT)
				break;
			path += strcspn(path, "]");
			path += *path == ']';
		} else if (ev->type == YAML_MAPPING_START_EVENT) {
			path += *path == '.';
			size_t n = strcspn(path, ".[");
			bool hit = false;
			yaml_event_delete(ev);
			for (;;) {
				if (!walk_next(w, ev))
					return;
				if (ev->type == YAML_MAPPING_END_EVENT)
					break;
				hit = ev->type == YAML_SCALAR_EVENT && ev->data.scalar.length == n &&
				      !memcmp(ev->data.scalar.value, path, n);
				if (!walk_skip(w, ev) || !walk_next(w, ev))
					return;
				if (hit)
					break;
				if (!walk_skip(w, ev))
					return;
			}
			if (!hit)
				break;
			path += n;
		} else {
			break;
		}
	}
	yaml_event_delete(ev);
}

bool yaml_error_at(const char *text, size_t len, const char *origin, const char *path,
                   struct err *err, const char *fmt, ...)
{
	struct yaml_walk w = { .text = { text, len, origin } };
	size_t at = 0;
	yaml_event_t ev;

	if (walk_open(&w)) {
		/* stream start, document start, root node */
		if (walk_next(&w, &ev)) {
			yaml_event_delete(&ev);
			if (walk_next(&w, &ev)) {
				yaml_event_delete(&ev);
				if (walk_next(&w, &ev))
					follow(&w, &ev, path, &at);
			}
		}
		yaml_parser_delete(&w.parser);
	}
	va_list ap;
	va_start(ap, fmt);
	place_error_v(&w.text, at, err, fmt, ap);
	va_end(ap);
	return false;
}
