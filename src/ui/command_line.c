/* The line behind ':' : what is typed goes to the host, Tab completes its last word. See command.h.
 */
#include "ui/command.h"

#include <stdio.h>
#include <string.h>

#define MOST_SHOWN 60

void open_line(const struct command_call *call)
{
	screen_close(call->st);
	call->st->open = CMD_LINE;
}

void line_enter(const struct screen_host *host, struct screen_state *st)
{
	char said[sizeof st->message] = "";
	bool runs = false;
	if (!st->typed[0] || !host->line) {
		screen_close(st);
		return;
	}
	if (!host->line(host->ctx, st->typed, &runs, said, sizeof said)) {
		screen_say(st, true, "%s", said);
		return; /* what was typed stays, to be corrected */
	}
	snprintf(st->line, sizeof st->line, "%s", st->typed);
	screen_close(st);
	if (runs)
		st->open = CMD_OUTPUT;
}

/* The last word as far as all that it may become agree; those are named. */
void line_complete(const struct screen_host *host, struct screen_state *st)
{
	char common[128] = "", word[128], all[sizeof st->message] = "";
	size_t n = 0;
	if (!host->complete)
		return;
	for (; n < MOST_SHOWN && host->complete(host->ctx, st->typed, n, word, sizeof word); n++) {
		size_t same = 0;
		if (!n)
			snprintf(common, sizeof common, "%s", word);
		while (common[same] && common[same] == word[same])
			same++;
		common[same] = '\0';
		const size_t len = strlen(all);
		snprintf(all + len, sizeof all - len, "%s%s", n ? "  " : "", word);
	}
	char *blank = strrchr(st->typed, ' ');
	const size_t keep = blank ? (size_t)(blank + 1 - st->typed) : 0;
	if (n && keep + strlen(common) + 2 < sizeof st->typed) {
		const size_t len = strlen(common);
		snprintf(st->typed + keep, sizeof st->typed - keep, "%s%s", common,
		         n == 1 && len && common[len - 1] != '=' ? " " : "");
	}
	if (n != 1)
		screen_say(st, false, "%s", n ? all : "nothing fits");
}
