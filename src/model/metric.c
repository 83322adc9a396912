/*
 * The metric catalogue and sets of values; see metric.h.
 * Everything is derived from metric.def and ORIGINS; this file computes no metric.
 */
#include "model/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NUM METRIC_NUM
#define TEXT METRIC_TEXT
const struct metric_desc metric_catalogue[METRIC_COUNT] = {
#define METRIC(id, key_, unit_, kind_, depends_, title_, def_, source_, cupti_) \
	[M_##id] = { .key = key_,                                                   \
		         .unit = unit_,                                                 \
		         .kind = kind_,                                                 \
		         .depends = METRIC_OF_##depends_,                               \
		         .title = title_,                                               \
		         .definition = def_,                                            \
		         .source = source_,                                             \
		         .cupti = cupti_ },
#include "model/metric.def"
#undef METRIC
};
#undef NUM
#undef TEXT

static const struct {
	const char *name, *utf8, *ascii, *about;
} origins[ORIGIN_COUNT] = {
#define X(id, name_, utf8_, ascii_, about_) \
	[ORIGIN_##id] = { .name = name_, .utf8 = utf8_, .ascii = ascii_, .about = about_ },
	ORIGINS(X)
#undef X
};

const char *origin_name(enum origin o)
{
	return (unsigned)o < ORIGIN_COUNT ? origins[o].name : "?";
}

enum origin origin_named(const char *name)
{
	for (int o = 0; o < ORIGIN_COUNT; o++)
		if (!strcmp(origin_name((enum origin)o), name))
			return (enum origin)o;
	return ORIGIN_NONE;
}

const char *origin_mark(enum origin o, bool ascii)
{
	if ((unsigned)o >= ORIGIN_COUNT)
		return "?";
	return ascii ? origins[o].ascii : origins[o].utf8;
}

const char *origin_about(enum origin o)
{
	return (unsigned)o < ORIGIN_COUNT ? origins[o].about : "?";
}

enum metric_id metric_find(const char *key)
{
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		if (!strcmp(metric_catalogue[i].key, key))
			return (enum metric_id)i;
	return METRIC_COUNT;
}

void metrics_clear(struct metric_set *m, const char *reason)
{
	memset(m, 0, sizeof *m);
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		m->v[i] = (struct metric_value){ .origin = ORIGIN_NONE, .reason = reason };
}

void metric_num(struct metric_set *m, enum metric_id id, enum origin o, double value)
{
	/* A number that is none would be shown as one: keep it out of every panel and file. */
	if (!isfinite(value)) {
		metric_none(m, id, "the result is not a finite number");
		return;
	}
	m->v[id] = (struct metric_value){ .origin = o, .num = value };
}

void metric_text(struct metric_set *m, enum metric_id id, enum origin o, const char *text)
{
	m->v[id] = (struct metric_value){ .origin = o };
	snprintf(m->v[id].text, sizeof m->v[id].text, "%s", text);
}

void metric_none(struct metric_set *m, enum metric_id id, const char *reason)
{
	m->v[id] = (struct metric_value){ .origin = ORIGIN_NONE, .reason = reason };
}

bool metric_known(const struct metric_set *m, enum metric_id id)
{
	return (unsigned)id < METRIC_COUNT && m->v[id].origin != ORIGIN_NONE;
}

double metric_get(const struct metric_set *m, enum metric_id id)
{
	if (!metric_known(m, id) || metric_catalogue[id].kind != METRIC_NUM)
		return (double)NAN;
	return m->v[id].num;
}
