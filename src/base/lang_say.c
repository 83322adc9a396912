/*
 * Saying a text in the language: by its message, by the message it was formatted from, by the parts
 * it was joined from. See lang_say.h and lang.h.
 */
#include "base/lang_say.h"

#include "base/utf8.h"

#include <string.h>

#define MAX_VALUES 24  /* of one message */
#define MAX_TRIES 4000 /* of one text against one message */
#define MAX_DEPTH 5    /* a value of a value of a text */

static const struct lang_table empty, *table = &empty;

/* What may be tried to say a text. */
enum how {
	EXACT, /* the message that it is */
	WHOLE, /* that, or one that it was formatted from */
	ANY,   /* that, or part by part */
};

void lang_say_from(const struct lang_table *t)
{
	table = t;
}

/* --- a message by its English --- */

static int compare(const char *en, struct piece p)
{
	const int order = strncmp(en, p.s, p.n);
	return order ? order : en[p.n] != 0;
}

const struct lang_message *lang_message(struct piece p)
{
	size_t lo = 0, hi = table->n;
	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;
		const int order = compare(table->messages[mid].en, p);
		if (!order)
			return &table->messages[mid];
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* --- a text by the message that it was formatted from --- */

struct values {
	struct piece v[MAX_VALUES];
	bool name[MAX_VALUES]; /* in quotes: what a person typed, shown as it is */
	unsigned n;
	int tries;
	const char *message;
};

/* Of "2c" where base 16 is said, of "0x2c" where it is not. */
static size_t hex_digits(const char *s, const char *end, char kind)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	if (kind == 'x')
		return strspn(s, digits);
	return kind == 'd' && end - s > 2 && s[0] == '0' && s[1] == 'x' ? 2 + strspn(s + 2, digits) : 0;
}

static const char *number_end(const char *s, const char *end, char kind)
{
	while (s < end && *s == ' ')
		s++;
	const char *from = s;
	if (kind == 'f' && end - s >= 3 && (!strncmp(s, "nan", 3) || !strncmp(s, "inf", 3)))
		return s + 3;
	s += s < end && (*s == '-' || *s == '+');
	s += hex_digits(s, end, kind);
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
			if (s == end || *s != *p)
				return false;
			s++;
			p++;
			continue;
		}
		if (c.kind == '%') {
			if (s == end || *s != '%')
				return false;
			s++;
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

/* Appends what @p says in the language; false, and nothing, where that is unknown. */
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
	const struct lang_table *const t = table;
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

static bool say_core(struct text *out, struct piece p, enum how how, int depth);

/* Between the parts of a list, all of them @known, a language may have a sign of its own. */
static void put_joint(struct text *out, const char *s, size_t n, bool known)
{
	const struct lang_message *m = known ? lang_message((struct piece){ s, n }) : NULL;
	text_put(out, m ? m->said : s, m ? strlen(m->said) : n);
}

static const char *const joints[] = {
	"\n", "   ", " → ", " · ", ". ", "; ", ": ", " (", ", ", "  "
};

/* Appends both sides of @at, where @joint is, said as @how says; false where one of them is
 * unknown, of ANY both. One word in parentheses is a name: "kernel time (rtx4060ti)". */
static bool say_sides(struct text *out, struct piece p, const char *at, const char *joint,
                      enum how how, int depth)
{
	struct text after = { 0 };
	const size_t from = out->len, dot = joint[0] == '.'; /* belongs to the sentence before */
	const size_t n = strlen(joint) - dot;
	const struct piece left = { p.s, (size_t)(at - p.s) + dot };
	struct piece right = { left.s + left.n + n, p.n - left.n - n };
	const bool closed = joint[1] == '(' && right.n && right.s[right.n - 1] == ')';
	right.n -= closed;
	const bool first = say_core(out, left, how, depth + 1);
	if (how != ANY && !first)
		return false;
	const bool name = closed && right.n && !memchr(right.s, ' ', right.n);
	const bool second = say_core(&after, right, how, depth + 1);
	if (!first)
		text_put(out, left.s, left.n);
	if (!second)
		text_put(&after, right.s, right.n);
	put_joint(out, left.s + left.n, n, first && second);
	text_put(out, after.s, after.len);
	text_free(&after);
	if (closed)
		text_put(out, ")", 1);
	if (second || (first && (name || how == ANY)))
		return true;
	out->len = from;
	out->s[from] = '\0';
	return false;
}

/* Two sides of a joint, wherever it stands; of ANY, of the first one beside which something is
 * known. */
static bool say_joined(struct text *out, struct piece p, enum how how, int depth)
{
	for (size_t k = 0; k < ARRAY_LEN(joints); k++) {
		const char *at = search(p, joints[k]);
		for (int i = 0; at && i < (how == ANY ? 1 : 8); i++) {
			if (say_sides(out, p, at, joints[k], how, depth))
				return true;
			at = search((struct piece){ at + 1, (size_t)(p.s + p.n - at) - 1 }, joints[k]);
		}
	}
	return false;
}

static bool letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Words before or behind a number: "1 128-byte lines", "context 321 ms". */
static bool say_beside_number(struct text *out, struct piece p, int depth)
{
	const size_t from = out->len;
	const char *gap = search(p, " "), *end = p.s + p.n;
	while (gap && !digit(*p.s) && gap + 1 < end && !digit(gap[1]))
		gap = search((struct piece){ gap + 1, (size_t)(end - gap) - 1 }, " ");
	if (!gap || gap == p.s)
		return false;
	const struct piece left = { p.s, (size_t)(gap - p.s) }, right = { gap, (size_t)(end - gap) };
	const bool first = !digit(*p.s) && say_core(out, left, WHOLE, depth + 1);
	if (!first)
		text_put(out, left.s, left.n);
	const bool second = digit(*p.s) && say(out, right, depth + 1);
	if (!second)
		text_put(out, right.s, right.n);
	if (first || second)
		return true;
	out->len = from;
	out->s[from] = '\0';
	return false;
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
		return say_beside_number(out, p, depth);
	const size_t from = out->len;
	text_put(out, p.s, (size_t)(in.s - p.s));
	if (say(out, in, depth + 1)) {
		text_put(out, in.s + in.n, (size_t)(p.s + p.n - in.s) - in.n);
		return true;
	}
	out->len = from;
	out->s[from] = '\0';
	return say_beside_number(out, p, depth);
}

/* Are there two letters side by side? Numbers and signs are the same everywhere. */
bool lang_has_words(struct piece p)
{
	bool before = false;
	for (size_t i = 0; i < p.n; i++) {
		if (letter(p.s[i]) && before)
			return true;
		before = letter(p.s[i]);
	}
	return false;
}

/* Bytes of a blank, middle dot, tick or cross at the start of @n bytes. */
static size_t blank(const char *s, size_t n)
{
	if (n && (*s == ' ' || *s == '\n'))
		return 1;
	if (n > 1 && !memcmp(s, "·", 2))
		return 2;
	return n > 2 && (!memcmp(s, "✓", 3) || !memcmp(s, "✗", 3)) ? 3 : 0;
}

struct piece lang_trimmed(struct piece p)
{
	for (size_t k; (k = p.n > 1 && !memcmp(p.s, "! ", 2) ? 2 : blank(p.s, p.n)); p.n -= k)
		p.s += k;
	for (size_t k = 1; k && p.n;) {
		for (k = 3; k && (k > p.n || blank(p.s + p.n - k, k) != k); k--)
			;
		p.n -= k;
	}
	return p;
}

static bool say_parts(struct text *out, struct piece p, int depth)
{
	return say_joined(out, p, WHOLE, depth) || say_joined(out, p, ANY, depth) ||
	       say_inside(out, p, depth);
}

/* What is said of the middle of @p, between blanks; false, and nothing, where it is unknown. */
static bool say_core(struct text *out, struct piece p, enum how how, int depth)
{
	const struct piece core = lang_trimmed(p);
	const size_t from = out->len;
	if (depth > MAX_DEPTH || !lang_has_words(p))
		return false;
	text_put(out, p.s, (size_t)(core.s - p.s));
	const struct lang_message *m = lang_message(core);
	bool known = m != NULL;
	if (m)
		text_put(out, m->said, strlen(m->said));
	if (!known && how == ANY) /* two messages are no coincidence; a pattern may be */
		known = say_joined(out, core, EXACT, depth);
	if (!known && how != EXACT)
		known = say_pattern(out, core, depth);
	if (!known && how == ANY)
		known = say_parts(out, core, depth);
	if (known) {
		text_put(out, core.s + core.n, (size_t)(p.s + p.n - core.s) - core.n);
		return true;
	}
	out->len = from;
	out->s[from] = '\0';
	/* its last value may be empty */
	return how != EXACT && core.n != p.n && say_pattern(out, p, depth);
}

static bool say(struct text *out, struct piece p, int depth)
{
	return say_core(out, p, ANY, depth);
}

bool lang_say(struct text *out, struct piece p)
{
	return say(out, p, 0);
}

bool lang_say_as(struct text *out, const struct lang_message *m, struct piece p)
{
	return say_as(out, m, p, 0);
}
