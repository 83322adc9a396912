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

/* X(signal): a bug. The terminal is put back, we say so, then it happens. */
#define BUG(X) \
	X(SIGSEGV) \
	X(SIGABRT) \
	X(SIGBUS)  \
	X(SIGFPE)  \
	X(SIGILL)  \
	X(SIGTRAP) \
	X(SIGSYS)
/* X(signal): the loop is told. */
#define TOLD(X) \
	X(SIGTERM)  \
	X(SIGINT)   \
	X(SIGHUP)   \
	X(SIGWINCH) \
	X(SIGTSTP)  \
	X(SIGCONT)
/* X(signal): it does not end a process, or cannot be caught. Any other that is neither ignored nor
 * above, the terminal is put back for; real-time signals too. */
#define LEFT_ALONE(X) \
	X(SIGCHLD)        \
	X(SIGURG)         \
	X(SIGTTIN)        \
	X(SIGTTOU)        \
	X(SIGKILL)        \
	X(SIGSTOP)

#define N_SIGNALS 65                       /* Linux has 1 to 64 */
static struct sigaction before[N_SIGNALS]; /* by signal number; what it was before us */
static bool hooked[N_SIGNALS];

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

static void let_happen(int number)
{
	sigaction(number, &before[number], NULL);
	raise(number); /* delivered to whoever had it before us when this handler returns */
}

static void on_bug(int number)
{
	static const char text[] =
		"\npmpp-explore: a bug ended the program (the terminal is restored). "
		"Please report what you did.\n";
	const bool was = active;
	term_restore();
	if (was && write(STDERR_FILENO, text, sizeof text - 1) < 0)
		return;
	let_happen(number);
}

static void on_end(int number)
{
	term_restore();
	let_happen(number);
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

static void (*handler_of(int number))(int)
{
	switch (number) {
#define X(number) case number:
		BUG(X) return on_bug;
		TOLD(X) return on_told;
		LEFT_ALONE(X) return NULL;
#undef X
	default: return before[number].sa_handler == SIG_IGN ? NULL : on_end;
	}
}

static void hook_signals(void)
{
	static char stack[65536]; /* a stack overflow still gets its handler */
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof stack };
	sigaltstack(&alt, NULL);
	for (int number = 1; number < N_SIGNALS; number++) {
		struct sigaction a = { .sa_flags = SA_RESTART | SA_ONSTACK };
		if (hooked[number] || sigaction(number, NULL, &before[number]))
			continue; /* the C library keeps two for its threads */
		a.sa_handler = handler_of(number);
		hooked[number] = a.sa_handler && !sigaction(number, &a, NULL);
	}
}

static void unhook_signals(void)
{
	for (int number = 1; number < N_SIGNALS; number++) {
		if (hooked[number])
			sigaction(number, &before[number], NULL);
		hooked[number] = false;
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
