/* The key table and its look-ups; see keys.h. */
#include "ui/keys.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* Rows of keys.def; a person's settings may put other keys into them (key_bind). */
static struct key_desc table[] = {
#define KEY(id, key_, alt_, bar_, when, handler, arg, about_) \
	{ .command = CMD_##id, .name = #id, .key = key_, .alt = alt_, .bar = bar_, .about = about_ },
#include "ui/keys.def"
#undef KEY
};

static const struct {
	const char *name, *shown;
	uint32_t key;
} named[] = {
#define X(id, name_, shown_) { .name = name_, .shown = shown_, .key = id },
	NAMED_KEYS(X)
#undef X
};

size_t key_count(void)
{
	return ARRAY_LEN(table);
}

const struct key_desc *key_at(size_t i)
{
	return &table[i];
}

uint32_t key_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (!strcmp(named[i].name, name))
			return named[i].key;
	const char *rest = name;
	uint32_t ch = utf8_next(&rest);
	return *rest ? 0 : ch;
}

const char *key_shown(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (!strcmp(named[i].name, name))
			return named[i].shown;
	return name;
}

enum command key_command(uint32_t key)
{
	if (!key)
		return CMD_NONE;
	if (key >= '1' && key <= '9')
		return (enum command)(CMD_VIEW_1 + (int)(key - '1'));
	if (key == '0')
		return CMD_VIEW_10;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (key == key_parse(table[i].key) || (table[i].alt[0] && key == key_parse(table[i].alt)))
			return table[i].command;
	return CMD_NONE;
}

/* --- a person's own keys --- */

/* "zoom-in" for ZOOM_IN */
static bool names(const struct key_desc *d, const char *word)
{
	const char *id = d->name;
	for (; *id && *word; id++, word++) {
		const char ch = *id == '_' ? '-' : (char)(*id - 'A' + 'a');
		if (ch != *word)
			return false;
	}
	return !*id && !*word;
}

void key_command_name(const struct key_desc *d, char *out, size_t n)
{
	size_t i = 0;
	for (; n > 1 && d->name[i] && i < n - 1; i++)
		out[i] = d->name[i] == '_' ? '-' : (char)(d->name[i] - 'A' + 'a');
	if (n)
		out[i] = '\0';
}

/* The key's own spelling: a name in any case, or one character. */
static const char *spelling(const char *key, char *own, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (str_ieq(named[i].name, key))
			return named[i].name;
	const uint32_t ch = key_parse(key);
	if (ch <= ' ' || ch >= NK_BASE || (ch >= '0' && ch <= '9') || ch == 0xfffd)
		return NULL;
	snprintf(own, n, "%s", key);
	return own;
}

bool key_bind(const char *key, const char *command, struct err *err)
{
	static char own[ARRAY_LEN(table)][8];
	size_t at = 0;
	while (at < ARRAY_LEN(table) && !names(&table[at], command))
		at++;
	if (at == ARRAY_LEN(table)) {
		char words[ARRAY_LEN(table)][24];
		const char *all[ARRAY_LEN(table)];
		for (size_t i = 0; i < ARRAY_LEN(table); i++) {
			key_command_name(&table[i], words[i], sizeof words[i]);
			all[i] = words[i];
		}
		const char *near = str_nearest(command, all, ARRAY_LEN(table));
		err_set(err, ERR_USAGE, "no command is called '%s'", command);
		return err_remedy(err, near ? "did you mean '%s'?" : "? in the program names them%s",
		                  near ? near : "");
	}
	const char *spelt = spelling(key, own[at], sizeof own[at]);
	if (!spelt) {
		err_set(err, ERR_USAGE, "'%s' is no key for a command", key);
		return err_remedy(err, "one character that is no digit, or a name: left, right, up, down, "
		                       "tab, btab, enter, esc, pgup, pgdn, home, end, backspace");
	}
	const uint32_t code = key_parse(spelt);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (key_parse(table[i].alt) == code)
			table[i].alt = "";
		if (key_parse(table[i].key) == code) {
			table[i].key = table[i].alt;
			table[i].alt = "";
		}
	}
	table[at].key = spelt;
	return true;
}

const char *key_without(void)
{
	static char word[24];
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!table[i].key[0]) {
			key_command_name(&table[i], word, sizeof word);
			return word;
		}
	return NULL;
}
