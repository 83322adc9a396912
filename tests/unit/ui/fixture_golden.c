/* See golden.h. */
#include "golden.h"
#include "../unit.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *golden_read(const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f)
		return NULL;
	struct text t = { 0 };
	char piece[4096];
	size_t n;
	text_put(&t, "", 0);
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		text_put(&t, piece, n);
	fclose(f);
	return t.s;
}

bool golden_bless(void)
{
	const char *bless = getenv("BLESS");
	return bless && !strcmp(bless, "1");
}

void golden_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	if (!f)
		fail_msg("%s cannot be written", path);
	fputs(text, f);
	fclose(f);
}

void golden_compare(const char *path, const char *is, const char *want)
{
	int row = 1;
	const char *a = is, *b = want;
	if (!want)
		fail_msg("%s is missing: make bless, and read what it draws", path);
	if (!strcmp(is, want))
		return;
	while (*a && *a == *b) {
		row += *a == '\n';
		a++;
		b++;
	}
	fail_msg("%s differs from row %d on; drawn now:\n%s", path, row, is);
}
