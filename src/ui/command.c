/*
 * From a key to what it does: keys.def says which handler, under which condition.
 *
 * Here too: what goes to the host, and what is typed. Everything returns at once; work happens
 * behind the host's functions. See command.h.
 */
#include "ui/command.h"

#include "base/lang.h"
#include "model/brief.h"
#include "model/ladder.h"
#include "model/sweep_map.h"
#include "ui/arrangement.h"
#include "ui/keys.h"
#include "ui/theme.h"

#include <string.h>

/* --- conditions --- */

const char *when_always(const struct session *s, const struct view_desc *view)
{
	(void)s;
	(void)view;
	return NULL;
}

const char *when_running(const struct session *s, const struct view_desc *view)
{
	(void)view;
	return s->state == RUN_RUNNING || (s->ladder && s->ladder->running >= 0) ||
	               (s->map && s->map->running >= 0)
	           ? NULL
	           : "nothing is running";
}

const char *when_kernel(const struct session *s, const struct view_desc *view)
{
	(void)view;
	return s->program ? "not for a whole program, which runs in the emulator" : NULL;
}

const char *when_recorded(const struct session *s, const struct view_desc *view)
{
	(void)view;
	return s->reference_run
	           ? NULL
	           : "nothing is recorded of this launch; 'pmpp-explore list recordings' shows "
	             "what is";
}

const char *when_lesson(const struct session *s, const struct view_desc *view)
{
	(void)view;
	return s->tour.preset ? NULL : "no preset is being walked: p chooses one";
}

const char *when_record(const struct session *s, const struct view_desc *view)
{
	(void)view;
	return panel_metrics(s) ? NULL : "nothing of this kernel has run yet: r runs it";
}

/* --- handlers --- */

void host_run(const struct command_call *call)
{
	call->host->run(call->host->ctx);
}

void host_cancel(const struct command_call *call)
{
	call->host->cancel(call->host->ctx);
}

void host_step(const struct command_call *call)
{
	const struct session_tour *t = &call->host->session(call->host->ctx)->tour;
	if (t->preset && call->arg > 0 && t->step + 1 >= t->preset->n_steps) {
		screen_say(call->st, false,
		           "✓ this was the last step of %s: p chooses another preset, [ goes back",
		           t->preset->name);
		return;
	}
	char said[sizeof call->st->message] = "";
	const bool ok = call->host->step(call->host->ctx, call->arg, said, sizeof said);
	screen_say(call->st, !ok, "%s", said);
}

void host_reveal(const struct command_call *call)
{
	char said[sizeof call->st->message] = "";
	const bool ok = call->host->reveal(call->host->ctx, said, sizeof said);
	screen_say(call->st, !ok, "%s", said);
}

void host_export(const struct command_call *call)
{
	char said[sizeof call->st->message] = "";
	const bool ok = call->host->save(call->host->ctx, said, sizeof said);
	screen_say(call->st, !ok, "%s", said);
}

void reference_run_toggle(const struct command_call *call)
{
	struct session *s = call->host->edit(call->host->ctx);
	s->reference_run_hidden = !s->reference_run_hidden;
	if (s->reference_run_hidden)
		screen_say(call->st, false, "recorded figures hidden");
	else
		screen_say(call->st, false, "recorded figures of %s shown",
		           s->reference_run->sel.gpu->name);
}

void pin(const struct command_call *call)
{
	struct session *s = call->host->edit(call->host->ctx);
	session_pin(s);
	screen_say(call->st, false,
	           s->pinned ? "pinned: every figure is held against this run; P again ends that"
	                     : "unpinned: figures are held against the run before");
}

void theme_next(const struct command_call *call)
{
	call->st->theme = (call->st->theme + 1) % theme_count();
	screen_say(call->st, false, "theme %s; PMPP_THEME=%s starts with it",
	           theme_at(call->st->theme)->name, theme_at(call->st->theme)->name);
}

void lang_next(const struct command_call *call)
{
	if (call->st->ascii) {
		screen_say(call->st, true, "other languages than English need a terminal with UTF-8");
		return;
	}
	lang_use((lang_used() + 1) % lang_count());
	call->st->lang_chosen = true;
	screen_say(call->st, false, "%s; --lang %s starts with it", lang_own_name(lang_used()),
	           lang_code(lang_used()));
}

void layout_next(const struct command_call *call)
{
	call->st->layout = (call->st->layout + 1) % arrangement_count();
	screen_say(call->st, false, "layout %s: %s%s", arrangement_name(call->st->layout),
	           arrangement_about(call->st->layout),
	           call->st->solo ? " (this panel has the whole screen: Esc)" : "");
}

/* The step of the side column, and where its first one starts from on a screen of unknown width. */
#define SIDE_STEP 6
#define SIDE_USUAL 66

void side_step(const struct command_call *call)
{
	const int was = call->st->side_cols ? call->st->side_cols : SIDE_USUAL;
	const int is = was + call->arg * SIDE_STEP;
	call->st->side_cols = is < SIDE_STEP ? SIDE_STEP : is > SIDE_MOST ? SIDE_MOST : is;
	screen_say(call->st, false,
	           "side column of %d columns, where the screen has one and room for it",
	           call->st->side_cols);
}

void mouse_toggle(const struct command_call *call)
{
	call->st->mouse_off = !call->st->mouse_off;
	call->st->mouse_toggled = true;
	screen_say(call->st, false,
	           call->st->mouse_off ? "the mouse selects text; m gives it back to the program"
	                               : "the mouse presses tabs, rows, parameters and keys");
}

/* At once where nothing is lost; else q is pressed twice. */
void quit(const struct command_call *call)
{
	const struct session *s = call->host->session(call->host->ctx);
	const bool busy = !when_running(s, call->view);
	if (call->st->quit_asked || s->opened || s->opening || (!busy && s->n_history < 2)) {
		call->st->quit = true;
		return;
	}
	call->st->quit_asked = true;
	if (busy)
		screen_say(call->st, false, "q again quits; a run is under way");
	else
		screen_say(call->st, false, "q again quits; e first writes the %u runs of this session",
		           s->n_history);
}

/* --- the table --- */

static const struct {
	command_condition *when;
	command_handler *handler;
	int arg;
} actions[CMD_COUNT] = {
#define KEY(id, key, alt, bar, condition, handler_, arg_, about) \
	[CMD_##id] = { .when = when_##condition, .handler = handler_, .arg = arg_ },
#include "ui/keys.def"
#undef KEY
};

const char *command_refused(const struct session *s, const struct view_desc *view,
                            enum command command)
{
	return actions[command].when ? actions[command].when(s, view) : NULL;
}

static void command_apply(const struct screen_host *host, struct screen_state *st,
                          enum command command)
{
	st->message[0] = '\0';
	st->quit_asked = st->quit_asked && command == CMD_QUIT;
	if (st->open != CMD_NONE && overlay_command(host, st, command))
		return;
	if (command >= CMD_VIEW_1 && command <= CMD_VIEW_10) {
		view_focus(host, st, (size_t)(command - CMD_VIEW_1));
		return;
	}
	const struct session *s = host->session(host->ctx);
	const struct command_call call = {
		.host = host,
		.st = st,
		.view = host->n_views ? host->view_at(screen_focus(host, s)) : NULL,
		.command = command,
		.arg = actions[command].arg,
	};
	const char *refused = command_refused(s, call.view, command);
	if (refused && command == CMD_DETAIL) /* no row to open: the panel opens */
		view_solo(&call);
	else if (refused)
		screen_say(st, false, "%s", refused);
	else
		actions[command].handler(&call);
}

void screen_command(const struct screen_host *host, struct screen_state *st, enum command command)
{
	if (command == CMD_NONE)
		return;
	trail_follow(host, st);
	command_apply(host, st, command);
	if (st->next != CMD_NONE) {
		const enum command next = st->next;
		st->next = CMD_NONE;
		command_apply(host, st, next);
	}
	trail_note(host, st);
}

/* --- typing --- */

bool screen_type(const struct screen_host *host, struct screen_state *st, uint32_t ch)
{
	(void)host;
	bool taking = overlay_is_list(st->open) || overlay_is_prompt(st->open);
	size_t len = strlen(st->typed);
	char bytes[4];
	if (!taking)
		return false;
	st->message[0] = '\0';
	if (ch == NK_BACKSPACE) {
		len -= len > 0;
		while (len && ((unsigned char)st->typed[len] & 0xc0) == 0x80)
			len--;
		st->typed[len] = '\0';
	} else if (ch >= ' ' && ch != 0x7f && ch < NK_BASE) {
		const size_t n = utf8_put(bytes, ch);
		if (len + n < sizeof st->typed) {
			memcpy(st->typed + len, bytes, n);
			st->typed[len + n] = '\0';
		}
	} else {
		return false;
	}
	st->selected = 0;
	return true;
}

void screen_key(const struct screen_host *host, struct screen_state *st, uint32_t key)
{
	if (!screen_type(host, st, key))
		screen_command(host, st, key_command(key));
}
