/*
 * Styles of what verbs print, where a person reads it on a terminal. What a style looks like is
 * the screen's theme (ui/theme.h): one list for both. Text itself stays plain (base/plain.h): only
 * these functions write escape sequences.
 */
#ifndef PMPP_CLI_COLOUR_H
#define PMPP_CLI_COLOUR_H

#include "base/err.h"
#include "ui/canvas.h"

#include <stdio.h>

#define COLOUR_OPTION "--color"
#define COLOUR_WHENS "auto|always|never"

/* Takes COLOUR_OPTION and its value out of @argv and decides. Auto: where a stream is a terminal
 * that is not dumb, and NO_COLOR is not set. Always and never hold for the screen and for programs
 * that are started, too: they set or take away NO_COLOR. False: no such value. */
bool colour_choose(int *argc, char **argv, struct err *err);
/* @f writes to @fd, and what is printed to it may have styles. */
void colour_open(FILE *f, int fd);

/* What follows on @f looks like @style, until the next style; STYLE_NORMAL ends it. Nothing where
 * @f has no styles. */
void colour_style(FILE *f, enum style style);

#endif
