/* Keys while a list, a page or a prompt is open over the panels. See command.h. */
#include "ui/command.h"

#include <stdlib.h>

static void overlay_open(const struct screen_host *host, struct screen_state *st, enum command what)
{
	screen_close(st);
	st->open = what;
	if (!overlay_is_list(what))
		return;
	struct choice ch = { 0 };
	const size_t n = list_count(host, what);
	for (size_t i = 0; i < n && what != CMD_PAGES; i++) { /* pages: this panel's come first */
		list_at(host, what, i, &ch);
		if (ch.current)
			st->selected = i;
	}
	if (!n) {
		screen_close(st);
		screen_say(st, true, "there is nothing to choose from");
	}
}

void open_overlay(const struct command_call *call)
{
	overlay_open(call->host, call->st, call->command);
}

void open_prompt(const struct command_call *call)
{
	param_focused(call);
	overlay_open(call->host, call->st, call->command);
}

static void choose(const struct screen_host *host, struct screen_state *st)
{
	struct choice ch = { 0 };
	size_t *passing;
	const size_t n = overlay_passing(host, st, &passing);
	const size_t index = n ? passing[st->selected < n ? st->selected : n - 1] : 0;
	free(passing);
	if (!n)
		return;
	list_at(host, st->open, index, &ch);
	if (!ch.enabled) {
		screen_say(st, true, "%s: %s", ch.label, ch.why_not[0] ? ch.why_not : "not possible here");
		return;
	}
	const enum command what = st->open;
	screen_close(st);
	list_choose(host, st, what, index);
}

static void confirm(const struct screen_host *host, struct screen_state *st)
{
	if (overlay_is_list(st->open))
		choose(host, st);
	else if (st->open == CMD_PARAM_TYPE)
		param_typed(host, st);
	else if (st->open == CMD_LINE)
		line_enter(host, st);
	else if (st->open == CMD_HELP)
		overlay_open(host, st, CMD_PAGES);
	else
		screen_close(st);
}

/* What still runs behind a page that nobody reads any more is ended. */
static void close_output(const struct screen_host *host, struct screen_state *st)
{
	if (st->open == CMD_OUTPUT && host->output_end)
		host->output_end(host->ctx);
	screen_close(st);
}

static void list_move(const struct screen_host *host, struct screen_state *st, enum command command)
{
	size_t *passing;
	const size_t n = overlay_passing(host, st, &passing);
	free(passing);
	st->selected = row_moved((unsigned)st->selected, (unsigned)n, command);
}

bool overlay_command(const struct screen_host *host, struct screen_state *st, enum command command)
{
	const bool list = overlay_is_list(st->open), prompt = overlay_is_prompt(st->open);
	switch (command) {
	case CMD_BACK:
		if (st->open == CMD_PAGE) /* back to the list that it was chosen from */
			overlay_open(host, st, CMD_PAGES);
		else
			close_output(host, st);
		return true;
	case CMD_VIEW_NEXT:
		if (st->open == CMD_LINE)
			line_complete(host, st);
		return prompt;
	case CMD_HELP:
		if (st->open == CMD_HELP) {
			overlay_open(host, st, CMD_PAGES);
			return true;
		}
		return prompt;
	case CMD_DETAIL: confirm(host, st); return true;
	case CMD_PARAM_PREV:
	case CMD_PARAM_NEXT:
		if (st->open == CMD_OUTPUT)
			output_shift(host, st, command == CMD_PARAM_NEXT ? 1 : -1);
		return true;
	case CMD_ROW_UP:
	case CMD_ROW_DOWN:
	case CMD_PAGE_UP:
	case CMD_PAGE_DOWN:
	case CMD_ROW_FIRST:
	case CMD_ROW_LAST:
		if (list)
			list_move(host, st, command);
		else if (st->open == CMD_LINE)
			line_recall(st, command);
		else if (!prompt)
			st->top = row_moved((unsigned)st->top, (unsigned)overlay_text_rows(host, st), command);
		return true;
	case CMD_QUIT:
		if (list || prompt)
			return false; /* asked for by its own name: quit */
		close_output(host, st);
		return true;
	default:
		if (command == st->open) {
			screen_close(st);
			return true;
		}
		return prompt;
	}
}
