/*
 * The interactive loop: wait for a key or for finished work, apply, draw.
 *
 * All pending keys are applied before a frame is drawn, so a held key never lags behind.
 */
#include "ui/screen.h"
#include "ui/term.h"
#include "ui/theme.h"

#include <stdlib.h>

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

bool screen_run(const struct screen_host *host, struct err *err)
{
	struct screen_state st = { .open = CMD_NONE };
	if (!term_open(err))
		return false;
	bool changed = true;
	size_t theme = st.theme = theme_of_environment();
	while (!st.quit) {
		uint32_t key = 0;
		if (theme != st.theme)
			term_theme(theme = st.theme);
		if (changed)
			frame(host, &st);
		changed = false;
		enum term_event e = term_wait(host->wake_fd(host->ctx), -1, &key);
		for (int burst = 0; e != TERM_TIMEOUT && !st.quit && burst < 64; burst++) {
			switch (e) {
			case TERM_KEY:
				screen_key(host, &st, key);
				changed = true;
				break;
			case TERM_RESIZE: changed = true; break;
			case TERM_WAKE: changed = host->poll(host->ctx) || changed; break;
			case TERM_END: st.quit = true; break;
			case TERM_TIMEOUT: break;
			}
			if (st.copied) {
				term_copy(st.copied);
				free(st.copied);
				st.copied = NULL;
			}
			if (!st.quit)
				e = term_wait(host->wake_fd(host->ctx), 0, &key);
		}
	}
	term_close();
	return true;
}
