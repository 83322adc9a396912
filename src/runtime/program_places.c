/* Addresses in a program as lines of its source, by addr2line of the compiler's own tools. */
#include "runtime/program_places.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/tool.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLACES 128

struct places {
	const char *path, *name;
	unsigned n;
	uint64_t offset[MAX_PLACES];
	char *line[MAX_PLACES]; /* "file.cu:5"; NULL = unknown */
};

/* "NAME+0x12" at or behind @text, its offset and its end; NULL = there is none. */
static const char *next_place(const struct places *p, const char *text, uint64_t *offset,
                              const char **end)
{
	const size_t n = strlen(p->name);
	for (const char *at = text; (at = strstr(at, p->name)); at += n)
		if (!strncmp(at + n, "+0x", 3)) {
			char *behind;
			*offset = strtoull(at + n + 3, &behind, 16);
			*end = behind;
			return at;
		}
	return NULL;
}

static const char *line_of(const struct places *p, uint64_t offset)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->offset[i] == offset)
			return p->line[i];
	return NULL;
}

static void collect(struct places *p, const char *text)
{
	uint64_t offset;
	const char *end;
	for (; next_place(p, text, &offset, &end) && p->n < MAX_PLACES; text = end) {
		unsigned i = 0;
		while (i < p->n && p->offset[i] != offset)
			i++;
		if (i == p->n)
			p->offset[p->n++] = offset;
	}
}

/* Offsets are addresses in a program that may be loaded anywhere. */
static bool is_relocatable(const char *path)
{
	Elf64_Ehdr h = { .e_type = ET_NONE };
	FILE *f = fopen(path, "rb");
	const bool read = f && fread(&h, sizeof h, 1, f) == 1;
	if (f)
		fclose(f);
	return read && h.e_type == ET_DYN;
}

/* "FOLDER/tmpxft_0000_0-6_file.cudafe1.cpp:5" is what nvcc made of file.cu, with its lines. */
static char *line_of_source(const char *line)
{
	static const char made[] = ".cudafe1.cpp:";
	const char *dash = strstr(line, "/tmpxft_"), *end = dash ? strstr(dash, made) : NULL;
	dash = end ? strchr(dash, '-') : NULL;
	const char *name = dash ? dash + 1 + strspn(dash + 1, "0123456789") : NULL;
	if (!name || name >= end || *name != '_')
		return mem_strdup(line);
	struct text t = { 0 };
	text_put(&t, name + 1, (size_t)(end - name - 1));
	text_add(&t, ".cu:%s", end + sizeof made - 1);
	return t.s;
}

/* One line an address: "/path/file.cu:5", "... (discriminator 2)", "??:0" or "file.cu:?". */
static void take_lines(struct places *p, char *answer)
{
	char *line = strtok_r(answer, "\n", &answer);
	for (unsigned i = 0; i < p->n && line; i++, line = strtok_r(NULL, "\n", &answer)) {
		line[strcspn(line, " ")] = '\0';
		const char *number = strrchr(line, ':');
		if (number && strtoul(number + 1, NULL, 10) && line[0] != '?')
			p->line[i] = line_of_source(line);
	}
}

static void look_up(struct places *p)
{
	char tool[4096], hex[MAX_PLACES][20];
	const char *argv[MAX_PLACES + 4] = { "addr2line", "-e", p->path };
	if (!p->n || !is_relocatable(p->path) || !tool_find("addr2line", tool, sizeof tool))
		return;
	for (unsigned i = 0; i < p->n; i++) { /* a return address is that of the next line */
		snprintf(hex[i], sizeof hex[i], "0x%llx", (unsigned long long)p->offset[i] - 1);
		argv[3 + i] = hex[i];
	}
	const struct tool_request req = {
		.path = tool, .argv = argv, .fd = -1, .limit_s = 20, .max_bytes = 1 << 20
	};
	struct text answer = { 0 };
	struct err err = { 0 };
	if (tool_run(&req, &answer, &err) && answer.s)
		take_lines(p, answer.s);
	text_free(&answer);
}

static bool of_header(const char *line)
{
	return strstr(line, "/cuda_runtime.h:") || strstr(line, "/cuda_runtime_api.h:");
}

/* @text with the lines known; freed by the caller. */
static char *with_lines(const struct places *p, const char *text)
{
	static const char from[] = " from ";
	struct text t = { 0 };
	uint64_t offset, outer;
	const char *at, *end, *behind;
	while ((at = next_place(p, text, &offset, &end))) {
		const char *line = line_of(p, offset);
		text_put(&t, text, (size_t)(at - text));
		while (line && !strncmp(end, from, sizeof from - 1) &&
		       next_place(p, end, &outer, &behind) == end + sizeof from - 1) {
			if (of_header(line) && line_of(p, outer))
				line = line_of(p, outer);
			end = behind;
		}
		if (line)
			text_add(&t, "%s", line);
		else
			text_put(&t, at, (size_t)(end - at));
		text = end;
	}
	text_add(&t, "%s", text);
	return t.s;
}

void program_name_places(struct program *p, const char *path, const char *name)
{
	struct places places = { .path = path, .name = name };
	for (size_t i = 0; i < p->n_findings; i++)
		collect(&places, p->findings[i].text);
	look_up(&places);
	for (size_t i = 0; i < p->n_findings; i++) {
		char *text = with_lines(&places, p->findings[i].text);
		free(p->findings[i].text);
		p->findings[i].text = text;
	}
	for (unsigned i = 0; i < places.n; i++)
		free(places.line[i]);
}
