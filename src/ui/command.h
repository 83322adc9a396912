/*
 * What a row of keys.def may name: conditions under which a key works, and what keys do.
 *
 * A condition is NULL when it holds, else the reason why not, as the person reads it. A handler
 * returns at once; what takes time happens behind the host's functions (screen.h).
 */
#ifndef PMPP_UI_COMMAND_H
#define PMPP_UI_COMMAND_H

#include "ui/screen_parts.h"

/* One press of a key: who asked, and the row's own argument. */
struct command_call {
	const struct screen_host *host;
	struct screen_state *st;
	const struct view_desc *view; /* the focused one; NULL = the host has no views */
	enum command command;
	int arg;
};

typedef const char *command_condition(const struct session *s, const struct view_desc *view);
command_condition when_always, when_kernel, when_params, when_running, when_detail, when_axis,
	when_recorded, when_lesson, when_record, when_twice;

typedef void command_handler(const struct command_call *call);
/* command_param.c: the selection's parameters; arg: direction */
command_handler param_move, param_step, param_default, variant_step, trail_step;
/* command_view.c: focus, rows, detail and time axis of a panel; arg: direction */
command_handler view_step, row_move, view_solo, view_twice, view_zoom, view_back, detail_toggle,
	view_forward, play_toggle, axis_zoom, axis_pan;
/* command_open.c: the list or page of the command; the prompt for a value */
command_handler open_overlay, open_prompt;
/* command_line.c: the line behind ':' */
command_handler open_line;
/* command.c: what the host does; arg: direction */
command_handler host_run, host_cancel, host_step, host_reveal, host_export, reference_run_toggle,
	pin, theme_next, lang_next, layout_next, side_step, mouse_toggle, quit;

/* The session, its focused parameter being one that the variant uses. */
const struct session *param_focused(const struct command_call *call);
/* In front of what a person does: a selection that changed by itself, as a program's new launch
 * does, is the one to come back to. */
void trail_follow(const struct screen_host *host, struct screen_state *st);
/* Behind it: keeps the present selection for undo, where it is a new one. */
void trail_note(const struct screen_host *host, struct screen_state *st);
/* The value being typed, set or refused with its reason. */
void param_typed(const struct screen_host *host, struct screen_state *st);
/* The typed line done; its last word completed. */
void line_enter(const struct screen_host *host, struct screen_state *st);
/* Up and Down: a line of before takes the place of what is typed. */
void line_recall(struct screen_state *st, enum command command);
void line_complete(const struct screen_host *host, struct screen_state *st);
/* An arrow sideways, where the focused view's rows lie in columns; false = they do not. */
bool view_walks(const struct command_call *call);
/* Panel @i of the tab row gets the focus. */
void view_focus(const struct screen_host *host, struct screen_state *st, size_t i);
/* The launch of a program that the cursor stands on is shown in all panels. */
void view_follow(const struct screen_host *host);
/* The next access of what is being played; false = that was the last, or it was closed. */
bool play_step(const struct screen_host *host, struct screen_state *st);
/* A run has ended: a row that nobody chose becomes the one where the view starts. */
void view_settle(const struct screen_host *host);
/* Index @at of @n after a row command. */
unsigned row_moved(unsigned at, unsigned n, enum command command);

/* True when what is open took the command. */
bool overlay_command(const struct screen_host *host, struct screen_state *st, enum command command);

#endif
