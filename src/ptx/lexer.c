/* PTX text as tokens; see lexer.h. PTX ISA 4.2 (comments), 4.4 (identifiers), 4.5 (constants). */
#include "ptx/lexer.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define HASH_START 2166136261u
#define HASH_STEP(h, c) (((h) ^ (unsigned char)(c)) * 16777619u)

static bool is_digit(char c)
{
	return (unsigned)c - '0' < 10;
}

static bool is_alpha(char c)
{
	return ((unsigned)c | 32) - 'a' < 26;
}

/* Characters inside a name; '%' only begins one. */
static bool is_word(char c)
{
	return is_alpha(c) || is_digit(c) || c == '_' || c == '$';
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	unsigned low = ((unsigned)c | 32) - 'a';
	return low < 6 ? (int)low + 10 : -1;
}

uint32_t lex_hash(const char *s, size_t n)
{
	uint32_t h = HASH_START;
	for (size_t i = 0; i < n; i++)
		h = HASH_STEP(h, s[i]);
	return h;
}

void tok_cut(struct token *t, uint32_t len)
{
	t->len = t->prefix_len = len;
	while (t->prefix_len > 1 && is_digit(t->s[t->prefix_len - 1]))
		t->prefix_len--;
	t->hash = lex_hash(t->s, len);
	t->prefix_hash = lex_hash(t->s, t->prefix_len);
}

bool tok_is(const struct token *t, enum tok_kind kind, const char *s)
{
	return t->kind == kind && strlen(s) == t->len && memcmp(t->s, s, t->len) == 0;
}

const char *tok_begin(const struct token *t)
{
	return t->kind == TOK_DOT || t->kind == TOK_STRING ? t->s - 1 : t->s;
}

void lex_start(struct lexer *lx, const char *text)
{
	*lx = (struct lexer){ .at = text, .line = 1 };
}

static void bad(struct token *t, const char *at, const char *why)
{
	t->kind = TOK_BAD;
	t->s = at;
	t->why = why;
}

/* Skips blanks and comments; false = a comment without end, which begins at lx->at. */
static bool skip_blanks(struct lexer *lx)
{
	const char *c = lx->at;
	for (;;) {
		if (*c == '\n') {
			lx->line++;
			c++;
		} else if (*c == ' ' || *c == '\t' || *c == '\r' || *c == '\f' || *c == '\v') {
			c++;
		} else if (c[0] == '/' && c[1] == '/') {
			while (*c && *c != '\n')
				c++;
		} else if (c[0] == '/' && c[1] == '*') {
			const char *end = strstr(c + 2, "*/");
			lx->at = c;
			if (!end)
				return false;
			for (; c < end; c++)
				lx->line += *c == '\n';
			c += 2;
		} else {
			lx->at = c;
			return true;
		}
	}
}

/* Names: letters, digits, '_', '$', inner dots and inner "::". */
static void lex_name(struct lexer *lx, struct token *t)
{
	const char *c = lx->at;
	uint32_t h = HASH_STEP(HASH_START, *c);
	bool digits = false;
	c++;
	for (;;) {
		if (is_word(*c)) {
			bool d = is_digit(*c);
			if (d && !digits) {
				t->prefix_hash = h;
				t->prefix_len = (uint32_t)(c - lx->at);
			}
			digits = d;
		} else if (*c == '.' && is_word(c[1])) {
			digits = false;
		} else if (c[0] == ':' && c[1] == ':' && is_word(c[2])) {
			digits = false;
			h = HASH_STEP(h, *c);
			c++;
		} else {
			break;
		}
		h = HASH_STEP(h, *c);
		c++;
	}
	t->kind = TOK_NAME;
	t->s = lx->at;
	t->len = (uint32_t)(c - lx->at);
	t->hash = h;
	if (!digits) {
		t->prefix_len = t->len;
		t->prefix_hash = h;
	}
	lx->at = c;
}

static void lex_dot(struct lexer *lx, struct token *t)
{
	const char *c = lx->at + 1;
	t->kind = TOK_DOT;
	t->s = c;
	for (;;) {
		if (is_word(*c))
			c++;
		else if (c[0] == ':' && c[1] == ':' && is_word(c[2]))
			c += 2;
		else
			break;
	}
	t->len = (uint32_t)(c - t->s);
	t->hash = lex_hash(t->s, t->len);
	if (t->len)
		lx->at = c;
	else
		bad(t, lx->at, "a dot without a name behind it");
}

/* 0f and 0d: the bits of the number in exactly 8 or 16 hexadecimal digits. */
static void lex_float_bits(struct lexer *lx, struct token *t, unsigned digits)
{
	const char *c = lx->at + 2;
	uint64_t bits = 0;
	for (unsigned i = 0; i < digits; i++, c++) {
		int v = hex_value(*c);
		if (v < 0) {
			bad(t, lx->at,
			    digits == 8 ? "0f needs 8 hexadecimal digits" : "0d needs 16 hexadecimal digits");
			return;
		}
		bits = bits << 4 | (uint64_t)v;
	}
	if (is_word(*c)) {
		bad(t, lx->at, "too many digits in a floating-point literal");
		return;
	}
	t->kind = TOK_FLOAT;
	t->u = bits;
	t->float_bytes = (uint8_t)(digits / 2);
	if (digits == 8) {
		uint32_t b = (uint32_t)bits;
		float f;
		memcpy(&f, &b, sizeof f);
		t->f64 = (double)f;
	} else {
		memcpy(&t->f64, &bits, sizeof bits);
	}
	lx->at = c;
}

/* Decimal floating point, rare in PTX: read in the "C" locale whatever the program's is. */
static void lex_float_decimal(struct lexer *lx, struct token *t)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t old = c_locale ? uselocale(c_locale) : (locale_t)0;
	char *end;
	t->f64 = strtod(lx->at, &end);
	if (c_locale) {
		uselocale(old);
		freelocale(c_locale);
	}
	if (is_word(*end)) {
		bad(t, lx->at, "malformed number");
		return;
	}
	t->kind = TOK_FLOAT;
	t->float_bytes = 0;
	memcpy(&t->u, &t->f64, sizeof t->u);
	lx->at = end;
}

static void lex_number(struct lexer *lx, struct token *t)
{
	const char *c = lx->at;
	char second = (char)(c[1] | 32);
	unsigned base = 10;
	t->s = c;
	if (c[0] == '0' && second == 'f') {
		lex_float_bits(lx, t, 8);
	} else if (c[0] == '0' && second == 'd') {
		lex_float_bits(lx, t, 16);
	} else {
		if (c[0] == '0' && second == 'x')
			base = 16, c += 2;
		else if (c[0] == '0' && second == 'b')
			base = 2, c += 2;
		else if (c[0] == '0' && is_digit(c[1]))
			base = 8, c++;
		const char *first = c;
		uint64_t v = 0;
		bool over = false;
		for (;; c++) {
			int d = hex_value(*c);
			if (d < 0 || (unsigned)d >= base)
				break;
			over |= v > (UINT64_MAX - (unsigned)d) / base;
			v = v * base + (unsigned)d;
		}
		if (base != 16 && base != 2 && (*c == '.' || (*c | 32) == 'e')) {
			lex_float_decimal(lx, t);
		} else {
			if (*c == 'U')
				c++;
			if (c == first || is_word(*c)) {
				bad(t, lx->at, "malformed number");
				return;
			}
			if (over) {
				bad(t, lx->at, "number does not fit in 64 bits");
				return;
			}
			t->kind = TOK_INT;
			t->u = v;
			lx->at = c;
		}
	}
	if (t->kind != TOK_BAD)
		t->len = (uint32_t)(lx->at - t->s);
}

static void lex_string(struct lexer *lx, struct token *t)
{
	const char *c = lx->at + 1;
	while (*c && *c != '"' && *c != '\n') {
		if (*c == '\\' && c[1] && c[1] != '\n')
			c++;
		c++;
	}
	if (*c != '"') {
		bad(t, lx->at, "string without end");
		return;
	}
	t->kind = TOK_STRING;
	t->s = lx->at + 1;
	t->len = (uint32_t)(c - t->s);
	lx->at = c + 1;
}

void lex_next(struct lexer *lx, struct token *t)
{
	if (!skip_blanks(lx)) {
		t->line = lx->line;
		bad(t, lx->at, "comment without end");
		return;
	}
	char c = *lx->at;
	t->line = lx->line;
	t->s = lx->at;
	t->len = 0;
	if (is_alpha(c) || c == '_' || c == '$' || (c == '%' && is_word(lx->at[1]))) {
		lex_name(lx, t);
	} else if (c == '.') {
		lex_dot(lx, t);
	} else if (is_digit(c)) {
		lex_number(lx, t);
	} else if (c == '"') {
		lex_string(lx, t);
	} else if (!c) {
		t->kind = TOK_END;
	} else if (strchr(",;:{}[]()<>|@!+-~=*&^?/%", c)) {
		t->kind = TOK_PUNCT;
		t->punct = c;
		t->len = 1;
		lx->at++;
	} else {
		bad(t, lx->at, "this character has no place in PTX");
	}
}
