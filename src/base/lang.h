/*
 * The person's language, where text meets eyes: canvas and error output hand their English to
 * lang_text() and show what comes back.
 *
 * Why there, and not `_()` around every literal with bindtextdomain(): texts are made by layers
 * that do not know who reads them; they are stored in records, sent between processes, written to
 * session files and read again, perhaps elsewhere. All of that stays English, so that a file means
 * the same to everybody and the language can change at any moment. And bindtextdomain() needs .mo
 * files on disk and an installed locale; this is one binary for any machine.
 *
 * The catalogues are gettext's, src/lang/<code>.po; the build makes sorted tables of them
 * (compile/tool/po_table.c), so that nothing is parsed at the start. A message is found as it
 * stands; a text that was formatted, by the message whose conversions it fits ("%u of %u blocks"):
 * its values, which may be messages themselves, are put into the translation. What stands in quotes
 * ('%s'), or is "%-s" in the translation, is a name and stays as it is. Texts that were joined ("a:
 * b", lines, lists) are translated part by part. What is unknown stays English.
 *
 * For the one thread that draws or prints.
 */
#ifndef PMPP_BASE_LANG_H
#define PMPP_BASE_LANG_H

#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* The languages: 0 is English, "en"; then the catalogues by name. NULL = no more. */
const char *lang_code(size_t i);
size_t lang_count(void);
/* What a catalogue calls its own language ("简体中文"): the translation of "English". */
const char *lang_own_name(size_t i);
/* Chosen from now on; until then English. */
void lang_use(size_t i);
size_t lang_used(void);
/* By code, exactly or by its language alone ("zh", "zh_CN.UTF-8"); else an error with all there
 * are. */
bool lang_find(const char *code, size_t *i, struct err *err);
/* As gettext reads LC_ALL, LC_MESSAGES, LANG and LANGUAGE; English where they name none of ours. */
size_t lang_of_environment(void);

/* @english in the language in use; @english itself where it is English or nothing is known. The
 * text stays until many others were asked for: use it at once, or copy it. */
const char *lang_text(const char *english);
/* The same for what @fmt with @english as its result says: the message is known, not looked for. */
const char *lang_formatted(const char *fmt, const char *english);

#endif
