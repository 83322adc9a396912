/*
 * UTF-8 or ASCII: PMPP_ASCII=1 forces ASCII, PMPP_ASCII=0 forces UTF-8; without either the locale
 * decides, and where none is set (a bare container) the terminal itself is asked.
 */
#include "ui/term_charset.h"

#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static bool is_set(const char *name)
{
	const char *v = getenv(name);
	return v && *v;
}

#define ASK_MS 250

/*
 * Writes one character of three bytes in UTF-8 and asks where the cursor is (ECMA-48 DSR 6, answer
 * ESC [ row ; column R): it stands in column 2 on a UTF-8 terminal. No answer in time means no.
 */
static bool terminal_takes_utf8(struct typed_early *early)
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
				if (early->n < sizeof early->bytes)
					early->bytes[early->n++] = ch;
				continue;
			}
			answer[n++] = ch;
			if (ch == 'R')
				break;
		}
		answer[n] = '\0';
		const char *semicolon = strchr(answer, ';');
		if (semicolon)
			column = (int)strtol(semicolon + 1, NULL, 10);
		if (write(STDOUT_FILENO, "\r   \r", 5) != 5)
			column = 0;
	}
	tcsetattr(STDIN_FILENO, TCSANOW, &was);
	return column == 2;
}

bool term_charset_utf8(struct typed_early *early)
{
	const char *force = getenv("PMPP_ASCII");
	early->n = 0;
	setlocale(LC_CTYPE, "");
	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	bool want = force && !strcmp(force, "0");
	const char *term = getenv("TERM");
	/* the console's fonts have neither braille nor eighths of a block */
	const bool console = term && !strcmp(term, "linux") && !want;
	if (!utf8 && !is_set("PMPP_ASCII") && !is_set("LC_ALL") && !is_set("LC_CTYPE") &&
	    !is_set("LANG"))
		want = terminal_takes_utf8(early);
	if (want && !utf8)
		utf8 = setlocale(LC_CTYPE, "C.UTF-8") || setlocale(LC_CTYPE, "en_US.UTF-8");
	return utf8 && !console && !(force && !strcmp(force, "1"));
}
