/*
 * What the build makes of the catalogues (compile/tool/po_table.c), and the grammar of printf's
 * conversions that both it and lang.c read messages by.
 */
#ifndef PMPP_BASE_LANG_TABLE_H
#define PMPP_BASE_LANG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct lang_message {
	const char *en, *said;
};

/* A message with conversions, by the text before the first one. */
struct lang_pattern {
	unsigned message; /* of the table */
	unsigned prefix;  /* bytes before its first conversion */
	int next;         /* the next one that a text which begins so may fit; -1 = none */
};

struct lang_table {
	const char *code;
	const struct lang_message *messages; /* ascending by `en` */
	size_t n;
	const struct lang_pattern *patterns; /* ascending by prefix, the most words of a prefix last */
	size_t n_patterns;
};
extern const struct lang_table lang_tables[];
extern const size_t lang_tables_n;

/* One conversion of a message. */
struct lang_conv {
	char kind;  /* 's' text, 'd' whole number, 'x' one of base 16, 'f' number, 'c' character, '%' a
	               percent sign */
	bool left;  /* flag '-' */
	bool drops; /* "%2$.0s": shows nothing */
	int arg;    /* 1 .. where it is positional, else 0 */
	int width;  /* -1 = '*', 0 = none */
};

/* The conversion at @p, which it advances; false where none begins there. A '%' before a blank is
 * a percent sign of a plain text. */
static inline bool lang_conv(const char **p, struct lang_conv *out)
{
	const char *s = *p;
	*out = (struct lang_conv){ 0 };
	if (*s++ != '%')
		return false;
	int number = 0;
	const char *digits = s;
	while (*s >= '0' && *s <= '9' && s - digits < 4)
		number = 10 * number + (*s++ - '0');
	if (s > digits && *s == '$') {
		out->arg = number;
		s++;
	} else {
		s = digits;
	}
	for (; *s && strchr("-+#0'", *s); s++)
		out->left |= *s == '-';
	if (*s == '*') {
		out->width = -1;
		s++;
	}
	for (; *s >= '0' && *s <= '9' && out->width < 1000; s++)
		out->width = 10 * out->width + (*s - '0');
	if (*s == '.') {
		out->drops = s[1] == '0' && s[2] == 's';
		for (s++; (*s >= '0' && *s <= '9') || *s == '*'; s++)
			;
	}
	while (*s && strchr("hlzjt", *s))
		s++;
	if (!*s || !strchr("sdiuxXfgecp%", *s))
		return false;
	out->kind = strchr("diup", *s) ? 'd' : strchr("xX", *s) ? 'x' : strchr("fge", *s) ? 'f' : *s;
	*p = s + 1;
	return true;
}

#endif
