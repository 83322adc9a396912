/* What differs from run to run on a card, in words; see variation.h. */
#include "model/variation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *word, *text;
} whys[] = {
#define WHY(id, word, text) { word, text },
#include "model/variation.def"
};

static const char *const keys[] = {
#define COUNTS(id, keys) keys,
#include "model/variation.def"
};

const char *variation_word(enum variation_why why)
{
	return whys[why].word;
}

const char *variation_text(enum variation_why why)
{
	return whys[why].text;
}

const char *variation_keys(enum variation_counts counts)
{
	return keys[counts];
}

void variation_add(struct run_variation *to, const struct run_variation *from)
{
	for (unsigned w = 0; w < VARIATION_WHYS; w++) {
		to->line[w] = to->line[w] ? to->line[w] : from->line[w];
		to->counts[w] |= from->counts[w];
	}
}

bool variation_any(const struct run_variation *v)
{
	for (unsigned w = 0; w < VARIATION_WHYS; w++)
		if (v->counts[w])
			return true;
	return false;
}

/* Is @key one of the words? */
static bool is_word_of(const char *words, const char *key)
{
	const size_t n = strlen(key);
	for (const char *at = words; (at = strstr(at, key)); at += n)
		if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

bool variation_has(const struct run_variation *v, const char *key)
{
	for (unsigned w = 0; w < VARIATION_WHYS; w++)
		for (unsigned c = 0; c < VARIATION_COUNTS; c++)
			if (v->counts[w] >> c & 1 && is_word_of(keys[c], key))
				return true;
	return false;
}

unsigned variation_next(const struct run_variation *v, unsigned from)
{
	while (from < VARIATION_WHYS && !v->counts[from])
		from++;
	return from;
}

const char *variation_counts_text(const struct run_variation *v, unsigned why, char *out, size_t n)
{
	size_t len = 0;
	out[0] = '\0';
	if (v->line[why])
		len = (size_t)snprintf(out, n, "line %" PRIu32, v->line[why]);
	const char *between = len ? ": " : "";
	for (unsigned c = 0; c < VARIATION_COUNTS; c++)
		for (const char *key = keys[c]; v->counts[why] >> c & 1 && *key && len < n;) {
			const int size = (int)strcspn(key, " ");
			len += (size_t)snprintf(out + len, n - len, "%s%.*s", between, size, key);
			between = ", ";
			key += size + (key[size] == ' ');
		}
	return out;
}
