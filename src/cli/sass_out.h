/* Machine code for people and as JSON: what the verb sass prints. */
#ifndef PMPP_CLI_SASS_OUT_H
#define PMPP_CLI_SASS_OUT_H

#include "cli/cli.h"
#include "sass/sass.h"

struct sass_show {
	const struct sass_module *module;
	const char *source; /* text of the .cu file; NULL = not at hand */
	const char
		*source_file; /* its name as the line tables have it; lines of other files have none */
	unsigned max_registers; /* --maxrregcount; 0 = not given */
};

/* Was --maxrregcount given and passed over? The assembler goes by __launch_bounds__ or
 * __block_size__ where a kernel has them. */
bool sass_ignores_registers(const struct sass_show *show, const struct sass_func *f);
/* That as a line, if it is so. */
void sass_say_registers(struct cli *c, const struct sass_show *show, const struct sass_func *f);
/* One function: facts, instructions under their source lines, mix. */
void sass_print(struct cli *c, const struct sass_show *show, const struct sass_func *f);
/* The same as an object. */
json_t *sass_json(const struct sass_show *show, const struct sass_func *f);
/* "sgemm.cu" for "/sgemm.cu": compiled names start with a slash that nobody typed. */
const char *sass_file_name(const char *name);

#endif
