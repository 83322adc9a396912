/*
 * The pieces of the screen that have a file of their own, for screen.c and command.c only.
 */
#ifndef PMPP_UI_SCREEN_PARTS_H
#define PMPP_UI_SCREEN_PARTS_H

#include "ui/layout.h"
#include "ui/screen.h"

/* verdict.c: the first row: time, share of the roof, what limits it, the session's runs. */
void verdict_draw(const struct session *s, struct canvas *c);

/* header.c: title row, parameter row, and the parameter sheet of wide terminals. */
void header_title(const struct session *s, struct canvas *c);
void header_params(const struct session *s, struct canvas *c);
void header_sheet(const struct session *s, struct canvas *c);
int header_sheet_rows(const struct session *s, int cols);

/* param_next.c: the parameter's next value in a direction whose launch is possible. False: there
 * is none; @refused says why the next one is not (its code is ERR_NONE at the end of the range). */
bool param_next(const struct session *s, unsigned param, int direction, int64_t *next,
                struct err *refused);
/* The parameter, and its value, whose launch has blocks of @threads threads, or of as near as
 * *@got. False: no parameter changes the block. */
bool param_for_block(const struct session *s, uint64_t threads, unsigned *param, int64_t *value,
                     uint64_t *got);

/* status.c: what is going on, in at most three rows; the key bar. */
int status_rows(const struct session *s, const struct screen_state *st, int cols);
void status_draw(const struct session *s, const struct screen_state *st, struct canvas *c);
void status_keys(const struct session *s, const struct view_desc *focused, struct canvas *c);

/* run_before.c: the session as it was in the run before, to draw a panel of; false = there is none
 * of this kernel whose tables are still there. @out borrows from @s. */
bool run_before_session(const struct session *s, struct session *out);

/* recorded.c: rows that the reference run takes of a panel of @rows; the figures of @shown as
 * recorded. */
int recorded_rows(const struct session *s, int rows);
void recorded_draw(const struct session *s, const struct metric_list *shown, struct canvas *c);

/* screen_state.c: index of the focused view. */
size_t screen_focus(const struct screen_host *host, const struct session *s);
/* A message in the status line, @bad = a refusal; and back to nothing open. */
void screen_say(struct screen_state *st, bool bad, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void screen_close(struct screen_state *st);

/* command.c: why a command does nothing now; NULL = it works. */
const char *command_refused(const struct session *s, const struct view_desc *view,
                            enum command command);

/* list.c: what an open list holds, and what choosing one of it does. */
size_t list_count(const struct screen_host *host, enum command open);
/* @out: zero, or what the call before gave for a smaller @i. */
void list_at(const struct screen_host *host, enum command open, size_t i, struct choice *out);
void list_choose(const struct screen_host *host, struct screen_state *st, enum command open,
                 size_t i);
/* copy.c: what can be copied; choosing one leaves it in screen_state.copied. */
size_t copy_count(const struct screen_host *host);
void copy_at(const struct screen_host *host, size_t i, struct choice *out);
void copy_choose(const struct screen_host *host, struct screen_state *st, size_t i);
/* The words that give this screen again: "sgemm/tiled M=512 --gpu a100 --backend emu"; @out stays
 * as it is where there are none: a program, a file, a snapshot. */
void screen_words(const struct screen_host *host, char *out, size_t n);
/* help.c: the rows of a page (HELP, ORIGINS) from @first on into @c; @c NULL = none, for a page of
 * @cols columns. Returns how many it has. */
int help_draw(const struct screen_host *host, enum command page, int first, int cols,
              struct canvas *c);

/* overlay.c: what is open over the panels. */
void overlay_draw(const struct screen_host *host, const struct screen_state *st, struct canvas *c);
bool overlay_is_list(enum command open);
/* Something is being typed in the status line. */
bool overlay_is_prompt(enum command open);
/* A list or a page lies over the panels. */
bool overlay_is_open(const struct screen_state *st);
/* Choices that pass the filter: how many; their original indices in order, which the caller
 * frees. */
size_t overlay_passing(const struct screen_host *host, const struct screen_state *st,
                       size_t **index);
/* Rows of help and legend, to bound scrolling. */
size_t overlay_text_rows(const struct screen_host *host, const struct screen_state *st);
/* What a line printed, moved sideways: 1 shows more of its right, -1 of its left. */
#define SHIFT_COLS 16
void output_shift(const struct screen_host *host, struct screen_state *st, int direction);

/* overlay_page.c: the pages (model/page.h) as a list, those of the focused panel first; one drawn
 * from row @top on. */
struct text_page;
#define PAGE_LEAST_COLS 40
void page_choice(const struct session *s, size_t i, struct choice *out);
const struct text_page *page_chosen(const struct session *s, size_t i);
size_t page_place(const struct session *s, const struct text_page *p); /* its place in the list */
size_t page_rows(const struct text_page *p, int cols);
/* The row of its page at which a passage stands on a screen of usual width, and one above it. */
struct page_passage;
size_t page_rows_before(const struct page_passage *p);
void page_draw(const struct text_page *p, size_t top, struct canvas *c);

#endif
