/*
 * Whole files; see file.h. A new file is written without a name (Linux's O_TMPFILE) where the file
 * system can, else beside the old one, and takes its place by rename(2) when it is whole.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/file.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool too_large(const char *path, size_t max, struct err *err)
{
	return err_set(err, ERR_PARSE, "%s: larger than %zu bytes; nothing of this kind is", path, max);
}

/* A descriptor of a file that has an end, and no more than @max bytes, as far as is known; opening
 * a pipe must not wait for its writer. -1: @err */
static int open_whole(const char *path, size_t max, off_t *size, struct err *err)
{
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	} else if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) ||
	           S_ISSOCK(st.st_mode)) {
		err_set(err, ERR_IO, "%s is a pipe or a device", path);
		err_remedy(err, "only whole files are read: save it to one first");
	} else if (S_ISREG(st.st_mode) && (uintmax_t)st.st_size > max && max) {
		too_large(path, max, err);
	} else {
		*size = st.st_size;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The next piece of at most @n bytes, at the end of @out. 0: the file has ended; -1: errno */
static ssize_t read_piece(int fd, char *piece, size_t n, struct text *out)
{
	ssize_t got;
	do
		got = read(fd, piece, n);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		text_put(out, piece, (size_t)got);
	return got;
}

bool file_read_while(const char *path, size_t max, const atomic_bool *cancel, atomic_uint *read,
                     struct text *out, struct err *err)
{
	off_t size = 0;
	char piece[16384];
	ssize_t got = 1;
	bool ended_early = false;
	*out = (struct text){ 0 };
	const int fd = open_whole(path, max, &size, err);
	if (fd < 0)
		return false;
	text_put(out, "", 0);
	while (out->len <= max && !ended_early &&
	       (got = read_piece(fd, piece, sizeof piece, out)) > 0) {
		ended_early = cancel && atomic_load(cancel);
		if (read && size > 0)
			atomic_store(read, out->len < (size_t)size
			                       ? (unsigned)(1000.0 * (double)out->len / (double)size)
			                       : 1000u);
	}
	const int failed = got < 0 ? errno : 0;
	close(fd);
	if (out->len >= 3 && !memcmp(out->s, "\xef\xbb\xbf", 3)) {
		memmove(out->s, out->s + 3, out->len - 2);
		out->len -= 3;
	}
	if (failed)
		err_set(err, ERR_IO, "%s: %s", path, strerror(failed));
	else if (out->len > max)
		too_large(path, max, err);
	else if (ended_early)
		err_set(err, ERR_CANCELLED, "%s was not read: cancelled", path);
	else
		return true;
	text_free(out);
	return false;
}

bool file_read(const char *path, size_t max, struct text *out, struct err *err)
{
	return file_read_while(path, max, NULL, NULL, out, err);
}

bool file_check(const char *path, size_t max, struct err *err)
{
	off_t size;
	const int fd = open_whole(path, max, &size, err);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t w = write(fd, p, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return false;
		p += w;
		n -= (size_t)w;
	}
	return true;
}

/* --- replacing --- */

#define READER_TURNS 50 /* of 20 ms: how long somebody who reads a pipe is waited for */
#define STALE_S 3600 /* a temporary file that nobody wrote to for this long has lost its writer */

/* Folder and file name of @path; both to be freed. */
static void split(const char *path, char **folder, char **name)
{
	const char *slash = strrchr(path, '/');
	*name = mem_strdup(slash ? slash + 1 : path);
	*folder = slash == path ? mem_strdup("/")
	          : slash       ? mem_printf("%.*s", (int)(slash - path), path)
	                        : mem_strdup(".");
}

/* Our temporary files are "FOLDER/.NAME.pmpp-XXXXXX": hidden, and nobody else's. */
static char *temp_prefix(const char *name)
{
	return mem_printf(".%s.pmpp-", name);
}

/* A file without a name, so that nothing is left when the program is killed while it writes; it
 * gets its name when it is whole. -1: this file system, or a system without /proc, has none. */
static int open_unnamed(const char *folder)
{
	return access("/proc/self/fd", X_OK) ? -1
	                                     : open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
}

/* Names the unnamed file; @temp ends in "XXXXXX", which is filled in. */
static bool give_name(int fd, char *temp)
{
	char self[64];
	char *const end = temp + strlen(temp) - 6;
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	for (unsigned i = 0; i < 1000; i++) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		const unsigned long mix = (unsigned long)now.tv_nsec ^ (unsigned long)getpid() << 12 ^ i;
		snprintf(end, 7, "%06lx", mix & 0xffffff);
		if (!linkat(AT_FDCWD, self, AT_FDCWD, temp, AT_SYMLINK_FOLLOW))
			return true;
		if (errno != EEXIST)
			return false;
	}
	return false;
}

/* Removes what writers that were killed left behind. */
static void remove_stale(const char *folder, const char *prefix)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	while (d && (e = readdir(d))) {
		struct stat st;
		if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 ||
		    strlen(e->d_name) != strlen(prefix) + 6)
			continue;
		if (!fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
		    st.st_mtime + STALE_S < time(NULL))
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
}

/* Bytes on the disk and the file closed; errno says why not. */
static bool write_durably(int fd, const void *bytes, size_t n, mode_t mode)
{
	return write_all(fd, bytes, n) && !fchmod(fd, mode) && !fsync(fd);
}

static int replace_file(const char *path, const void *bytes, size_t n, mode_t mode)
{
	char *folder, *name;
	split(path, &folder, &name);
	char *prefix = temp_prefix(name);
	char *temp = mem_printf("%s/%sXXXXXX", folder, prefix);
	bool named = false;
	bool ok = false;
	int fd = open_unnamed(folder);
	if (fd >= 0) {
		ok = write_durably(fd, bytes, n, mode);
		named = ok && give_name(fd, temp);
		if (ok && !named) { /* no naming here: the ordinary way */
			close(fd);
			fd = -1;
			memset(temp + strlen(temp) - 6, 'X', 6);
		}
	}
	if (fd < 0) {
		fd = mkstemp(temp);
		named = fd >= 0;
		ok = named && write_durably(fd, bytes, n, mode);
	}
	int failed = ok ? 0 : errno;
	if (fd >= 0 && close(fd) && ok)
		failed = errno;
	if (!failed && rename(temp, path))
		failed = errno;
	if (failed && named)
		unlink(temp);
	if (!failed)
		remove_stale(folder, prefix);
	free(temp);
	free(prefix);
	free(name);
	free(folder);
	return failed;
}

/* A device or a pipe is written to; replacing it by a file is nobody's wish. */
static int write_through(const char *path, const void *bytes, size_t n)
{
	const struct timespec turn = { .tv_nsec = 20000000 };
	int fd = -1;
	for (unsigned i = 0; fd < 0 && i < READER_TURNS; i++) {
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0 && errno != ENXIO) /* a pipe that nobody reads yet */
			break;
		if (fd < 0)
			nanosleep(&turn, NULL);
	}
	if (fd < 0)
		return errno;
	fcntl(fd, F_SETFL, O_WRONLY); /* its reader may take its time */
	int failed = write_all(fd, bytes, n) ? 0 : errno;
	if (close(fd) && !failed)
		failed = errno;
	return failed;
}

bool file_replace(const char *path, const void *bytes, size_t n, struct err *err)
{
	struct stat st;
	const bool exists = !stat(path, &st);
	int failed;
	if (exists && S_ISDIR(st.st_mode))
		failed = EISDIR;
	else if (exists && !S_ISREG(st.st_mode))
		failed = write_through(path, bytes, n);
	else
		failed = replace_file(path, bytes, n, exists ? st.st_mode & 0777 : 0644);
	if (!failed)
		return true;
	err_set(err, ERR_IO, "%s: %s", path, strerror(failed));
	return err_remedy(err, "nothing was written; choose a folder that is writable and has room");
}

bool file_looks_like_path(const char *s, const char *ext)
{
	const size_t n = strlen(s);
	const size_t e = strlen(ext);
	return strchr(s, '/') || (n > e && str_ieq(s + n - e, ext));
}

bool folder_make(const char *path)
{
	char part[4400];
	if (strlen(path) >= sizeof part) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (size_t i = 1; path[i - 1]; i++) {
		if (path[i] != '/' && path[i])
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return false;
	}
	struct stat there;
	if (stat(path, &there) != 0)
		return false;
	if (!S_ISDIR(there.st_mode))
		errno = ENOTDIR;
	return S_ISDIR(there.st_mode);
}
