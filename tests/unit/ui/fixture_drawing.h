/*
 * Drawings in one golden file, which says itself what is drawn: a line
 * "== FIXTURE ROWSxCOLS [ascii] [styles] [: KEYS]" before each of them (fixtures: fixture.h;
 * styles: the letters of canvas.h, in a map below the text; keys: pressed before it is drawn).
 */
#ifndef TESTS_UI_FIXTURE_DRAWING_H
#define TESTS_UI_FIXTURE_DRAWING_H

#include "fixture_host.h"

/* Draws what the file @path asks for and compares; where there is none, BLESS=1 writes one with the
 * drawings of @usual. @view: the screen's only panel, NULL = the usual tabs. @whole: with header,
 * key bar and what is open; else the panel alone. */
void drawings_compare(const char *path, const char *usual, const struct view_desc *view,
                      bool whole);

#endif
