/*
 * How fast the program answers a person: starts it on a pseudo-terminal of 80 x 24, waits for the
 * first frame, then presses keys while a kernel runs and waits for each repaint. And what it costs:
 * processor time of a key, and of waiting; memory after very many keys.
 *
 * tty_bench PROGRAM [KEYS]   prints the figures. Measures; judges nothing.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEYS_MAX 400

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Time at which output first came, then reads until it has been quiet for @quiet_ms. 0 = nothing
 * within @limit_ms. */
static double answer(int fd, int quiet_ms, int limit_ms)
{
	char buf[65536];
	double first = 0;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	while (poll(&p, 1, first > 0 ? quiet_ms : limit_ms) > 0) {
		const ssize_t n = read(fd, buf, sizeof buf);
		if (n <= 0)
			break;
		if (!(first > 0))
			first = now_ms();
	}
	return first;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The program on a terminal of its own; -1 = not possible. */
static pid_t begin(const char *program, const char *kernel, const char *size_word, int *fd)
{
	const struct winsize size = { .ws_row = 24, .ws_col = 80 };
	const pid_t pid = forkpty(fd, NULL, NULL, &size);
	if (!pid) {
		setenv("TERM", "xterm-256color", 1);
		execl(program, program, kernel, size_word, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void end(pid_t pid, int fd)
{
	int status;
	kill(pid, SIGTERM);
	while (answer(fd, 5, 50) > 0)
		;
	waitpid(pid, &status, 0);
	close(fd);
}

/* While a kernel runs: parameter values change back and forth, so that every key plans, draws, and
 * orders a run. False: nothing was answered. */
static bool key_to_repaint(const char *program, int keys)
{
	double took[KEYS_MAX];
	int fd, n = 0;
	const double start = now_ms();
	const pid_t pid = begin(program, "sgemm/naive", "M=1024", &fd);
	if (pid < 0)
		return false;
	printf("first frame        %6.1f ms\n", answer(fd, 5, 10000) - start);
	for (int i = 0; i < keys; i++) {
		const char key = i % 2 ? '-' : '+';
		const double pressed = now_ms();
		if (write(fd, &key, 1) != 1)
			break;
		const double came = answer(fd, 3, 1000);
		if (came > 0)
			took[n++] = came - pressed;
		usleep(20000);
	}
	end(pid, fd);
	if (!n)
		return false;
	qsort(took, (size_t)n, sizeof *took, by_value);
	printf("key to repaint     %6.2f ms median, %.2f ms p99, %.2f ms worst of %d, while a kernel "
	       "runs\n",
	       took[n / 2], took[(n - 1) * 99 / 100], took[n - 1], n);
	return true;
}

/* Processor time of @pid so far, in ms. */
static double processor_ms(pid_t pid)
{
	char path[64], line[1024] = "";
	unsigned long user = 0, system = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "r");
	const char *after = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
	if (after)
		sscanf(after, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
	if (f)
		fclose(f);
	return 1e3 * (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double resident_mb(pid_t pid)
{
	char path[64], line[256];
	double kb = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "VmRSS:", 6))
			kb = atof(line + 6);
	if (f)
		fclose(f);
	return kb / 1024;
}

/* Writes keys as fast as they are taken, and reads what comes. */
static void flood(int fd, long keys)
{
	static const char cycle[] = "1j2j3j\r4j\r5j6j7jj8j9kk0k\t?\033ok";
	char buf[65536];
	struct pollfd p = { .fd = fd };
	for (long sent = 0; sent < keys;) {
		p.events = POLLIN | POLLOUT;
		if (poll(&p, 1, 5000) <= 0)
			return;
		if ((p.revents & POLLIN) && read(fd, buf, sizeof buf) <= 0)
			return;
		if ((p.revents & POLLOUT) && write(fd, &cycle[sent % (long)(sizeof cycle - 1)], 1) == 1)
			sent++;
	}
	answer(fd, 300, 5000);
}

static bool what_it_costs(const char *program)
{
	const long keys = 100000;
	int fd;
	const pid_t pid = begin(program, "vec_add/per_element", "N=65536", &fd);
	if (pid < 0)
		return false;
	answer(fd, 1000, 10000);
	const double before = processor_ms(pid), mb = resident_mb(pid);
	flood(fd, keys);
	const double after = processor_ms(pid);
	printf("a key, processor   %6.3f ms, mean of %ld over every panel\n",
	       (after - before) / (double)keys, keys);
	printf("memory             %6.1f MB resident before them, %.1f MB after\n", mb,
	       resident_mb(pid));
	const double idle = processor_ms(pid);
	sleep(5);
	printf("idle               %6.2f %% of a core\n", (processor_ms(pid) - idle) / 50);
	end(pid, fd);
	return mb > 0 && after > before;
}

int main(int argc, char **argv)
{
	const int keys = argc > 2 ? atoi(argv[2]) : 60;
	if (argc < 2 || keys < 1 || keys > KEYS_MAX)
		return 2;
	if (key_to_repaint(argv[1], keys) && what_it_costs(argv[1]))
		return 0;
	puts("no key was answered");
	return 1;
}
