/*
 * Settings written while the screen is open, by a thread of their own: a disk that is slow delays
 * no key. Lines of the file that are not changed stay as somebody else may have written them since.
 */
#ifndef PMPP_CLI_SETTINGS_KEEP_H
#define PMPP_CLI_SETTINGS_KEEP_H

#include "ui/settings.h"

/* What differs between @was and @is goes to the file; both are copied. Returns at once. */
void settings_keep(const struct settings *was, const struct settings *is);
/* Waits until it is written, if anything was. False: the last write failed. */
bool settings_keep_end(struct err *err);

#endif
