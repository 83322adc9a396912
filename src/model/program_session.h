/*
 * A whole program in a session: its last run and the one before, what is chosen of it, and how a
 * run that is under way stands. Plain data; the lab fills it, views read it.
 */
#ifndef PMPP_MODEL_PROGRAM_SESSION_H
#define PMPP_MODEL_PROGRAM_SESSION_H

#include "model/whole_program.h"

struct session_program {
	char *command;          /* as typed: "saxpy.cu -O3 -- 1000" */
	bool from_file;         /* that is a file of an earlier run */
	struct program *now;    /* the last run; NULL = none has ended yet */
	struct program *before; /* the run before it: another version, or on another GPU; NULL = none */
	uint64_t launch;        /* number of the chosen one; 0 = there is none */
	/* while one runs */
	uint64_t launches, copies; /* so far */
	char *output;              /* what it wrote so far, at most its end; NULL = nothing yet */
};

void session_program_free(struct session_program *p); /* NULL is fine */

/* The group of @of that @g of @p was: the same kernel with the same launch, else the kernel's next
 * one that has no such counterpart. NULL = it is new. */
const struct program_group *program_group_before(const struct program *p,
                                                 const struct program_group *g,
                                                 const struct program *of);
/* The group that launch @number belongs to; NULL = there is no such launch. */
const struct program_group *program_group_of(const struct program *p, uint64_t number);
/* Value @id of a group's first counted launch; NAN = not known. */
double program_group_metric(const struct program *p, const struct program_group *g,
                            enum metric_id id);

/* Launches and copies in the order of the program's calls: number @i of all. */
struct program_event {
	const struct program_launch *launch; /* one of the two; both NULL past the end */
	const struct program_copy *copy;
};
size_t program_events(const struct program *p);
struct program_event program_event_at(const struct program *p, size_t i);
/* Place of launch @number among the events; their number = there is none. */
size_t program_event_of(const struct program *p, uint64_t number);

/* The signal that ended the program, as "SEGV"; "RT" = one without a name, "" = none did. */
const char *program_signal_name(const struct program *p);
/* What a finding says, without the folders of its file. */
const char *program_finding_short(const struct program_finding *f);
/* Finding @i tells what an earlier one tells of another launch of the kernel: same line, same words
 * to do. */
bool program_finding_told(const struct program *p, size_t i);
/* How many behind finding @i tell the same as it. */
uint64_t program_finding_more(const struct program *p, size_t i);

/* Line @i (from 0) of what the program wrote, standard output first, then standard error, with the
 * origin ("stdout", "stderr"); false past the end. */
bool program_output_line(const struct program *p, size_t i, const char **origin, char *out,
                         size_t n);
size_t program_output_lines(const struct program *p);

#endif
