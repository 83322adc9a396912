/* Expressions, buffers and their first contents; see user_words.h. Knows no kernel and no file. */
#include "userkernel/user_words.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- expressions: sums of products of factors --- */

struct reader {
	const char *text, *at, *what;
	const struct user_names *names;
	struct err *err;
	unsigned depth;
};

static bool refuse_word(struct reader *r, const char *why)
{
	return err_set(r->err, ERR_USAGE, "%s: '%s': %s at '%s'", r->what, r->text, why,
	               *r->at ? r->at : "the end");
}

static void skip_spaces(struct reader *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
}

static bool sum(struct reader *r, int64_t *v);

static bool factor(struct reader *r, int64_t *v)
{
	char word[64];
	size_t n = 0;
	*v = 0;
	skip_spaces(r);
	if (*r->at == '-') {
		r->at++;
		if (++r->depth > 64)
			return refuse_word(r, "nested too deep");
		return factor(r, v) &&
		       (!__builtin_sub_overflow((int64_t)0, *v, v) || refuse_word(r, "too large"));
	}
	if (*r->at == '(') {
		r->at++;
		if (++r->depth > 64)
			return refuse_word(r, "nested too deep");
		if (!sum(r, v))
			return false;
		skip_spaces(r);
		if (*r->at != ')')
			return refuse_word(r, "')' is missing");
		r->at++;
		return true;
	}
	const char *start = r->at;
	while ((isalnum((unsigned char)*r->at) || *r->at == '_') && n + 1 < sizeof word)
		word[n++] = *r->at++;
	word[n] = '\0';
	if (!n)
		return refuse_word(r, "a number or a name is missing");
	if (isdigit((unsigned char)word[0])) {
		if (parse_int(word, v))
			return true;
		r->at = start;
		return refuse_word(r, "no whole number");
	}
	if (r->names->find(r->names->ctx, word, v))
		return true;
	err_set(r->err, ERR_USAGE, "%s: '%s': there is no name '%s' here", r->what, r->text, word);
	if (*r->names->list)
		err_remedy(r->err, "names: %s", r->names->list);
	return false;
}

static bool product(struct reader *r, int64_t *v)
{
	if (!factor(r, v))
		return false;
	for (;;) {
		int64_t b = 0;
		skip_spaces(r);
		const char op = *r->at;
		if (op != '*' && op != '/' && op != '%')
			return true;
		r->at++;
		if (!factor(r, &b))
			return false;
		if (op == '*') {
			if (__builtin_mul_overflow(*v, b, v))
				return refuse_word(r, "too large");
			continue;
		}
		if (b <= 0)
			return refuse_word(r, "a division by 0 or less");
		*v = op == '%' ? *v % b : *v / b + (*v % b > 0);
	}
}

static bool sum(struct reader *r, int64_t *v)
{
	if (!product(r, v))
		return false;
	for (;;) {
		int64_t b = 0;
		skip_spaces(r);
		const char op = *r->at;
		if (op != '+' && op != '-')
			return true;
		r->at++;
		if (!product(r, &b))
			return false;
		if (op == '+' ? __builtin_add_overflow(*v, b, v) : __builtin_sub_overflow(*v, b, v))
			return refuse_word(r, "too large");
	}
}

bool user_evaluate(const char *text, const char *what, const struct user_names *names,
                   int64_t *value, struct err *err)
{
	struct reader r = { .text = text, .at = text, .what = what, .names = names, .err = err };
	if (!sum(&r, value))
		return false;
	skip_spaces(&r);
	return !*r.at || refuse_word(&r, "not understood");
}

/* --- buffers --- */

bool user_is_buffer(const char *text)
{
	return strchr(text, '[') != NULL || *text == '@';
}

static bool read_type(const char *name, const char *text, size_t len, struct user_buffer *out,
                      struct err *err)
{
	char word[16], list[120] = "";
	snprintf(word, sizeof word, "%.*s", (int)len, text);
	if (!len)
		return true;
	out->typed = elem_find(word, &out->type);
	if (out->typed)
		return true;
	for (unsigned i = 0; i < ELEM_TYPES; i++) {
		const size_t at = strlen(list);
		snprintf(list + at, sizeof list - at, "%s%s", i ? " " : "", elem_name((enum elem_type)i));
	}
	err_set(err, ERR_USAGE, "argument '%s': there is no type '%.*s'", name, (int)len, text);
	return err_remedy(err, "types: %s", list);
}

/* "(1,2.5)" to two numbers. */
static bool read_range(const char *text, struct user_buffer *out)
{
	char *end;
	out->low = strtod(text + 1, &end);
	if (end == text + 1 || *end != ',')
		return false;
	const char *second = end + 1;
	out->high = strtod(second, &end);
	out->ranged = end != second && !strcmp(end, ")");
	return out->ranged;
}

static bool read_rand(const char *name, const char *text, struct user_buffer *out, struct err *err)
{
	const size_t n = strlen(text) - 6;
	out->init = INIT_RAND;
	if (strchr(text, ',')) {
		if (read_range(text + 4, out) && out->low < out->high)
			return true;
		err_set(err, ERR_USAGE, "argument '%s': '%s' is no range", name, text);
		return err_remedy(err, "two numbers, the lower one first: rand(-1,1)");
	}
	if (!n || n >= sizeof out->below)
		return err_set(err, ERR_USAGE, "argument '%s': '%s': rand(K) needs a K", name, text);
	memcpy(out->below, text + 5, n);
	return true;
}

static bool read_file_name(const char *name, const char *text, struct user_buffer *out,
                           struct err *err)
{
	out->init = INIT_FILE;
	if (!*text || strlen(text) >= sizeof out->file)
		return err_set(err, ERR_USAGE, "argument '%s': '@' wants the name of a file", name);
	snprintf(out->file, sizeof out->file, "%s", text);
	return true;
}

static bool read_init(const char *name, const char *text, struct user_buffer *out, struct err *err)
{
	char *end = NULL;
	const bool closed = *text && text[strlen(text) - 1] == ')';
	if (!strcmp(text, "rand")) {
		out->init = INIT_RAND;
	} else if (!strncmp(text, "rand(", 5) && closed) {
		return read_rand(name, text, out, err);
	} else if (!strcmp(text, "iota")) {
		out->init = INIT_IOTA;
	} else if (!strcmp(text, "out")) {
		out->init = INIT_OUT;
	} else if (*text == '@') {
		return read_file_name(name, text + 1, out, err);
	} else {
		const bool constant = !strncmp(text, "const(", 6) && closed;
		const char *number = constant ? text + 6 : text;
		out->init = INIT_VALUE;
		const bool zero = !strcmp(text, "zero");
		out->value = zero ? 0 : strtod(number, &end);
		if (!zero && (!end || end == number || strcmp(end, constant ? ")" : "") != 0)) {
			err_set(err, ERR_USAGE, "argument '%s': there are no contents '%s'", name, text);
			return err_remedy(err, "contents: rand, rand(K), rand(A,B), iota, zero, a number, "
			                       "@FILE, or out (undefined)");
		}
	}
	return true;
}

bool user_read_buffer(const char *name, const char *text, struct user_buffer *out, struct err *err)
{
	*out = (struct user_buffer){ 0 };
	if (*text == '@')
		return read_file_name(name, text + 1, out, err);
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
	if (!close || (close[1] && close[1] != ':')) {
		err_set(err, ERR_USAGE, "argument '%s': '%s' is not of the form TYPE[SIZE]:CONTENTS", name,
		        text);
		return err_remedy(err, "for example %s=f32[1024]:rand", name);
	}
	if (!read_type(name, text, (size_t)(open - text), out, err))
		return false;
	const char *comma = memchr(open, ',', (size_t)(close - open));
	const char *first_end = comma ? comma : close;
	if ((size_t)(close - open) >= sizeof out->count)
		return err_set(err, ERR_USAGE, "argument '%s': the size is longer than %zu characters",
		               name, sizeof out->count - 1);
	memcpy(out->count, open + 1, (size_t)(first_end - open - 1));
	if (comma)
		memcpy(out->cols, comma + 1, (size_t)(close - comma - 1));
	return !close[1] || read_init(name, close + 2, out, err);
}

bool user_read_numbers(const char *text, enum elem_type type, struct array *out)
{
	*out = (struct array){ .type = type };
	for (const char *s = text; *s;) {
		char word[64], *end;
		int64_t whole;
		const size_t len = strcspn(s, ",");
		snprintf(word, sizeof word, "%.*s", (int)len, s);
		double v = strtod(word, &end);
		if (parse_int(word, &whole)) {
			v = (double)whole;
		} else if (end == word || (*end && strcmp(end, "f") != 0)) {
			free(out->data);
			*out = (struct array){ .type = type };
			return false;
		}
		out->data = mem_realloc(out->data, out->count + 1, elem_size(type));
		elem_put(type, out->data, out->count++, v);
		s += len + (s[len] == ',');
	}
	return out->count > 0;
}

/* --- contents --- */

/* Whole numbers without a range: small, and what a signed byte holds too. */
static double random_value(const struct user_buffer *b, bool real, enum elem_type type,
                           int64_t below, uint64_t bits)
{
	const double unit = (double)(bits >> 40) / (double)(1 << 24);
	if (b->ranged)
		return real ? b->low + unit * (b->high - b->low)
		            : floor(b->low + (double)(bits >> 11) * 0x1p-53 * (b->high - b->low));
	if (real)
		return below > 0 ? unit * (double)below : 2 * unit - 1;
	const uint64_t usual = type == ELEM_I8 ? 128 : 256;
	return (double)(bits % (below > 0 ? (uint64_t)below : usual));
}

void user_fill(const struct user_buffer *b, enum elem_type type, size_t count, int64_t below,
               uint64_t seed, void *data)
{
	const bool real = elem_is_real(type);
	uint64_t state = seed;
	for (size_t i = 0; i < count; i++) {
		double v = b->value;
		if (b->init == INIT_IOTA)
			v = (double)i;
		else if (b->init == INIT_RAND)
			v = random_value(b, real, type, below, rand_next(&state));
		elem_put(type, data, i, v);
	}
}
