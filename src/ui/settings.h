/*
 * What a person has chosen for good: theme, language, layout, mouse, keys, and where the last
 * session stood. Text of lines "name = value" that a person may edit; '#' begins a comment. Which
 * file holds it is the host's business.
 */
#ifndef PMPP_UI_SETTINGS_H
#define PMPP_UI_SETTINGS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct settings {
	size_t theme;    /* theme.h; theme_count() = the environment's */
	size_t layout;   /* arrangement.h */
	int side_cols;   /* of the side column; 0 = a third of the screen */
	size_t lang;     /* base/lang.h; lang_count() = the environment's */
	bool mouse;      /* the program's, not the terminal's */
	char start[400]; /* words that pmpp-explore without arguments starts with; "" = its own */
};

void settings_default(struct settings *s);
/* Would settings_write() write nothing? */
bool settings_same(const struct settings *a, const struct settings *b);
/* Takes what @text says over; keys are bound at once (keys.h). False: a line is wrong, @err says
 * which of @path and what it may say; the other lines hold. */
bool settings_read(const char *text, const char *path, struct settings *s, struct err *err);
/* Only the language and the theme that @text names, without binding a key; the rest is default. */
void settings_looks(const char *text, struct settings *s);
/* @text with what differs between @was and @is changed; comments and all other lines stay as they
 * are. Caller frees. */
char *settings_write(const char *text, const struct settings *was, const struct settings *is);

#endif
