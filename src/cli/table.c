/* Columns of text, aligned by what a terminal shows, in styles. Knows no meaning. */
#include "cli/cli.h"

#include "base/lang.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

void table_row(struct table *t, ...)
{
	va_list ap;
	va_start(ap, t);
	if (t->n + t->cols > t->cap) {
		t->cap = t->cap ? 2 * t->cap : 16 * t->cols;
		t->cells = mem_realloc(t->cells, t->cap, sizeof *t->cells);
		t->styles = mem_realloc(t->styles, t->cap, sizeof *t->styles);
	}
	const bool head = t->head && !t->n;
	for (unsigned i = 0; i < t->cols; i++) {
		t->styles[t->n] = head ? STYLE_TITLE : t->looks[i];
		t->cells[t->n++] = mem_strdup(va_arg(ap, const char *));
	}
	va_end(ap);
}

void table_style(struct table *t, unsigned col, enum style s)
{
	t->styles[t->n - t->cols + col] = s;
}

static void pad(FILE *f, unsigned n)
{
	while (n--)
		fputc(' ', f);
}

/* All cells, but for names; those of a head are words. */
static void translate(struct table *t)
{
	for (unsigned i = 0, col = 0; i < t->n; i++, col = col + 1 < t->cols ? col + 1 : 0) {
		if (t->names[col] && !(t->head && i < t->cols))
			continue;
		char *cell = mem_strdup(lang_text(t->cells[i]));
		free(t->cells[i]);
		t->cells[i] = cell;
	}
}

void table_print(struct table *t, FILE *f, const char *indent)
{
	unsigned width[ARRAY_LEN(t->right)] = { 0 };
	if (t->said && lang_used())
		translate(t);
	for (unsigned i = 0; i < t->n; i++) {
		unsigned w = (unsigned)text_columns(t->cells[i]);
		if (w > width[i % t->cols])
			width[i % t->cols] = w;
	}
	for (unsigned row = 0; row < t->n; row += t->cols) {
		unsigned last = t->cols; /* blanks at the end of a line are left out */
		while (last && !t->cells[row + last - 1][0])
			last--;
		fputs(last ? indent : "", f);
		for (unsigned c = 0; c < last; c++) {
			const char *s = t->cells[row + c];
			unsigned room = width[c] - (unsigned)text_columns(s);
			if (t->right[c])
				pad(f, room);
			if (*s)
				cli_name(f, t->styles[row + c], s);
			if (c + 1 < last)
				pad(f, 2 + (t->right[c] ? 0 : room));
		}
		fputc('\n', f);
	}
	for (unsigned i = 0; i < t->n; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->styles);
	t->cells = NULL;
	t->styles = NULL;
	t->n = t->cap = 0;
}
