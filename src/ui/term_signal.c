/*
 * Signals of the interactive screen, and putting the terminal back whatever ends the program.
 *
 * A handler writes one byte to a pipe; the loop acts (term.c). The exceptions are the fatal
 * signals: their handler writes the restore sequence, prepared at start, with write(2) and
 * tcsetattr(3), both async-signal-safe (POSIX.1-2008, XSH 2.4.3), and lets the signal go on.
 * Knows nothing of curses.
 */
#define _XOPEN_SOURCE 700
#include "ui/term_signal.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static int pipe_ends[2] = { -1, -1 }; /* signal numbers, one byte each */
static struct termios modes;          /* as we found them */
static bool modes_known;

/* For the fatal handler: prepared bytes, and whether they are needed. */
static char restore_bytes[256];
static size_t restore_len;
static volatile sig_atomic_t active;

/* X(signal): put the terminal back, then let it happen. */
#define FATAL(X) X(SIGSEGV) X(SIGABRT) X(SIGBUS) X(SIGFPE) X(SIGILL)
/* X(signal): the loop is told. */
#define TOLD(X) X(SIGTERM) X(SIGINT) X(SIGHUP) X(SIGWINCH) X(SIGTSTP) X(SIGCONT)

static struct {
	int number;
	struct sigaction before;
} saved[16];
static size_t n_saved;

/* Async-signal-safe. Also mem.c's last moment. */
void term_restore(void)
{
	if (!active)
		return;
	active = 0;
	size_t done = 0;
	while (done < restore_len) {
		ssize_t n = write(STDOUT_FILENO, restore_bytes + done, restore_len - done);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (modes_known)
		tcsetattr(STDIN_FILENO, TCSANOW, &modes);
}

static void on_fatal(int number)
{
	static const char text[] =
		"\npmpp-explore: a bug ended the program (the terminal is restored). "
		"Please report what you did.\n";
	bool was = active;
	term_restore();
	if (was && write(STDERR_FILENO, text, sizeof text - 1) < 0)
		return;
	for (size_t i = 0; i < n_saved; i++)
		if (saved[i].number == number)
			sigaction(number, &saved[i].before, NULL);
	raise(number); /* delivered to whoever had it before us when this handler returns */
}

static void on_told(int number)
{
	int errno_before = errno;
	unsigned char byte = (unsigned char)number;
	if (write(pipe_ends[1], &byte, 1) < 0) {
		/* full: the loop has enough to read */
	}
	errno = errno_before;
}

static void hook(int number, void (*handler)(int))
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK };
	sigemptyset(&a.sa_mask);
	if (n_saved == ARRAY_LEN(saved))
		return;
	saved[n_saved].number = number;
	if (!sigaction(number, &a, &saved[n_saved].before))
		n_saved++;
}

static void hook_signals(void)
{
	static char stack[65536]; /* a stack overflow still gets its handler */
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof stack };
	sigaltstack(&alt, NULL);
	n_saved = 0;
#define X(number) hook(number, on_fatal);
	FATAL(X)
#undef X
#define X(number) hook(number, on_told);
	TOLD(X)
#undef X
}

static void unhook_signals(void)
{
	while (n_saved) {
		n_saved--;
		sigaction(saved[n_saved].number, &saved[n_saved].before, NULL);
	}
}

/* --- what term.c calls --- */

bool term_signals_open(void)
{
	modes_known = tcgetattr(STDIN_FILENO, &modes) == 0;
	if (pipe(pipe_ends))
		return false;
	for (int i = 0; i < 2; i++) {
		fcntl(pipe_ends[i], F_SETFL, O_NONBLOCK);
		fcntl(pipe_ends[i], F_SETFD, FD_CLOEXEC);
	}
	return true;
}

void term_restore_arm(const char *bytes, size_t n)
{
	restore_len = n < sizeof restore_bytes ? n : sizeof restore_bytes;
	memcpy(restore_bytes, bytes, restore_len);
	active = 1;
	hook_signals();
}

void term_signals_close(void)
{
	active = 0;
	unhook_signals();
	for (int i = 0; i < 2; i++) {
		close(pipe_ends[i]);
		pipe_ends[i] = -1;
	}
}

int term_signal_fd(void)
{
	return pipe_ends[0];
}

size_t term_signals_told(unsigned char *numbers, size_t n)
{
	const ssize_t got = read(pipe_ends[0], numbers, n);
	return got > 0 ? (size_t)got : 0;
}

void term_signal_stop(void)
{
	struct sigaction stop = { .sa_handler = SIG_DFL }, ours;
	sigemptyset(&stop.sa_mask);
	active = 0;
	sigaction(SIGTSTP, &stop, &ours);
	kill(getpid(), SIGTSTP);
	/* ... here again after SIGCONT */
	sigaction(SIGTSTP, &ours, NULL);
	active = 1;
}
