/* What the screen's own state offers to every command: a message, and nothing open. */
#include "ui/screen_parts.h"

#include <stdarg.h>
#include <stdio.h>

void screen_say(struct screen_state *st, bool bad, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(st->message, sizeof st->message, fmt, ap);
	va_end(ap);
	st->bad = bad;
}

void screen_close(struct screen_state *st)
{
	st->open = CMD_NONE;
	st->selected = st->top = 0;
	st->typed[0] = '\0';
}
