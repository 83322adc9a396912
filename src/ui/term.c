/*
 * The terminal through ncursesw: the one place that knows colours, character sets, key codes and
 * signals.
 *
 * Signal handlers only write one byte to a pipe; the loop acts. The exceptions are the fatal
 * signals: their handler writes the restore sequence, prepared at start, with write(2) and
 * tcsetattr(3), both async-signal-safe (POSIX.1-2008, XSH 2.4.3), and lets the signal go on.
 * NO_COLOR: no-color.org. PMPP_ASCII=1 forces ASCII, PMPP_ASCII=0 forces UTF-8; without either the
 * locale decides, and where none is set (a bare container) the terminal itself is asked.
 */
#define _XOPEN_SOURCE 700
#define _XOPEN_SOURCE_EXTENDED 1
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include "ui/term.h"

#include "base/mem.h"
#include "base/text.h"
#include "ui/keys.h"

#include <curses.h>
#include <term.h>

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/* X(STYLE, attributes, colour of 256, colour of 8, attributes without colour); -1 = default */
#define LOOKS(X)                                           \
	X(NORMAL, A_NORMAL, -1, -1, A_NORMAL)                  \
	X(BOLD, A_BOLD, -1, -1, A_BOLD)                        \
	X(DIM, A_NORMAL, 245, -2, A_DIM)                       \
	X(TITLE, A_BOLD, -1, -1, A_BOLD)                       \
	X(GOOD, A_NORMAL, 71, COLOR_GREEN, A_NORMAL)           \
	X(WATCH, A_NORMAL, 178, COLOR_YELLOW, A_BOLD)          \
	X(BAD, A_NORMAL, 203, COLOR_RED, A_BOLD)               \
	X(KNOB, A_NORMAL, 73, COLOR_CYAN, A_NORMAL)            \
	X(KNOB_ON, A_BOLD, 80, COLOR_CYAN, A_REVERSE)          \
	X(BAR, A_NORMAL, 67, COLOR_BLUE, A_NORMAL)             \
	X(HEAT1, A_NORMAL, 179, COLOR_YELLOW, A_NORMAL)        \
	X(HEAT2, A_NORMAL, 208, COLOR_YELLOW, A_BOLD)          \
	X(HEAT3, A_BOLD, 203, COLOR_RED, A_BOLD | A_UNDERLINE) \
	X(SELECTED, A_REVERSE, -1, -1, A_REVERSE)              \
	X(KEY, A_BOLD, -1, -1, A_BOLD)                         \
	X(ERROR, A_BOLD, 203, COLOR_RED, A_BOLD)               \
	X(FAINT, A_NORMAL, 243, -2, A_DIM)

static const struct {
	attr_t attr;
	short of_256, of_8;
	attr_t mono;
} looks[STYLE_COUNT] = {
#define X(id, attr_, many, few, mono_) \
	[STYLE_##id] = { .attr = attr_, .of_256 = many, .of_8 = few, .mono = mono_ },
	LOOKS(X)
#undef X
};

static struct {
	SCREEN *screen;
	bool ascii;
	attr_t attr[STYLE_COUNT];
	short pair[STYLE_COUNT];
	int pipe[2];          /* signal numbers, one byte each */
	struct termios modes; /* as we found them */
	bool modes_known;
} t = { .pipe = { -1, -1 } };

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
static void restore_now(void)
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
	if (t.modes_known)
		tcsetattr(STDIN_FILENO, TCSANOW, &t.modes);
}

static void on_fatal(int number)
{
	static const char text[] =
		"\npmpp-explore: a bug ended the program (the terminal is restored). "
		"Please report what you did.\n";
	bool was = active;
	restore_now();
	if (was && write(STDERR_FILENO, text, sizeof text - 1) < 0)
		return;
	for (size_t i = 0; i < n_saved; i++)
		if (saved[i].number == number)
			sigaction(number, &saved[i].before, NULL);
	raise(number); /* delivered to whoever had it before us when this handler returns */
}

static void on_told(int number)
{
	int keep = errno;
	unsigned char byte = (unsigned char)number;
	if (write(t.pipe[1], &byte, 1) < 0) {
		/* full: the loop has enough to read */
	}
	errno = keep;
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

static void hook_all(void)
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

static void unhook_all(void)
{
	while (n_saved) {
		n_saved--;
		sigaction(saved[n_saved].number, &saved[n_saved].before, NULL);
	}
}

/* --- opening --- */

/* Appends a terminfo string without its padding ("$<5>"). */
static void add_restore(const char *name)
{
	char *s = tigetstr((NCURSES_CONST char *)name);
	if (!s || s == (char *)-1)
		return;
	while (*s && restore_len < sizeof restore_bytes) {
		if (s[0] == '$' && s[1] == '<') {
			s = strchr(s, '>');
			if (!s)
				return;
			s++;
			continue;
		}
		restore_bytes[restore_len++] = *s++;
	}
}

static bool is_set(const char *name)
{
	const char *v = getenv(name);
	return v && *v;
}

/* Keys that were typed while the terminal was being asked; given back to curses in order. */
static char early[32];
static size_t n_early;

#define ASK_MS 250

/*
 * Writes one character of three bytes in UTF-8 and asks where the cursor is (ECMA-48 DSR 6, answer
 * ESC [ row ; column R): it stands in column 2 on a UTF-8 terminal. No answer in time means no.
 */
static bool terminal_takes_utf8(void)
{
	static const char ask[] = "\r\xe2\x94\x80\x1b[6n";
	struct termios was, raw;
	char answer[32];
	size_t n = 0;
	int column = 0;
	if (tcgetattr(STDIN_FILENO, &was))
		return false;
	raw = was;
	raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	if (write(STDOUT_FILENO, ask, sizeof ask - 1) == (ssize_t)sizeof ask - 1) {
		struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
		while (n + 1 < sizeof answer && poll(&p, 1, ASK_MS) > 0) {
			char ch;
			if (read(STDIN_FILENO, &ch, 1) != 1)
				break;
			if (n == 0 && ch != 27) {
				if (n_early < sizeof early)
					early[n_early++] = ch;
				continue;
			}
			answer[n++] = ch;
			if (ch == 'R')
				break;
		}
		answer[n] = '\0';
		const char *semicolon = strchr(answer, ';');
		if (semicolon)
			column = atoi(semicolon + 1);
		if (write(STDOUT_FILENO, "\r   \r", 5) != 5)
			column = 0;
	}
	tcsetattr(STDIN_FILENO, TCSANOW, &was);
	return column == 2;
}

static void choose_characters(void)
{
	const char *force = getenv("PMPP_ASCII");
	n_early = 0;
	setlocale(LC_CTYPE, "");
	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	bool want = force && !strcmp(force, "0");
	if (!utf8 && !is_set("PMPP_ASCII") && !is_set("LC_ALL") && !is_set("LC_CTYPE") &&
	    !is_set("LANG"))
		want = terminal_takes_utf8();
	if (want && !utf8)
		utf8 = setlocale(LC_CTYPE, "C.UTF-8") || setlocale(LC_CTYPE, "en_US.UTF-8");
	t.ascii = !utf8 || (force && !strcmp(force, "1"));
}

static void choose_looks(void)
{
	const char *no = getenv("NO_COLOR");
	bool colours = !(no && *no) && has_colors() && start_color() == OK;
	bool defaults = colours && use_default_colors() == OK;
	short pairs = 0;
	for (int i = 0; i < STYLE_COUNT; i++) {
		t.pair[i] = 0;
		t.attr[i] = colours ? looks[i].attr : looks[i].mono;
		short fg = COLORS >= 256 ? looks[i].of_256 : looks[i].of_8;
		if (!colours || fg == -1)
			continue;
		if (fg == -2) { /* eight colours have no grey */
			t.attr[i] = looks[i].mono;
			continue;
		}
		pairs++;
		if (init_pair(pairs, fg, defaults ? -1 : COLOR_BLACK) == OK)
			t.pair[i] = pairs;
	}
}

static bool refuse(struct err *err, const char *why)
{
	err_set(err, ERR_UNAVAILABLE, "no usable terminal: %s", why);
	err_remedy(err, "without a terminal: pmpp-explore run KERNEL, list, occupancy, --help");
	return false;
}

static void fit(void)
{
	struct winsize w;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_row && w.ws_col)
		resizeterm(w.ws_row, w.ws_col);
}

bool term_open(struct err *err)
{
	const char *name = getenv("TERM");
	char why[200];
	int status = 0;
	if (!isatty(STDIN_FILENO))
		return refuse(err, "standard input is not a terminal");
	if (!isatty(STDOUT_FILENO))
		return refuse(err, "standard output is not a terminal");
	if (!name || !*name)
		return refuse(err, "TERM is not set; try TERM=xterm-256color pmpp-explore");
	if (setupterm(NULL, STDOUT_FILENO, &status) != OK) {
		snprintf(why, sizeof why,
		         status < 0 ? "no terminal descriptions (terminfo) for TERM=%.60s; install "
		                      "ncurses-base or "
		                      "set TERMINFO"
		                    : "TERM=%.60s is not known here; try TERM=xterm-256color "
		                      "pmpp-explore",
		         name);
		return refuse(err, why);
	}
	char *cup = tigetstr((NCURSES_CONST char *)"cup");
	bool addressable = cup && cup != (char *)-1;
	del_curterm(cur_term);
	if (!addressable) {
		snprintf(why, sizeof why,
		         "TERM=%.60s cannot place the cursor; try TERM=xterm-256color pmpp-explore", name);
		return refuse(err, why);
	}
	choose_characters();
	t.modes_known = tcgetattr(STDIN_FILENO, &t.modes) == 0;
	if (pipe(t.pipe))
		return refuse(err, strerror(errno));
	for (int i = 0; i < 2; i++) {
		fcntl(t.pipe[i], F_SETFL, O_NONBLOCK);
		fcntl(t.pipe[i], F_SETFD, FD_CLOEXEC);
	}
	set_escdelay(25);
	t.screen = newterm(NULL, stdout, stdin);
	if (!t.screen) {
		close(t.pipe[0]);
		close(t.pipe[1]);
		return refuse(err, "ncurses could not start on it");
	}
	restore_len = 0;
	add_restore("rmkx");
	add_restore("cnorm");
	add_restore("sgr0");
	add_restore("rmcup");
	active = 1;
	hook_all();
	mem_on_failure(restore_now);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	/* Home and End have two spellings in the wild; terminfo knows one of them. */
	define_key("\033[1~", KEY_HOME);
	define_key("\033[4~", KEY_END);
	define_key("\033[H", KEY_HOME);
	define_key("\033[F", KEY_END);
	nodelay(stdscr, TRUE);
	curs_set(0);
	choose_looks();
	fit();
	while (n_early)
		ungetch((unsigned char)early[--n_early]);
	return true;
}

void term_close(void)
{
	if (!t.screen)
		return;
	mem_on_failure(NULL);
	endwin();
	active = 0;
	unhook_all();
	delscreen(t.screen);
	t.screen = NULL;
	close(t.pipe[0]);
	close(t.pipe[1]);
	t.pipe[0] = t.pipe[1] = -1;
}

bool term_ascii(void)
{
	return t.ascii;
}

void term_size(int *rows, int *cols)
{
	*rows = LINES;
	*cols = COLS;
}

/* --- drawing --- */

void term_show(const struct canvas *c)
{
	int rows = c->rows < LINES ? c->rows : LINES, cols = c->cols < COLS ? c->cols : COLS;
	cchar_t *line = mem_calloc((size_t)(cols > 0 ? cols : 1), sizeof *line);
	for (int r = 0; r < rows; r++) {
		const struct cell *from =
			c->cells + (size_t)(c->row + r) * (size_t)c->stride + (size_t)c->col;
		for (int k = 0; k < cols; k++) {
			wchar_t ch[2] = { (wchar_t)from[k].ch, 0 };
			int s = from[k].style < STYLE_COUNT ? from[k].style : STYLE_NORMAL;
			setcchar(&line[k], ch, t.attr[s], t.pair[s], NULL);
		}
		mvadd_wchnstr(r, 0, line, cols);
	}
	free(line);
	refresh();
}

/* --- keys --- */

static uint32_t from_curses(wint_t code)
{
	switch (code) {
	case KEY_LEFT: return NK_LEFT;
	case KEY_RIGHT: return NK_RIGHT;
	case KEY_UP: return NK_UP;
	case KEY_DOWN: return NK_DOWN;
	case KEY_BTAB: return NK_BTAB;
	case KEY_ENTER: return NK_ENTER;
	case KEY_PPAGE: return NK_PGUP;
	case KEY_NPAGE: return NK_PGDN;
	case KEY_HOME: return NK_HOME;
	case KEY_END: return NK_END;
	case KEY_BACKSPACE: return NK_BACKSPACE;
	default: return 0;
	}
}

static uint32_t from_character(wint_t ch)
{
	switch (ch) {
	case '\t': return NK_TAB;
	case '\r':
	case '\n': return NK_ENTER;
	case 27: return NK_ESC;
	case 8:
	case 127: return NK_BACKSPACE;
	default: return ch < ' ' ? 0 : (uint32_t)ch;
	}
}

#define CTRL_L 12

/* One key if curses has one. Unknown sequences are skipped. */
static bool read_key(uint32_t *key, bool *redraw)
{
	for (;;) {
		wint_t ch = 0;
		int kind = get_wch(&ch);
		if (kind == ERR)
			return false;
		if (kind == KEY_CODE_YES && ch == KEY_RESIZE)
			continue; /* ours comes through the pipe */
		if (kind != KEY_CODE_YES && ch == CTRL_L) {
			*redraw = true;
			return false;
		}
		*key = kind == KEY_CODE_YES ? from_curses(ch) : from_character(ch);
		if (*key)
			return true;
	}
}

/* Stops like any program on Ctrl-Z, and comes back with a fresh screen. */
static void stop_here(void)
{
	struct sigaction stop = { .sa_handler = SIG_DFL }, ours;
	sigemptyset(&stop.sa_mask);
	endwin();
	active = 0;
	sigaction(SIGTSTP, &stop, &ours);
	kill(getpid(), SIGTSTP);
	/* ... here again after SIGCONT */
	sigaction(SIGTSTP, &ours, NULL);
	active = 1;
}

static void redraw_all(void)
{
	fit();
	clearok(curscr, TRUE);
	refresh();
	curs_set(0);
}

/* Acts on the signals told since last time. */
static enum term_event told(void)
{
	unsigned char bytes[64];
	enum term_event e = TERM_TIMEOUT;
	ssize_t n = read(t.pipe[0], bytes, sizeof bytes);
	for (ssize_t i = 0; i < n; i++) {
		switch (bytes[i]) {
		case SIGTERM:
		case SIGINT:
		case SIGHUP: return TERM_END;
		case SIGTSTP:
			stop_here();
			redraw_all();
			e = TERM_RESIZE;
			break;
		case SIGCONT: /* stopped by SIGSTOP: the modes may be another program's now */
			endwin();
			redraw_all();
			e = TERM_RESIZE;
			break;
		case SIGWINCH:
			fit();
			e = TERM_RESIZE;
			break;
		default: break;
		}
	}
	return e;
}

enum term_event term_wait(int wake_fd, int timeout_ms, uint32_t *key)
{
	bool redraw = false;
	for (;;) {
		struct pollfd p[3] = {
			{ .fd = t.pipe[0], .events = POLLIN },
			{ .fd = STDIN_FILENO, .events = POLLIN },
			{ .fd = wake_fd, .events = POLLIN },
		};
		if (read_key(key, &redraw))
			return TERM_KEY;
		if (redraw) {
			redraw_all();
			return TERM_RESIZE;
		}
		int n = poll(p, 3, timeout_ms);
		if (n < 0 && errno != EINTR)
			return TERM_END;
		if (n == 0)
			return TERM_TIMEOUT;
		if (n < 0)
			continue; /* the handler has written to the pipe */
		if (p[0].revents) {
			enum term_event e = told();
			if (e != TERM_TIMEOUT)
				return e;
		}
		if (p[1].revents & (POLLHUP | POLLERR | POLLNVAL))
			return TERM_END;
		if (p[1].revents & POLLIN) {
			int bytes = 0;
			if (!ioctl(STDIN_FILENO, FIONREAD, &bytes) && bytes == 0)
				return TERM_END; /* readable and empty: end of file */
			continue;
		}
		if (p[2].revents)
			return TERM_WAKE;
	}
}
