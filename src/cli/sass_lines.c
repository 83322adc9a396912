/* Source lines of machine code: their text, and how many registers they spill. */
#include "base/mem.h"
#include "cli/sass_out.h"

#include <stdlib.h>

const char *sass_line_text(const struct sass_show *show, uint32_t file, uint32_t line, char *text,
                           size_t n)
{
	const char *name = sass_file_name(show->module->files[file]);
	text[0] = '\0';
	if (!show->source_file || strcmp(name, show->source_file) != 0)
		return name;
	if (show->source)
		source_line(show->source, line, text, n);
	return text;
}

enum { SHOWN_SPILLS = 8 };

struct spilling_line {
	uint32_t file, line;
	unsigned spills;
};

static int more_spills(const void *a, const void *b)
{
	const struct spilling_line *x = a, *y = b;
	if (x->spills != y->spills)
		return x->spills > y->spills ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

void sass_print_spills(struct cli *c, const struct sass_show *show, const struct sass_func *f)
{
	struct spilling_line *lines = mem_calloc(f->n_insts + 1u, sizeof *lines);
	struct table t = {
		.cols = 2, .right = { true }, .names = { [1] = true }, .looks = { [1] = STYLE_KNOB }
	};
	unsigned n = 0;
	for (const struct sass_inst *i = f->insts; i < f->insts + f->n_insts; i++) {
		unsigned at = 0;
		if (!i->spill || !i->line)
			continue;
		while (at < n && (lines[at].file != i->file || lines[at].line != i->line))
			at++;
		if (at == n)
			lines[n++] = (struct spilling_line){ .file = i->file, .line = i->line };
		lines[at].spills++;
	}
	qsort(lines, n, sizeof *lines, more_spills);
	for (unsigned k = 0; k < n && k < SHOWN_SPILLS; k++) {
		char count[16], code[160], place[200];
		snprintf(count, sizeof count, "%u", lines[k].spills);
		snprintf(place, sizeof place, "%4u | %s", lines[k].line,
		         sass_line_text(show, lines[k].file, lines[k].line, code, sizeof code));
		table_row(&t, count, place);
	}
	table_print(&t, c->out, "      ");
	free(lines);
}
