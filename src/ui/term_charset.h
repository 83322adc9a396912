/*
 * Which characters the terminal shows: asked once, before curses starts.
 */
#ifndef PMPP_UI_TERM_CHARSET_H
#define PMPP_UI_TERM_CHARSET_H

#include <stdbool.h>
#include <stddef.h>

/* Keys that were typed while the terminal was being asked, in order. */
struct typed_early {
	char bytes[32];
	size_t n;
};

/* Sets the locale's LC_CTYPE. True: UTF-8 is understood and wanted. May wait 250 ms for the
 * terminal's answer; what is typed meanwhile is in @early. */
bool term_charset_utf8(struct typed_early *early);

#endif
