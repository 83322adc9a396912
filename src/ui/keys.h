/*
 * Keys by name, and the table made from keys.def. Knows no terminal: term.c turns what the
 * terminal sends into these values, scripts turn words into them.
 */
#ifndef PMPP_UI_KEYS_H
#define PMPP_UI_KEYS_H

#include "ui/screen.h"

/* A key is a Unicode scalar value, or one of these. X(ID, "name in keys.def", "as shown") */
#define NAMED_KEYS(X)            \
	X(LEFT, "LEFT", "←")         \
	X(RIGHT, "RIGHT", "→")       \
	X(UP, "UP", "↑")             \
	X(DOWN, "DOWN", "↓")         \
	X(TAB, "TAB", "Tab")         \
	X(BTAB, "BTAB", "Shift-Tab") \
	X(ENTER, "ENTER", "Enter")   \
	X(ESC, "ESC", "Esc")         \
	X(PGUP, "PGUP", "PgUp")      \
	X(PGDN, "PGDN", "PgDn")      \
	X(HOME, "HOME", "Home")      \
	X(END, "END", "End")         \
	X(BACKSPACE, "BACKSPACE", "Backspace")
enum named_key {
	NK_BASE = 0x110000, /* past the last Unicode scalar value */
#define X(id, name, shown) NK_##id,
	NAMED_KEYS(X)
#undef X
		NK_END_OF_LIST
};

struct key_desc {
	enum command command;
	const char *key, *alt, *bar, *about;
};

size_t key_count(void);
const struct key_desc *key_at(size_t i);
/* "LEFT" or "r" to a key; 0 = no such key. */
uint32_t key_parse(const char *name);
/* "←" for "LEFT", "r" for "r". */
const char *key_shown(const char *name);
/* Digits 1..9 and 0 choose a panel; other keys as in keys.def; CMD_NONE = no meaning. */
enum command key_command(uint32_t key);

#endif
