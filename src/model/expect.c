/*
 * Expectations: recursive descent over one line, evaluated as it is read. See expect.h.
 * Knows grammar and arithmetic; what names mean is the caller's.
 */
#include "model/expect.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *line, *at;
	expect_lookup lookup;
	void *ctx;
	bool (*known)(const char *key); /* parse only */
	unsigned depth;
	struct err *err;
};

static bool fail(struct reader *r, const char *what)
{
	return err_set(r->err, ERR_PARSE, "expectation column %d: %s\n  %s\n  %*s^",
	               (int)(r->at - r->line) + 1, what, r->line, (int)(r->at - r->line), "");
}

static void skip(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\t')
		r->at++;
}

static bool name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static bool read_name(struct reader *r, struct expect_value *v)
{
	char key[64];
	char tag[32] = "";
	size_t n = 0;
	while (name_char(*r->at) && n + 1 < sizeof key)
		key[n++] = *r->at++;
	key[n] = '\0';
	if (name_char(*r->at))
		return fail(r, "this name is too long");
	if (*r->at == '@') {
		r->at++;
		n = 0;
		while ((name_char(*r->at) || *r->at == '-') && n + 1 < sizeof tag)
			tag[n++] = *r->at++;
		tag[n] = '\0';
		if (!n)
			return fail(r, "a tag name belongs after @");
	}
	bool before = !strncmp(key, "before.", 7);
	const char *name = before ? key + 7 : key;
	if (r->known) {
		if (!r->known(name))
			return fail(r, "no metric of this name (`list metrics` shows them)");
		*v = (struct expect_value){ .num = 1 };
		return true;
	}
	assert(r->lookup); /* one of the two is given */
	return r->lookup(r->ctx, name, tag, before, v, r->err);
}

static bool sum(struct reader *r, struct expect_value *v);

static bool primary(struct reader *r, struct expect_value *v)
{
	skip(r);
	*v = (struct expect_value){ 0 };
	if (*r->at == '"') {
		const char *end = strchr(r->at + 1, '"');
		if (!end)
			return fail(r, "the closing quote is missing");
		v->is_text = true;
		snprintf(v->text, sizeof v->text, "%.*s", (int)(end - r->at - 1), r->at + 1);
		r->at = end + 1;
		return true;
	}
	if (*r->at == '(' || *r->at == '-') {
		if (++r->depth > 50)
			return fail(r, "nested too deeply");
		bool minus = *r->at++ == '-';
		if (!(minus ? primary(r, v) : sum(r, v)))
			return false;
		r->depth--;
		if (v->is_text)
			return fail(r, "a number is needed here");
		if (minus) {
			v->num = -v->num;
			return true;
		}
		skip(r);
		if (*r->at != ')')
			return fail(r, "the closing ) is missing");
		r->at++;
		return true;
	}
	if (isdigit((unsigned char)*r->at) || *r->at == '.') {
		char *end;
		v->num = strtod(r->at, &end);
		r->at = end;
		return true;
	}
	if (isalpha((unsigned char)*r->at))
		return read_name(r, v);
	return fail(r, *r->at ? "a number or a metric is needed here" : "the line ends too early");
}

static bool product(struct reader *r, struct expect_value *v)
{
	if (!primary(r, v))
		return false;
	for (;;) {
		skip(r);
		char op = *r->at;
		if (op != '*' && op != '/')
			return true;
		struct expect_value w;
		r->at++;
		if (!primary(r, &w))
			return false;
		if (v->is_text || w.is_text)
			return fail(r, "words cannot be calculated with");
		v->num = op == '*' ? v->num * w.num : v->num / w.num;
	}
}

static bool sum(struct reader *r, struct expect_value *v)
{
	if (!product(r, v))
		return false;
	for (;;) {
		skip(r);
		char op = *r->at;
		if ((op != '+' && op != '-') || (op == '+' && r->at[1] == '-'))
			return true;
		struct expect_value w;
		r->at++;
		if (!product(r, &w))
			return false;
		if (v->is_text || w.is_text)
			return fail(r, "words cannot be calculated with");
		v->num = op == '+' ? v->num + w.num : v->num - w.num;
	}
}

static const char *const relations[] = { "==", "!=", "<=", ">=", "~=", "<", ">" };
enum relation { REL_EQ, REL_NE, REL_LE, REL_GE, REL_NEAR, REL_LT, REL_GT, REL_COUNT };

static bool relate(enum relation rel, const struct expect_value *a, const struct expect_value *b,
                   double tolerance)
{
	if (a->is_text)
		return (rel == REL_EQ) == !strcmp(a->text, b->text);
	switch (rel) {
	case REL_EQ:
		return fabs(a->num - b->num) <= tolerance ||
		       fabs(a->num - b->num) <= 1e-9 * fmax(fabs(a->num), fabs(b->num));
	case REL_NE: return fabs(a->num - b->num) > 1e-9 * fmax(fabs(a->num), fabs(b->num));
	case REL_NEAR: return fabs(a->num - b->num) <= tolerance;
	case REL_LE: return a->num <= b->num;
	case REL_GE: return a->num >= b->num;
	case REL_LT: return a->num < b->num;
	case REL_GT: return a->num > b->num;
	case REL_COUNT: break;
	}
	return false;
}

static bool whole_line(struct reader *r, struct expect_outcome *out)
{
	if (!sum(r, &out->left))
		return false;
	skip(r);
	enum relation rel = REL_EQ;
	while (rel < REL_COUNT && strncmp(r->at, relations[rel], strlen(relations[rel])) != 0)
		rel++;
	if (rel == REL_COUNT)
		return fail(r, "one of == != < <= > >= ~= is needed here");
	r->at += strlen(relations[rel]);
	if (!sum(r, &out->right))
		return false;
	double tolerance = rel == REL_NEAR ? 0.01 * fabs(out->right.num) : 0;
	skip(r);
	if (!strncmp(r->at, "+-", 2)) {
		struct expect_value t;
		r->at += 2;
		if (!product(r, &t))
			return false;
		skip(r);
		tolerance = t.num;
		if (*r->at == '%') {
			tolerance = t.num / 100 * fabs(out->right.num);
			r->at++;
		}
		skip(r);
	}
	if (*r->at)
		return fail(r, "this is more than one expectation");
	if (r->known)
		return true;
	if (out->left.is_text != out->right.is_text)
		return fail(r, "words are compared with a number");
	if (out->left.is_text && rel != REL_EQ && rel != REL_NE)
		return fail(r, "words only compare by == and !=");
	out->holds = relate(rel, &out->left, &out->right, tolerance);
	return true;
}

bool expect_eval(const char *line, expect_lookup lookup, void *ctx, struct expect_outcome *out,
                 struct err *err)
{
	struct reader r = { .line = line, .at = line, .lookup = lookup, .ctx = ctx, .err = err };
	*out = (struct expect_outcome){ 0 };
	return whole_line(&r, out);
}

bool expect_parse(const char *line, bool (*known)(const char *key), struct err *err)
{
	struct reader r = { .line = line, .at = line, .known = known, .err = err };
	struct expect_outcome out = { 0 };
	return whole_line(&r, &out);
}
