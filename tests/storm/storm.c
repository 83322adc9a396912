/*
 * A storm of keys and sizes over the screen of the real program, in a terminal of our own.
 *
 *   storm KEYS RESIZES SEED PROGRAM [ARGUMENT...]
 *
 * Every key but those that leave. Every KEYS_A_STRIKE keys a launch is begun on the GPU's back
 * end, and a process that the program started, the back end's or the compiler's, is killed
 * meanwhile: the screen must go on. SAMPLES times the program is left in peace, and its memory
 * read: in the plain build, warmed up, it stays the same but for a quarter, and below MOST_KIB. At
 * the end the back end must answer once more, and q must end the program with status 0. Prints how
 * many there were of each.
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

/* Peace is longer than the program keeps memory for a next run. What it holds then is itself (10
 * MB), the reserve for an empty machine (4), libraries, and a session with all of its recordings.
 */
enum {
	SAMPLES = 20,
	WARM = SAMPLES / 4, /* samples before it has opened everything once */
	MOST_KIB = 40 * 1024,
	SLACK_KIB = 4096,
	PATIENCE_S = 120,
	PEACE_S = 4,
	CHILD_S = 10,  /* until a launch has its process, on a busy machine */
	ANSWER_S = 20, /* until it has its figures */
	KEYS_A_STRIKE = 250,
	CHILDREN = 16,
	LEAST_SCREEN = 1000 /* bytes */
};

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

/* Takes what comes, then waits for @ms below a second. */
static void rest_ms(int terminal, int ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000L };
	drain(terminal, 0);
	nanosleep(&time, NULL);
}

/* Takes what comes for @seconds and a little. */
static void rest(int terminal, int seconds)
{
	for (int i = 0; i < 10 * seconds; i++)
		rest_ms(terminal, 100);
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

/* Kilobytes that it holds now. */
static long memory_of(pid_t pid)
{
	char path[64], line[256];
	long kilobytes = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "VmRSS:", 6))
			kilobytes = strtol(line + 6, NULL, 10);
	if (f)
		fclose(f);
	return kilobytes;
}

/* The processes that it started, whichever of its threads did. */
static unsigned children_of(pid_t pid, pid_t child[CHILDREN])
{
	char path[300];
	unsigned n = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *threads = opendir(path);
	const struct dirent *e;
	while (threads && (e = readdir(threads))) {
		long number;
		snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, e->d_name);
		FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
		while (f && n < CHILDREN && fscanf(f, "%ld", &number) == 1)
			child[n++] = (pid_t)number;
		if (f)
			fclose(f);
	}
	if (threads)
		closedir(threads);
	return n;
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

/* --- what is done to it --- */

struct storm {
	pid_t pid;
	int terminal;
	unsigned strikes, kills;
	unsigned n_samples;
	long sample[SAMPLES + 1]; /* KiB */
};

static void type(int terminal, const char *text)
{
	put(terminal, text, strlen(text));
}

/* Closes what is open: one by one, for with what follows it would be Alt and a letter. */
static void close_all(int terminal)
{
	for (int i = 0; i < 4; i++) {
		type(terminal, "\033");
		drain(terminal, 60);
	}
}

/* A launch of some length, by the GPU's back end. */
static void launch_on_gpu(const struct storm *s)
{
	char line[80];
	close_all(s->terminal);
	snprintf(line, sizeof line, ":vec_add/per_element N=%u\r", 1000 + below(100000));
	type(s->terminal, line);
	drain(s->terminal, 60);
	type(s->terminal, "bcuda\r");
	drain(s->terminal, 20);
}

/* What it draws until it is silent for @silence milliseconds, or for five seconds, into @all; waits
 * for its begin at most a second. */
static size_t drawn(int terminal, unsigned char *all, size_t room, int silence)
{
	size_t n = 0;
	const time_t end = time(NULL) + 5;
	struct pollfd p = { .fd = terminal, .events = POLLIN };
	while (n < room && time(NULL) < end && poll(&p, 1, n ? silence : 1000) > 0) {
		const ssize_t got = read(terminal, all + n, room - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	return n;
}

/* All is drawn anew where the size is another: does it come, and is @word in it (NULL: whatever
 * is)? What was on its way before is taken first. A program that is late may see two changes as
 * none: then once more. */
static bool shows(const struct storm *s, const char *word)
{
	static unsigned char all[1 << 20];
	const int silence = word ? 500 : 50;
	const size_t enough = word ? sizeof all : LEAST_SCREEN;
	const struct winsize other = { .ws_row = 30, .ws_col = 90 },
						 size = { .ws_row = 40, .ws_col = 120 };
	const time_t end = time(NULL) + PATIENCE_S;
	do {
		ioctl(s->terminal, TIOCSWINSZ, &other);
		drawn(s->terminal, all, sizeof all, silence);
		ioctl(s->terminal, TIOCSWINSZ, &size);
		const size_t n = drawn(s->terminal, all, enough, silence);
		if (n >= LEAST_SCREEN)
			return !word || memmem(all, n, word, strlen(word));
	} while (time(NULL) < end);
	return false;
}

/* Kills a process of the program's while a launch is under way; every second time it goes on in the
 * emulator. False: the screen did not. */
static bool strike(struct storm *s)
{
	pid_t child[CHILDREN];
	unsigned n = 0;
	const time_t end = time(NULL) + CHILD_S;
	launch_on_gpu(s);
	while (!n && time(NULL) < end) {
		rest_ms(s->terminal, 10);
		n = children_of(s->pid, child);
	}
	drain(s->terminal, (int)below(100));
	n = children_of(s->pid, child);
	s->strikes++;
	s->kills += n && !kill(child[below(n)], SIGKILL);
	if (!shows(s, NULL))
		return false;
	if (s->strikes % 2)
		type(s->terminal, "bemu\r");
	return true;
}

static void sample(struct storm *s)
{
	close_all(s->terminal);
	type(s->terminal, "c");
	rest(s->terminal, PEACE_S);
	s->sample[s->n_samples++] = memory_of(s->pid);
}

/* Warmed up, it needs no more and no more. */
static bool is_flat(const struct storm *s)
{
	bool flat = true;
	printf("# MiB at rest:");
	for (unsigned i = 0; i < s->n_samples; i++) {
		const long warm = s->sample[WARM < s->n_samples ? WARM : 0];
		printf(" %ld", s->sample[i] / 1024);
		if (i > WARM && (s->sample[i] > warm + warm / 4 + SLACK_KIB || s->sample[i] > MOST_KIB))
			flat = false;
	}
	printf("\n");
	return flat;
}

/* Why it did not stand the storm; NULL = it did. */
static const char *blow(struct storm *s, long keys, long resizes, int *status)
{
	const long each = keys / SAMPLES + 1;
	long sizes = 0;
	for (long k = 0; k < keys; k++) {
		put_key(s->terminal);
		if (sizes * keys < k * resizes) {
			resize(s->terminal);
			sizes++;
		}
		if (k % 64 == 0)
			drain(s->terminal, 20);
		if (below(400) == 0) /* time enough to run what was chosen */
			drain(s->terminal, 400);
		if (k % KEYS_A_STRIKE == 0 && !strike(s))
			return "the screen does not go on when a process of the program's was killed";
		if (k % each == each - 1)
			sample(s);
		if (ended(s->pid, status))
			return "it ended";
	}
	sample(s);
	if (2 * s->kills < s->strikes)
		return "there was hardly a process to be killed";
	for (int tries = 0; tries < 3; tries++) {
		launch_on_gpu(s);
		for (const time_t end = time(NULL) + ANSWER_S; time(NULL) < end;) {
			rest(s->terminal, 2);
			if (shows(s, "cuda  \u25cf")) /* where it ran, and the mark of what was measured */
				return NULL;
		}
	}
	return "the back end does not work any more";
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
	struct storm s = { 0 };
	int status = 0;
	s.pid = forkpty(&s.terminal, NULL, NULL, &size);
	if (!s.pid) {
		setenv("TERM", "xterm-256color", 1);
		execv(argv[4], argv + 4);
		_exit(127);
	}
	drain(s.terminal, 5000);
	const char *why = blow(&s, keys, resizes, &status);
	const bool flat = is_flat(&s) || !memory_counts;
	if (why) {
		kill(s.pid, SIGKILL);
	} else if (!leave(s.pid, s.terminal, &status)) {
		kill(s.pid, SIGKILL);
		why = "it does not end";
	} else if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		why = "it ended badly";
	} else if (!flat) {
		why = "memory is not flat after the warm-up, or more than 40 MiB";
	}
	printf("%s storm: %ld keys, %ld sizes, %u of %u strikes killed a process%s%s; wait status "
	       "0x%x\n",
	       why ? "not ok" : "ok", keys, resizes, s.kills, s.strikes, why ? "; " : "",
	       why ? why : "", (unsigned)status);
	return why != NULL;
}
