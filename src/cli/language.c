/* See language.h. */
#include "cli/language.h"

#include "base/lang.h"
#include "cli/early_option.h"
#include "cli/settings_file.h"
#include "ui/settings.h"

#include <stdlib.h>

/* What a person keeps; a line of it that is wrong is for the screen to say. */
static size_t language_kept(void)
{
	char path[300];
	struct err err = { 0 };
	char *text = settings_file_read(path, sizeof path, &err);
	struct settings kept;
	settings_looks(text ? text : "", &kept);
	free(text);
	return kept.lang;
}

bool language_choose(int *argc, char **argv, bool utf8, struct err *err)
{
	const char *code = early_option(LANG_OPTION, argc, argv);
	size_t i = 0;
	if (code && !*code)
		return err_set(err, ERR_USAGE, "option '%s' needs a value: %s", LANG_OPTION, "LANG");
	if (code && !lang_find(code, &i, err))
		return false;
	if (!code && utf8) {
		i = language_kept();
		if (i == lang_count())
			i = lang_of_environment();
	}
	lang_use(i);
	return true;
}
