/*
 * The file of a person's settings: $XDG_CONFIG_HOME/pmpp-explore/settings, else under ~/.config.
 * What its lines mean is ui/settings.h's.
 */
#ifndef PMPP_CLI_SETTINGS_FILE_H
#define PMPP_CLI_SETTINGS_FILE_H

#include "base/err.h"

#include <stddef.h>

/* Its text, "" when there is none yet; @path where it is. NULL: there is no home, or it cannot be
 * read (@err). Caller frees. */
char *settings_file_read(char *path, size_t n, struct err *err);
/* Puts @text in its place, whole or not at all. */
bool settings_file_write(const char *text, struct err *err);

#endif
