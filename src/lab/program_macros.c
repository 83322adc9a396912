/* Macros of a person's program as knobs; see program_macros.h. */
#include "program_macros.h"

#include "base/file.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SOURCE_BYTES ((size_t)16 << 20)

static bool letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "TILE=16" into @m; false where it is not a name and a whole number. */
static bool read_definition(const char *text, struct program_macro *m)
{
	size_t n = 0;
	while (letter(text[n]))
		n++;
	if (!n || n >= sizeof m->name || isdigit((unsigned char)*text) || text[n] != '=' ||
	    !parse_int(text + n + 1, &m->value) || m->value < INT32_MIN || m->value > INT32_MAX)
		return false;
	memcpy(m->name, text, n);
	m->name[n] = '\0';
	m->def = m->value;
	return true;
}

/* The "TILE=16" of word @i, which is "-DTILE=16", or behind "-D"; NULL = it defines nothing. */
static const char *definition_in(const struct program_words *w, unsigned i)
{
	const char *const word = w->words[i], *const before = i ? w->words[i - 1] : NULL;
	if (word && before && !strcmp(before, "-D"))
		return word;
	return word && !strncmp(word, "-D", 2) && word[2] ? word + 2 : NULL;
}

static bool defines(const char *definition, const char *name)
{
	const size_t n = strlen(name);
	return !strncmp(definition, name, n) && (!definition[n] || definition[n] == '=');
}

static struct program_macro *named(struct program_macro *all, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	return NULL;
}

/* Does a word define @name, as whatever? Then the source's own definition does not count. */
static bool typed(const struct program_words *w, const char *name)
{
	for (unsigned i = 0; i < w->n; i++) {
		const char *d = definition_in(w, i);
		if (d && defines(d, name))
			return true;
	}
	return false;
}

/* Behind blanks of a line: "#ifndef", and behind it again. NULL: it is another directive. */
static const char *directive(const char *line, const char *word)
{
	const size_t n = strlen(word);
	line += strspn(line, " \t");
	if (*line++ != '#')
		return NULL;
	line += strspn(line, " \t");
	return strncmp(line, word, n) || letter(line[n]) ? NULL : line + n + strspn(line + n, " \t");
}

/* "#ifndef NAME" and in the next line "#define NAME 16". */
static bool read_guarded(const char *line, struct program_macro *m)
{
	const char *const guard = directive(line, "ifndef"), *const next = strchr(line, '\n');
	const char *const given = guard && next ? directive(next + 1, "define") : NULL;
	char text[128];
	size_t n = 0, digits = 0;
	if (!given)
		return false;
	while (letter(guard[n]))
		n++;
	if (strncmp(guard, given, n) != 0 || letter(given[n]))
		return false;
	const char *value = given + n + strspn(given + n, " \t");
	while (letter(value[digits]) || (!digits && *value == '-'))
		digits++;
	const char *const rest = value + digits + strspn(value + digits, " \t\r");
	if (!digits || (*rest && *rest != '\n' && *rest != '/')) /* a comment may follow */
		return false;
	snprintf(text, sizeof text, "%.*s=%.*s", (int)n, guard, (int)digits, value);
	return read_definition(text, m);
}

static unsigned read_source(const struct program_words *w, const char *path,
                            struct program_macro *out, unsigned n)
{
	struct text text = { 0 };
	struct program_macro m;
	if (file_read(path, MAX_SOURCE_BYTES, &text, NULL))
		for (const char *line = text.s; line && *line && n < PROGRAM_MACROS;) {
			if (read_guarded(line, &m)) {
				struct program_macro *const before = named(out, n, m.name);
				if (before)
					before->def = m.def;
				else if (!typed(w, m.name))
					out[n++] = m;
			}
			line = strchr(line, '\n');
			line += line != NULL;
		}
	text_free(&text);
	return n;
}

unsigned program_macros(const struct program_words *w, struct program_macro out[PROGRAM_MACROS])
{
	unsigned n = 0;
	struct program_macro m;
	for (unsigned i = 0; w->is_source && i < w->n && n < PROGRAM_MACROS; i++) {
		const char *d = definition_in(w, i);
		if (d && read_definition(d, &m) && !named(out, n, m.name))
			out[n++] = m;
	}
	for (unsigned i = 0; w->is_source && program_words_file(w, i); i++)
		n = read_source(w, program_words_file(w, i), out, n);
	return n;
}

static void say_command(struct program_words *w)
{
	struct text t = { 0 };
	for (unsigned i = 0; i < w->n; i++)
		text_add(&t, "%s%s", i ? " " : "", w->words[i]);
	for (unsigned i = 1; w->arguments[0] && w->arguments[i]; i++)
		text_add(&t, "%s%s", i == 1 ? " -- " : " ", w->arguments[i]);
	free(w->command);
	w->command = t.s;
}

void program_macros_set(struct program_words *w, const char *name, int64_t value)
{
	char *word = NULL;
	for (unsigned i = 0; i < w->n && !word; i++) {
		const char *d = definition_in(w, i);
		if (!d || !defines(d, name))
			continue;
		word = mem_printf("%s%s=%lld", d == w->words[i] ? "" : "-D", name, (long long)value);
		free(w->words[i]);
		w->words[i] = word;
	}
	if (!word) {
		w->words = mem_realloc(w->words, w->n + 2u, sizeof *w->words);
		w->words[w->n++] = mem_printf("-D%s=%lld", name, (long long)value);
		w->words[w->n] = NULL;
	}
	say_command(w);
}
