/*
 * The command line: verbs, options, messages, and the forms of output they share.
 *
 * One verb = one file verb_<name>.c; make finds it, and help, dispatch and suggestions follow.
 * A verb returns the exit status; only main.c exits. See README for the statuses.
 */
#ifndef PMPP_CLI_CLI_H
#define PMPP_CLI_CLI_H

#include "base/text.h"
#include "base/version.h"
#include "cli/colour.h"
#include "lab/choose.h"
#include "lab/lab.h"
#include "lab/registry.h"
#include "lab/run.h"
#include "lab/selection_words.h"
#include "model/record_fields.h"
#include "userkernel/user_file.h"

#include <jansson.h>
#include <stdio.h>

#define CLI_SCHEMA "pmpp-explore/1"

enum { CLI_OK = 0, CLI_WRONG = 1, CLI_USAGE = 2, CLI_IMPOSSIBLE = 3 };

struct cli {
	FILE *out, *err; /* what is printed is made plain (base/plain.h) */
	bool json;
	bool utf8; /* marks and ticks may be used */
	bool busy; /* a thread could not be stopped: end by _Exit() */
};

enum option_kind {
	OPT_FLAG,    /* bool */
	OPT_TEXT,    /* const char *, not empty */
	OPT_COUNT,   /* uint64_t */
	OPT_ORDINAL, /* uint64_t, 1 or more */
	OPT_THREADS, /* uint64_t, at most CLI_MAX_THREADS */
	OPT_SECONDS, /* double, above 0 and finite */
};
#define CLI_MAX_THREADS 1024

/* One option of a verb; @to points at what its kind says. */
struct option_spec {
	const char *name; /* "--gpu" */
	enum option_kind kind;
	void *to;
	const char *value; /* "SHEET"; NULL for a flag */
	const char *about;
};

/* Options that several verbs have, word for word. */
#define OPTION_GPU(to) \
	{ "--gpu", OPT_TEXT, to, "SHEET", "GPU to answer for (default " LAB_DEFAULT_GPU ")" }
#define OPTION_BACKEND(to) { "--backend", OPT_TEXT, to, "NAME", "emu, cuda, or auto (default)" }
#define OPTIONS_ENGINE(s) OPTION_GPU(&(s)->gpu), OPTION_BACKEND(&(s)->backend)
#define OPTION_JSON(to) { "--json", OPT_FLAG, to, NULL, "one JSON object instead of text" }
#define OPTION_SEED(to) { "--seed", OPT_COUNT, to, "N", "seed of the inputs (default 1)" }

struct verb {
	const char *name;
	int order;         /* in help */
	const char *about; /* one line */
	const char *usage; /* what follows the name: "KERNEL[/VARIANT] [name=value ...]" */
	const char *help;  /* paragraphs after the options; "" = none */
	/* Fills the table of options, pointing into @state; returns how many. At most 24. */
	unsigned (*options)(void *state, struct option_spec *o);
	size_t state_bytes;
	/* @args: what is left after the options, @n of them. */
	int (*run)(struct cli *c, void *state, unsigned n, char **args);
	/* Options that it does not know, and "--", are left in @args: they are for another program. */
	bool keeps_unknown;
	bool of_programs; /* the same, where a word names a whole program */
};

/* A verb of this name at the end of its file, which has its struct state, options() and run(). */
#define CLI_VERB(word, ...)                                                \
	const struct verb verb_##word = { .name = #word,                       \
		                              .options = options,                  \
		                              .state_bytes = sizeof(struct state), \
		                              .run = run,                          \
		                              __VA_ARGS__ }

size_t verb_count(void);
const struct verb *verb_at(size_t i); /* by order */

/* The whole program below main(). @busy: a thread still runs, so no destructors: _Exit(). */
int cli_main(int argc, char **argv, bool *busy);

/* cli_out.c: says what is wrong on stderr (and as one object on stdout with --json); returns the
 * status. */
int cli_fail(struct cli *c, const struct err *err);
/* Writes the object and forgets it; returns @status. */
int cli_emit(struct cli *c, json_t *object, int status);

/* In the person's language: a line of @c->out, given without its newline; the same in a style; and
 * part of a line. */
void cli_line(struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_line_in(struct cli *c, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void cli_say(FILE *f, enum style style, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* A name in a style: never translated. */
void cli_name(FILE *f, enum style style, const char *name);

/* level.c: what --level says; NULL = auto. */
#define CLI_LEVEL_HELP                                                                          \
	"emulator: count sass: machine code, as a card does; ptx; or auto (default): machine code " \
	"where all of it is known"
bool cli_level(const char *word, enum run_level *out, struct err *err);
/* The same on @backend: a GPU has no choice, and a word is refused there. */
bool cli_level_here(const char *word, const char *backend, enum run_level *out, struct err *err);

/* races.c */
struct race_options {
	bool all, none;
};
#define RACE_OPTIONS(o)                                                                     \
	{ "--races", OPT_FLAG, &(o).all, NULL,                                                  \
	  "emulator: look for races in every block (mostly up to 4 times the work, more where " \
	  "lanes of a warp go different ways; on one thread), "                                 \
	  "not in some of them" },                                                              \
	{                                                                                       \
		"--no-races", OPT_FLAG, &(o).none, NULL,                                            \
			"emulator: look for no races: saves up to two thirds of a small launch's time"  \
	}
bool cli_races(const struct race_options *o, enum race_check *out, struct err *err);

/* user_start.c: a person's own file first, launched by these options; else as select_by_words(). */
unsigned user_options(struct user_spec *s, struct option_spec *o); /* how many were put into @o */
bool user_start(struct user_spec *s, unsigned n, char **args, struct selection *sel,
                struct err *err);

/* json_out.c */
json_t *json_record(const struct run_record *r);
json_t *json_error(const struct err *err);

/* text_out.c: for people. */
/* Which counts are not the same each time, and why; each line behind @indent. */
void cli_print_variation(struct cli *c, const struct run_variation *v, const char *indent);
void print_record(struct cli *c, const struct run_record *r);
/* Every figure as a row: key, value, unit, origin, title. What is not known has no value. */
void print_record_csv(struct cli *c, const struct run_record *r);
/* A field of comma-separated values, in quotes where it must be. */
void print_csv_field(FILE *f, const char *text);
void print_occupancy(struct cli *c, const struct gpu_spec *g, const struct occ_result *r);
/* "block 256, TILE 16": the parameters that the variant has. */
void params_text(const struct selection *sel, char *out, size_t n);

/* table.c: columns of text, two blanks apart. */
#define TABLE_MOST_COLS 12
struct table {
	unsigned cols; /* at most TABLE_MOST_COLS */
	unsigned n, cap;
	char **cells;
	enum style *styles;                /* of the cells */
	bool right[TABLE_MOST_COLS];       /* right-aligned column */
	bool said;                         /* cells are shown in the person's language ... */
	bool names[TABLE_MOST_COLS];       /* ... but for columns of names and source text */
	bool head;                         /* the first row names the columns */
	enum style looks[TABLE_MOST_COLS]; /* of each column's cells */
};
void table_row(struct table *t, ...);                           /* t->cols strings */
void table_style(struct table *t, unsigned col, enum style s);  /* of a cell of the last row */
void table_print(struct table *t, FILE *f, const char *indent); /* and empties it */

#endif
