/*
 * How lang.c says a text in another language: only for it.
 */
#ifndef PMPP_BASE_LANG_SAY_H
#define PMPP_BASE_LANG_SAY_H

#include "base/lang_table.h"
#include "base/text.h"

/* A piece of a text. */
struct piece {
	const char *s;
	size_t n;
};

/* The catalogue that the functions below take from now on; never NULL for them. */
void lang_say_from(const struct lang_table *t);
/* The message with exactly this English; NULL = none. */
const struct lang_message *lang_message(struct piece p);
/* Are there two letters side by side? Numbers and signs are the same everywhere. */
bool lang_has_words(struct piece p);
/* Without blanks, middle dots, ticks and crosses at both ends, and "! " at the start: messages are
 * kept so. */
struct piece lang_trimmed(struct piece p);
/* Appends what @p says; false, and nothing, where that is unknown. */
bool lang_say(struct text *out, struct piece p);
/* The same for what was formatted from the message @m. */
bool lang_say_as(struct text *out, const struct lang_message *m, struct piece p);

#endif
