/* See language.h. */
#include "cli/language.h"

#include "base/lang.h"
#include "cli/settings_file.h"
#include "lab/program_words.h"
#include "ui/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of LANG_OPTION at argv[i], and how many words it took; NULL = it is not this option. */
static const char *option_at(int argc, char **argv, int i, int *words)
{
	const size_t n = strlen(LANG_OPTION);
	if (!argv[i] || strncmp(argv[i], LANG_OPTION, n) != 0 || (argv[i][n] && argv[i][n] != '='))
		return NULL;
	*words = argv[i][n] || i + 1 == argc ? 1 : 2;
	return argv[i][n] ? argv[i] + n + 1 : i + 1 < argc ? argv[i + 1] : "";
}

/* The last LANG_OPTION, taken out of the words; NULL = there is none. */
static const char *option_taken(int *argc, char **argv)
{
	const char *code = NULL;
	int i = 1, words;
	while (i < *argc && argv[i] && strcmp(argv[i], "--") != 0) {
		const char *here = option_at(*argc, argv, i, &words);
		if (here) {
			code = here;
			*argc -= words;
			memmove(argv + i, argv + i + words, (size_t)(*argc - i + 1) * sizeof *argv);
		} else if (argv[i][0] != '-' && strchr(argv[i], '/') && program_words_begin(argv[i])) {
			break;
		} else {
			i++;
		}
	}
	return code;
}

/* What a person keeps; a line of it that is wrong is for the screen to say. */
static size_t language_kept(void)
{
	char path[300];
	struct err err = { 0 };
	char *text = settings_file_read(path, sizeof path, &err);
	const size_t i = text ? settings_lang(text) : lang_count();
	free(text);
	return i;
}

bool language_choose(int *argc, char **argv, bool utf8, struct err *err)
{
	const char *code = option_taken(argc, argv);
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
