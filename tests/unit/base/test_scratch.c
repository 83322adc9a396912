/* Folders for a moment: gone with what is in them, also when their program was killed. */
#define _GNU_SOURCE /* kill() */
#include "../unit.h"
#include "base/file.h"
#include "base/scratch.h"
#include "base/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool is_there(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0;
}

static void fill(const struct scratch *s)
{
	char path[600];
	assert_int_equal(mkdir(scratch_file(s, "inner", path, sizeof path), 0700), 0);
	assert_true(file_replace(scratch_file(s, "inner/a", path, sizeof path), "a", 1, NULL));
	assert_true(file_replace(scratch_file(s, ".b", path, sizeof path), "b", 1, NULL));
	assert_int_equal(symlink("/", scratch_file(s, "link", path, sizeof path)), 0);
}

TEST(a_folder_goes_with_what_is_in_it)
{
	struct scratch s = SCRATCH_NONE, other = SCRATCH_NONE;
	struct stat st;
	scratch_remove(&s); /* never made */
	assert_true(scratch_make(&s, NULL));
	assert_true(scratch_make(&other, NULL));
	assert_int_equal(stat(s.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	fill(&s);
	scratch_remove(&s);
	assert_false(is_there(s.path));
	assert_true(is_there(other.path));
	scratch_remove(&other);
}

/* A process that makes a folder, fills it, and waits to be killed. */
static pid_t maker(char *path, size_t n)
{
	int ends[2];
	struct scratch s = SCRATCH_NONE;
	assert_int_equal(pipe(ends), 0);
	const pid_t pid = fork();
	if (!pid) {
		if (!scratch_make(&s, NULL))
			_exit(1);
		fill(&s);
		if (write(ends[1], s.path, sizeof s.path) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], path, n), n);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

TEST(what_a_killed_program_left_is_swept)
{
	char path[sizeof((struct scratch *)0)->path];
	struct scratch mine = SCRATCH_NONE;
	assert_true(scratch_make(&mine, NULL));
	const pid_t pid = maker(path, sizeof path);
	scratch_sweep();
	assert_true(is_there(path)); /* in use */
	assert_true(is_there(mine.path));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(scratch_sweep() >= 1);
	assert_false(is_there(path));
	assert_true(is_there(mine.path));
	scratch_remove(&mine);
}

TEST(a_tool_ends_with_the_program_that_is_killed)
{
	struct scratch s = SCRATCH_NONE;
	char path[600], script[2000], number[32] = "";
	assert_true(scratch_make(&s, NULL));
	scratch_file(&s, "pid", path, sizeof path);
	snprintf(script, sizeof script, "sleep 1000 & echo $! >%s.new; mv %s.new %s; wait", path, path,
	         path);
	const pid_t pid = fork();
	if (!pid) {
		const char *const argv[] = { "sh", "-c", script, NULL };
		const struct tool_request req = {
			.path = "/bin/sh", .argv = argv, .fd = -1, .limit_s = 600, .max_bytes = 100
		};
		struct text out = { 0 };
		tool_run(&req, &out, NULL);
		_exit(1);
	}
	const struct timespec moment = { .tv_nsec = 5000000 };
	struct text said = { 0 };
	while (!file_read(path, sizeof number, &said, NULL))
		nanosleep(&moment, NULL);
	const pid_t sleeper = (pid_t)strtol(said.s, NULL, 10);
	text_free(&said);
	assert_int_equal(kill(sleeper, 0), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	while (!kill(sleeper, 0)) /* else the test runs into its limit */
		nanosleep(&moment, NULL);
	assert_int_equal(errno, ESRCH);
	scratch_remove(&s);
}
