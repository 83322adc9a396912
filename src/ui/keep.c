/* See keep.h. */
#include "ui/keep.h"

#include "base/lang.h"
#include "ui/screen_parts.h"
#include "ui/term.h"
#include "ui/theme.h"

#include <stdlib.h>

#define WAIT_S 0.5 /* of a change for those that follow it */

void keep_begin(struct keep *k, const struct screen_host *host, struct screen_state *st)
{
	char path[300];
	struct err err = { 0 };
	const char *no_mouse = getenv("PMPP_MOUSE");
	char *text = host->settings ? host->settings(host->ctx, path, sizeof path) : NULL;
	struct settings *was = &k->kept;
	*k = (struct keep){ .due_s = 0 };
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
	st->theme = k->theme = theme_of_environment(was->theme);
}

/* What was changed by a key, and where this session stands. */
static struct settings chosen(const struct keep *k, const struct screen_host *host,
                              const struct screen_state *st)
{
	struct settings is = k->kept;
	if (st->theme != k->theme)
		is.theme = st->theme;
	if (st->lang_chosen)
		is.lang = lang_used();
	if (st->mouse_toggled)
		is.mouse = !st->mouse_off;
	is.layout = st->layout;
	is.side_cols = st->side_cols;
	screen_words(host, is.start, sizeof is.start);
	return is;
}

int keep_note(struct keep *k, const struct screen_host *host, const struct screen_state *st,
              double now_s)
{
	if (!host->settings)
		return -1;
	const struct settings is = chosen(k, host, st);
	if (settings_same(&k->kept, &is)) {
		k->due_s = 0;
		return -1;
	}
	if (!(k->due_s > 0))
		k->due_s = now_s + WAIT_S;
	if (now_s < k->due_s)
		return (int)(1e3 * (k->due_s - now_s)) + 1;
	host->keep(host->ctx, &k->kept, &is);
	*k = (struct keep){ .kept = is, .theme = st->theme };
	return -1;
}

void keep_end(struct keep *k, const struct screen_host *host, const struct screen_state *st)
{
	k->due_s = 1e-9; /* long ago */
	keep_note(k, host, st, 1);
}
