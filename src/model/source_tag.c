/* Lines of a kernel's source and the tags that end them; see counts.h. */
#include "model/counts.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool tag_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_' || c == '.';
}

/* The tag that ends the line [@s, @end), or false. */
static bool tag_of_line(const char *s, const char *end, char name[32])
{
	while (end > s && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	const char *start = end;
	while (start > s && tag_char(start[-1]))
		start--;
	size_t len = (size_t)(end - start);
	if (len == 0 || len >= 32)
		return false;
	const char *p = start;
	while (p > s && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	if (p - s < 3 || memcmp(p - 3, "//@", 3) != 0)
		return false;
	memcpy(name, start, len);
	name[len] = '\0';
	return true;
}

unsigned source_tags(const char *source, struct line_tag *tags, unsigned max)
{
	unsigned n = 0;
	uint32_t line = 1;
	for (const char *s = source; s && *s; line++) {
		const char *end = strchr(s, '\n');
		struct line_tag t = { .line = line };
		if (tag_of_line(s, end ? end : s + strlen(s), t.name)) {
			if (n < max)
				tags[n] = t;
			n++;
		}
		s = end ? end + 1 : NULL;
	}
	return n;
}

static const struct line_counts *find_line(const struct run_counts *r, uint32_t line)
{
	const unsigned at = counts_line_place(r->lines, r->n_lines, line);
	return at < r->n_lines && r->lines[at].line == line ? &r->lines[at] : NULL;
}

bool counts_of_tag(const struct run_counts *r, const char *source, const char *tag,
                   struct counts *sum)
{
	*sum = (struct counts){ 0 };
	unsigned n = source_tags(source, NULL, 0);
	if (!n)
		return false;
	struct line_tag *tags = mem_calloc(n, sizeof *tags);
	bool found = false;
	source_tags(source, tags, n);
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(tags[i].name, tag) != 0)
			continue;
		found = true;
		const struct line_counts *l = find_line(r, tags[i].line);
		if (l)
			counts_add(sum, &l->c);
	}
	free(tags);
	return found;
}

bool source_line(const char *source, uint32_t n, char *out, size_t size)
{
	if (size)
		out[0] = '\0';
	const char *s = source;
	for (uint32_t line = 1; s && *s && n; line++) {
		const char *end = strchr(s, '\n');
		size_t len = end ? (size_t)(end - s) : strlen(s);
		if (line == n) {
			if (len && s[len - 1] == '\r')
				len--;
			if (size) {
				len = len < size - 1 ? len : size - 1;
				memcpy(out, s, len);
				out[len] = '\0';
			}
			return true;
		}
		s = end ? end + 1 : NULL;
	}
	return false;
}
