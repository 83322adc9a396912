/* The cache's folders that nobody has used for long; see store_folders.h. */
#include "compile/store_folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static DIR *open_folder(int within, const char *name)
{
	const int fd = openat(within, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* With all that is in it. */
static void remove_folder(int within, const char *name)
{
	DIR *dir = open_folder(within, name);
	if (!dir)
		return;
	for (struct dirent *d; (d = readdir(dir));)
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
		    unlinkat(dirfd(dir), d->d_name, 0))
			remove_folder(dirfd(dir), d->d_name);
	closedir(dir);
	unlinkat(within, name, AT_REMOVEDIR);
}

void store_trim_folders(const char *path, const char *begin, time_t used_since)
{
	DIR *dir = open_folder(AT_FDCWD, path);
	if (!dir)
		return;
	for (struct dirent *d; (d = readdir(dir));) {
		struct stat st;
		if (d->d_name[0] != '.' && !strncmp(d->d_name, begin, strlen(begin)) &&
		    !fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode) &&
		    st.st_mtime < used_since)
			remove_folder(dirfd(dir), d->d_name);
	}
	closedir(dir);
}
