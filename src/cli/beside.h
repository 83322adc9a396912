/*
 * Lines of the command line while the screen is open: a launch is chosen here; a verb runs beside
 * the screen, as a process of its own, and what it prints is kept.
 */
#ifndef PMPP_CLI_BESIDE_H
#define PMPP_CLI_BESIDE_H

#include "lab/lab.h"

#include <stddef.h>

/* The verbs that there are, once at the start. */
struct verb;
void beside_verbs(size_t (*count)(void), const struct verb *(*at)(size_t i));
/* Readable when @lab_fd is, or when a verb has ended or got further. */
int beside_wake_fd(int lab_fd);
/* True = a verb has ended, or said how far it is, since the last call. */
bool beside_poll(void);
/* Does @line, "run sgemm TILE=8" or "sgemm/tiled TILE=8 --gpu h100". False: @err says why not.
 * @runs: a verb was started; the one before it is ended. */
bool beside_line(struct lab *lab, const char *line, bool *runs, struct err *err);
/* What the last verb printed, or that it still runs and how far it is. */
const char *beside_text(void);
/* Ends what runs. */
void beside_end(void);
/* The @i-th word that the last word of @line may become; false = there are no more. */
bool beside_complete(const char *line, size_t i, char *out, size_t n);

#endif
