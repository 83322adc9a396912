/* What commands and drawing both ask: which view has the focus; a message; nothing open. */
#include "ui/screen_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

size_t screen_focus(const struct screen_host *host, const struct session *s)
{
	for (size_t i = 0; i < host->n_views; i++)
		if (s->view && !strcmp(host->view_at(i)->name, s->view))
			return i;
	return 0;
}
