/* The parser's errors, the token at hand, and what is expected of it. */
#include "ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The message, then the line with a caret under @at, at most 100 columns of it. */
void report_at(struct parser *p, const char *at, uint32_t line, enum err_code code, const char *fmt,
               ...)
{
	const char *begin = at, *end = at;
	while (begin > p->text && begin[-1] != '\n')
		begin--;
	while (*end && *end != '\n' && *end != '\r')
		end++;
	size_t column = (size_t)(at - begin);
	char msg[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);

	snprintf(p->why, sizeof p->why, "%.255s", msg);
	p->why_line = line;
	p->why_column = (uint32_t)column + 1;
	char shown[101], caret[101];
	size_t n = 0, skip = column > 70 ? column - 70 : 0;
	for (const char *c = begin + skip; c < end && n < sizeof shown - 1; c++, n++) {
		shown[n] = *c == '\t' ? ' ' : (unsigned char)*c < 32 ? '?' : *c;
		caret[n] = ' ';
	}
	size_t under = column - skip;
	if (under >= sizeof caret - 1)
		under = sizeof caret - 2;
	shown[n] = '\0';
	memset(caret, ' ', sizeof caret);
	caret[under] = '^';
	caret[under + 1] = '\0';
	err_set(p->err, code, "%s:%u:%zu: %s\n  %s\n  %s", p->name, line, column + 1, msg, shown,
	        caret);
}

bool advance(struct parser *p)
{
	lex_next(&p->lx, &p->tok);
	if (p->tok.kind == TOK_BAD)
		return fail(p, "%s", p->tok.why);
	return true;
}

bool at_punct(const struct parser *p, char c)
{
	return p->tok.kind == TOK_PUNCT && p->tok.punct == c;
}

bool at_dot(const struct parser *p, const char *name)
{
	return tok_is(&p->tok, TOK_DOT, name);
}

bool accept_punct(struct parser *p, char c, bool *found)
{
	*found = at_punct(p, c);
	return !*found || advance(p);
}

bool unexpected(struct parser *p, const char *wanted)
{
	if (p->tok.kind == TOK_END)
		return fail(p, "the text ends where %s should follow", wanted);
	int n = p->tok.len > 60 ? 60 : (int)p->tok.len;
	return fail(p, "expected %s, found '%s%.*s'", wanted, p->tok.kind == TOK_DOT ? "." : "", n,
	            p->tok.s);
}

bool expect(struct parser *p, char c, const char *after)
{
	char wanted[96];
	if (at_punct(p, c))
		return advance(p);
	snprintf(wanted, sizeof wanted, "'%c' %s", c, after);
	return unexpected(p, wanted);
}

bool expect_name(struct parser *p, struct token *name, const char *what)
{
	if (p->tok.kind != TOK_NAME)
		return unexpected(p, what);
	*name = p->tok;
	return advance(p);
}

bool expect_uint(struct parser *p, uint64_t max, uint64_t *value, const char *what)
{
	if (p->tok.kind != TOK_INT)
		return unexpected(p, what);
	if (p->tok.u > max)
		return fail(p, "%s is too large; at most %llu", what, (unsigned long long)max);
	*value = p->tok.u;
	return advance(p);
}

struct ptx_func *func_at_hand(struct parser *p)
{
	return &p->m->funcs[p->func];
}

bool declare_name(struct parser *p, const struct token *name, enum sym_kind kind, int32_t index,
                  uint32_t count)
{
	struct sym s = { .name = name->s,
		             .len = name->len,
		             .hash = name->hash,
		             .kind = kind,
		             .index = index,
		             .count = count };
	const struct sym *old = names_find(&p->names, name->s, name->len, name->hash);
	if (old && !count && (size_t)(old - p->names.syms) >= p->scope_mark)
		return fail_at(p, name->s, name->line, ERR_PARSE, "'%.*s' is declared twice",
		               (int)name->len, name->s);
	names_add(&p->names, &s);
	return true;
}
