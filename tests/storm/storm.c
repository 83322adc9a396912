/*
 * A storm of keys and sizes over the screen of the real program, in a terminal of our own.
 *
 *   storm KEYS RESIZES SEED PROGRAM [ARGUMENT...]
 *
 * Every key but those that leave; now and then a process that the program started is killed. At the
 * end q: the program must end with status 0, and must not have ended before. Prints how many
 * there were of each, and the program's memory half way and at the end: in the plain build it is
 * the same, but for a quarter.
 */
#define _GNU_SOURCE /* forkpty() */
#include <dirent.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES = 20, PATIENCE_S = 120, SLACK_KIB = 4096 };

/* A sanitizer keeps what was freed for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif
static const bool memory_counts = !SANITIZED;

static uint64_t state;

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((state >> 33) % n);
}

/* Takes what the program draws; waits for some of it at most @ms. */
static size_t drain(int terminal, int ms)
{
	char bytes[65536];
	size_t all = 0;
	struct pollfd p = { .fd = terminal, .events = POLLIN };
	while (poll(&p, 1, all ? 0 : ms) > 0) {
		const ssize_t n = read(terminal, bytes, sizeof bytes);
		if (n <= 0)
			break;
		all += (size_t)n;
	}
	return all;
}

/* Takes what comes for @seconds and a little. */
static void rest(int terminal, int seconds)
{
	for (int i = 0; i < 10 * seconds; i++) {
		const struct timespec tenth = { .tv_nsec = 100000000 };
		drain(terminal, 0);
		nanosleep(&tenth, NULL);
	}
	drain(terminal, 0);
}

static void put(int terminal, const char *bytes, size_t n)
{
	while (n) {
		struct pollfd p = { .fd = terminal, .events = POLLIN | POLLOUT };
		poll(&p, 1, 1000);
		if (p.revents & POLLIN)
			drain(terminal, 0);
		if (p.revents & (POLLHUP | POLLERR))
			return;
		if (!(p.revents & POLLOUT))
			continue;
		const ssize_t done = write(terminal, bytes, n);
		if (done <= 0)
			return;
		bytes += done;
		n -= (size_t)done;
	}
}

static void put_key(int terminal)
{
	static const char *const named[] = { "\033[A",   "\033[B",   "\033[C", "\033[D", "\033[5~",
		                                 "\033[6~",  "\033[H",   "\033[F", "\t",     "\033[Z",
		                                 "\r",       "\033",     "\177",   "\033OP", "\033[3~",
		                                 "\xc3\xa4", "\033[1;5C" };
	if (below(4) == 0) {
		const char *key = named[below(sizeof named / sizeof *named)];
		put(terminal, key, strlen(key));
		return;
	}
	char key = (char)(' ' + below(95));
	while (key == 'q' || key == 'Q')
		key = (char)(' ' + below(95));
	put(terminal, &key, 1);
}

static void resize(int terminal)
{
	const struct winsize size = { .ws_row = (unsigned short)(1 + below(below(4) ? 60 : 200)),
		                          .ws_col = (unsigned short)(1 + below(below(4) ? 160 : 500)) };
	ioctl(terminal, TIOCSWINSZ, &size);
}

/* Kilobytes that it holds now, without pages of files. */
static long memory_of(pid_t pid)
{
	char path[64], line[256];
	long kilobytes = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "RssAnon:", 8))
			kilobytes = strtol(line + 8, NULL, 10);
	if (f)
		fclose(f);
	return kilobytes;
}

/* Kills one of the processes that it started, whichever of its threads did; 0 = there is none. */
static unsigned kill_a_child(pid_t pid)
{
	char path[100];
	long child = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *threads = opendir(path);
	const struct dirent *e;
	while (threads && child <= 1 && (e = readdir(threads))) {
		snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, e->d_name);
		FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (f && fscanf(f, "%ld", &child) != 1)
			child = 0;
		if (f)
			fclose(f);
	}
	if (threads)
		closedir(threads);
	return child > 1 && !kill((pid_t)child, SIGKILL);
}

static bool ended(pid_t pid, int *status)
{
	return waitpid(pid, status, WNOHANG) == pid;
}

/* Leaves the program by its own key. False: it does not go. */
static bool leave(pid_t pid, int terminal, int *status)
{
	const time_t end = time(NULL) + PATIENCE_S;
	const struct winsize size = { .ws_row = 40, .ws_col = 120 };
	ioctl(terminal, TIOCSWINSZ, &size);
	while (time(NULL) < end) {
		/* apart: together they are Alt-q; twice: it asks where runs would be lost */
		put(terminal, "\033", 1);
		rest(terminal, 1);
		put(terminal, "qq", 2);
		rest(terminal, 1);
		if (ended(pid, status))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: %s KEYS RESIZES SEED PROGRAM [ARGUMENT...]\n", argv[0]);
		return 2;
	}
	const long keys = strtol(argv[1], NULL, 10), resizes = strtol(argv[2], NULL, 10);
	state = strtoull(argv[3], NULL, 10);
	const struct winsize size = { .ws_row = 40, .ws_col = 120 };
	int terminal, status = 0;
	const pid_t pid = forkpty(&terminal, NULL, NULL, &size);
	if (!pid) {
		setenv("TERM", "xterm-256color", 1);
		execv(argv[4], argv + 4);
		_exit(127);
	}
	drain(terminal, 5000);
	long sizes = 0, half = 0, now = 0, most = 0;
	unsigned kills = 0;
	for (long k = 0; k < keys; k++) {
		put_key(terminal);
		if (sizes * keys < k * resizes) {
			resize(terminal);
			sizes++;
		}
		if (k % 64 == 0)
			drain(terminal, 20);
		if (below(400) == 0) /* time enough to run what was chosen */
			drain(terminal, 400);
		if (below(500) == 0)
			kills += kill_a_child(pid);
		if (k % (keys / SAMPLES + 1) == 0) {
			now = memory_of(pid);
			fprintf(stderr, "# %ld keys, %ld KiB\n", k, now);
		}
		if (k == keys / 2)
			half = memory_of(pid);
		most = now > most ? now : most;
		if (ended(pid, &status)) {
			printf("not ok storm: it ended after %ld keys, wait status 0x%x\n", k,
			       (unsigned)status);
			return 1;
		}
	}
	now = memory_of(pid);
	if (!leave(pid, terminal, &status)) {
		kill(pid, SIGKILL);
		printf("not ok storm: it does not end\n");
		return 1;
	}
	const bool flat = !memory_counts || now <= half + half / 4 + SLACK_KIB;
	const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && flat;
	printf("%s storm: %ld keys, %ld sizes, %u processes killed; %ld KiB half way, %ld at the end, "
	       "%ld at most; wait status 0x%x\n",
	       good ? "ok" : "not ok", keys, sizes, kills, half, now, most, (unsigned)status);
	return !good;
}
