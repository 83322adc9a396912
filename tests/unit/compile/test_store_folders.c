/* Folders of the cache that nobody uses any more (compile/store_folders.h). */
#include "scratch.h"

#include "compile/module_store.h"

#include <fcntl.h>
#include <time.h>

/* Folders say by their time when they were used last: a month ago is too long, whether they hold a
 * built program or what it loads; being asked for makes them as new. */
TEST(trimming_removes_folders_of_long_ago)
{
	static const char *const folders[] = { "programs", "programs/old", "programs/used",
		                                   "runtime-old", "runtime-new" };
	static const bool stays[] = { true, false, true, false, true };
	char path[5][1024], file[1100];
	for (unsigned i = 0; i < 5; i++) {
		assert_true(store_folder(folders[i], path[i], sizeof path[i]));
		char name[32];
		snprintf(name, sizeof name, "%s/include", folders[i]);
		assert_true(store_folder(name, file, sizeof file));
		snprintf(name, sizeof name, "%s/include/x.h", folders[i]);
		store_keep(name, "x", 1, file, sizeof file);
		assert_true(file[0]);
	}
	const time_t old = time(NULL) - 31 * 24 * 3600;
	for (unsigned i = 0; i < 4; i++) {
		const struct timespec times[2] = { { old, 0 }, { old, 0 } };
		assert_int_equal(utimensat(AT_FDCWD, path[i], times, 0), 0);
	}
	assert_true(store_folder(folders[2], path[2], sizeof path[2]));
	store_trim(1 << 20);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(!access(path[i], F_OK), stays[i]);
}

int main(void)
{
	return unit_run(scratch_begin, scratch_end);
}
