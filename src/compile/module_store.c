/*
 * Cache files; see module_store.h. Folder: XDG Base Directory Specification, "cache".
 *
 * Two processes may write the same entry: both write the same bytes under names of their own, and
 * the second rename replaces the first. A reader has either file open, whole.
 */
#include "compile/module_store.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "compile/module_pack.h"
#include "compile/store_folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".module"
static const off_t max_entry_bytes = 256 << 20;
static const unsigned long long max_folder_bytes = 512ull << 20;
static const time_t stale_seconds = 3600;
static const time_t folder_seconds = 30 * 24 * 3600;

static struct {
	pthread_mutex_t lock;
	char note[512];
	char forced[4096];
	unsigned saves; /* of this process: makes temporary names unique, and paces trimming */
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void note(const char *fmt, const char *a, const char *b)
{
	pthread_mutex_lock(&store.lock);
	snprintf(store.note, sizeof store.note, fmt, a, b);
	pthread_mutex_unlock(&store.lock);
}

static void note_errno(const char *what, const char *path)
{
	char text[300];
	snprintf(text, sizeof text, "%.200s: %s", path, strerror(errno));
	note("%s %s", what, text);
}

void store_note(char *out, size_t n)
{
	pthread_mutex_lock(&store.lock);
	snprintf(out, n, "%s", store.note);
	pthread_mutex_unlock(&store.lock);
}

void store_use(const char *dir)
{
	snprintf(store.forced, sizeof store.forced, "%s", dir);
}

/* Would somebody else's bytes be compiled code of ours? Of another owner, or writable for all. */
static bool foreign(const struct stat *st)
{
	return st->st_uid != geteuid() || (st->st_mode & S_IWOTH);
}

void store_dir(char *out, size_t n)
{
	const char *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int len;
	if (store.forced[0]) {
		len = snprintf(out, n, "%s", store.forced);
	} else if (xdg && xdg[0] == '/') {
		len = snprintf(out, n, "%s/pmpp-explore", xdg);
	} else if (home && home[0] == '/') {
		len = snprintf(out, n, "%s/.cache/pmpp-explore", home);
	} else {
		out[0] = '\0';
		note("%s%s", "neither XDG_CACHE_HOME nor HOME is an absolute path: ",
		     "compiled kernels are not kept");
		return;
	}
	if (len < 0 || (size_t)len >= n) {
		out[0] = '\0';
		note("%s%s", "the path of the cache folder is too long: ", "compiled kernels are not kept");
	}
	struct stat st;
	if (out[0] && !stat(out, &st) && foreign(&st)) {
		note("%.300s is %s: nothing is read from it or kept there", out,
		     st.st_uid != geteuid() ? "another user's"
		                            : "writable for everybody (chmod o-w mends it)");
		out[0] = '\0';
	}
}

static bool entry_path(const char *key, char *path, size_t n)
{
	char dir[4096];
	store_dir(dir, sizeof dir);
	if (!dir[0])
		return false;
	int len = snprintf(path, n, "%s/%s" SUFFIX, dir, key);
	return len > 0 && (size_t)len < n;
}

/* An entry to read: a file of ours, no link. -1 with a note, unless there is none. */
static int open_entry(const char *path, struct stat *st)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		if (errno != ENOENT)
			note_errno("cannot read", path);
		return -1;
	}
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && !foreign(st))
		return fd;
	note("%.300s is %s", path, "no file of yours alone: it is not used");
	close(fd);
	return -1;
}

static char *read_whole(int fd, const struct stat *st, size_t *len)
{
	if (st->st_size <= 0 || st->st_size > max_entry_bytes)
		return NULL;
	char *bytes = mem_alloc((size_t)st->st_size);
	size_t got = 0;
	while (got < (size_t)st->st_size) {
		ssize_t n = read(fd, bytes + got, (size_t)st->st_size - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	*len = got;
	return bytes;
}

bool store_load(const char *key, struct module *m)
{
	char path[4200];
	if (!entry_path(key, path, sizeof path))
		return false;
	struct stat st;
	const int fd = open_entry(path, &st);
	if (fd < 0)
		return false;
	size_t len = 0;
	char *bytes = read_whole(fd, &st, &len);
	bool ok = bytes && module_unpack(bytes, len, key, m, NULL);
	free(bytes);
	if (ok)
		futimens(fd, NULL); /* used now: trimming removes the oldest; may fail, no matter */
	close(fd);
	return ok;
}

static bool write_whole(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		n -= (size_t)done;
	}
	return true;
}

/* A new file in the cache's folder for the bytes of @path to come; its name in @tmp. -1 with a
 * note. */
static int open_temporary(const char *path, char *tmp, size_t n, unsigned *serial)
{
	char dir[4096];
	const char *const name = strrchr(path, '/') + 1;
	store_dir(dir, sizeof dir);
	if (!dir[0])
		return -1;
	if (!folder_make(dir)) {
		note_errno("cannot make the cache folder", dir);
		return -1;
	}
	pthread_mutex_lock(&store.lock);
	*serial = store.saves++;
	pthread_mutex_unlock(&store.lock);
	snprintf(tmp, n, "%s/%s.%ld.%u.tmp", dir, name, (long)getpid(), *serial);
	unlink(tmp); /* of a process of this number that was killed */
	int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		note_errno("cannot write", tmp);
	return fd;
}

static void clear_note(void)
{
	pthread_mutex_lock(&store.lock);
	store.note[0] = '\0';
	pthread_mutex_unlock(&store.lock);
}

/* Replaces whatever has that name: a link, or a file that others can write, too. */
static bool put_entry(const char *path, const char *bytes, size_t n)
{
	char tmp[4300];
	unsigned serial;
	const int fd = open_temporary(path, tmp, sizeof tmp, &serial);
	if (fd < 0)
		return false;
	const bool written = write_whole(fd, bytes, n);
	if (close(fd) || !written || rename(tmp, path)) {
		note_errno("cannot write", path);
		unlink(tmp);
		return false;
	}
	clear_note();
	if (serial % 64 == 0)
		store_trim(max_folder_bytes);
	return true;
}

void store_save(const struct module *m)
{
	char path[4200];
	if (!entry_path(m->key, path, sizeof path))
		return;
	struct text packed = { 0 };
	module_pack(m, &packed);
	put_entry(path, packed.s, packed.len);
	text_free(&packed);
}

static bool name_path(const char *name, char *path, size_t n)
{
	char dir[4096];
	store_dir(dir, sizeof dir);
	const int len = snprintf(path, n, "%s/%s", dir, name);
	return dir[0] && len > 0 && (size_t)len < n;
}

bool store_folder(const char *name, char *path, size_t n)
{
	struct stat st;
	if (!name_path(name, path, n))
		return false;
	if (!folder_make(path) || lstat(path, &st)) {
		note_errno("cannot make", path);
		return false;
	}
	if (S_ISDIR(st.st_mode) && !foreign(&st)) {
		utimensat(AT_FDCWD, path, NULL, 0); /* used now: as of files, see store_load() */
		return true;
	}
	note("%.300s is %s", path, "no folder of yours alone: it is not used");
	return false;
}

void store_keep(const char *name, const char *bytes, size_t n, char *path, size_t size)
{
	if (!name_path(name, path, size) || !put_entry(path, bytes, n))
		path[0] = '\0';
}

bool store_find(const char *name, size_t max, struct text *out)
{
	char path[4200];
	struct stat st;
	const int fd = name_path(name, path, sizeof path) ? open_entry(path, &st) : -1;
	if (fd < 0)
		return false;
	size_t got = 0;
	char *bytes = (unsigned long long)st.st_size <= max ? read_whole(fd, &st, &got) : NULL;
	if (bytes) {
		text_put(out, bytes, got);
		futimens(fd, NULL);
	}
	free(bytes);
	close(fd);
	return bytes != NULL;
}

bool store_has(const char *name)
{
	char path[4200];
	struct stat st;
	const int fd = name_path(name, path, sizeof path) ? open_entry(path, &st) : -1;
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void store_probe(void)
{
	char path[4200];
	char tmp[4300];
	if (!entry_path("probe", path, sizeof path))
		return;
	unsigned serial;
	int fd = open_temporary(path, tmp, sizeof tmp, &serial);
	if (fd < 0)
		return;
	close(fd);
	unlink(tmp);
	clear_note();
}

struct kept_file {
	char *name;
	unsigned long long bytes;
	struct timespec used;
};

static int oldest_first(const void *a, const void *b)
{
	const struct kept_file *x = a;
	const struct kept_file *y = b;
	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s);
	size_t e = strlen(end);
	return n >= e && !strcmp(s + n - e, end);
}

void store_trim(unsigned long long max_bytes)
{
	char path[4200];
	store_dir(path, 4096);
	DIR *dir = path[0] ? opendir(path) : NULL;
	if (!dir)
		return;
	struct kept_file *files = NULL;
	size_t n = 0;
	unsigned long long total = 0;
	for (struct dirent *d; (d = readdir(dir));) {
		struct stat st;
		if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (ends_with(d->d_name, ".tmp") && st.st_mtime + stale_seconds < time(NULL)) {
			unlinkat(dirfd(dir), d->d_name, 0);
		} else if (ends_with(d->d_name, SUFFIX) || ends_with(d->d_name, ".listing")) {
			files = mem_realloc(files, n + 1, sizeof *files);
			files[n++] = (struct kept_file){ mem_strdup(d->d_name), (unsigned long long)st.st_size,
				                             st.st_mtim };
			total += (unsigned long long)st.st_size;
		}
	}
	if (n)
		qsort(files, n, sizeof *files, oldest_first);
	for (size_t i = 0; i < n; i++) {
		if (total > max_bytes && !unlinkat(dirfd(dir), files[i].name, 0))
			total -= files[i].bytes;
		free(files[i].name);
	}
	free(files);
	closedir(dir);
	store_trim_folders(path, "runtime-", time(NULL) - folder_seconds);
	snprintf(path + strlen(path), 10, "/programs");
	store_trim_folders(path, "", time(NULL) - folder_seconds);
}
