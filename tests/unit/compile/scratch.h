/* A temporary folder per test program, with XDG_CACHE_HOME inside it. */
#ifndef PMPP_TESTS_SCRATCH_H
#define PMPP_TESTS_SCRATCH_H

#include "../unit.h"

#include <stdbool.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_dir[256];

static inline void scratch_remove(const char *dir)
{
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		char path[1024];
		struct stat st;
		snprintf(path, sizeof path, "%.700s/%.255s", dir, e->d_name);
		if (!lstat(path, &st) && S_ISDIR(st.st_mode))
			scratch_remove(path);
		else
			unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
}

/* Group set-up and tear-down. */
static inline int scratch_begin(void **state)
{
	(void)state;
	const char *tmp = getenv("TMPDIR");
	snprintf(scratch_dir, sizeof scratch_dir, "%.200s/pmpp-test-XXXXXX",
	         tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(scratch_dir))
		return -1;
	return setenv("XDG_CACHE_HOME", scratch_dir, 1);
}

static inline int scratch_end(void **state)
{
	(void)state;
	scratch_remove(scratch_dir);
	return 0;
}

/* Files in <XDG_CACHE_HOME>/pmpp-explore whose names end in @suffix; the last one's path in @path.
 */
static inline unsigned scratch_files(const char *suffix, char *path, size_t n)
{
	char dir[512];
	unsigned count = 0;
	snprintf(dir, sizeof dir, "%s/pmpp-explore", getenv("XDG_CACHE_HOME"));
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		size_t len = strlen(e->d_name);
		size_t s = strlen(suffix);
		if (e->d_name[0] == '.' || len < s || strcmp(e->d_name + len - s, suffix) != 0)
			continue;
		count++;
		if (path)
			snprintf(path, n, "%s/%.200s", dir, e->d_name);
	}
	if (d)
		closedir(d);
	return count;
}

/* Do the @n bytes hold this text? */
static inline bool contains(const void *bytes, size_t n, const char *what)
{
	size_t len = strlen(what);
	for (size_t i = 0; i + len <= n; i++)
		if (!memcmp((const char *)bytes + i, what, len))
			return true;
	return false;
}

#endif
