/* Errors as values, memory that is there or ends the program, built-in files, whole files. */
#include "../unit.h"
#include "base/asset.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(errors_collect_context)
{
	struct err err = { 0 };
	assert_false(err_set(&err, ERR_PARSE, "line %d", 7));
	assert_false(err_remedy(&err, "try %s", "again"));
	assert_false(err_prefix(&err, "file.yaml: "));
	assert_int_equal(err.code, ERR_PARSE);
	assert_string_equal(err.msg, "file.yaml: line 7");
	assert_string_equal(err.remedy, "try again");
	err_set(&err, ERR_IO, "new");
	assert_string_equal(err.remedy, ""); /* the old remedy does not speak of the new error */
	err_clear(&err);
	assert_int_equal(err.code, ERR_NONE);
	assert_string_equal(err.msg, "");
	assert_false(err_set(NULL, ERR_IO, "nobody listens"));
	assert_false(err_prefix(NULL, "x"));
	assert_false(err_remedy(NULL, "x"));
}

TEST(a_long_message_is_cut_not_overrun)
{
	struct err err = { 0 };
	const size_t len = sizeof err.msg + 1000;
	char *lengthy = test_malloc(len + 1);
	memset(lengthy, 'm', len);
	lengthy[len] = '\0';
	err_set(&err, ERR_COMPILE, "%s", lengthy);
	assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
	err_prefix(&err, "front: ");
	assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
	assert_memory_equal(err.msg, "front: mmm", 10);
	err_prefix(&err, "%s", lengthy);
	assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
	test_free(lengthy);
}

TEST(every_code_has_a_name_and_a_status)
{
	for (int c = ERR_NONE; c <= ERR_INTERNAL; c++) {
		assert_true(err_code_name((enum err_code)c)[0] != '?');
		assert_in_range(err_exit_status((enum err_code)c), c == ERR_NONE ? 0 : 1, 3);
	}
	assert_int_equal(err_exit_status(ERR_USAGE), 2);
	assert_int_equal(err_exit_status(ERR_UNAVAILABLE), 3);
	assert_int_equal(err_exit_status(ERR_FAULT), 1);
}

TEST(memory_is_what_it_says)
{
	unsigned char *z = mem_calloc(10, 10);
	for (int i = 0; i < 100; i++)
		assert_int_equal(z[i], 0);
	z = mem_realloc(z, 1000, 2);
	assert_int_equal(z[99], 0);
	free(z);
	char *a = mem_aligned(64, 100);
	assert_int_equal((uintptr_t)a % 64, 0);
	assert_int_equal(a[99], 0);
	free(a);
	char *s = mem_strndup("truncated", 5);
	assert_string_equal(s, "trunc");
	free(s);
	s = mem_printf("%d-%s", 7, "x");
	assert_string_equal(s, "7-x");
	free(s);
	void *nothing = mem_alloc(0);
	assert_non_null(nothing);
	free(nothing);
}

static int failure_pipe;

static void restored(void)
{
	if (write(failure_pipe, "r", 1) != 1)
		_exit(9);
}

/* In a child: an impossible size calls the hook, then ends the program with status 3. */
TEST(an_impossible_size_ends_the_program)
{
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(8);
		failure_pipe = fds[1];
		mem_on_failure(restored);
		free(mem_calloc(SIZE_MAX / 2, 16));
		_exit(0);
	}
	int status;
	char c = 0;
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_int_equal(read(fds[0], &c, 1), 1);
	assert_int_equal(c, 'r');
	close(fds[0]);
}

TEST(assets_are_the_files)
{
	assert_true(asset_count() > 0);
	for (size_t i = 0; i < asset_count(); i++) {
		const struct asset *a = asset_at(i);
		assert_int_equal(strlen(a->data), a->len);
		assert_ptr_equal(asset_find(a->path), a);
		if (i)
			assert_true(strcmp(asset_at(i - 1)->path, a->path) < 0);
		struct text file = { 0 };
		struct err err = { 0 };
		if (!file_read(a->path, 1 << 24, &file, &err)) /* tests run at the top of the tree */
			fail_msg("%s", err.msg);
		assert_int_equal(file.len, a->len);
		assert_memory_equal(file.s, a->data, a->len);
		text_free(&file);
	}
	assert_null(asset_find("kernels/none.cu"));
}

TEST(asset_names_come_from_one_folder)
{
	char name[32];
	struct asset a = { .path = "presets/gpus/a100.yaml" };
	assert_true(asset_in(&a, "presets/gpus", ".yaml", name, sizeof name));
	assert_string_equal(name, "a100");
	assert_false(asset_in(&a, "presets", ".yaml", name, sizeof name));
	assert_false(asset_in(&a, "presets/gpu", ".yaml", name, sizeof name));
	assert_false(asset_in(&a, "presets/gpus", ".cu", name, sizeof name));
}

TEST(files_are_replaced_whole)
{
	char dir[] = "/tmp/pmpp-base-XXXXXX";
	char path[64];
	struct text t = { 0 };
	struct err err = { 0 };
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/f", dir);
	assert_false(file_read(path, 100, &t, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_non_null(strstr(err.msg, path));
	assert_true(file_replace(path, "one", 3, &err));
	assert_true(file_replace(path, "second", 6, &err));
	assert_true(file_read(path, 6, &t, &err));
	assert_string_equal(t.s, "second");
	text_free(&t);
	assert_false(file_read(path, 5, &t, &err));
	assert_int_equal(err.code, ERR_PARSE);
	text_free(&t);
	assert_int_equal(unlink(path), 0);
	assert_false(file_replace("/nonexistent-folder/f", "x", 1, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_int_equal(rmdir(dir), 0); /* fails when a temporary file was left */
}

TEST(a_folder_is_made_with_what_leads_to_it)
{
	char dir[] = "/tmp/pmpp-base-XXXXXX";
	char path[64];
	struct err err = { 0 };
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/a/b", dir);
	assert_true(folder_make(path));
	assert_true(folder_make(path));
	assert_int_equal(rmdir(path), 0);
	assert_true(file_replace(path, "", 0, &err));
	assert_false(folder_make(path)); /* a file stands there */
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof path, "%s/a", dir);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

TEST(a_path_is_told_from_a_name)
{
	assert_true(file_looks_like_path("./h200", ".yaml"));
	assert_true(file_looks_like_path("mine.YAML", ".yaml"));
	assert_false(file_looks_like_path("h200", ".yaml"));
	assert_false(file_looks_like_path("yaml", ".yaml"));
}

/* The copy itself sets the flag that ends it. */
TEST(a_copy_stops)
{
	const size_t bytes = (size_t)40 << 20;
	char *from = mem_alloc(bytes), *to = mem_zalloc(bytes);
	memset(from, 1, bytes);
	atomic_bool *stop = (atomic_bool *)(void *)to;
	assert_false(mem_copy_until(to, from, bytes, stop));
	assert_int_equal(to[1], 1);
	assert_int_equal(to[bytes - 1], 0);
	assert_true(mem_copy_until(to, from, bytes, NULL));
	assert_memory_equal(to, from, bytes);
	assert_false(mem_copy_until(to, from, bytes, stop));
	assert_true(mem_copy_until(to, from, 0, stop));
	free(from);
	free(to);
}
