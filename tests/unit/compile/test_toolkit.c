/* Finding CUDA: a pretended toolkit in CUDA_HOME wins, and a failure names every place. */
#include "compile/compile.h"
#include "scratch.h"

#include <dlfcn.h>

static int begin(void **state)
{
	char path[512];
	if (scratch_begin(state))
		return -1;
	snprintf(path, sizeof path, "%s/include", scratch_dir);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/include/cuda.h", scratch_dir);
	fclose(fopen(path, "w"));
	snprintf(path, sizeof path, "%s/lib64", scratch_dir);
	mkdir(path, 0700);
	/* a library under another name: any will do */
	void *libm = dlopen("libm.so.6", RTLD_NOW);
	char target[512] = "";
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];
	while (maps && fgets(line, sizeof line, maps)) {
		char *at = strstr(line, "/libm.so.6");
		char *start = strchr(line, '/');
		if (at && start)
			snprintf(target, sizeof target, "%.*s", (int)strcspn(start, "\n"), start);
	}
	if (maps)
		fclose(maps);
	snprintf(path, sizeof path, "%s/lib64/libpretend.so.13", scratch_dir);
	if (!libm || symlink(target, path))
		return -1;
	snprintf(path, sizeof path, "%s/lib64/libbroken.so", scratch_dir);
	FILE *f = fopen(path, "w");
	fputs("not a library", f);
	fclose(f);
	return setenv("CUDA_HOME", scratch_dir, 1);
}

TEST(home_is_cuda_home)
{
	assert_string_equal(cuda_home(), scratch_dir);
}

TEST(opens_the_first_version_there_is)
{
	static const char *const versions[] = { "14", "13", "12", NULL };
	char path[512] = "";
	struct err err = { 0 };
	void *handle = cuda_dlopen("pretend", versions, path, sizeof path, &err);
	if (!handle)
		fail_msg("%s", err.msg);
	assert_non_null(dlsym(handle, "cos"));
	assert_non_null(strchr(path, '/'));
	dlclose(handle);
}

TEST(failure_names_the_places)
{
	static const char *const versions[] = { "7", "6", NULL };
	struct err err = { 0 };
	assert_null(cuda_dlopen("absent", versions, NULL, 0, &err));
	assert_int_equal(err.code, ERR_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "libabsent"));
	assert_non_null(strstr(err.msg, "libabsent.so.7"));
	assert_non_null(strstr(err.msg, "libabsent.so.6"));
	assert_non_null(strstr(err.msg, scratch_dir));
	assert_null(cuda_dlopen("absent", versions, NULL, 0, NULL));
}

TEST(a_broken_library_is_named_with_the_loaders_words)
{
	static const char *const versions[] = { "", NULL };
	struct err err = { 0 };
	assert_null(cuda_dlopen("broken", versions, NULL, 0, &err));
	assert_non_null(strstr(err.msg, "lib64/libbroken.so: "));
}

int main(void)
{
	return unit_run(begin, scratch_end);
}
