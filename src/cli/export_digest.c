/* Digests of exported texts; see export_digest.h. */
#include "cli/export_digest.h"

#include "base/sha256.h"

#include <stdlib.h>
#include <string.h>

#define NOTE_BEFORE "The lines above: sha256:"
#define ROW_BEFORE ",,,rows_above.sha256,"
#define ROW_BEHIND ",,,,"
#define DIGITS 64

char *export_with_digest(char *text, bool csv)
{
	struct text t = { 0 };
	char hex[DIGITS + 1];
	text_add(&t, "%s%s", text, csv ? "" : "\n");
	free(text);
	sha256_hex(t.s, t.len, hex);
	text_add(&t, csv ? ROW_BEFORE "%s" ROW_BEHIND "\n" : NOTE_BEFORE "%s\n", hex);
	return t.s;
}

/* The digest in @line, which begins with @before; NULL = it is no such line. */
static const char *digest_in(const char *line, const char *before, const char *behind)
{
	const size_t n = strlen(before);
	if (strncmp(line, before, n) != 0 || strspn(line + n, "0123456789abcdef") != DIGITS)
		return NULL;
	return strncmp(line + n + DIGITS, behind, strlen(behind)) ? NULL : line + n;
}

enum export_state export_digest_of(const struct text *file)
{
	const char *line = file->s ? file->s : "", *end = line + (file->s ? file->len : 0);
	char hex[DIGITS + 1];
	/* the last line, with or without its end */
	for (const char *at = line; at + 1 < end; at++)
		if (*at == '\n')
			line = at + 1;
	const char *digest = digest_in(line, NOTE_BEFORE, "");
	if (!digest)
		digest = digest_in(line, ROW_BEFORE, ROW_BEHIND);
	if (!digest)
		return EXPORT_NO_DIGEST;
	sha256_hex(file->s, (size_t)(line - file->s), hex);
	return strncmp(hex, digest, DIGITS) ? EXPORT_CHANGED : EXPORT_HOLDS;
}
