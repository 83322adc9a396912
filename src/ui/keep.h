/*
 * What a person chooses for good while the screen is open: taken over when it opens, handed to the
 * host soon after a change, so that no end of the program loses it. See settings.h.
 */
#ifndef PMPP_UI_KEEP_H
#define PMPP_UI_KEEP_H

#include "ui/screen.h"
#include "ui/settings.h"

struct keep {
	struct settings kept; /* as the host has them */
	size_t theme;         /* the screen's at that time: what the environment says is no choice */
	double due_s;         /* when what differs goes to the host; 0 = nothing differs */
};

/* Takes over what is kept, and what the environment says before that; a wrong line is said in @st.
 */
void keep_begin(struct keep *k, const struct screen_host *host, struct screen_state *st);
/* Something may have changed: what differs from what is kept is handed over half a second after
 * it began to, however many keys follow. How long to wait for that in ms; -1 = nothing is due. */
int keep_note(struct keep *k, const struct screen_host *host, const struct screen_state *st,
              double now_s);
/* What differs goes to the host now. */
void keep_end(struct keep *k, const struct screen_host *host, const struct screen_state *st);

#endif
