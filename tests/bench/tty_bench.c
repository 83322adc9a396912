/*
 * How fast the program answers a person: starts it on a pseudo-terminal of 80 x 24, waits for the
 * first frame, then presses keys while a kernel runs and waits for each repaint; turns the wheel
 * and drags the curve of block sizes in the same way. And what it costs: processor time of a key,
 * and of waiting; memory after very many keys.
 *
 * tty_bench PROGRAM [KEYS]   prints the figures. Measures; judges nothing.
 */
#define _GNU_SOURCE /* memmem */
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

static bool sgr; /* the program asked for the mouse's reports of mode 1006 */

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
		sgr = sgr || memmem(buf, (size_t)n, "1006", 4);
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

/* "wheel to repaint   1.20 ms median ..." of @n times, which are sorted. */
static bool print_times(const char *what, double *took, int n, const char *when)
{
	if (!n)
		return false;
	qsort(took, (size_t)n, sizeof *took, by_value);
	printf("%-18s %6.2f ms median, %.2f ms p99, %.2f ms worst of %d%s\n", what, took[n / 2],
	       took[(n - 1) * 99 / 100], took[n - 1], n, when);
	return true;
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
	return print_times("key to repaint", took, n, ", while a kernel runs");
}

/* --- the mouse --- */

enum { DRAG = 32, WHEEL_UP = 64, WHEEL_DOWN = 65 };

/* What a terminal reports of @button at row, col, counted from 1. False: it cannot be written. */
static bool report(int fd, int button, int row, int col, bool let_go)
{
	char text[40];
	if (sgr)
		snprintf(text, sizeof text, "\033[<%d;%d;%d%c", button, col, row, let_go ? 'm' : 'M');
	else
		snprintf(text, sizeof text, "\033[M%c%c%c", 32 + (let_go ? 3 : button), 32 + col, 32 + row);
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* Places of the curve of block sizes on the panel of vec_add. */
enum { PARAM_ROW = 3, PARAM_COL = 20, CURVE_ROW = 19, CURVE_COL = 18, CURVE_STEP = 4, SIZES = 15 };

static int curve_col(int i)
{
	const int at = i % (2 * SIZES); /* there and back */
	return CURVE_COL + CURVE_STEP * (at < SIZES ? at : 2 * SIZES - at);
}

/* The wheel over a parameter and the pointer dragged over the curve: every report chooses another
 * block size, which is planned, drawn and run. Then a drag as quick as it can be reported. */
static bool mouse_to_repaint(const char *program, int reports)
{
	double wheel[KEYS_MAX], drag[KEYS_MAX];
	int fd, n = 0, m = 0;
	const pid_t pid = begin(program, "vec_add/per_element", "N=262144", &fd);
	if (pid < 0)
		return false;
	answer(fd, 1000, 10000);
	for (int i = 0; i < reports; i++) {
		const double turned = now_ms();
		if (!report(fd, i % 2 ? WHEEL_DOWN : WHEEL_UP, PARAM_ROW, PARAM_COL, false))
			break;
		const double came = answer(fd, 3, 1000);
		if (came > 0)
			wheel[n++] = came - turned;
		usleep(20000);
	}
	report(fd, 0, CURVE_ROW, curve_col(0), false);
	answer(fd, 20, 1000);
	for (int i = 1; i <= reports; i++) {
		const double moved = now_ms();
		if (!report(fd, DRAG, CURVE_ROW, curve_col(i), false))
			break;
		const double came = answer(fd, 3, 1000);
		if (came > 0)
			drag[m++] = came - moved;
		usleep(20000);
	}
	answer(fd, 100, 1000);
	const double begun = now_ms();
	for (int i = 0; i < 4 * SIZES; i++)
		report(fd, DRAG, CURVE_ROW, curve_col(i), false);
	report(fd, 0, CURVE_ROW, curve_col(SIZES), true);
	double last = begun;
	for (double came; (came = answer(fd, 1, 30)) > 0;)
		last = came;
	end(pid, fd);
	return print_times("wheel to repaint", wheel, n, "") &&
	       print_times("drag to repaint", drag, m, "") &&
	       printf("a drag of %d steps  %6.1f ms until it is followed, with what then runs\n",
	              4 * SIZES, last - begun) > 0;
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
	if (key_to_repaint(argv[1], keys) && mouse_to_repaint(argv[1], keys) && what_it_costs(argv[1]))
		return 0;
	puts("no key, or nothing of the mouse, was answered");
	return 1;
}
