/* See settings.h. */
#include "ui/settings.h"

#include "base/lang.h"
#include "base/text.h"
#include "ui/arrangement.h"
#include "ui/keys.h"
#include "ui/theme.h"

#include <stdio.h>
#include <string.h>

void settings_default(struct settings *s)
{
	*s = (struct settings){ .theme = theme_count(), .lang = lang_count(), .mouse = true };
}

/* --- one row per setting --- */

static bool no_such(const char *what, const char *value, const char *(*name)(size_t i), size_t n,
                    struct err *err)
{
	const char *names[16] = { 0 };
	struct text all = { 0 };
	for (size_t i = 0; i < n && i < ARRAY_LEN(names); i++) {
		names[i] = name(i);
		text_add(&all, "%s%s", i ? ", " : "", names[i]);
	}
	const char *near = str_nearest(value, names, n);
	err_set(err, ERR_USAGE, "no %s is called '%s'", what, value);
	if (near)
		err_remedy(err, "did you mean '%s'? There are: %s", near, all.s);
	else
		err_remedy(err, "there are: %s", all.s);
	text_free(&all);
	return false;
}

static const char *theme_name(size_t i)
{
	return theme_at(i)->name;
}

static bool read_theme(const char *value, struct settings *s, struct err *err)
{
	s->theme = theme_find(value);
	return s->theme < theme_count() || no_such("theme", value, theme_name, theme_count(), err);
}

static void write_theme(const struct settings *s, char *out, size_t n)
{
	snprintf(out, n, "%s", s->theme < theme_count() ? theme_name(s->theme) : "");
}

static bool read_layout(const char *value, struct settings *s, struct err *err)
{
	const size_t i = arrangement_find(value);
	if (i == arrangement_count())
		return no_such("layout", value, arrangement_name, arrangement_count(), err);
	s->layout = i;
	return true;
}

static void write_layout(const struct settings *s, char *out, size_t n)
{
	snprintf(out, n, "%s", arrangement_name(s->layout));
}

static bool read_side(const char *value, struct settings *s, struct err *err)
{
	int64_t cols;
	if (!parse_int(value, &cols) || cols < 0 || cols > SIDE_MOST)
		return err_set(err, ERR_USAGE, "side is a number of columns up to %d, not '%s'", SIDE_MOST,
		               value);
	s->side_cols = (int)cols;
	return true;
}

static void write_side(const struct settings *s, char *out, size_t n)
{
	snprintf(out, n, "%d", s->side_cols);
}

static bool read_lang(const char *value, struct settings *s, struct err *err)
{
	return lang_find(value, &s->lang, err);
}

static void write_lang(const struct settings *s, char *out, size_t n)
{
	snprintf(out, n, "%s", s->lang < lang_count() ? lang_code(s->lang) : "");
}

static bool read_mouse(const char *value, struct settings *s, struct err *err)
{
	s->mouse = !strcmp(value, "on");
	return s->mouse || !strcmp(value, "off") ||
	       err_set(err, ERR_USAGE, "mouse is 'on' or 'off', not '%s'", value);
}

static void write_mouse(const struct settings *s, char *out, size_t n)
{
	snprintf(out, n, "%s", s->mouse ? "on" : "off");
}

static bool read_start(const char *value, struct settings *s, struct err *err)
{
	if (strlen(value) >= sizeof s->start)
		return err_set(err, ERR_USAGE, "start is longer than %zu characters", sizeof s->start - 1);
	snprintf(s->start, sizeof s->start, "%s", value);
	return true;
}

static void write_start(const struct settings *s, char *out, size_t n)
{
	snprintf(out, n, "%s", s->start);
}

static const struct setting {
	const char *name, *about;
	bool (*read)(const char *value, struct settings *s, struct err *err);
	void (*write)(const struct settings *s, char *out, size_t n); /* "" = nothing to write */
} table[] = {
	{ "theme", "dark, light, colour-blind or mono (key T)", read_theme, write_theme },
	{ "layout", "study, profile, compare or lesson (key L)", read_layout, write_layout },
	{ "side", "columns of the side column (keys ( and )); 0 = a third of the screen", read_side,
	  write_side },
	{ "lang", "en or zh_CN (key A); else as LC_ALL, LANG say", read_lang, write_lang },
	{ "mouse", "on, or off: then it selects text (key m)", read_mouse, write_mouse },
	{ "start", "what pmpp-explore without arguments opens; kept when it ends", read_start,
	  write_start },
};

/* --- lines --- */

struct line {
	char name[64], value[512];
};

static void trim(char *s)
{
	size_t n = strlen(s), from = strspn(s, " \t");
	while (n > from && strchr(" \t\r", s[n - 1]))
		n--;
	memmove(s, s + from, n - from);
	s[n - from] = '\0';
}

/* "name = value"; false: it is blank or a comment. Without '=' the name is empty. */
static bool line_parse(const char *text, size_t n, struct line *out)
{
	char all[600];
	snprintf(all, sizeof all, "%.*s", (int)(n < sizeof all ? n : sizeof all - 1), text);
	trim(all);
	if (!all[0] || all[0] == '#')
		return false;
	/* a key may be '=' itself: "key = = name" */
	char *sign = strchr(strncmp(all, "key ", 4) || !all[4] ? all : all + 5, '=');
	*out = (struct line){ .name = "" };
	if (!sign)
		return true;
	snprintf(out->name, sizeof out->name, "%.*s", (int)(sign - all), all);
	snprintf(out->value, sizeof out->value, "%s", sign + 1);
	trim(out->name);
	trim(out->value);
	return true;
}

static const struct setting *setting_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

static const char *setting_name(size_t i)
{
	return i < ARRAY_LEN(table) ? table[i].name : "key KEY";
}

static bool line_read(const struct line *l, struct settings *s, struct err *err)
{
	const struct setting *t = setting_of(l->name);
	if (!l->name[0]) {
		err_set(err, ERR_USAGE, "this is not 'name = value'");
		return err_remedy(err, "a comment begins with '#'");
	}
	if (!strncmp(l->name, "key ", 4))
		return key_bind(l->name + 4 + strspn(l->name + 4, " "), l->value, err);
	return t ? t->read(l->value, s, err)
	         : no_such("setting", l->name, setting_name, ARRAY_LEN(table) + 1, err);
}

bool settings_read(const char *text, const char *path, struct settings *s, struct err *err)
{
	bool ok = true;
	for (unsigned number = 1; *text; number++) {
		const size_t n = strcspn(text, "\n");
		struct line l;
		struct err wrong = { 0 };
		if (line_parse(text, n, &l) && !line_read(&l, s, &wrong) && ok) {
			err_set(err, ERR_PARSE, "%.200s:%u: %.300s", path, number, wrong.msg);
			err_remedy(err, "%.300s", wrong.remedy);
			ok = false;
		}
		text += n + (text[n] == '\n');
	}
	const char *bare = key_without();
	if (ok && bare) {
		err_set(err, ERR_PARSE, "%.200s: no key is left for '%s'", path, bare);
		err_remedy(err, "add a line: key KEY = %s", bare);
		return false;
	}
	return ok;
}

void settings_looks(const char *text, struct settings *s)
{
	settings_default(s);
	for (; *text; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n')) {
		struct line l;
		if (!line_parse(text, strcspn(text, "\n"), &l))
			continue;
		if (!strcmp(l.name, "lang"))
			read_lang(l.value, s, NULL);
		if (!strcmp(l.name, "theme"))
			read_theme(l.value, s, NULL);
	}
}

/* --- writing --- */

static bool same(const struct setting *t, const struct settings *was, const struct settings *is)
{
	char a[512], b[512];
	t->write(was, a, sizeof a);
	t->write(is, b, sizeof b);
	return !strcmp(a, b);
}

bool settings_same(const struct settings *a, const struct settings *b)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!same(&table[i], a, b))
			return false;
	return true;
}

static void heading(struct text *out)
{
	text_add(out, "# Settings of pmpp-explore. Edit them as you like: other lines and comments "
	              "stay.\n");
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		text_add(out, "#   %-7s %s\n", table[i].name, table[i].about);
	text_add(out, "#   key KEY = COMMAND  another key; '?' in the program names every command\n");
}

char *settings_write(const char *text, const struct settings *was, const struct settings *is)
{
	struct text out = { 0 };
	bool done[ARRAY_LEN(table)] = { false };
	char value[512];
	text_put(&out, "", 0);
	if (!*text)
		heading(&out);
	while (*text) {
		const size_t n = strcspn(text, "\n");
		struct line l;
		const struct setting *t = line_parse(text, n, &l) ? setting_of(l.name) : NULL;
		if (t && !same(t, was, is)) {
			t->write(is, value, sizeof value);
			if (!done[t - table])
				text_add(&out, "%s = %s\n", t->name, value);
			done[t - table] = true;
		} else {
			text_put(&out, text, n);
			text_put(&out, "\n", 1);
		}
		text += n + (text[n] == '\n');
	}
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		table[i].write(is, value, sizeof value);
		if (!done[i] && value[0] && !same(&table[i], was, is))
			text_add(&out, "%s = %s\n", table[i].name, value);
	}
	return out.s;
}
