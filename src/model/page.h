/*
 * Pages: what the words on the panels mean. One file pages/<name>.txt each.
 *
 *   # Roofline
 *   panels: roofline advice       the views that it explains; may be empty
 *   seeds: S-217 S-218            ids of the sources' checklist; may be left out
 *   (an empty line, then paragraphs; lines that begin with a blank stay as they are)
 *
 * Text built into the program; nothing here draws.
 */
#ifndef PMPP_MODEL_PAGE_H
#define PMPP_MODEL_PAGE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct text_page {
	char name[48]; /* = file name */
	char title[80], panels[120];
	const char *text; /* of the asset, to its end */
};

/* Built-in pages in the order of their names; a file that is no page is left out. */
size_t page_count(void);
const struct text_page *page_at(size_t i);
/* "shared-memory", any case; NULL = none. */
const struct text_page *page_find(const char *name);
/* Does it explain this panel? */
bool page_explains(const struct text_page *p, const char *view);
/* The @i-th page for someone who looks at @view: those that explain it, then the others. */
const struct text_page *page_for(const char *view, size_t i);
/* A paragraph, or a row of a list or table: the @i-th of all pages, in order. */
struct page_passage {
	const struct text_page *page;
	const char *text; /* in the page's text, @n bytes, without what ends it */
	size_t n;
};
size_t page_passage_count(void);
const struct page_passage *page_passage_at(size_t i);
/* Head and first line of the text in @data; @name and `text` are set. False: @err says what is
 * wrong, with the line. */
bool page_parse(const char *name, const char *data, struct text_page *out, struct err *err);

#endif
