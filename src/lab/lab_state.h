/*
 * The inside of a lab, shared by the files that keep it: lab.c (life and news), lab_select.c (what
 * the person changes), lab_orders.c (what is asked of the worker and what came of it),
 * lab_reload.c (a person's file, read again), lab_ladder.c, lab_tour.c and tour_judge.c,
 * lab_sweep.c, lab_file.c, lab_program.c. Private to src/lab/.
 */
#ifndef PMPP_LAB_LAB_STATE_H
#define PMPP_LAB_LAB_STATE_H

#include "lab.h"
#include "lab_worker.h"

struct lab {
	struct session s;
	struct usage_table *usage;
	struct lab_worker *worker;
	lab_panels *panels;
	bool started; /* nothing runs before */
	struct device_wish wish;
	/* orders */
	uint64_t last_serial, first_serial; /* news of orders before the first are dropped */
	struct {
		enum order_kind kind;
		uint64_t serial; /* 0 = none: nothing is under way that anybody waits for */
	} awaited;
	enum order_kind last_run; /* the newest order of_session */
	uint64_t now_serial;      /* of the order that gave s.now: its next record replaces that one */
	bool cancelled;           /* by the person, since the last change */

	struct preset *preset;       /* the tour's; the session only borrows it */
	char *opened;                /* path of the snapshot the session came from */
	struct user_watch *watch;    /* on a person's own file; NULL = none yet */
	struct lab_reload *reload;   /* the file is being read again; NULL = it is not */
	struct lab_files *files;     /* what is being read or written; NULL = nothing was yet */
	struct lab_program *program; /* a whole program; NULL = kernels are explored */
};

/* lab_orders.c */
/* Orders a run of the selection, in place of whatever is under way. */
void lab_order_run(struct lab *lab, bool at_once);
/* What is under way is no longer wanted: stops it and expects no news of it. */
void lab_order_nothing(struct lab *lab);
/* Orders what the panel in focus needs and no run has brought, if that may run now. */
void lab_order_for_panel(struct lab *lab);
/* Bits of enum panel_needs of the panel in focus. */
unsigned lab_focused_needs(const struct lab *lab);
/* What came of an order; takes over n->record. */
void lab_take_news(struct lab *lab, struct news *n);
/* Plan, occupancy and sweep of the selection, from what the compiler has said so far. */
void lab_instant(struct lab *lab);

/* lab_reload.c */
/* Reads a person's own file again, off the screen's thread; then its kernel is run if it changed,
 * or if @run. */
void lab_reload_begin(struct lab *lab, bool run);
/* What came of it, once it is there; true = something changed. @start: the kernel is to be run. */
bool lab_reload_take(struct lab *lab, bool *start);
void lab_reload_cancel(struct lab *lab);
/* False: it cannot be stopped now. */
bool lab_reload_free(struct lab *lab);

/* lab_file.c */
bool lab_files_poll(struct lab *lab); /* true = something changed */
/* Waits for what is being written. False: something could not be stopped. */
bool lab_files_free(struct lab *lab);

/* lab_ladder.c */
/* The ladder of what is selected now; rungs that are the same runs stay. */
void lab_ladder_follow(struct session *s);
/* The next rung that has not run; refused ones say why. False: there is none. */
bool lab_rung_due(struct session *s, struct selection *sel);
bool lab_library_due(struct session *s, struct selection *sel);
/* News of a rung or of the library; @awaited: of the order that is under way. */
void lab_rung_news(struct session *s, struct news *n, bool awaited);

/* lab_sweep.c: the same for the map */
void lab_sweep_follow(struct session *s);
bool lab_point_due(struct session *s, struct selection *sel);
void lab_point_news(struct session *s, struct news *n, bool awaited);

/* tour_judge.c */
/* Is @sel what the step asks for? Where it runs is the person's own choice. */
bool tour_on_step(const struct preset *p, unsigned step, const struct selection *sel);
/* Holds the newest record against the step that asked for it. */
void tour_judge(struct session *s);
/* A step whose lesson is that the run is stopped: is @why the stop it speaks of? */
void tour_judge_stop(struct session *s, const struct err *why);

/* lab_select.c */
/* Everything that follows from a change: plan, occupancy, ladder, and an order to run it. */
void lab_changed(struct lab *lab, bool at_once);
/* Kernel and variant; another kernel starts from its defaults. */
void lab_put_kernel(struct session *s, const struct kernel_desc *k, unsigned variant);
/* A back end's name or "auto". The emulator needs no decision; its name stands until another one
 * is decided on. */
void lab_wish_backend(struct lab *lab, const char *name);

/* lab_program.c: all but the first only where lab->program is set. */
void lab_program_free(struct lab *lab);
void lab_program_run(struct lab *lab);
void lab_program_cancel(struct lab *lab);
/* The selection changed: another launch or kernel is shown, another GPU runs the program again. */
void lab_program_changed(struct lab *lab);
bool lab_program_poll(struct lab *lab); /* true = something changed */
/* Looks at the launch's memory where the panel in focus shows it. */
void lab_program_for_panel(struct lab *lab);

/* lab_tour.c */
/* The preset that a session read from a snapshot names; NULL = this program has none of that name,
 * or it has no such step. From any thread. */
struct preset *tour_preset(const struct session_tour *t);
/* The session was read, and walks @p, which the lab takes over; NULL = the tour is over. */
void lab_tour_resume(struct lab *lab, struct preset *p);

#endif
