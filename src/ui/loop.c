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
#include "ui/keep.h"
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
	struct keep keep;
	if (!term_open(err))
		return false;
	keep_begin(&keep, host, &st);
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
		const int play_ms = play(host, &st, &due, &changed);
		if (changed)
			frame(host, &st);
		changed = false;
		const int keep_ms = keep_note(&keep, host, &st, clock_now_s());
		const int wait_ms = play_ms < 0 || (keep_ms >= 0 && keep_ms < play_ms) ? keep_ms : play_ms;
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
	keep_end(&keep, host, &st);
	return true;
}
