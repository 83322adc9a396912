/* --level: which code the emulator counts. */
#include "cli/cli.h"

#include <string.h>

bool cli_level(const char *word, enum run_level *out, struct err *err)
{
	static const char *const names[] = {
		[RUN_LEVEL_PTX] = "ptx", [RUN_LEVEL_SASS] = "sass", [RUN_LEVEL_AUTO] = "auto"
	};
	*out = RUN_LEVEL_AUTO;
	for (unsigned k = 0; word && k < ARRAY_LEN(names); k++)
		if (!strcmp(word, names[k])) {
			*out = (enum run_level)k;
			return true;
		}
	return !word || err_set(err, ERR_USAGE, "--level: '%s' is none of ptx, sass, auto", word);
}
