/* Files of a session are read and written beside the screen, and what came of it is told. */
#include "lab_wait.h"

#include "lab/lab.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/pmpp-lab-files-XXXXXX";

static void *at(const char *name, char *path, size_t n)
{
	snprintf(path, n, "%s/%s", folder, name);
	return path;
}

/* Polls as the screen does until something is said. */
static void told(struct lab *a, char *said, size_t n, bool *bad)
{
	struct pollfd fd = { .fd = lab_wake_fd(a), .events = POLLIN };
	while (!lab_said(a, said, n, bad)) {
		if (poll(&fd, 1, PATIENCE_MS) != 1)
			fail_msg("nothing is said");
		lab_poll(a);
	}
}

/* A pipe that nobody empties is as slow as any disk. */
TEST(a_slow_disk_holds_up_nobody)
{
	static char all[1 << 20], text[sizeof all];
	char path[300], said[700];
	struct err err = { 0 };
	bool bad = true;
	struct lab *a = settled_lab();
	assert_int_equal(mkfifo(at("slow", path, sizeof path), 0600), 0);
	const int reader = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	assert_true(reader >= 0);
	memset(all, 'x', sizeof all - 1);
	assert_true(lab_write(a, path, strdup(all), "it is there", &err));
	assert_false(lab_write(a, path, strdup("more"), "", &err));
	assert_non_null(strstr(err.msg, "still being written"));
	lab_rerun(a); /* the lab goes on meanwhile */
	wait_for(a, settled);
	assert_int_equal(lab_session(a)->state, RUN_DONE);
	assert_false(lab_said(a, said, sizeof said, &bad));
	assert_int_equal(fcntl(reader, F_SETFL, O_RDONLY), 0);
	size_t got = 0;
	/* 0 also where the writer has not come yet */
	for (int turns = 0; got < sizeof all - 1 && turns < 10000; turns++) {
		const ssize_t n = read(reader, text + got, sizeof text - 1 - got);
		got += n > 0 ? (size_t)n : 0;
		if (n <= 0)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	assert_int_equal(got, sizeof all - 1);
	assert_string_equal(text, all);
	close(reader);
	told(a, said, sizeof said, &bad);
	assert_string_equal(said, "it is there");
	assert_false(bad);
	assert_true(lab_written(a, &err));
	lab_free(a);
}

TEST(a_full_or_missing_disk_is_told)
{
	char path[300], said[700];
	struct err err = { 0 };
	bool bad = false;
	struct lab *a = settled_lab();
	assert_true(lab_write(a, at("none/x", path, sizeof path), strdup("x"), "written", &err));
	told(a, said, sizeof said, &bad);
	assert_true(bad);
	assert_non_null(strstr(said, "No such file"));
	/* nobody is there to be told: quitting waits, and fails */
	assert_true(lab_write(a, "/dev/full", strdup("x"), "written", &err));
	assert_false(lab_written(a, &err));
	assert_non_null(strstr(err.msg, "/dev/full"));
	lab_free(a);
}

TEST(a_session_comes_back)
{
	char name[256], where[300], path[700];
	struct err err = { 0 };
	struct lab *a = settled_lab();
	assert_non_null(getcwd(where, sizeof where));
	assert_int_equal(chdir(folder), 0);
	const bool begun = lab_export(a, name, sizeof name, &err);
	assert_true(begun && lab_written(a, &err));
	assert_int_equal(chdir(where), 0);
	lab_free(a);
	struct lab *b = open_lab("a100", "emu");
	at(name, path, sizeof path);
	lab_open(b, path);
	assert_string_equal(lab_session(b)->opening, path);
	while (!lab_opened(b, 1, &err))
		;
	assert_int_equal(err.code, ERR_NONE);
	assert_null(lab_session(b)->opening);
	assert_string_equal(lab_session(b)->opened, path);
	assert_int_equal(lab_session(b)->state, RUN_DONE);
	assert_non_null(strstr(lab_note(b), "its digest holds"));
	lab_free(b);
}

/* A signature is checked by ssh-keygen; this one takes its time. */
static void slow_signature(const char *snapshot)
{
	char path[700], script[300];
	snprintf(path, sizeof path, "%s.sig", snapshot);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	fclose(f);
	f = fopen(at("ssh-keygen", script, sizeof script), "we");
	assert_non_null(f);
	fputs("#!/bin/sh\nexec sleep 60\n", f);
	fclose(f);
	assert_int_equal(chmod(script, 0700), 0);
	snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
	setenv("PATH", path, 1);
}

TEST(a_slow_snapshot_is_left_or_outlived)
{
	char path[300];
	struct err err = { 0 };
	fake_reset();
	FILE *f = fopen(at("slow.json", path, sizeof path), "we");
	assert_non_null(f);
	fputs("{}", f);
	fclose(f);
	char *const old = strdup(getenv("PATH"));
	slow_signature(path);
	struct lab *a = open_lab("a100", "emu");
	lab_open(a, path);
	assert_false(lab_opened(a, 0.2, &err));
	assert_int_equal(lab_session(a)->state, RUN_RUNNING);
	lab_cancel(a);
	wait_for(a, settled);
	assert_int_equal(lab_session(a)->state, RUN_FAILED);
	assert_non_null(strstr(lab_session(a)->run_err.msg, "was not opened: cancelled"));
	assert_true(lab_opened(a, 0, &err)); /* which is no failure of the program */
	assert_int_equal(err.code, ERR_NONE);
	lab_open(a, path); /* a run takes its place */
	lab_start(a);
	wait_for(a, has_record);
	wait_for(a, settled);
	assert_int_equal(lab_session(a)->state, RUN_DONE);
	lab_open(a, path); /* and the end of the program as well */
	assert_true(lab_free(a));
	setenv("PATH", old, 1);
	free(old);
}

TEST(what_is_no_snapshot_is_told)
{
	char path[300];
	struct err err = { 0 };
	struct lab *a = open_lab("a100", "emu");
	assert_int_equal(mkfifo(at("pipe", path, sizeof path), 0600), 0);
	lab_open(a, path);
	while (!lab_opened(a, 1, &err))
		;
	assert_int_equal(err.code, ERR_IO);
	assert_non_null(strstr(err.msg, "is a pipe or a device"));
	assert_int_equal(lab_session(a)->state, RUN_FAILED);
	lab_free(a);
}

static int make_folder(void **state)
{
	return own_cache(state) || !mkdtemp(folder);
}

static int drop_folder(void **state)
{
	char command[400];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command) || drop_cache(state); // NOLINT: a folder of ours
}

int main(void)
{
	return unit_run(make_folder, drop_folder);
}
