/* Pages and which panel they explain; see page.h. */
#include "model/page.h"

#include "base/asset.h"
#include "base/mem.h"
#include "base/text.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "pages"

static struct {
	pthread_once_t once;
	struct text_page *all;
	size_t n;
	struct page_passage *passages;
	size_t n_passages, cap;
} pages = { .once = PTHREAD_ONCE_INIT };

/* The rest of the line at @at if it begins with @key, into @out; the start of the next line. */
static const char *head_line(const char *at, const char *key, char *out, size_t n)
{
	const size_t len = strlen(key), line = strcspn(at, "\n");
	if (strncmp(at, key, len) != 0)
		return NULL;
	const char *from = at + len + strspn(at + len, " ");
	snprintf(out, n, "%.*s", (int)(at + line - from > 0 ? at + line - from : 0), from);
	return at[line] ? at + line + 1 : at + line;
}

bool page_parse(const char *name, const char *data, struct text_page *out, struct err *err)
{
	char seeds[400];
	*out = (struct text_page){ 0 };
	snprintf(out->name, sizeof out->name, "%s", name);
	const char *at = head_line(data, "# ", out->title, sizeof out->title);
	if (!at || !out->title[0])
		return err_set(err, ERR_PARSE, FOLDER "/%s.txt:1: '# title' is needed", name);
	if (!(at = head_line(at, "panels:", out->panels, sizeof out->panels)))
		return err_set(err, ERR_PARSE, FOLDER "/%s.txt:2: 'panels: names of views' is needed",
		               name);
	const char *after = head_line(at, "seeds:", seeds, sizeof seeds);
	at = after ? after : at;
	if (*at != '\n' || !at[1])
		return err_set(err, ERR_PARSE,
		               FOLDER "/%s.txt:%d: an empty line and the text are needed here", name,
		               after ? 4 : 3);
	out->text = at + 1;
	return true;
}

/* Rows begin with a blank; a paragraph's lines do not, and end at an empty one or at a row. */
static void take_passages(const struct text_page *p)
{
	for (const char *at = p->text; *at;) {
		const char *end = at + strcspn(at, "\n");
		while (*at != ' ' && end > at && *end && end[1] && end[1] != '\n' && end[1] != ' ')
			end += 1 + strcspn(end + 1, "\n");
		if (end > at) {
			MEM_ROOM(pages.passages, pages.n_passages, pages.cap, 256);
			pages.passages[pages.n_passages++] =
				(struct page_passage){ .page = p, .text = at, .n = (size_t)(end - at) };
		}
		at = end + (*end == '\n');
	}
}

static void read_all(void)
{
	char name[48];
	pages.all = mem_calloc(asset_count() + 1, sizeof *pages.all);
	for (size_t i = 0; i < asset_count(); i++)
		if (asset_in(asset_at(i), FOLDER, ".txt", name, sizeof name) &&
		    page_parse(name, asset_at(i)->data, &pages.all[pages.n], NULL))
			pages.n++;
	for (size_t i = 0; i < pages.n; i++)
		take_passages(&pages.all[i]);
}

size_t page_count(void)
{
	pthread_once(&pages.once, read_all);
	return pages.n;
}

const struct text_page *page_at(size_t i)
{
	return i < page_count() ? &pages.all[i] : NULL;
}

size_t page_passage_count(void)
{
	pthread_once(&pages.once, read_all);
	return pages.n_passages;
}

const struct page_passage *page_passage_at(size_t i)
{
	return i < page_passage_count() ? &pages.passages[i] : NULL;
}

const struct text_page *page_find(const char *name)
{
	for (size_t i = 0; i < page_count(); i++)
		if (str_ieq(pages.all[i].name, name))
			return &pages.all[i];
	return NULL;
}

bool page_explains(const struct text_page *p, const char *view)
{
	const size_t n = strlen(view);
	for (const char *at = p->panels; n && (at = strstr(at, view)); at += n)
		if ((at == p->panels || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

const struct text_page *page_for(const char *view, size_t i)
{
	for (int others = 0; others < 2; others++)
		for (size_t k = 0; k < page_count(); k++)
			if (page_explains(&pages.all[k], view) != others && !i--)
				return &pages.all[k];
	return NULL;
}
