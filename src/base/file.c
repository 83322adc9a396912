/* Whole files; see file.h. */
#include "base/file.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_read(const char *path, size_t max, struct text *out, struct err *err)
{
	*out = (struct text){ 0 };
	FILE *f = fopen(path, "rb");
	if (!f)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	char chunk[8192];
	size_t n;
	text_put(out, "", 0);
	while (out->len <= max && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
		text_put(out, chunk, n);
	const int failed = ferror(f) ? errno : 0;
	fclose(f);
	if (failed)
		err_set(err, ERR_IO, "%s: %s", path, strerror(failed));
	else if (out->len > max)
		err_set(err, ERR_PARSE, "%s: larger than %zu bytes; nothing of this kind is", path, max);
	else
		return true;
	text_free(out);
	return false;
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

bool file_replace(const char *path, const void *bytes, size_t n, struct err *err)
{
	struct stat st;
	char *temp = mem_printf("%s.XXXXXX", path);
	const mode_t mode = !stat(path, &st) ? st.st_mode & 0777 : 0644;
	int fd = mkstemp(temp);
	bool ok = fd >= 0 && write_all(fd, bytes, n) && !fchmod(fd, mode) && !fsync(fd);
	int failed = ok ? 0 : errno;
	if (fd >= 0 && close(fd) && ok) {
		ok = false;
		failed = errno;
	}
	if (ok && rename(temp, path)) {
		ok = false;
		failed = errno;
	}
	if (!ok) {
		if (fd >= 0)
			unlink(temp);
		err_set(err, ERR_IO, "%s: %s", path, strerror(failed));
		err_remedy(err, "nothing was written; choose a folder that is writable and has room");
	}
	free(temp);
	return ok;
}

bool file_looks_like_path(const char *s, const char *ext)
{
	const size_t n = strlen(s);
	const size_t e = strlen(ext);
	return strchr(s, '/') || (n > e && str_ieq(s + n - e, ext));
}
