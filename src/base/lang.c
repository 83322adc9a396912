/* The person's language: which there are, which is meant, and what was said lately. See lang.h. */
#include "base/lang.h"

#include "base/lang_say.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t used; /* 0 = English, else lang_tables[used - 1] */

/* --- which languages --- */

size_t lang_count(void)
{
	return 1 + lang_tables_n;
}

const char *lang_code(size_t i)
{
	return !i ? "en" : i <= lang_tables_n ? lang_tables[i - 1].code : NULL;
}

size_t lang_used(void)
{
	return used;
}

/* "zh" of "zh_CN.UTF-8". */
static bool same_language(const char *a, const char *b)
{
	const size_t n = strcspn(a, "_-.@");
	return n && n == strcspn(b, "_-.@") && !strncmp(a, b, n);
}

/* The language that @code names; lang_count() = none. */
static size_t by_code(const char *code)
{
	for (size_t i = 0; i < lang_count(); i++)
		if (str_ieq(lang_code(i), code))
			return i;
	for (size_t i = 0; i < lang_count(); i++)
		if (same_language(lang_code(i), code))
			return i;
	return lang_count();
}

bool lang_find(const char *code, size_t *i, struct err *err)
{
	struct text all = { 0 };
	*i = by_code(code);
	if (*i < lang_count())
		return true;
	for (size_t k = 0; k < lang_count(); k++)
		text_add(&all, "%s%s", k ? ", " : "", lang_code(k));
	err_set(err, ERR_USAGE, "no language is called '%s'", code);
	err_remedy(err, "there are: %s", all.s);
	text_free(&all);
	return false;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

size_t lang_of_environment(void)
{
	const char *locale = variable("LC_ALL"), *list = variable("LANGUAGE");
	if (!locale)
		locale = variable("LC_MESSAGES");
	if (!locale)
		locale = variable("LANG");
	if (!locale || !strcmp(locale, "POSIX") || same_language(locale, "C"))
		return 0;
	for (; list && *list; list += strcspn(list, ":") + (list[strcspn(list, ":")] == ':')) {
		char one[64];
		snprintf(one, sizeof one, "%.*s", (int)strcspn(list, ":"), list);
		if (by_code(one) < lang_count())
			return by_code(one);
	}
	return by_code(locale) < lang_count() ? by_code(locale) : 0;
}

const char *lang_own_name(size_t i)
{
	const struct lang_message *m = NULL;
	if (i) {
		lang_say_from(&lang_tables[i - 1]);
		m = lang_message((struct piece){ "English", 7 });
	}
	if (used)
		lang_say_from(&lang_tables[used - 1]);
	return m ? m->said : i ? lang_code(i) : "English";
}

/* --- what was found before --- */

#define SLOTS 2048
#define LATELY 64

static struct {
	struct slot {
		char *key;  /* of a format: it, a byte 1, the text */
		char *said; /* NULL = unknown */
	} slot[SLOTS];
	char *lately[LATELY]; /* what left its slot: somebody may still show it */
	unsigned next;
} kept;

void lang_use(size_t i)
{
	if (i == used || i >= lang_count())
		return;
	for (size_t k = 0; k < SLOTS; k++) {
		free(kept.slot[k].key);
		free(kept.slot[k].said);
		kept.slot[k] = (struct slot){ 0 };
	}
	for (size_t k = 0; k < LATELY; k++) {
		free(kept.lately[k]);
		kept.lately[k] = NULL;
	}
	used = i;
	if (used)
		lang_say_from(&lang_tables[used - 1]);
}

static struct slot *slot_of(const char *key, size_t n)
{
	return &kept.slot[hash_bytes(HASH_SEED, key, n) % SLOTS];
}

static const char *keep(struct slot *s, char *key, char *said)
{
	free(s->key);
	free(kept.lately[kept.next]);
	kept.lately[kept.next] = s->said;
	kept.next = (kept.next + 1) % LATELY;
	*s = (struct slot){ key, said };
	return said;
}

const char *lang_text(const char *english)
{
	const struct piece all = { english, used ? strlen(english) : 0 };
	if (!used || !lang_has_words(all))
		return english;
	const struct lang_message *m = lang_message(all);
	if (m)
		return m->said;
	struct slot *s = slot_of(english, all.n);
	if (s->key && !strcmp(s->key, english))
		return s->said ? s->said : english;
	struct text out = { 0 };
	const bool known = lang_say(&out, all);
	if (!known)
		text_free(&out);
	const char *said = keep(s, mem_strdup(english), known ? out.s : NULL);
	return said ? said : english;
}

const char *lang_formatted(const char *fmt, const char *english)
{
	if (!used || !lang_has_words((struct piece){ english, strlen(english) }))
		return english;
	const struct piece all = { fmt, strlen(fmt) }, p = lang_trimmed(all);
	const size_t before = (size_t)(p.s - fmt), after = all.n - p.n - before;
	struct piece text = { english + before, strlen(english) };
	const struct lang_message *m = lang_has_words(p) ? lang_message(p) : NULL;
	text.n = text.n > before + after ? text.n - before - after : 0;
	if (!m)
		return lang_text(english);
	char *key = mem_printf("%s\1%s", fmt, english);
	struct slot *s = slot_of(key, strlen(key));
	if (s->key && !strcmp(s->key, key)) {
		free(key);
		return s->said ? s->said : english;
	}
	struct text out = { 0 };
	text_put(&out, english, (size_t)(text.s - english));
	const bool known = lang_say_as(&out, m, text);
	text_put(&out, text.s + text.n, strlen(text.s + text.n));
	if (!known)
		text_free(&out);
	const char *said = keep(s, key, known ? out.s : NULL);
	return said ? said : english;
}
