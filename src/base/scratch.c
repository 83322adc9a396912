#define _DEFAULT_SOURCE /* flock(), mkdtemp() */
/* Folders for a moment; see scratch.h. The lock is flock(2)'s: it goes with its process. */
#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "pmpp-scratch-"
#define DEEPEST 16 /* folders in folders: a compiler makes one or two */

static const char *place(void)
{
	const char *tmp = getenv("TMPDIR");
	return tmp && *tmp ? tmp : "/tmp";
}

/* Links are removed, not followed. */
static void empty(int folder, unsigned depth)
{
	const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!unlinkat(folder, e->d_name, 0) || depth == DEEPEST)
			continue;
		const int inner =
			openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner < 0)
			continue;
		empty(inner, depth + 1);
		close(inner);
		unlinkat(folder, e->d_name, AT_REMOVEDIR);
	}
	if (d)
		closedir(d);
}

/* Opens and locks it. False: it is not there, not ours, or in use. */
static bool take(const char *path, int *fd)
{
	struct stat st;
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0)
		return false;
	/* nlink: removed by another one between opening and locking */
	if (!flock(*fd, LOCK_EX | LOCK_NB) && !fstat(*fd, &st) && st.st_uid == geteuid() && st.st_nlink)
		return true;
	close(*fd);
	*fd = -1;
	return false;
}

bool scratch_make(struct scratch *s, struct err *err)
{
	s->fd = -1;
	for (unsigned tries = 0; tries < 10; tries++) {
		const int n = snprintf(s->path, sizeof s->path, "%s/" PREFIX "XXXXXX", place());
		if (n >= (int)sizeof s->path || !mkdtemp(s->path))
			break;
		if (take(s->path, &s->fd)) /* else it was swept before it had its lock */
			return true;
	}
	err_set(err, ERR_IO, "%s: no folder for temporary files: %s", place(), strerror(errno));
	return err_remedy(err, "name one that is writable and has room: TMPDIR=/path");
}

const char *scratch_file(const struct scratch *s, const char *name, char *out, size_t n)
{
	snprintf(out, n, "%s/%s", s->path, name);
	return out;
}

void scratch_remove(struct scratch *s)
{
	if (s->fd < 0)
		return;
	empty(s->fd, 0);
	rmdir(s->path);
	close(s->fd);
	s->fd = -1;
}

unsigned scratch_sweep(void)
{
	unsigned swept = 0;
	DIR *d = opendir(place());
	const struct dirent *e;
	while (d && (e = readdir(d))) {
		struct scratch s;
		if (strncmp(e->d_name, PREFIX, sizeof PREFIX - 1) != 0 ||
		    snprintf(s.path, sizeof s.path, "%s/%s", place(), e->d_name) >= (int)sizeof s.path ||
		    !take(s.path, &s.fd))
			continue;
		scratch_remove(&s);
		swept++;
	}
	if (d)
		closedir(d);
	return swept;
}
