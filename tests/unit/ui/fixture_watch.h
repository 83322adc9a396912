/* What a checker says of a frame that was drawn with a watch (canvas.h). */
#ifndef TESTS_UI_FIXTURE_WATCH_H
#define TESTS_UI_FIXTURE_WATCH_H

#include "fixture_world.h"

/* The largest rectangle of blanks. */
struct watch_window most_empty(const struct canvas *c);
/* A third of the screen stays empty while a panel beside it shows less than it holds. */
bool wastes_room(const struct canvas *c, const struct canvas_watch *watch);
/* What is wrong with the frame of @w: text over other text, text that begins outside its panel, an
 * empty third while a panel scrolls. NULL = nothing. What waits for a run, or a lesson that nobody
 * has chosen, has a sentence to say, and what lies over the panels may hide them: these may leave
 * room. */
const char *frame_fault(const struct world *w, const struct canvas *c,
                        const struct canvas_watch *watch);

#endif
