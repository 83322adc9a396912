/* The person's language: finding a message, by itself or by what was formatted. See lang.h. */
#include "base/lang.h"

#include "base/lang_table.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 24  /* of one message */
#define MAX_TRIES 4000 /* of one text against one message */
#define MAX_DEPTH 5    /* a value of a value of a text */

/* A piece of a text. */
struct piece {
	const char *s;
	size_t n;
};

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

/* --- a message by its English --- */

static int compare(const char *en, struct piece p)
{
	const int order = strncmp(en, p.s, p.n);
	return order ? order : en[p.n] != 0;
}

static const struct lang_message *find(struct piece p)
{
	const struct lang_table *t = &lang_tables[used - 1];
	size_t lo = 0, hi = t->n;
	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;
		const int order = compare(t->messages[mid].en, p);
		if (!order)
			return &t->messages[mid];
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const char *lang_own_name(size_t i)
{
	const size_t now = used;
	used = i;
	const struct lang_message *m = i ? find((struct piece){ "English", 7 }) : NULL;
	used = now;
	return m ? m->said : i ? lang_code(i) : "English";
}

/* --- a text by the message that it was formatted from --- */

struct values {
	struct piece v[MAX_VALUES];
	bool name[MAX_VALUES]; /* in quotes: what a person typed, shown as it is */
	unsigned n;
	int tries;
	const char *message;
};

static const char *number_end(const char *s, const char *end, char kind)
{
	while (s < end && *s == ' ')
		s++;
	const char *from = s;
	if (kind == 'f' && end - s >= 3 && (!strncmp(s, "nan", 3) || !strncmp(s, "inf", 3)))
		return s + 3;
	s += s < end && (*s == '-' || *s == '+');
	if (kind == 'd' && end - s > 2 && s[0] == '0' && s[1] == 'x')
		s += 2 + strspn(s + 2, "0123456789abcdef");
	while (s < end && ((*s >= '0' && *s <= '9') || (kind == 'f' && *s == '.')))
		s++;
	if (kind == 'f' && end - s > 2 && *s == 'e' && (s[1] == '-' || s[1] == '+'))
		s += 2 + strspn(s + 2, "0123456789");
	return s > from && s <= end ? s : NULL;
}

static bool fits(const char *p, const char *s, const char *end, struct values *out);

static bool quoted(const char *message, const char *conv, const char *behind)
{
	return conv > message && conv[-1] == '\'' && *behind == '\'';
}

/* A text of any length, the shortest first; then what follows it. */
static bool fits_text(const char *p, bool in_quotes, const char *s, const char *end,
                      struct values *out)
{
	const unsigned n = out->n;
	for (const char *to = *p ? s : end; to <= end; to++) {
		if (*p && *p != '%' && (to == end || *to != *p))
			continue;
		out->v[n] = (struct piece){ s, (size_t)(to - s) };
		out->n = n + 1;
		out->name[n] = in_quotes;
		if (fits(p, to, end, out))
			return true;
		if (out->tries <= 0)
			return false;
	}
	return false;
}

/* Is @s to @end what the message @p says with some values? */
static bool fits(const char *p, const char *s, const char *end, struct values *out)
{
	struct lang_conv c;
	if (out->tries-- <= 0)
		return false;
	while (*p) {
		const char *const conv = p;
		if (!lang_conv(&p, &c)) {
			if (s == end || *s++ != *p++)
				return false;
			continue;
		}
		if (c.kind == '%') {
			if (s == end || *s++ != '%')
				return false;
			continue;
		}
		if (out->n == MAX_VALUES)
			return false;
		if (c.kind == 's')
			return fits_text(p, quoted(out->message, conv, p), s, end, out);
		const char *to = c.kind == 'c' ? (s < end ? s + 1 : NULL) : number_end(s, end, c.kind);
		while (c.kind == 'c' && to && to < end && (*to & 0xc0) == 0x80)
			to++;
		if (!to)
			return false;
		out->v[out->n++] = (struct piece){ s, (size_t)(to - s) };
		s = to;
	}
	return s == end;
}

static bool say(struct text *out, struct piece p, int depth);

static void blanks(struct text *out, int n)
{
	while (n-- > 0)
		text_put(out, " ", 1);
}

/* A value where the translation wants it, in as many columns as it wants. */
static void put_value(struct text *out, const struct lang_conv *c, struct piece v, bool name,
                      int depth)
{
	struct text said = { 0 };
	if (c->drops)
		return;
	if (c->width) {
		for (; v.n && v.s[v.n - 1] == ' '; v.n--)
			;
		for (; v.n && *v.s == ' '; v.n--)
			v.s++;
	}
	if (c->kind != 's' || name || !say(&said, v, depth + 1))
		text_put(&said, v.s, v.n);
	const int room = c->width - text_columns(said.s);
	if (!c->left)
		blanks(out, room);
	text_put(out, said.s, said.len);
	if (c->left)
		blanks(out, room);
	text_free(&said);
}

static void fill(struct text *out, const char *said, const struct values *v, int depth)
{
	struct lang_conv c;
	unsigned next = 0;
	while (*said) {
		if (!lang_conv(&said, &c)) {
			text_put(out, said++, 1);
			continue;
		}
		const unsigned i = c.arg ? (unsigned)c.arg - 1 : c.kind == '%' ? 0 : next++;
		if (c.kind == '%')
			text_put(out, "%", 1);
		else if (i < v->n)
			put_value(out, &c, v->v[i], v->name[i] || (c.left && !c.width), depth);
	}
}

static bool say_as(struct text *out, const struct lang_message *m, struct piece p, int depth)
{
	struct values v = { .tries = MAX_TRIES, .message = m->en };
	if (!fits(m->en, p.s, p.s + p.n, &v))
		return false;
	fill(out, m->said, &v, depth);
	return true;
}

/* Order of a pattern's prefix and a text: 0 = the text begins so. */
static int prefix_order(const char *en, unsigned n, struct piece p)
{
	const size_t both = n < p.n ? n : p.n;
	const int order = memcmp(en, p.s, both);
	return order ? order : n > p.n;
}

/* Messages whose first words are those of the text, the longest beginning first: all of them are
 * on the chain of the last one that sorts before it. */
static bool say_pattern(struct text *out, struct piece p, int depth)
{
	const struct lang_table *t = &lang_tables[used - 1];
	size_t lo = 0, hi = t->n_patterns;
	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;
		const struct lang_pattern *m = &t->patterns[mid];
		if (prefix_order(t->messages[m->message].en, m->prefix, p) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (int i = (int)lo - 1; i >= 0; i = t->patterns[i].next) {
		const struct lang_message *m = &t->messages[t->patterns[i].message];
		if (!prefix_order(m->en, t->patterns[i].prefix, p) && say_as(out, m, p, depth))
			return true;
	}
	return false;
}

/* --- texts that were joined --- */

static const char *search(struct piece p, const char *what)
{
	const size_t n = strlen(what);
	for (size_t i = 0; i + n <= p.n; i++)
		if (!memcmp(p.s + i, what, n))
			return p.s + i;
	return NULL;
}

/* Between the parts of a list, all of them @known, a language may have a sign of its own. */
static void put_joint(struct text *out, const char *s, size_t n, bool known)
{
	const struct lang_message *m = known ? find((struct piece){ s, n }) : NULL;
	text_put(out, m ? m->said : s, m ? strlen(m->said) : n);
}

static bool say_joined(struct text *out, struct piece p, int depth)
{
	static const char *const joints[] = { "\n", "   ", " · ", ". ", "; ", ": ", " (", ", ", "  " };
	for (size_t k = 0; k < ARRAY_LEN(joints); k++) {
		const char *at = search(p, joints[k]);
		if (!at)
			continue;
		const size_t from = out->len;
		const size_t dot = joints[k][0] == '.'; /* belongs to the sentence before */
		const size_t joint = strlen(joints[k]) - dot;
		const struct piece left = { p.s, (size_t)(at - p.s) + dot };
		struct piece right = { left.s + left.n + joint, p.n - left.n - joint };
		const bool closed = joints[k][1] == '(' && right.n && right.s[right.n - 1] == ')';
		right.n -= closed;
		struct text after = { 0 };
		const bool first = say(out, left, depth + 1), second = say(&after, right, depth + 1);
		if (!first)
			text_put(out, left.s, left.n);
		if (!second)
			text_put(&after, right.s, right.n);
		put_joint(out, left.s + left.n, joint, first && second);
		text_put(out, after.s, after.len);
		text_free(&after);
		if (closed)
			text_put(out, ")", 1);
		if (first || second)
			return true;
		out->len = from;
		out->s[from] = '\0';
	}
	return false;
}

static bool letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Words between numbers and signs: "▲ now 256", "42 warps". */
static bool say_inside(struct text *out, struct piece p, int depth)
{
	struct piece in = p;
	for (; in.n && !letter(*in.s); in.n--)
		in.s++;
	for (; in.n && !letter(in.s[in.n - 1]); in.n--)
		;
	if (in.n == p.n || (in.s > p.s && in.s[-1] == '\'')) /* nothing was around it, or quotes were */
		return false;
	text_put(out, p.s, (size_t)(in.s - p.s));
	if (!say(out, in, depth + 1))
		return false;
	text_put(out, in.s + in.n, (size_t)(p.s + p.n - in.s) - in.n);
	return true;
}

/* Are there two letters side by side? Numbers and signs are the same everywhere. */
static bool has_words(struct piece p)
{
	bool before = false;
	for (size_t i = 0; i < p.n; i++) {
		if (letter(p.s[i]) && before)
			return true;
		before = letter(p.s[i]);
	}
	return false;
}

static size_t blank(const char *s, size_t n)
{
	return n && (*s == ' ' || *s == '\n') ? 1 : n > 1 && !memcmp(s, "·", 2) ? 2 : 0;
}

/* Without blanks and middle dots at both ends: messages are kept so. */
static struct piece trimmed(struct piece p)
{
	for (size_t k; (k = blank(p.s, p.n)); p.n -= k)
		p.s += k;
	while (p.n && (blank(p.s + p.n - 1, 1) || (p.n > 1 && !memcmp(p.s + p.n - 2, "·", 2))))
		p.n -= blank(p.s + p.n - 1, 1) ? 1 : 2;
	return p;
}

/* Appends what @p says in the language; false, and nothing, where that is unknown. */
static bool say(struct text *out, struct piece p, int depth)
{
	const struct piece core = trimmed(p);
	if (depth > MAX_DEPTH || !has_words(p))
		return false;
	const size_t from = out->len;
	text_put(out, p.s, (size_t)(core.s - p.s));
	const struct lang_message *m = find(core);
	bool known = m != NULL;
	if (m)
		text_add(out, "%s", m->said);
	else
		known = say_pattern(out, core, depth) || say_joined(out, core, depth) ||
		        say_inside(out, core, depth);
	if (!known) {
		out->len = from;
		out->s[from] = '\0';
	}
	const bool by_blanks = !known && core.n != p.n && say_pattern(out, p, depth);
	if (known)
		text_put(out, core.s + core.n, (size_t)(p.s + p.n - core.s) - core.n);
	return known || by_blanks;
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
	if (!used || !has_words(all))
		return english;
	const struct lang_message *m = find(all);
	if (m)
		return m->said;
	struct slot *s = slot_of(english, all.n);
	if (s->key && !strcmp(s->key, english))
		return s->said ? s->said : english;
	struct text out = { 0 };
	const bool known = say(&out, all, 0);
	if (!known)
		text_free(&out);
	const char *said = keep(s, mem_strdup(english), known ? out.s : NULL);
	return said ? said : english;
}

const char *lang_formatted(const char *fmt, const char *english)
{
	if (!used || !has_words((struct piece){ english, strlen(english) }))
		return english;
	const struct piece all = { fmt, strlen(fmt) }, p = trimmed(all);
	const size_t before = (size_t)(p.s - fmt), after = all.n - p.n - before;
	struct piece text = { english + before, strlen(english) };
	const struct lang_message *m = has_words(p) ? find(p) : NULL;
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
	const bool known = say_as(&out, m, text, 0);
	text_put(&out, text.s + text.n, strlen(text.s + text.n));
	if (!known)
		text_free(&out);
	const char *said = keep(s, key, known ? out.s : NULL);
	return said ? said : english;
}
