/* The key table and its look-ups; see keys.h. */
#include "ui/keys.h"

#include "base/text.h"

#include <string.h>

static const struct key_desc table[] = {
#define KEY(id, key_, alt_, bar_, when, handler, arg, about_) \
	{ .command = CMD_##id, .key = key_, .alt = alt_, .bar = bar_, .about = about_ },
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
