/*
 * UTF-8 and columns; see utf8.h. The tables: Unicode UAX #11, EastAsianWidth W and F; general
 * categories Cc, Cf, Mn and Me.
 */
#include "base/utf8.h"

#include "base/text.h"

struct range {
	uint32_t first, last;
};

static const struct range no_column[] = {
	{ 0x0000, 0x001f }, { 0x007f, 0x009f }, { 0x0300, 0x036f },    { 0x0483, 0x0489 },
	{ 0x0591, 0x05bd }, { 0x064b, 0x065f }, { 0x1ab0, 0x1aff },    { 0x1dc0, 0x1dff },
	{ 0x200b, 0x200f }, { 0x202a, 0x202e }, { 0x2060, 0x206f },    { 0x20d0, 0x20ff },
	{ 0x302a, 0x302f }, { 0x3099, 0x309a }, { 0xd800, 0xdfff },    { 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xe0000, 0x10ffff },
};

static const struct range two_columns[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },   { 0x23e9, 0x23ec },
	{ 0x23f0, 0x23f0 },   { 0x23f3, 0x23f3 },   { 0x25fd, 0x25fe },   { 0x2614, 0x2615 },
	{ 0x2648, 0x2653 },   { 0x267f, 0x267f },   { 0x2693, 0x2693 },   { 0x26a1, 0x26a1 },
	{ 0x26aa, 0x26ab },   { 0x26bd, 0x26be },   { 0x26c4, 0x26c5 },   { 0x26ce, 0x26ce },
	{ 0x26d4, 0x26d4 },   { 0x26ea, 0x26ea },   { 0x26f2, 0x26f3 },   { 0x26f5, 0x26f5 },
	{ 0x26fa, 0x26fa },   { 0x26fd, 0x26fd },   { 0x2705, 0x2705 },   { 0x270a, 0x270b },
	{ 0x2728, 0x2728 },   { 0x274c, 0x274c },   { 0x274e, 0x274e },   { 0x2753, 0x2755 },
	{ 0x2757, 0x2757 },   { 0x2795, 0x2797 },   { 0x27b0, 0x27b0 },   { 0x27bf, 0x27bf },
	{ 0x2b1b, 0x2b1c },   { 0x2b50, 0x2b50 },   { 0x2b55, 0x2b55 },   { 0x2e80, 0x303e },
	{ 0x3041, 0xa4cf },   { 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
	{ 0xfe10, 0xfe19 },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
	{ 0x16fe0, 0x18aff }, { 0x1b000, 0x1b2ff }, { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf },
	{ 0x1f18e, 0x1f18e }, { 0x1f191, 0x1f19a }, { 0x1f200, 0x1f64f }, { 0x1f680, 0x1f6ff },
	{ 0x1f7e0, 0x1f7eb }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
};

static bool within(uint32_t ch, const struct range *table, size_t n)
{
	size_t lo = 0, hi = n;
	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;
		if (ch > table[mid].last)
			lo = mid + 1;
		else if (ch < table[mid].first)
			hi = mid;
		else
			return true;
	}
	return false;
}

int char_columns(uint32_t ch)
{
	return ch >= two_columns[0].first && within(ch, two_columns, ARRAY_LEN(two_columns)) ? 2 : 1;
}

static uint32_t seen(uint32_t ch)
{
	if ((ch >= 0x20 && ch < 0x7f) || !within(ch, no_column, ARRAY_LEN(no_column)))
		return ch;
	return UTF8_REPLACEMENT;
}

uint32_t utf8_next(const char **s)
{
	const unsigned char *p = (const unsigned char *)*s;
	if (!*p)
		return 0;
	if (*p < 0x80) {
		(*s)++;
		return seen(*p);
	}
	int extra = *p >= 0xf0 && *p < 0xf5   ? 3
	            : *p >= 0xe0 && *p < 0xf0 ? 2
	            : *p >= 0xc2 && *p < 0xe0 ? 1
	                                      : 0;
	uint32_t ch = extra == 3 ? *p & 0x07u : extra == 2 ? *p & 0x0fu : *p & 0x1fu;
	for (int i = 1; i <= extra; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			extra = 0;
			break;
		}
		ch = ch << 6 | (p[i] & 0x3fu);
	}
	const bool overlong = (extra == 2 && ch < 0x800) || (extra == 3 && ch < 0x10000);
	if (!extra || overlong || ch > 0x10ffff) {
		(*s)++;
		return UTF8_REPLACEMENT;
	}
	*s += extra + 1;
	return seen(ch);
}

size_t utf8_put(char out[4], uint32_t ch)
{
	if (ch < 0x80) {
		out[0] = (char)ch;
		return 1;
	}
	const size_t n = ch < 0x800 ? 2 : ch < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, ch >>= 6)
		out[i] = (char)(0x80 | (ch & 0x3f));
	out[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | ch);
	return n;
}

int text_columns(const char *utf8)
{
	int n = 0;
	uint32_t ch;
	while ((ch = utf8_next(&utf8)))
		n += char_columns(ch);
	return n;
}

static bool one_of(const char *all, uint32_t ch)
{
	uint32_t c;
	while ((c = utf8_next(&all)))
		if (c == ch)
			return true;
	return false;
}

bool utf8_breaks(uint32_t before, uint32_t after)
{
	if (char_columns(before) != 2 && char_columns(after) != 2)
		return false;
	return !one_of("，。、；：！？）」』】》〉”’…,.;:!?)]}%", after) &&
	       !one_of("（「『【《〈“‘([{", before);
}

const char *utf8_line(const char *s, int cols, size_t *len)
{
	const char *p = s, *good = NULL;
	int n = 0;
	uint32_t before = 0;
	while (*p && *p != '\n') {
		const char *next = p;
		const uint32_t ch = utf8_next(&next);
		if (*p == ' ' || (before && utf8_breaks(before, ch)))
			good = p;
		n += char_columns(ch);
		if (n > cols)
			break;
		before = ch;
		p = next;
	}
	if (!*p || *p == '\n') {
		*len = (size_t)(p - s);
		return *p ? p + 1 : p;
	}
	if (good && good > s) {
		*len = (size_t)(good - s);
		while (*good == ' ')
			good++;
		return good;
	}
	if (p == s) /* not even one character fits */
		utf8_next(&p);
	*len = (size_t)(p - s);
	return p;
}
