/*
 * The last line of notes, spreadsheets and panels that were exported: a digest of all before it. It
 * shows that a figure was changed afterwards, not who wrote the file: that is what a signed
 * snapshot is for.
 */
#ifndef PMPP_CLI_EXPORT_DIGEST_H
#define PMPP_CLI_EXPORT_DIGEST_H

#include "base/err.h"
#include "base/text.h"

/* @text is freed. @csv: the line is a row of the spreadsheet, with its nine fields. */
char *export_with_digest(char *text, bool csv);

enum export_state { EXPORT_HOLDS, EXPORT_CHANGED, EXPORT_NO_DIGEST };
enum export_state export_digest_of(const struct text *file);

#endif
