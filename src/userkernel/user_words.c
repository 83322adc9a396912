/* Expressions, buffers and their first contents; see user_words.h. Knows no kernel and no file. */
#include "userkernel/user_words.h"

#include "base/text.h"

#include <ctype.h>
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
	return strchr(text, '[') != NULL;
}

static const enum elem_type elem_types[] = { ELEM_F32, ELEM_F64, ELEM_F16,
	                                         ELEM_I32, ELEM_U32, ELEM_U8 };

static bool read_type(const char *name, const char *text, size_t len, struct user_buffer *out,
                      struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(elem_types); i++)
		if (strlen(elem_name(elem_types[i])) == len &&
		    !strncmp(text, elem_name(elem_types[i]), len)) {
			out->type = elem_types[i];
			out->typed = true;
		}
	if (out->typed || !len)
		return true;
	err_set(err, ERR_USAGE, "argument '%s': there is no type '%.*s'", name, (int)len, text);
	return err_remedy(err, "types: f32 f64 f16 i32 u32 u8");
}

static bool read_init(const char *name, const char *text, struct user_buffer *out, struct err *err)
{
	char *end = NULL;
	size_t n = 0;
	if (!strcmp(text, "rand")) {
		out->init = INIT_RAND;
	} else if (!strncmp(text, "rand(", 5) && text[strlen(text) - 1] == ')') {
		out->init = INIT_RAND;
		n = strlen(text) - 6;
		if (!n || n >= sizeof out->below)
			return err_set(err, ERR_USAGE, "argument '%s': '%s': rand(K) needs a K", name, text);
		memcpy(out->below, text + 5, n);
	} else if (!strcmp(text, "iota")) {
		out->init = INIT_IOTA;
	} else if (!strcmp(text, "out")) {
		out->init = INIT_OUT;
	} else {
		out->init = INIT_VALUE;
		const bool zero = !strcmp(text, "zero");
		out->value = zero ? 0 : strtod(text, &end);
		if (!zero && (!end || end == text || *end)) {
			err_set(err, ERR_USAGE, "argument '%s': there are no contents '%s'", name, text);
			return err_remedy(err,
			                  "contents: rand, rand(K), iota, zero, a number, or out (undefined)");
		}
	}
	return true;
}

bool user_read_buffer(const char *name, const char *text, struct user_buffer *out, struct err *err)
{
	*out = (struct user_buffer){ 0 };
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

/* --- contents --- */

/* Values between 2^-14 and 65504, halves kept: enough for what is filled here. */
static uint16_t to_half(double v)
{
	const float f = (float)v;
	uint32_t bits;
	memcpy(&bits, &f, 4);
	const uint32_t sign = bits >> 16 & 0x8000u;
	const int32_t e = (int32_t)(bits >> 23 & 0xff) - 112;
	if (e <= 0)
		return (uint16_t)sign;
	if (e >= 31)
		return (uint16_t)(sign | 0x7c00u);
	return (uint16_t)(sign | ((uint32_t)e << 10) | (bits >> 13 & 0x3ffu));
}

static void put_element(enum elem_type type, void *data, size_t i, double v)
{
	switch (type) {
	case ELEM_F32: ((float *)data)[i] = (float)v; break;
	case ELEM_F64: ((double *)data)[i] = v; break;
	case ELEM_F16: ((uint16_t *)data)[i] = to_half(v); break;
	case ELEM_I32: ((int32_t *)data)[i] = (int32_t)(uint32_t)(int64_t)v; break;
	case ELEM_U32: ((uint32_t *)data)[i] = (uint32_t)(int64_t)v; break;
	case ELEM_U8: ((uint8_t *)data)[i] = (uint8_t)(int64_t)v; break;
	}
}

void user_fill(const struct user_buffer *b, enum elem_type type, size_t count, int64_t below,
               uint64_t seed, void *data)
{
	const bool real = type == ELEM_F32 || type == ELEM_F64 || type == ELEM_F16;
	uint64_t state = seed;
	for (size_t i = 0; i < count; i++) {
		double v = b->value;
		if (b->init == INIT_IOTA)
			v = (double)i;
		else if (b->init == INIT_RAND && real) {
			const double unit = (double)(rand_next(&state) >> 40) / (double)(1 << 24);
			v = below > 0 ? unit * (double)below : 2 * unit - 1;
		} else if (b->init == INIT_RAND) {
			v = (double)(rand_next(&state) % (uint64_t)(below > 0 ? below : 256));
		}
		put_element(type, data, i, v);
	}
}
