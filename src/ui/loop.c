/*
 * The interactive loop: wait for a key or for finished work, apply, draw.
 *
 * All pending keys are applied before a frame is drawn, so a held key never lags behind.
 */
#include "ui/screen_parts.h"

#include "base/lang.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "ui/command.h"
#include "ui/settings.h"
#include "ui/term.h"
#include "ui/theme.h"

#include <stdlib.h>
#include <string.h>

#define BURST 64   /* keys at most before a frame is drawn */
#define PLAY_S 0.4 /* that each access of what is played stays */

static void mouse(const struct screen_host *host, struct screen_state *st,
                  const struct mouse_event *event)
{
	int rows, cols;
	term_size(&rows, &cols);
	screen_mouse(host, st, rows, cols, event);
}

/* Finished work, and what is to be said of it. True: something changed. */
static bool news(const struct screen_host *host, struct screen_state *st)
{
	char said[sizeof st->message];
	bool bad = false;
	const bool changed = host->poll(host->ctx);
	if (changed)
		view_settle(host);
	if (!host->said || !host->said(host->ctx, said, sizeof said, &bad))
		return changed;
	screen_say(st, bad, "%s", said);
	return true;
}

static void frame(const struct screen_host *host, const struct screen_state *st)
{
	struct canvas c;
	int rows, cols;
	term_size(&rows, &cols);
	canvas_init(&c, rows, cols, term_ascii());
	screen_draw(host, st, &c);
	term_show(&c);
	canvas_free(&c);
}

/* What the person has chosen, and what the environment says before that. */
static void begin(const struct screen_host *host, struct screen_state *st, struct settings *was)
{
	char path[300];
	struct err err = { 0 };
	const char *no_mouse = getenv("PMPP_MOUSE");
	char *text = host->settings ? host->settings(host->ctx, path, sizeof path) : NULL;
	settings_default(was);
	if (text && !settings_read(text, path, was, &err))
		screen_say(st, true, "%.400s%s%.150s", err.msg, err.remedy[0] ? " → " : "", err.remedy);
	free(text);
	st->layout = was->layout;
	st->side_cols = was->side_cols;
	st->ascii = term_ascii();
	if (st->ascii)
		lang_use(0);
	st->mouse_off = no_mouse && *no_mouse ? *no_mouse == '0' : !was->mouse;
	st->theme = theme_of_environment(was->theme);
}

/* What was changed by a key is kept for the next time; and where this session stood. */
static void end(const struct screen_host *host, const struct screen_state *st,
                const struct settings *was)
{
	char path[300];
	struct settings is = *was;
	if (!host->settings)
		return;
	if (st->theme != theme_of_environment(was->theme))
		is.theme = st->theme;
	if (st->lang_chosen)
		is.lang = lang_used();
	if (st->mouse_toggled)
		is.mouse = !st->mouse_off;
	is.layout = st->layout;
	is.side_cols = st->side_cols;
	screen_words(host, is.start, sizeof is.start);
	char *old = host->settings(host->ctx, path, sizeof path);
	char *text = settings_write(old ? old : "", was, &is);
	if (strcmp(text, old ? old : "") != 0)
		host->keep(host->ctx, text);
	free(old);
	free(text);
}

/* Where something is played: its next step once its time has come. How long to wait for the one
 * after it, in ms; -1 = for ever. */
static int play(const struct screen_host *host, struct screen_state *st, double *due, bool *changed)
{
	if (!st->playing) {
		*due = 0;
		return -1;
	}
	const double now = clock_now_s();
	if (*due <= 0)
		*due = now + PLAY_S;
	if (now >= *due) {
		play_step(host, st);
		*changed = true;
		*due = now + PLAY_S;
	}
	return (int)(1e3 * (*due - now)) + 1;
}

bool screen_run(const struct screen_host *host, struct err *err)
{
	struct screen_state st = { .open = CMD_NONE };
	struct settings was;
	if (!term_open(err))
		return false;
	begin(host, &st, &was);
	size_t theme = theme_count();
	bool changed = true, mouse_on = false;
	double due = 0;
	while (!st.quit) {
		struct term_input in = { 0 };
		if (theme != st.theme)
			term_theme(theme = st.theme);
		if (mouse_on == st.mouse_off)
			term_mouse(mouse_on = !st.mouse_off);
		if (mem_was_short()) {
			screen_say(&st, true,
			           "out of memory: what was under way may be missing; this session is kept "
			           "→ write it (e), choose a smaller problem size");
			changed = true;
		}
		const int wait_ms = play(host, &st, &due, &changed);
		if (changed)
			frame(host, &st);
		changed = false;
		enum term_event e = term_wait(host->wake_fd(host->ctx), wait_ms, &in);
		for (int burst = 1; e != TERM_TIMEOUT; burst++) {
			switch (e) {
			case TERM_KEY:
				screen_key(host, &st, in.key);
				changed = true;
				break;
			case TERM_MOUSE:
				mouse(host, &st, &in.mouse);
				changed = true;
				break;
			case TERM_RESIZE: changed = true; break;
			case TERM_WAKE: changed = news(host, &st) || changed; break;
			case TERM_END: st.quit = true; break;
			case TERM_TIMEOUT: break;
			}
			if (st.copied) {
				term_copy(st.copied);
				free(st.copied);
				st.copied = NULL;
			}
			/* what is taken is acted on: the last key of a burst as well */
			e = st.quit || burst == BURST ? TERM_TIMEOUT
			                              : term_wait(host->wake_fd(host->ctx), 0, &in);
		}
	}
	term_close();
	end(host, &st, &was);
	return true;
}
