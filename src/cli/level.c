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

bool cli_level_here(const char *word, const char *backend, enum run_level *out, struct err *err)
{
	if (!word || !strcmp(backend, "emu"))
		return cli_level(word, out, err);
	err_set(err, ERR_USAGE, "--level: a GPU runs machine code, and counts that");
	return err_remedy(err, "leave it out, or run with --backend emu");
}
