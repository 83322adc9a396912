/* Places the emulated runtime; see guest_library.h. */
#include "runtime/guest_library.h"

#include "base/file.h"
#include "compile/module_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linked into the program by make; absent from tests. */
extern const char asset_guest[] __attribute__((weak));
extern const char asset_guest_end[] __attribute__((weak));

bool guest_library_place(char *folder, size_t n, struct err *err)
{
	const char *start = asset_guest;
	if (!start)
		return err_set(err, ERR_INTERNAL, "this build holds no emulated CUDA runtime");
	const size_t bytes = (size_t)((uintptr_t)asset_guest_end - (uintptr_t)asset_guest);
	char cache[4096], path[4200];
	store_dir(cache, sizeof cache);
	if (!cache[0]) {
		char note[512];
		store_note(note, sizeof note);
		return err_set(err, ERR_IO, "programs need the cache folder: %s", note);
	}
	const uint64_t hash = hash_bytes(HASH_SEED, start, bytes);
	snprintf(folder, n, "%s/runtime-%016" PRIx64, cache, hash);
	if (!folder_make(cache) || !folder_make(folder))
		return err_set(err, ERR_IO, "%s: %s", folder, strerror(errno));
	snprintf(path, sizeof path, "%s/" GUEST_LIBRARY, folder);
	struct stat st;
	if ((stat(path, &st) != 0 || (size_t)st.st_size != bytes) &&
	    !file_replace(path, start, bytes, err))
		return false;
	/* older runtimes, the driver, and what -lcuda looks for */
	static const char *const others[] = { "libcudart.so.12", "libcudart.so.11.0", "libcuda.so.1",
		                                  "libcuda.so" };
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		snprintf(path, sizeof path, "%s/%s", folder, others[i]);
		if (symlink(GUEST_LIBRARY, path) != 0 && errno != EEXIST)
			return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	}
	return true;
}
