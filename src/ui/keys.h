/*
 * Keys by name, and the table made from keys.def. Knows no terminal: term.c turns what the
 * terminal sends into these values, scripts turn words into them.
 */
#ifndef PMPP_UI_KEYS_H
#define PMPP_UI_KEYS_H

#include "base/enum_list.h"
#include "ui/screen.h"

/* A key is a Unicode scalar value, or one of these. X(ID, "name in keys.def", "as shown") */
#define NAMED_KEYS(X)               \
	X(NK_LEFT, "LEFT", "←")         \
	X(NK_RIGHT, "RIGHT", "→")       \
	X(NK_UP, "UP", "↑")             \
	X(NK_DOWN, "DOWN", "↓")         \
	X(NK_TAB, "TAB", "Tab")         \
	X(NK_BTAB, "BTAB", "Shift-Tab") \
	X(NK_ENTER, "ENTER", "Enter")   \
	X(NK_ESC, "ESC", "Esc")         \
	X(NK_PGUP, "PGUP", "PgUp")      \
	X(NK_PGDN, "PGDN", "PgDn")      \
	X(NK_HOME, "HOME", "Home")      \
	X(NK_END, "END", "End")         \
	X(NK_BACKSPACE, "BACKSPACE", "Backspace")
enum named_key {
	NK_BASE = 0x110000, /* past the last Unicode scalar value */
	NAMED_KEYS(LIST_ID) NK_END_OF_LIST
};

struct key_desc {
	enum command command;
	const char *name; /* as in keys.def: "ZOOM_IN" */
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
/* "zoom-in": the command's name in a person's settings. */
void key_command_name(const struct key_desc *d, char *out, size_t n);
/* @key ("G", "pgup") does @command ("gpu") from now on, and nothing else; the command's second key
 * stays. */
bool key_bind(const char *key, const char *command, struct err *err);
/* A command that has lost its only key to another; NULL = there is none. */
const char *key_without(void);

#endif
