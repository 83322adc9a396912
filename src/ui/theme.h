/*
 * What a style looks like, per theme and number of colours. Knows no terminal: attributes are
 * bits of its own, colours are indices of xterm's palette.
 */
#ifndef PMPP_UI_THEME_H
#define PMPP_UI_THEME_H

#include "ui/canvas.h"

enum look_attr { LOOK_BOLD = 1, LOOK_REVERSE = 2, LOOK_UNDERLINE = 4, LOOK_DIM = 8 };

struct look {
	unsigned attr;  /* bits of enum look_attr */
	short of_256;   /* colour of the text; -1 = the terminal's own */
	short of_8;     /* where there are only eight */
	unsigned attr8; /* attributes that go with of_8 */
	short ground;   /* what of_256 stands on; 0 = the terminal's own */
};

struct theme {
	const char *name;
	bool light; /* made for a light background */
	struct look look[STYLE_COUNT];
};

/* Where a colour comes from, by how many a terminal has. */
enum palette {
	PALETTE_8,      /* the first eight; bright by bold, if the terminal does that */
	PALETTE_16,     /* and eight bright ones */
	PALETTE_256,    /* xterm's */
	PALETTE_DIRECT, /* any: 0xrrggbb */
};
enum palette palette_of(int colours);
/* A style's colour and what it stands on, in the numbers of @palette; -1 = the terminal's own. */
struct ink {
	int text, ground;
	unsigned attr; /* bits of enum look_attr */
};
struct ink theme_ink(size_t theme, enum style style, enum palette palette);

size_t theme_count(void);
const struct theme *theme_at(size_t i);
/* By name; theme_count() = there is none of that name. */
size_t theme_find(const char *name);
/* What the environment asks for: NO_COLOR (no-color.org), PMPP_THEME; else @kept, the person's
 * setting (theme_count() = none); else the one for COLORFGBG's background. */
size_t theme_of_environment(size_t kept);
/* Contrast of two colours of xterm's palette of 256, 1..21 (WCAG 2.1, relative luminance). */
double theme_contrast(short a, short b);

#endif
