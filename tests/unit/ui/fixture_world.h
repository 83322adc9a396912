/* A screen that keys are pressed on and whose text is looked at, without a terminal. */
#ifndef TESTS_UI_FIXTURE_WORLD_H
#define TESTS_UI_FIXTURE_WORLD_H

#include "../unit.h"
#include "fixture_host.h"

struct world {
	struct fixture_host fh;
	struct screen_host host;
	struct screen_state st;
};

/* Takes the session @s, which world_end() frees. */
void world_begin(struct world *w, struct session *s);
void world_end(struct world *w);
/* A test of a screen @w that begins with the session of an expression. */
#define TEST_ON_SCREEN(name, session)       \
	static void name##_on(struct world *w); \
	TEST(name)                              \
	{                                       \
		struct world w;                     \
		world_begin(&w, session);           \
		name##_on(&w);                      \
		world_end(&w);                      \
	}                                       \
	static void name##_on(struct world *w)
/* As fixture_press(). */
void world_press(struct world *w, const char *keys);
/* The screen's text at a size. Freed by the caller. */
char *world_shot(struct world *w, int rows, int cols, bool ascii);
/* Fails unless that text holds @what, or if it does where it is not @wanted. */
void world_shows(struct world *w, int rows, int cols, const char *what, bool wanted);

#endif
