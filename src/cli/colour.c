/* See colour.h. */
#include "cli/colour.h"

#include "base/text.h"
#include "cli/early_option.h"
#include "cli/settings_file.h"
#include "ui/settings.h"
#include "ui/theme.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };
static const char *const when_names[] = { "auto", "always", "never" };

static struct {
	enum when when;
	size_t theme;
	enum palette palette;
	struct {
		FILE *f;
		int fd;
		enum style style; /* of what was printed last */
	} streams[2];
	unsigned n;
} colour;

static bool is_set(const char *name)
{
	const char *value = getenv(name);
	return value && *value;
}

static bool when_find(const char *word, enum when *out, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(when_names); i++)
		if (!strcmp(word, when_names[i])) {
			*out = (enum when)i;
			return true;
		}
	err_set(err, ERR_USAGE, "option '%s': '%s' is none of its values", COLOUR_OPTION, word);
	return err_remedy(err, "there are: %s, %s, %s", when_names[0], when_names[1], when_names[2]);
}

static size_t theme_kept(void)
{
	char path[300];
	struct err err = { 0 };
	struct settings kept;
	char *text = settings_file_read(path, sizeof path, &err);
	settings_looks(text ? text : "", &kept);
	free(text);
	return kept.theme;
}

bool colour_choose(int *argc, char **argv, struct err *err)
{
	const char *word = early_option(COLOUR_OPTION, argc, argv), *term = getenv("TERM");
	if (word && !*word)
		return err_set(err, ERR_USAGE, "option '%s' needs a value: %s", COLOUR_OPTION,
		               COLOUR_WHENS);
	if (word && !when_find(word, &colour.when, err))
		return false;
	if (colour.when == WHEN_ALWAYS)
		unsetenv("NO_COLOR");
	if (colour.when == WHEN_NEVER)
		setenv("NO_COLOR", "1", 1);
	/* terminals of 256 colours say so in their name, or in COLORTERM */
	const bool many =
		is_set("COLORTERM") || (term && strstr(term, "256")) || (term && strstr(term, "direct"));
	colour.palette = many ? PALETTE_256 : PALETTE_8;
	colour.theme = theme_of_environment(theme_kept());
	return true;
}

static bool wanted(int fd)
{
	const char *term = getenv("TERM");
	if (colour.when != WHEN_AUTO)
		return colour.when == WHEN_ALWAYS;
	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0 && !is_set("NO_COLOR");
}

void colour_open(FILE *f, int fd)
{
	if (!wanted(fd) || colour.n == ARRAY_LEN(colour.streams))
		return;
	colour.streams[colour.n].f = f;
	colour.streams[colour.n++].fd = fd;
}

/* The terminal's own look, then the style's (ECMA-48). */
static size_t sequence(enum style style, char *out, size_t n)
{
	static const int of_attr[][2] = { { LOOK_BOLD, 1 },
		                              { LOOK_UNDERLINE, 4 },
		                              { LOOK_REVERSE, 7 } };
	const struct ink ink = theme_ink(colour.theme, style, colour.palette);
	size_t at = (size_t)snprintf(out, n, "\033[0");
	for (size_t i = 0; i < ARRAY_LEN(of_attr); i++)
		if (ink.attr & (unsigned)of_attr[i][0])
			at += (size_t)snprintf(out + at, n - at, ";%d", of_attr[i][1]);
	if (ink.text >= 0 && colour.palette == PALETTE_256)
		at += (size_t)snprintf(out + at, n - at, ";38;5;%d", ink.text);
	else if (ink.text >= 0)
		at += (size_t)snprintf(out + at, n - at, ";%d", 30 + ink.text);
	if (ink.ground >= 0)
		at += (size_t)snprintf(out + at, n - at, ";48;5;%d", ink.ground);
	return at + (size_t)snprintf(out + at, n - at, "m");
}

void colour_style(FILE *f, enum style style)
{
	for (unsigned i = 0; i < colour.n; i++) {
		char bytes[48];
		if (colour.streams[i].f != f || colour.streams[i].style == style)
			continue;
		/* past the stream, which would make it plain; what it holds comes first */
		const size_t n = sequence(style, bytes, sizeof bytes);
		if (fflush(f) || write(colour.streams[i].fd, bytes, n) != (ssize_t)n)
			return; /* the stream itself says that it cannot write */
		colour.streams[i].style = style;
	}
}
