/* Machine code for people and as JSON: what the verb sass prints. */
#ifndef PMPP_CLI_SASS_OUT_H
#define PMPP_CLI_SASS_OUT_H

#include "cli/cli.h"
#include "model/counts.h"
#include "sass/sass.h"

#include <string.h>

/* What a launch executed of one kernel. */
struct sass_counts {
	bool asked;                /* else nothing was to be counted */
	struct run_counts counts;  /* n_code = 0: no machine code was counted */
	char why[400];             /* ... for this reason */
	char level[96], note[256]; /* whose instructions; what is to be said of it */
	unsigned grid[3], block[3];
	uint64_t launch; /* of a program; 0 = a kernel by itself */
	char program[160];
};

struct sass_show {
	const struct sass_module *module;
	const char *source; /* text of the .cu file; NULL = not at hand */
	const char
		*source_file; /* its name as the line tables have it; lines of other files have none */
	unsigned max_registers; /* --maxrregcount; 0 = not given */
	const struct sass_counts *counts;
};

/* Is @name that symbol, or the name that it has in the source: "scale", "deep::scale<float>"? */
bool sass_is_named(const char *symbol, const char *name);
/* The symbol, and behind it how C++ writes it. */
void sass_say_name(struct cli *c, const struct sass_func *f);

/* Was --maxrregcount given and passed over? The assembler goes by __launch_bounds__ or
 * __block_size__ where a kernel has them. */
bool sass_ignores_registers(const struct sass_show *show, const struct sass_func *f);
/* That as a line, if it is so. */
void sass_say_registers(struct cli *c, const struct sass_show *show, const struct sass_func *f);
/* One function: facts, instructions under their source lines, mix. */
void sass_print(struct cli *c, const struct sass_show *show, const struct sass_func *f);
/* The same as an object. */
json_t *sass_json(const struct sass_show *show, const struct sass_func *f);
/* sass_lines.c: the text of a source line where the source is at hand, else the name of its file;
 * in @text of @n bytes, or as long as the module. */
const char *sass_line_text(const struct sass_show *show, uint32_t file, uint32_t line, char *text,
                           size_t n);
/* Whose registers did not suffice: source lines by the instructions that spill or refill. */
void sass_print_spills(struct cli *c, const struct sass_show *show, const struct sass_func *f);
/* sass_counts_out.c: how often instruction @i of @f ran; NULL = it was not counted. */
const struct code_count *sass_count(const struct sass_show *show, const struct sass_inst *i);
/* Is the function's code there with counts? */
bool sass_is_counted(const struct sass_show *show);
/* Of an instruction's row: how often it ran, its share, its lanes; nothing where none were. */
void sass_print_count(struct cli *c, const struct sass_show *show, const struct sass_inst *i);
/* Whose launch was counted, or why it was not; all of it, its hottest lines and loops. */
void sass_print_counts(struct cli *c, const struct sass_show *show, const struct sass_func *f);
/* The same as an object; null: nothing was to be counted. */
json_t *sass_counts_json(const struct sass_show *show, const struct sass_func *f);
/* "sgemm.cu" for "/sgemm.cu": compiled names start with a slash that nobody typed. */
static inline const char *sass_file_name(const char *name)
{
	return name[0] == '/' && name[1] && !strchr(name + 1, '/') ? name + 1 : name;
}

#endif
