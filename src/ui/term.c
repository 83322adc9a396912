/*
 * The terminal through ncursesw: the one place that knows colours and key codes.
 *
 * Signals come as bytes (term_signal.c); the character set is found before (term_charset.c); what
 * styles look like is theme.c's.
 */
#define _XOPEN_SOURCE 700
#define _XOPEN_SOURCE_EXTENDED 1
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include "ui/term.h"

#include "base/mem.h"
#include "base/text.h"
#include "ui/keys.h"
#include "ui/term_charset.h"
#include "ui/term_signal.h"
#include "ui/theme.h"

#include <curses.h>
#include <term.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

static struct {
	SCREEN *screen;
	bool ascii;
	bool colours, own_ground; /* has colours; keeps the terminal's own background */
	bool held_told;           /* asked to report the mouse's motion */
	attr_t attr[STYLE_COUNT];
	short pair[STYLE_COUNT];
} t;

/* Ends every report of the mouse; a terminal without one ignores it. */
#define MOUSE_OFF "\033[?1002l\033[?1000l\033[?1006l"
/* Has it report motion while a button is held, which curses asks for in no terminfo's words. */
#define MOUSE_HELD "\033[?1002h"
#define MOUSE_NOT_HELD "\033[?1002l"

/* --- opening --- */

struct restore {
	char bytes[256];
	size_t n;
};

/* A terminfo string; NULL = this terminal has none. */
static char *capability(const char *name)
{
	char *s = tigetstr((NCURSES_CONST char *)name);
	return s == (char *)-1 ? NULL : s;
}

/* Appends a terminfo string without its padding ("$<5>"). */
static void add_restore(struct restore *to, const char *name)
{
	char *s = capability(name);
	if (!s)
		return;
	while (*s && to->n < sizeof to->bytes) {
		if (s[0] == '$' && s[1] == '<') {
			s = strchr(s, '>');
			if (!s)
				return;
			s++;
			continue;
		}
		to->bytes[to->n++] = *s++;
	}
}

static attr_t curses_attr(unsigned attr)
{
	return (attr & LOOK_BOLD ? A_BOLD : 0) | (attr & LOOK_REVERSE ? A_REVERSE : 0) |
	       (attr & LOOK_UNDERLINE ? A_UNDERLINE : 0) | (attr & LOOK_DIM ? A_DIM : 0);
}

void term_theme(size_t theme)
{
	const size_t shown = t.colours ? theme : theme_find("mono");
	int pairs = 0;
	for (int i = 0; i < STYLE_COUNT; i++) {
		const struct ink ink = theme_ink(shown, (enum style)i, palette_of(COLORS));
		const int own = t.own_ground ? -1 : COLOR_BLACK;
		t.pair[i] = 0;
		t.attr[i] = curses_attr(ink.attr);
		if (!t.colours || ink.text < 0)
			continue;
		pairs++;
		if (init_extended_pair(pairs, ink.text, ink.ground < 0 ? own : ink.ground) == OK)
			t.pair[i] = (short)pairs;
	}
	clearok(curscr, TRUE);
}

static void start_colours(void)
{
	t.colours = has_colors() && start_color() == OK;
	t.own_ground = t.colours && use_default_colors() == OK;
	term_theme(theme_of_environment(theme_count()));
}

static bool refuse(struct err *err, const char *why)
{
	err_set(err, ERR_UNAVAILABLE, "no usable terminal: %s", why);
	err_remedy(err, "without a terminal: pmpp-explore launches PROGRAM, run KERNEL, list, --help");
	return false;
}

static void fit(void)
{
	struct winsize w;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_row && w.ws_col)
		resizeterm(w.ws_row, w.ws_col);
}

/* Ctrl-Z comes as a key: curses ignores its signal while it draws, so that one would be lost. */
static void take_stop_key(void)
{
	struct termios modes;
	if (tcgetattr(STDIN_FILENO, &modes))
		return;
	modes.c_cc[VSUSP] = _POSIX_VDISABLE;
	tcsetattr(STDIN_FILENO, TCSANOW, &modes);
	def_prog_mode();
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
	const bool addressable = capability("cup");
	del_curterm(cur_term);
	if (!addressable) {
		snprintf(why, sizeof why,
		         "TERM=%.60s cannot place the cursor; try TERM=xterm-256color pmpp-explore", name);
		return refuse(err, why);
	}
	struct typed_early early;
	struct restore restore = { .n = 0 };
	t.ascii = !term_charset_utf8(&early);
	if (!term_signals_open())
		return refuse(err, strerror(errno));
	set_escdelay(25);
	t.screen = newterm(NULL, stdout, stdin);
	if (!t.screen) {
		term_signals_close();
		return refuse(err, "ncurses could not start on it");
	}
	add_restore(&restore, "rmkx");
	/* (curses asks the same before it turns the mouse on; has_mouse() knows only afterwards) */
	if (capability("kmous") || strstr(name, "xterm"))
		restore.n += (size_t)snprintf(restore.bytes + restore.n, sizeof restore.bytes - restore.n,
		                              "%s", MOUSE_OFF);
	add_restore(&restore, "cnorm");
	add_restore(&restore, "sgr0");
	add_restore(&restore, "rmcup");
	term_restore_arm(restore.bytes, restore.n);
	mem_on_failure(term_restore);
	cbreak();
	take_stop_key();
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
	start_colours();
	fit();
	while (early.n)
		ungetch((unsigned char)early.bytes[--early.n]);
	return true;
}

void term_close(void)
{
	if (!t.screen)
		return;
	mem_on_failure(NULL);
	endwin();
	term_signals_close();
	delscreen(t.screen);
	t.screen = NULL;
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
		int n = 0; /* curses itself gives a wide character its second cell */
		for (int k = 0; k < cols; k++) {
			if (from[k].ch == CELL_TAIL)
				continue;
			wchar_t ch[2] = { (wchar_t)from[k].ch, 0 };
			int s = from[k].style < STYLE_COUNT ? from[k].style : STYLE_NORMAL;
			setcchar(&line[n++], ch, t.attr[s], t.pair[s], NULL);
		}
		mvadd_wchnstr(r, 0, line, n);
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
#define CTRL_Z 26

/* Motion while a button is held: reported from now on, or no more. */
static void tell_held(bool on)
{
	if (!has_mouse())
		return;
	fputs(on ? MOUSE_HELD : MOUSE_NOT_HELD, stdout);
	fflush(stdout);
}

void term_mouse(bool on)
{
	mousemask(on ? BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON1_CLICKED | BUTTON4_PRESSED |
	                   BUTTON5_PRESSED | REPORT_MOUSE_POSITION
	             : 0,
	          NULL);
	mouseinterval(0); /* a press is told at once, not when it may still become a double click */
	t.held_told = on && has_mouse();
	tell_held(on);
}

static bool read_mouse(struct mouse_event *out)
{
	MEVENT e;
	if (getmouse(&e) != OK)
		return false;
	*out = (struct mouse_event){ .action = e.bstate & BUTTON4_PRESSED         ? MOUSE_WHEEL_UP
		                                   : e.bstate & BUTTON5_PRESSED       ? MOUSE_WHEEL_DOWN
		                                   : e.bstate & REPORT_MOUSE_POSITION ? MOUSE_DRAG
		                                   : e.bstate & BUTTON1_RELEASED      ? MOUSE_RELEASE
		                                                                      : MOUSE_PRESS,
		                         .row = e.y,
		                         .col = e.x };
	return true;
}

static void redraw_all(void)
{
	fit();
	clearok(curscr, TRUE);
	refresh();
	curs_set(0);
	if (t.held_told)
		tell_held(true);
}

static void stop(void)
{
	endwin();
	term_signal_stop();
	redraw_all();
}

/* One key or mouse event if curses has one; TERM_TIMEOUT = it has none. Unknown sequences are
 * skipped. */
static enum term_event read_key(struct term_input *in)
{
	for (;;) {
		wint_t ch = 0;
		int kind = get_wch(&ch);
		if (kind == ERR)
			return TERM_TIMEOUT;
		if (kind == KEY_CODE_YES && ch == KEY_RESIZE)
			continue; /* ours comes through the pipe */
		if (kind == KEY_CODE_YES && ch == KEY_MOUSE) {
			if (read_mouse(&in->mouse))
				return TERM_MOUSE;
			continue;
		}
		if (kind != KEY_CODE_YES && ch == CTRL_L)
			return TERM_RESIZE;
		if (kind != KEY_CODE_YES && ch == CTRL_Z) {
			stop();
			return TERM_RESIZE;
		}
		in->key = kind == KEY_CODE_YES ? from_curses(ch) : from_character(ch);
		if (in->key)
			return TERM_KEY;
	}
}

/* Acts on the signals told since last time. */
static enum term_event told(void)
{
	unsigned char bytes[64];
	enum term_event e = TERM_TIMEOUT;
	const size_t n = term_signals_told(bytes, sizeof bytes);
	for (size_t i = 0; i < n; i++) {
		switch (bytes[i]) {
		case SIGTERM:
		case SIGINT:
		case SIGHUP: return TERM_END;
		case SIGTSTP:
			stop();
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

void term_copy(const char *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)text;
	fputs("\033]52;c;", stdout);
	for (size_t n = strlen(text), i = 0; i < n; i += 3) {
		const unsigned left = n - i < 3 ? (unsigned)(n - i) : 3;
		const unsigned v = (unsigned)p[i] << 16 | (left > 1 ? (unsigned)p[i + 1] << 8 : 0) |
		                   (left > 2 ? (unsigned)p[i + 2] : 0);
		for (unsigned k = 0; k < 4; k++)
			putc(k <= left ? digits[v >> (18 - 6 * k) & 63] : '=', stdout);
	}
	putc('\a', stdout);
	fflush(stdout);
}

enum term_event term_wait(int wake_fd, int timeout_ms, struct term_input *in)
{
	for (;;) {
		struct pollfd p[3] = {
			{ .fd = term_signal_fd(), .events = POLLIN },
			{ .fd = STDIN_FILENO, .events = POLLIN },
			{ .fd = wake_fd, .events = POLLIN },
		};
		const enum term_event read = read_key(in);
		if (read == TERM_RESIZE)
			redraw_all();
		if (read != TERM_TIMEOUT)
			return read;
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
