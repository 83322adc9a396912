/* What a person keeps: read, said wrong with its line, changed without losing what else stands. */
#include "fixture_world.h"
#include "../unit.h"

#include "ui/arrangement.h"
#include "ui/keep.h"
#include "ui/settings.h"
#include "ui/theme.h"

static const char written[] = "# mine\n"
							  "theme = light\n"
							  "\n"
							  "layout=compare   \n"
							  "mouse = off\n"
							  "side = 84\n"
							  "start = sgemm/tiled M=512 --gpu h100\n";

TEST(settings_are_read)
{
	struct settings s;
	struct err err = { 0 };
	settings_default(&s);
	assert_true(s.mouse);
	assert_true(settings_read(written, "settings", &s, &err));
	assert_string_equal(theme_at(s.theme)->name, "light");
	assert_string_equal(arrangement_name(s.layout), "compare");
	assert_false(s.mouse);
	assert_int_equal(s.side_cols, 84);
	assert_string_equal(s.start, "sgemm/tiled M=512 --gpu h100");
}

TEST(what_is_wrong_is_said)
{
	static const struct unit_case table[] = {
		{ "theme = ligt", "f:1: no theme is called 'ligt'|did you mean 'light'?" },
		{ "side = much", "f:1: side is a number of columns|" },
		{ "\n\nlayout = wide", "f:3: no layout is called 'wide'|study, profile, compare, lesson" },
		{ "mouse = maybe", "f:1: mouse is 'on' or 'off', not 'maybe'|" },
		{ "them = dark", "f:1: no setting is called 'them'|did you mean 'theme'?" },
		{ "dark", "f:1: this is not 'name = value'|comment" },
		{ "key 5 = run", "f:1: '5' is no key|one character" },
		{ "key ctrl-x = run", "f:1: 'ctrl-x' is no key|one character" },
		{ "key x = zom-in", "f:1: no command is called 'zom-in'|did you mean 'zoom-in'?" },
		{ "key q = run", "f: no key is left for 'quit'|key KEY = quit" },
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct settings s;
		struct err err = { 0 };
		settings_default(&s);
		assert_false(settings_read(table[i].given, "f", &s, &err));
		const size_t n = strcspn(table[i].want, "|");
		if (strncmp(err.msg, table[i].want, n) || !strstr(err.remedy, table[i].want + n + 1))
			fail_msg("'%s': '%s', '%s'", table[i].given, err.msg, err.remedy);
		assert_int_equal(err.code, ERR_PARSE);
		settings_read("key q = quit\nkey r = run", "f", &s, &err); /* as it was */
	}
}

/* A wrong line does not undo the others. */
TEST(the_rest_holds)
{
	struct settings s;
	struct err err = { 0 };
	settings_default(&s);
	assert_false(settings_read("theme = pink\nlayout = lesson\n", "f", &s, &err));
	assert_string_equal(arrangement_name(s.layout), "lesson");
}

TEST(settings_are_written)
{
	struct settings was, is;
	struct err err = { 0 };
	settings_default(&was);
	assert_true(settings_read(written, "settings", &was, &err));
	is = was;
	char *text = settings_write(written, &was, &is);
	assert_string_equal(text, written); /* nothing changed: not a byte */
	free(text);
	is.theme = theme_find("mono");
	is.mouse = true;
	text = settings_write(written, &was, &is);
	assert_string_equal(text, "# mine\ntheme = mono\n\nlayout=compare   \nmouse = on\nside = 84\n"
	                          "start = sgemm/tiled M=512 --gpu h100\n");
	free(text);
	/* the first time: with what there is to know, and it reads back */
	settings_default(&was);
	is = was;
	is.layout = arrangement_find("profile");
	text = settings_write("", &was, &is);
	assert_non_null(strstr(text, "\nlayout = profile\n"));
	assert_null(strstr(text, "\ntheme = "));
	settings_default(&was);
	assert_true(settings_read(text, "f", &was, &err));
	assert_int_equal(was.layout, is.layout);
	free(text);
}

TEST(keys_are_bound)
{
	struct settings s;
	struct err err = { 0 };
	struct world w;
	settings_default(&s);
	assert_true(settings_read("key G = gpu\nkey home = run\nkey ' = row-first\nkey = = param-up\n",
	                          "f", &s, &err));
	world_begin(&w, fixture_done());
	world_press(&w, "G");
	assert_int_equal(w.st.open, CMD_GPU);
	world_press(&w, "ESC HOME");
	assert_int_equal(w.fh.runs, 1);
	world_shows(&w, 40, 120, "G gpu", true); /* the key bar says so */
	assert_int_equal(key_command('g'), CMD_NONE);
	assert_int_equal(key_command('='), CMD_PARAM_UP);
	world_end(&w);
	assert_true(settings_read("key g = gpu\nkey r = run\nkey home = row-first\nkey + = param-up\n",
	                          "f", &s, &err));
}

TEST_ON_SCREEN(layouts, fixture_done())
{
	world_press(w, "1 L");
	assert_string_equal(arrangement_name(w->st.layout), "profile");
	world_shows(w, 40, 120, "7 Source", true);
	world_press(w, "L L");
	assert_string_equal(arrangement_name(w->st.layout), "lesson");
	world_press(w, "3");
	char *text = world_shot(w, 60, 200, false);
	assert_non_null(strstr(text, "SIMD efficiency")); /* one panel and nothing beside it */
	assert_null(strstr(text, "theoretical"));
	assert_null(strstr(text, "block size"));
	free(text);
	world_press(w, "L");
	assert_int_equal(w->st.layout, 0);
	assert_int_equal(arrangement_find("none"), arrangement_count());
}

/* --- kept while the screen is open --- */

static struct {
	unsigned times;
	struct settings was, is;
} kept;

static char *no_settings(void *ctx, char *path, size_t n)
{
	(void)ctx;
	(void)path;
	(void)n;
	return NULL;
}

static void keeps(void *ctx, const struct settings *was, const struct settings *is)
{
	(void)ctx;
	kept.times++;
	kept.was = *was;
	kept.is = *is;
}

TEST_ON_SCREEN(a_choice_is_kept_soon, fixture_done())
{
	struct keep k = { .theme = 0 };
	settings_default(&k.kept);
	w->host.settings = no_settings;
	w->host.keep = keeps;
	kept.times = 0;
	keep_note(&k, &w->host, &w->st, 10); /* where the session stands */
	assert_int_equal(kept.times, 0);
	keep_note(&k, &w->host, &w->st, 10.6);
	assert_int_equal(kept.times, 1);
	assert_non_null(strstr(kept.is.start, "sgemm"));
	assert_int_equal(keep_note(&k, &w->host, &w->st, 11), -1);

	world_press(w, "T");
	const int ms = keep_note(&k, &w->host, &w->st, 20);
	assert_in_range(ms, 1, 999);
	for (int i = 1; i <= 40; i++) { /* many keys: once, and not later for them */
		world_press(w, i % 2 ? "L" : ")");
		keep_note(&k, &w->host, &w->st, 20 + i * 0.02);
	}
	assert_int_equal(kept.times, 2);
	assert_int_equal(kept.is.theme, w->st.theme);
	assert_int_equal(kept.was.theme, theme_count());

	/* back to what it was: that is a choice, too */
	for (size_t i = 1; i < theme_count(); i++)
		world_press(w, "T");
	keep_end(&k, &w->host, &w->st);
	assert_int_equal(kept.times, 3);
	assert_int_equal(kept.is.theme, 0);
	keep_end(&k, &w->host, &w->st);
	assert_int_equal(kept.times, 3);
}
