/* The pages over the panels: `?` twice or i lists them, those of the panel first; each is whole. */
#include "fixture_world.h"
#include "../unit.h"
#include "model/page.h"
#include "ui/screen_parts.h"
#include "view_list.h"

static void shows(struct world *w, const char *what)
{
	world_shows(w, 24, 80, what, true);
}

/* The list on the panel that the digit @key opens begins with a page that explains it. */
static void of_panel(const char *key, const char *first)
{
	struct world w;
	world_begin(&w, fixture_done());
	world_press(&w, key);
	world_press(&w, "? ?");
	assert_int_equal(w.st.open, CMD_PAGES);
	assert_true(page_explains(page_for(w.fh.s->view, 0), w.fh.s->view));
	world_press(&w, "ENTER");
	assert_int_equal(w.st.open, CMD_PAGE);
	shows(&w, first);
	world_press(&w, "ESC");
	assert_int_equal(w.st.open, CMD_PAGES);
	world_press(&w, "ESC");
	assert_int_equal(w.st.open, CMD_NONE);
	world_end(&w);
}

TEST(those_of_the_panel_come_first)
{
	of_panel("1", page_for("occupancy", 0)->title);
	of_panel("2", page_for("roofline", 0)->title);
	of_panel("3", page_for("divergence", 0)->title);
	of_panel("4", page_for("coalescing", 0)->title);
}

TEST_ON_SCREEN(other_ways_to_the_list, fixture_done())
{
	world_press(w, "i");
	assert_int_equal(w->st.open, CMD_PAGES);
	world_press(w, "t e n s o r");
	shows(w, "Tensor Cores");
	world_press(w, "ENTER");
	shows(w, "multiplies two small matrices");
	world_press(w, "ESC ESC ? ENTER");
	assert_int_equal(w->st.open, CMD_PAGES);
}

/* Every word of every page stands on the screen, row by row, however narrow it is. */
TEST(nothing_is_cut)
{
	static const int widths[] = { 44, 80, 200 };
	for (size_t i = 0; i < page_count(); i++)
		for (size_t k = 0; k < ARRAY_LEN(widths); k++) {
			struct canvas c;
			canvas_init(&c, 150, widths[k], false);
			page_draw(page_at(i), 0, &c);
			char *text = canvas_dump(&c, false);
			if (strstr(text, "…"))
				fail_msg("page %s at %d columns is cut:\n%s", page_at(i)->name, widths[k], text);
			const char *last = strrchr(page_at(i)->text, ' ') + 1;
			char word[64];
			snprintf(word, sizeof word, "%.*s", (int)strcspn(last, "\n"), last);
			if (!strstr(text, word))
				fail_msg("page %s at %d columns has no end:\n%s", page_at(i)->name, widths[k],
				         text);
			free(text);
			canvas_free(&c);
		}
}

/* On a small screen the end comes with the keys that scroll. */
TEST_ON_SCREEN(a_long_page_scrolls, fixture_done())
{
	w->st.open = CMD_PAGE;
	while (strcmp(page_for(w->fh.s->view, w->st.page)->name, "memory-kinds") != 0)
		w->st.page++;
	char *text = world_shot(w, 24, 80, false);
	assert_null(strstr(text, "GPUDirect"));
	free(text);
	world_press(w, "END");
	shows(w, "GPUDirect");
}

TEST(panels_exist_and_have_pages)
{
	for (size_t i = 0; i < page_count(); i++) {
		char names[120], *save = NULL;
		snprintf(names, sizeof names, "%s", page_at(i)->panels);
		for (char *n = strtok_r(names, " ", &save); n; n = strtok_r(NULL, " ", &save)) {
			size_t v = 0;
			while (v < ARRAY_LEN(all_views) && strcmp(all_views[v]->name, n) != 0)
				v++;
			if (v == ARRAY_LEN(all_views))
				fail_msg("page %s explains '%s', which is no panel", page_at(i)->name, n);
		}
	}
	static const char *const panels[] = { "occupancy", "roofline", "divergence", "coalescing",
		                                  "timeline",  "ladder",   "source",     "device",
		                                  "hardware",  "advice",   "output",     "data" };
	for (size_t i = 0; i < ARRAY_LEN(panels); i++)
		if (!page_explains(page_for(panels[i], 0), panels[i]))
			fail_msg("no page explains %s", panels[i]);
}
