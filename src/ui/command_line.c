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
	call->st->line_at = call->st->n_lines;
}

/* The line is the last now; said twice in a row it is kept once. */
static void keep(struct screen_state *st, const char *line)
{
	if (st->n_lines && !strcmp(st->lines[st->n_lines - 1], line))
		return;
	if (st->n_lines == LINES_MAX)
		memmove(st->lines[0], st->lines[1], --st->n_lines * sizeof st->lines[0]);
	snprintf(st->lines[st->n_lines++], sizeof st->lines[0], "%s", line);
}

void line_recall(struct screen_state *st, enum command command)
{
	if (command == CMD_ROW_UP && st->line_at)
		st->line_at--;
	else if (command == CMD_ROW_DOWN && st->line_at < st->n_lines)
		st->line_at++;
	else
		return;
	snprintf(st->typed, sizeof st->typed, "%s",
	         st->line_at < st->n_lines ? st->lines[st->line_at] : "");
}

/* What people type here from habit has a key: done as if it were pressed. */
static bool habit(struct screen_state *st)
{
	static const struct {
		const char *word;
		enum command command;
	} habits[] = { { "q", CMD_QUIT }, { "quit", CMD_QUIT }, { "help", CMD_HELP } };
	for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
		if (!strcmp(st->typed, habits[i].word)) {
			screen_close(st);
			st->next = habits[i].command;
			return true;
		}
	return false;
}

void line_enter(const struct screen_host *host, struct screen_state *st)
{
	char said[sizeof st->message] = "";
	bool runs = false;
	if (!st->typed[0] || !host->line) {
		screen_close(st);
		return;
	}
	if (habit(st))
		return;
	if (!host->line(host->ctx, st->typed, &runs, said, sizeof said)) {
		screen_say(st, true, "%s", said);
		return; /* what was typed stays, to be corrected */
	}
	snprintf(st->line, sizeof st->line, "%s", st->typed);
	keep(st, st->typed);
	st->shift = 0;
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
