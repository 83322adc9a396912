/*
 * PTX text as tokens (PTX ISA 4). One token at a time, no copies: a token points into the text.
 * A name keeps its dots and double colons, so "ld.global.v4.f32" and "%tid.x" are one token each.
 * Knows no opcode and no directive.
 */
#ifndef PMPP_PTX_LEXER_H
#define PMPP_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tok_kind {
	TOK_END,    /* end of the text */
	TOK_NAME,   /* %r1, $L__BB0_2, sm_90, bar.sync, %tid.x, ld.shared::cta.u32 */
	TOK_DOT,    /* .reg, .b32, .L2::128B: one part, without its dot in s/len */
	TOK_INT,    /* value in u */
	TOK_FLOAT,  /* 0f, 0d or decimal literal: value in f64, its bits in u */
	TOK_STRING, /* without its quotes in s/len */
	TOK_PUNCT,  /* one character, in punct */
	TOK_BAD,    /* s points at what cannot be read, why says why */
};

struct token {
	enum tok_kind kind;
	char punct;
	uint8_t float_bytes; /* 4 = 0f, 8 = 0d, 0 = decimal */
	uint32_t len, line;
	uint32_t hash;       /* of NAME and DOT */
	uint32_t prefix_len; /* NAME: length and hash without its trailing digits */
	uint32_t prefix_hash;
	const char *s;
	uint64_t u;
	double f64;
	const char *why;
};

struct lexer {
	const char *at; /* next character; the text ends with a NUL */
	uint32_t line;
};

void lex_start(struct lexer *lx, const char *text);
void lex_next(struct lexer *lx, struct token *t);
/* The hash of token.hash, for tables of known names. */
uint32_t lex_hash(const char *s, size_t n);
/* A NAME that ends behind its first @len characters. */
void tok_cut(struct token *t, uint32_t len);
/* Its first character in the text, the dot or quote included. */
const char *tok_begin(const struct token *t);
bool tok_is(const struct token *t, enum tok_kind kind, const char *s);

#endif
