/*
 * Values with an origin, and the catalogue they are drawn from (metric.def).
 *
 * A metric that nobody filled is `none` with a reason, never 0. Nothing here computes.
 */
#ifndef PMPP_MODEL_METRIC_H
#define PMPP_MODEL_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(ORIGIN, "name", mark UTF-8, mark ASCII, "what it means") */
#define ORIGINS(X)                                                                            \
	X(NONE, "none", " ", " ", "not known: see the reason")                                    \
	X(MEASURED, "measured", "●", "*", "read from a GPU by CUPTI, events or the driver")       \
	X(COUNTED, "counted", "=", "=", "exact: every block executed, or read from the compiler") \
	X(SAMPLED, "sampled", "≈", "%", "a subset of blocks executed, scaled up")                 \
	X(MODELLED, "modelled", "~", "~", "a formula or model")                                   \
	X(BOOK, "book", "¶", "#", "the figure the book prints or its arithmetic gives")

enum origin {
#define X(id, name, utf8, ascii, about) ORIGIN_##id,
	ORIGINS(X)
#undef X
		ORIGIN_COUNT
};

enum metric_id {
#define METRIC(id, ...) M_##id,
#include "model/metric.def"
#undef METRIC
	METRIC_COUNT
};

enum metric_kind { METRIC_NUM, METRIC_TEXT };

/* What a value is the same for. */
enum metric_depends {
	METRIC_OF_LAUNCH, /* the launch, on any GPU */
	METRIC_OF_CODE,   /* the same instructions: the emulator counts PTX, hardware what ptxas made */
	METRIC_OF_GPU,    /* one GPU */
};

struct metric_desc {
	const char *key, *unit;
	enum metric_kind kind;
	enum metric_depends depends;
	const char *title, *definition;
	const char *source; /* "= formula over counts", else the part of the model that fills it */
	const char *cupti;
};

struct metric_value {
	enum origin origin;
	double num;           /* METRIC_NUM */
	char text[64];        /* METRIC_TEXT */
	uint64_t sampled, of; /* SAMPLED: blocks run of blocks in the grid */
	const char *reason;   /* NONE: why, and what would give it; static text or NULL */
};

struct metric_set {
	struct metric_value v[METRIC_COUNT];
};

extern const struct metric_desc metric_catalogue[METRIC_COUNT];
const char *origin_name(enum origin o);
/* ORIGIN_NONE where it is no name of one. */
enum origin origin_named(const char *name);
const char *origin_mark(enum origin o, bool ascii);
const char *origin_about(enum origin o);
/* By key, e.g. "mem.ld_sectors"; METRIC_COUNT when there is none. */
enum metric_id metric_find(const char *key);

/* Every value NONE with @reason. */
void metrics_clear(struct metric_set *m, const char *reason);
void metric_num(struct metric_set *m, enum metric_id id, enum origin o, double value);
void metric_text(struct metric_set *m, enum metric_id id, enum origin o, const char *text);
void metric_none(struct metric_set *m, enum metric_id id, const char *reason);
/* The number, or NAN when the metric has none. */
double metric_get(const struct metric_set *m, enum metric_id id);
bool metric_known(const struct metric_set *m, enum metric_id id);

#endif
