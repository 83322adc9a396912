/* See settings_file.h. */
#include "cli/settings_file.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES 65536

/* The folder; false: the environment names no home. */
static bool folder_of(char *out, size_t n)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int len = -1;
	if (config && config[0] == '/') /* others are to be ignored (XDG base directories) */
		len = snprintf(out, n, "%s/pmpp-explore", config);
	else if (home && home[0] == '/')
		len = snprintf(out, n, "%s/.config/pmpp-explore", home);
	return len > 0 && (size_t)len < n;
}

static bool path_of(char *folder, size_t n_folder, char *path, size_t n, struct err *err)
{
	if (!folder_of(folder, n_folder))
		return err_set(err, ERR_UNAVAILABLE,
		               "no settings: neither XDG_CONFIG_HOME nor HOME is set");
	return snprintf(path, n, "%s/settings", folder) < (int)n ||
	       err_set(err, ERR_IO, "no settings: the path of the home folder is too long");
}

char *settings_file_read(char *path, size_t n, struct err *err)
{
	char folder[300];
	struct text t = { 0 };
	if (!path_of(folder, sizeof folder, path, n, err))
		return NULL;
	if (access(path, F_OK) && errno == ENOENT)
		return mem_strdup("");
	return file_read(path, MOST_BYTES, &t, err) ? t.s : NULL;
}

bool settings_file_write(const char *text, struct err *err)
{
	char folder[300], path[300];
	if (!path_of(folder, sizeof folder, path, sizeof path, err))
		return false;
	if (!folder_make(folder))
		return err_set(err, ERR_IO, "%s: %s", folder, strerror(errno));
	return file_replace(path, text, strlen(text), err);
}
