/*
 * How fast the program answers a person: starts it on a pseudo-terminal of 80 x 24, waits for the
 * first frame, then presses keys while a kernel runs and waits for each repaint.
 *
 * tty_bench PROGRAM [KEYS]   prints medians and worst cases in milliseconds. Measures; judges
 * nothing.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
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

int main(int argc, char **argv)
{
	const int keys = argc > 2 ? atoi(argv[2]) : 60;
	const struct winsize size = { .ws_row = 24, .ws_col = 80 };
	double took[KEYS_MAX];
	int fd, n = 0;
	if (argc < 2 || keys < 1 || keys > KEYS_MAX)
		return 2;
	const double start = now_ms();
	const pid_t pid = forkpty(&fd, NULL, NULL, &size);
	if (pid < 0)
		return 1;
	if (!pid) {
		setenv("TERM", "xterm-256color", 1);
		execl(argv[1], argv[1], "sgemm/naive", (char *)NULL);
		_exit(127);
	}
	const double first = answer(fd, 5, 10000);
	printf("first frame        %6.1f ms\n", first - start);
	/* parameter values change back and forth: every key plans, draws, and orders a run */
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
	kill(pid, SIGTERM);
	while (answer(fd, 5, 50) > 0)
		;
	int status;
	waitpid(pid, &status, 0);
	if (!n) {
		puts("no key was answered");
		return 1;
	}
	qsort(took, (size_t)n, sizeof *took, by_value);
	printf("key to repaint     %6.2f ms median, %.2f ms worst of %d, while a kernel runs\n",
	       took[n / 2], took[n - 1], n);
	return 0;
}
