/*
 * Presets: guided ladders, teaching text and runnable test at once.
 *
 * One YAML file presets/<name>.yaml; the order of steps is the order of the lesson. Loaded and
 * checked here; running a step and drawing it are others' work.
 */
#ifndef PMPP_MODEL_PRESET_H
#define PMPP_MODEL_PRESET_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* A figure the book or another source prints, shown beside ours. */
struct preset_book {
	char *what; /* "kernel time, 100 M floats" */
	double value;
	char *unit;   /* "ms" */
	char *metric; /* key of our figure to stand beside it; NULL = none */
	char *seed;   /* "S-363" */
	char *note;   /* why the figure and ours differ, or what is wrong with it; NULL = nothing */
};

struct preset_step {
	char *title;
	char *run;    /* as on the command line: "vec_add/chunks N=1000000 block=256" */
	char *gpu;    /* sheet id; NULL = the preset's */
	char *view;   /* panel to look at */
	char *say;    /* what this step changes and what to notice */
	char *reveal; /* mystery: shown only when asked for; NULL = none */
	char *stops;  /* the run is stopped with a message that has these words; NULL = it ends */
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

/* Built-in presets, ordered by name. */
size_t preset_count(void);
const char *preset_name(size_t i);
/* By name (any case) or path of a YAML file. The result is the caller's: preset_free(). */
bool preset_load(const char *name_or_path, struct preset **out, struct err *err);
bool preset_parse(const char *yaml, size_t len, const char *origin, struct preset **out,
                  struct err *err);
void preset_free(struct preset *p);

#endif
