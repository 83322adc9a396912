/*
 * What a preset step claims, in plain words: "mem.ld_sectors@load-B == 4" becomes "load sectors
 * on lines load-B is 4". See view.h.
 *
 * The grammar is that of model/expect.h; words come from the metric catalogue. Evaluates nothing.
 */
#include "ui/view.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool in_name(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_' || ch == '.';
}

/* A metric's key with "before." and "@tag", from @p; returns the end of it. */
static const char *name_words(const char *p, struct text *out, enum metric_id *id)
{
	char key[96], tag[48] = "";
	size_t n = 0, t = 0;
	const bool before = !strncmp(p, "before.", 7);
	if (before)
		p += 7;
	while (in_name(*p)) {
		if (n + 1 < sizeof key)
			key[n++] = *p;
		p++;
	}
	key[n] = '\0';
	if (*p == '@')
		for (p++; in_name(*p) || *p == '-'; p++)
			if (t + 1 < sizeof tag)
				tag[t++] = *p;
	tag[t] = '\0';
	const enum metric_id found = metric_find(key);
	text_add(out, "%s", found == METRIC_COUNT ? key : metric_catalogue[found].title);
	if (t)
		text_add(out, " on the lines '%s'", tag);
	if (before)
		text_add(out, " of the step before");
	if (found != METRIC_COUNT)
		*id = found;
	return p;
}

/* A number in the unit of @id, as panels show it, where it is one of its own. */
static const char *number_words(const char *p, struct text *out, enum metric_id id, bool alone)
{
	char *end, shown[64];
	struct metric_set m;
	const double value = strtod(p, &end);
	metrics_clear(&m, "");
	if (alone && id != METRIC_COUNT && metric_catalogue[id].kind == METRIC_NUM) {
		metric_num(&m, id, ORIGIN_BOOK, value);
		metric_format(&m, id, shown, sizeof shown);
		text_add(out, "%s", shown);
	} else {
		text_add(out, "%.*s", (int)(end - p), p);
	}
	return end;
}

static const struct {
	const char *sign, *words;
} signs[] = {
	{ "==", "is" },       { "!=", "is not" },  { "<=", "is at most" }, { ">=", "is at least" },
	{ "~=", "is about" }, { "<", "is below" }, { ">", "is above" },    { "+-", "±" },
	{ "*", "×" },         { "/", "÷" },        { "+", "+" },           { "-", "−" },
};

static const char *sign_words(const char *p, struct text *out)
{
	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (!strncmp(p, signs[i].sign, strlen(signs[i].sign))) {
			text_add(out, "%s", signs[i].words);
			return p + strlen(signs[i].sign);
		}
	text_put(out, p, 1);
	return p + 1;
}

/* The right side is one number: it can be shown in the metric's unit. */
static bool one_number(const char *p)
{
	while (*p == ' ')
		p++;
	if (*p == '-')
		p++;
	while (in_name(*p) || *p == '+' || *p == '-')
		if (isalpha((unsigned char)*p) && *p != 'e')
			return false;
		else
			p++;
	while (*p == ' ')
		p++;
	return !*p || !strncmp(p, "+-", 2);
}

void panel_claim(const char *line, char *out, size_t n)
{
	struct text words = { 0 };
	enum metric_id id = METRIC_COUNT;
	const char *p = line, *relation = strpbrk(line, "=<>~!");
	/* one number on the right is shown in the metric's unit */
	bool in_unit =
		relation && !strpbrk(line, "*/(") && one_number(relation + strspn(relation, "=<>~!"));
	while (*p == ' ')
		p++;
	if (!strncmp(p, "verified", 8)) {
		snprintf(out, n, "%s",
		         strstr(p, "== 0") ? "the result is wrong, as it must be" : "the result is right");
		return;
	}
	text_put(&words, "", 0);
	while (*p) {
		if (isdigit((unsigned char)*p)) {
			p = number_words(p, &words, id, in_unit);
			in_unit = false;
		} else if (isalpha((unsigned char)*p)) {
			p = name_words(p, &words, &id);
		} else if (*p == '"') {
			p++;
		} else if (*p == ' ') {
			text_put(&words, p++, 1);
		} else {
			p = sign_words(p, &words);
		}
	}
	snprintf(out, n, "%s", words.s);
	text_free(&words);
}
