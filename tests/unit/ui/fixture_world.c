/* A screen over a host that only keeps what it is told. See fixture_world.h. */
#include "fixture_world.h"
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

void world_begin(struct world *w, struct session *s)
{
	*w = (struct world){ .fh = { .s = s } };
	w->host = fixture_host(&w->fh);
}

void world_end(struct world *w)
{
	free(w->st.copied);
	fixture_free(w->fh.s);
}

void world_press(struct world *w, const char *keys)
{
	fixture_press(&w->host, &w->st, keys);
}

char *world_shot(struct world *w, int rows, int cols, bool ascii)
{
	struct canvas c;
	canvas_init(&c, rows, cols, ascii);
	screen_draw(&w->host, &w->st, &c);
	char *text = canvas_dump(&c, false);
	canvas_free(&c);
	return text;
}

void world_shows(struct world *w, int rows, int cols, const char *what, bool wanted)
{
	char *text = world_shot(w, rows, cols, false);
	if ((strstr(text, what) != NULL) != wanted)
		fail_msg("'%s' is %sin\n%s", what, wanted ? "not " : "", text);
	free(text);
}
