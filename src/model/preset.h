/*
 * Presets: guided ladders, teaching text and runnable test at once.
 *
 * One YAML file presets/<name>.yaml; the order of steps is the order of the lesson. Loaded and
 * checked here; running a step and drawing it are others' work.
 */
#ifndef PMPP_MODEL_PRESET_H
#define PMPP_MODEL_PRESET_H

#include "base/err.h"
#include "model/metric.h"

#include <stdbool.h>
#include <stddef.h>

/* A figure the book or another source prints, shown beside ours. */
struct preset_book {
	char *what; /* "kernel time, 100 M floats" */
	double value;
	char *unit;   /* "ms" */
	char *ours;   /* the same quantity of our run, in @unit: a metric's key, or what expect.h can
	               * compute; NULL = none, and `note` says why */
	char *within; /* how far ours may be off, "20 %" or a number; NULL = 1 % */
	char *seed;   /* "S-363" */
	char *note;   /* why the figure and ours differ, or what is wrong with it; NULL = nothing */
	bool wrong;   /* the source has it wrong, or it is not of this launch: `note` says what */
};

#define PRESET_MAX_EXPECT 40
#define PRESET_MAX_BOOK 20
#define PRESET_MAX_CLAIMS (PRESET_MAX_EXPECT + PRESET_MAX_BOOK)

struct preset_step {
	char *title;
	char *run;    /* as on the command line: "vec_add/chunks N=1000000 block=256" */
	char *gpu;    /* sheet id; NULL = the preset's */
	char *view;   /* panel to look at */
	char *say;    /* what this step changes and what to notice */
	char *reveal; /* mystery: shown only when asked for; NULL = none */
	char *stops;  /* the run is stopped, or goes on, with a report of these words; NULL = neither */
	char *seeds;  /* ids covered, separated by spaces; NULL = none */
	unsigned n_book, n_expect;
	struct preset_book *book;
	char **expect; /* lines of model/expect.h */
};

struct preset {
	char *title;
	char *chapter; /* "PMPP ch. 10" */
	char *about;
	char *gpu; /* sheet of the steps that name none */
	unsigned n_steps;
	struct preset_step *steps;
	char name[48]; /* = file name, set by the loader */
};

/* The metric that @b is held against; METRIC_COUNT = none, or something computed. */
enum metric_id preset_book_metric(const struct preset_book *b);
/* What one of the printed unit is in that of ours: a ms is 1,000,000 beside a time in ns. NAN: they
 * cannot be compared. */
double preset_book_factor(const struct preset_book *b);
/* The printed value in the unit of ours. */
double preset_book_value(const struct preset_book *b);
/* What a step claims: its expectations, then every book figure that has one of ours beside it. */
unsigned preset_claims(const struct preset_step *s);
/* The @i-th of them as a line of expect.h: the step's own text, or written into @out. */
const char *preset_claim(const struct preset_step *s, unsigned i, char *out, size_t n);
/* The claim of the @k-th book figure; PRESET_MAX_CLAIMS = it makes none. */
unsigned preset_book_claim(const struct preset_step *s, unsigned k);

/* Built-in presets, ordered by name. */
size_t preset_count(void);
const char *preset_name(size_t i);
/* What a list of them shows, each read once: drawing a list must not parse files. */
struct preset_brief {
	char name[64];
	char title[160], chapter[64]; /* empty: it cannot be read, and why_not says why */
	unsigned n_steps;
	char why_not[160];
};
/* NULL past the end. */
const struct preset_brief *preset_brief(size_t i);
/* By name (any case) or path of a YAML file. The result is the caller's: preset_free(). */
bool preset_load(const char *name_or_path, struct preset **out, struct err *err);
bool preset_parse(const char *yaml, size_t len, const char *origin, struct preset **out,
                  struct err *err);
void preset_free(struct preset *p);

#endif
