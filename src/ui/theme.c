/*
 * The themes; see theme.h. Every text has a contrast of 4.5 or more against the background that
 * its theme is made for (WCAG 2.1, 1.4.3); a test computes it. Shaded areas are no text, and quiet.
 * Red means bad and nothing else; the colour-blind theme says good and bad in blue and orange
 * (Okabe and Ito 2008).
 */
#include "ui/theme.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OWN = -1, RED = 1, GREEN = 2, YELLOW = 3, BLUE = 4, MAGENTA = 5, CYAN = 6, WHITE = 7 };

#define LOOK(id, attr_, many, few, attr_few) \
	[STYLE_##id] = { .attr = attr_, .of_256 = many, .of_8 = few, .attr8 = attr_few }
/* The map from slow to quick: a ground of its own, from dark blue to yellow, in equal steps of
 * lightness, so that it reads the same without telling hues apart. */
#define ON(id, many, ground_, attr_few) \
	[STYLE_##id] = { .of_256 = many, .of_8 = OWN, .attr8 = attr_few, .ground = ground_ }
#define MAP_LOOKS                                                                                  \
	ON(MAP1, 252, 17, 0), ON(MAP2, 255, 24, 0), ON(MAP3, 16, 37, 0), ON(MAP4, 16, 114, LOOK_BOLD), \
		ON(MAP5, 16, 226, LOOK_BOLD | LOOK_REVERSE)
#define MAP_PLAIN                                                                       \
	LOOK(MAP1, 0, OWN, OWN, 0), LOOK(MAP2, 0, OWN, OWN, 0), LOOK(MAP3, 0, OWN, OWN, 0), \
		LOOK(MAP4, LOOK_BOLD, OWN, OWN, LOOK_BOLD),                                     \
		LOOK(MAP5, LOOK_BOLD | LOOK_REVERSE, OWN, OWN, LOOK_BOLD | LOOK_REVERSE)
/* What needs no colour. */
#define PLAIN_LOOKS                                                           \
	LOOK(NORMAL, 0, OWN, OWN, 0), LOOK(BOLD, LOOK_BOLD, OWN, OWN, LOOK_BOLD), \
		LOOK(TITLE, LOOK_BOLD, OWN, OWN, LOOK_BOLD),                          \
		LOOK(SELECTED, LOOK_REVERSE, OWN, OWN, LOOK_REVERSE),                 \
		LOOK(KEY, LOOK_BOLD, OWN, OWN, LOOK_BOLD)

static const struct theme themes[] = {
	{ .name = "dark",
	  .look = { PLAIN_LOOKS, LOOK(DIM, 0, 248, OWN, 0), LOOK(GOOD, 0, 77, GREEN, 0),
	            LOOK(WATCH, 0, 220, YELLOW, LOOK_BOLD), LOOK(BAD, LOOK_BOLD, 210, RED, LOOK_BOLD),
	            LOOK(KNOB, 0, 80, CYAN, 0), LOOK(KNOB_ON, LOOK_BOLD, 87, CYAN, LOOK_REVERSE),
	            LOOK(BAR, 0, 111, CYAN, 0), LOOK(BAR_ON, LOOK_BOLD, 87, OWN, LOOK_BOLD),
	            LOOK(HEAT1, 0, 187, YELLOW, 0), LOOK(HEAT2, 0, 221, YELLOW, LOOK_BOLD),
	            LOOK(HEAT3, LOOK_BOLD, 214, YELLOW, LOOK_BOLD | LOOK_UNDERLINE),
	            LOOK(ERROR, LOOK_BOLD, 210, RED, LOOK_BOLD), LOOK(FAINT, 0, 246, OWN, 0),
	            LOOK(SHADE, 0, 238, BLUE, 0), MAP_LOOKS } },
	{ .name = "light",
	  .light = true,
	  .look = { PLAIN_LOOKS, LOOK(DIM, 0, 240, OWN, 0), LOOK(GOOD, 0, 22, BLUE, 0),
	            LOOK(WATCH, LOOK_BOLD, 94, MAGENTA, LOOK_BOLD),
	            LOOK(BAD, LOOK_BOLD, 124, RED, LOOK_BOLD), LOOK(KNOB, 0, 24, BLUE, 0),
	            LOOK(KNOB_ON, LOOK_BOLD, 18, BLUE, LOOK_REVERSE), LOOK(BAR, 0, 25, BLUE, 0),
	            LOOK(BAR_ON, LOOK_BOLD, 18, OWN, LOOK_BOLD), LOOK(HEAT1, 0, 58, OWN, 0),
	            LOOK(HEAT2, 0, 94, MAGENTA, 0),
	            LOOK(HEAT3, LOOK_BOLD, 90, MAGENTA, LOOK_BOLD | LOOK_UNDERLINE),
	            LOOK(ERROR, LOOK_BOLD, 124, RED, LOOK_BOLD), LOOK(FAINT, 0, 241, OWN, 0),
	            LOOK(SHADE, 0, 251, WHITE, 0), MAP_LOOKS } },
	{ .name = "colour-blind",
	  .look = { PLAIN_LOOKS, LOOK(DIM, 0, 248, OWN, 0), LOOK(GOOD, 0, 75, CYAN, 0),
	            LOOK(WATCH, 0, 227, YELLOW, 0), LOOK(BAD, LOOK_BOLD, 208, YELLOW, LOOK_BOLD),
	            LOOK(KNOB, 0, 195, OWN, LOOK_BOLD),
	            LOOK(KNOB_ON, LOOK_BOLD, 231, OWN, LOOK_REVERSE), LOOK(BAR, 0, 111, CYAN, 0),
	            LOOK(BAR_ON, LOOK_BOLD, 231, OWN, LOOK_BOLD), LOOK(HEAT1, 0, 254, OWN, 0),
	            LOOK(HEAT2, 0, 229, YELLOW, 0),
	            LOOK(HEAT3, LOOK_BOLD, 221, YELLOW, LOOK_BOLD | LOOK_UNDERLINE),
	            LOOK(ERROR, LOOK_BOLD, 208, YELLOW, LOOK_BOLD), LOOK(FAINT, 0, 246, OWN, 0),
	            LOOK(SHADE, 0, 238, BLUE, 0), MAP_LOOKS } },
	{ .name = "mono",
	  .look = { PLAIN_LOOKS, LOOK(DIM, 0, OWN, OWN, 0), LOOK(GOOD, 0, OWN, OWN, 0),
	            LOOK(WATCH, LOOK_BOLD, OWN, OWN, LOOK_BOLD),
	            LOOK(BAD, LOOK_BOLD, OWN, OWN, LOOK_BOLD), LOOK(KNOB, 0, OWN, OWN, 0),
	            LOOK(KNOB_ON, LOOK_REVERSE, OWN, OWN, LOOK_REVERSE), LOOK(BAR, 0, OWN, OWN, 0),
	            LOOK(BAR_ON, LOOK_BOLD, OWN, OWN, LOOK_BOLD), LOOK(HEAT1, 0, OWN, OWN, 0),
	            LOOK(HEAT2, LOOK_BOLD, OWN, OWN, LOOK_BOLD),
	            LOOK(HEAT3, LOOK_BOLD | LOOK_UNDERLINE, OWN, OWN, LOOK_BOLD | LOOK_UNDERLINE),
	            LOOK(ERROR, LOOK_BOLD, OWN, OWN, LOOK_BOLD), LOOK(FAINT, 0, OWN, OWN, 0),
	            LOOK(SHADE, LOOK_DIM, OWN, OWN, LOOK_DIM), MAP_PLAIN } },
};

size_t theme_count(void)
{
	return ARRAY_LEN(themes);
}

const struct theme *theme_at(size_t i)
{
	return &themes[i < ARRAY_LEN(themes) ? i : 0];
}

size_t theme_find(const char *name)
{
	size_t i = 0;
	while (i < ARRAY_LEN(themes) && strcmp(themes[i].name, name))
		i++;
	return i;
}

size_t theme_of_environment(size_t kept)
{
	const char *no = getenv("NO_COLOR"), *name = getenv("PMPP_THEME"), *fgbg = getenv("COLORFGBG");
	if (no && *no)
		return theme_find("mono");
	if (name && theme_find(name) < ARRAY_LEN(themes))
		return theme_find(name);
	if (kept < ARRAY_LEN(themes))
		return kept;
	/* "15;0": what rxvt, Konsole and others set; 7 and 15 are the white ones */
	const char *background = fgbg ? strrchr(fgbg, ';') : NULL;
	if (background && (!strcmp(background, ";7") || !strcmp(background, ";15")))
		return theme_find("light");
	return 0;
}

/* --- palettes --- */

enum palette palette_of(int colours)
{
	return colours >= 1 << 24 ? PALETTE_DIRECT
	       : colours >= 256   ? PALETTE_256
	       : colours >= 16    ? PALETTE_16
	                          : PALETTE_8;
}

static void palette(short colour, int rgb[3]);

/* 0 to 7 mean the first eight colours on such a terminal too: black is both. */
static int direct(short colour)
{
	int rgb[3];
	palette(colour, rgb);
	return rgb[0] << 16 | rgb[1] << 8 | rgb[2];
}

struct ink theme_ink(size_t theme, enum style style, enum palette palette_)
{
	const struct theme *t = theme_at(theme);
	const struct look *l = &t->look[style];
	const bool many = palette_ >= PALETTE_256;
	struct ink ink = { .text = many ? l->of_256 : l->of_8,
		               .ground = many && l->ground ? l->ground : -1,
		               .attr = many ? l->attr : l->attr8 };
	/* on black the bright ones read best; on white the others do */
	if (palette_ == PALETTE_16 && ink.text >= 0 && !t->light)
		ink.text += 8;
	if (palette_ == PALETTE_DIRECT && ink.text >= 0)
		ink.text = direct((short)ink.text);
	if (palette_ == PALETTE_DIRECT && ink.ground >= 0)
		ink.ground = direct((short)ink.ground);
	return ink;
}

/* --- contrast --- */

/* The palette of xterm: 16 colours, a cube of 6 x 6 x 6, 24 greys. */
static void palette(short colour, int rgb[3])
{
	static const unsigned char first[16][3] = {
		{ 0, 0, 0 },       { 205, 0, 0 },   { 0, 205, 0 },   { 205, 205, 0 },
		{ 0, 0, 238 },     { 205, 0, 205 }, { 0, 205, 205 }, { 229, 229, 229 },
		{ 127, 127, 127 }, { 255, 0, 0 },   { 0, 255, 0 },   { 255, 255, 0 },
		{ 92, 92, 255 },   { 255, 0, 255 }, { 0, 255, 255 }, { 255, 255, 255 },
	};
	const int cube[3] = { (colour - 16) / 36, (colour - 16) / 6 % 6, (colour - 16) % 6 };
	for (int i = 0; i < 3; i++)
		rgb[i] = colour < 16    ? first[colour][i]
		         : colour < 232 ? (cube[i] ? 55 + 40 * cube[i] : 0)
		                        : 8 + 10 * (colour - 232);
}

static double luminance(short colour)
{
	static const double weight[3] = { 0.2126, 0.7152, 0.0722 };
	int rgb[3];
	double sum = 0;
	palette(colour, rgb);
	for (int i = 0; i < 3; i++) {
		const double c = rgb[i] / 255.0;
		sum += weight[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
	}
	return sum;
}

double theme_contrast(short a, short b)
{
	const double x = luminance(a), y = luminance(b);
	return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}
