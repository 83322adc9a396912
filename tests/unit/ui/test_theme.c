/* Every text of every theme can be read: the contrast is computed, in 256 and in 8 colours. */
#include "../unit.h"
#include "ui/theme.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define BLACK 16
#define WHITE 231

static void readable(const struct theme *t, int style, short colour, short ground)
{
	static const char *const names[] = {
#define X(id, letter) #id,
		STYLES(X)
#undef X
	};
	if (colour >= 0 && theme_contrast(colour, ground) < 4.5)
		fail_msg("theme %s: %s, colour %d on %d has contrast %.2f, below 4.5", t->name,
		         names[style], colour, ground, theme_contrast(colour, ground));
}

TEST(contrast_of_every_style)
{
	for (size_t i = 0; i < theme_count(); i++) {
		const struct theme *t = theme_at(i);
		for (int s = 0; s < STYLE_COUNT; s++) {
			if (s == STYLE_SHADE) { /* behind text: nothing may stand out less from the ground */
				const short area = t->look[s].of_256;
				assert_true(area < 0 || theme_contrast(area, t->light ? WHITE : BLACK) < 2.5);
				continue;
			}
			/* the pure ground, and the softened ones that terminals come with (#1c1c1c, #eeeeee) */
			const short own = t->look[s].ground;
			readable(t, s, t->look[s].of_256, own ? own : t->light ? WHITE : BLACK);
			readable(t, s, t->look[s].of_256, own ? own : t->light ? 255 : 234);
			/* xterm's dark red is 2.9 on black; bold makes it the bright one (5.3) */
			const bool bright = t->look[s].attr8 & LOOK_BOLD;
			const short few = t->look[s].of_8;
			readable(t, s, few >= 0 && bright && !t->light ? (short)(few + 8) : few,
			         t->light ? WHITE : BLACK);
			const short sixteen = (short)theme_ink(i, (enum style)s, PALETTE_16).text;
			readable(t, s, sixteen, t->light ? WHITE : BLACK);
		}
	}
}

/* Full cells of a style that is turned round are empty ones. */
TEST(bars_are_seen)
{
	static const enum style bars[] = { STYLE_BAR,   STYLE_BAR_ON, STYLE_GOOD,
		                               STYLE_WATCH, STYLE_BAD,    STYLE_KNOB,
		                               STYLE_HEAT1, STYLE_HEAT2,  STYLE_HEAT3 };
	for (size_t i = 0; i < theme_count(); i++)
		for (size_t k = 0; k < ARRAY_LEN(bars); k++) {
			assert_false(theme_at(i)->look[bars[k]].attr & LOOK_REVERSE);
			assert_false(theme_at(i)->look[bars[k]].attr8 & LOOK_REVERSE);
		}
}

TEST(contrast_as_the_standard_says)
{
	assert_true(theme_contrast(BLACK, WHITE) > 20.99 && theme_contrast(BLACK, WHITE) < 21.01);
	assert_true(theme_contrast(WHITE, WHITE) == 1);
	/* #767676 on white: the known limit of 4.5 */
	assert_true(theme_contrast(243, WHITE) > 4.5 && theme_contrast(244, WHITE) < 4.5);
}

/* How many colours there are says what a colour's number means. */
TEST(palettes)
{
	assert_int_equal(palette_of(8), PALETTE_8);
	assert_int_equal(palette_of(16), PALETTE_16);
	assert_int_equal(palette_of(88), PALETTE_16);
	assert_int_equal(palette_of(256), PALETTE_256);
	assert_int_equal(palette_of(1 << 24), PALETTE_DIRECT);
	const size_t dark = theme_find("dark");
	assert_int_equal(theme_ink(dark, STYLE_DIM, PALETTE_256).text, 248);
	/* on a terminal of direct colours 248 would be a blue that nobody can read */
	assert_int_equal(theme_ink(dark, STYLE_DIM, PALETTE_DIRECT).text, 0xa8a8a8);
	assert_int_equal(theme_ink(dark, STYLE_MAP5, PALETTE_DIRECT).ground, 0xffff00);
	assert_int_equal(theme_ink(dark, STYLE_NORMAL, PALETTE_DIRECT).text, -1);
	assert_int_equal(theme_ink(dark, STYLE_NORMAL, PALETTE_DIRECT).ground, -1);
	assert_int_equal(theme_ink(dark, STYLE_KNOB, PALETTE_8).text, 6);
	assert_int_equal(theme_ink(dark, STYLE_KNOB, PALETTE_16).text, 14);
	assert_int_equal(theme_ink(theme_find("light"), STYLE_KNOB, PALETTE_16).text, 4);
}

/* The map's levels are told apart by lightness alone, the quicker the lighter. */
TEST(map_is_a_ramp)
{
	for (size_t i = 0; i < theme_count(); i++)
		for (int s = STYLE_MAP1; s < STYLE_MAP5 && theme_at(i)->look[s].ground; s++) {
			const short ground = theme_at(i)->look[s].ground,
						next = theme_at(i)->look[s + 1].ground;
			assert_true(theme_contrast(next, BLACK) > 1.3 * theme_contrast(ground, BLACK));
		}
}

/* Good, watch and bad cannot be told apart by colour alone without colour: signs go with them. */
TEST(good_is_not_bad)
{
	for (size_t i = 0; i < theme_count(); i++) {
		const struct look *l = theme_at(i)->look;
		if (l[STYLE_GOOD].of_256 >= 0) {
			assert_int_not_equal(l[STYLE_GOOD].of_256, l[STYLE_BAD].of_256);
			assert_int_not_equal(l[STYLE_HEAT3].of_256, l[STYLE_BAD].of_256);
		}
	}
}

TEST(environment_chooses)
{
	unsetenv("NO_COLOR");
	unsetenv("PMPP_THEME");
	unsetenv("COLORFGBG");
	assert_string_equal(theme_at(theme_of_environment(theme_count()))->name, "dark");
	setenv("COLORFGBG", "0;default;15", 1);
	assert_string_equal(theme_at(theme_of_environment(theme_count()))->name, "light");
	/* saved settings beat the guess, and what is asked for now beats both */
	assert_string_equal(theme_at(theme_of_environment(theme_find("mono")))->name, "mono");
	setenv("PMPP_THEME", "colour-blind", 1);
	assert_string_equal(theme_at(theme_of_environment(theme_find("mono")))->name, "colour-blind");
	assert_string_equal(theme_at(theme_of_environment(theme_count()))->name, "colour-blind");
	setenv("PMPP_THEME", "pink", 1);
	assert_string_equal(theme_at(theme_of_environment(theme_count()))->name, "light");
	setenv("NO_COLOR", "1", 1);
	assert_string_equal(theme_at(theme_of_environment(theme_count()))->name, "mono");
}
