/* See early_option.h. */
#include "cli/early_option.h"

#include "lab/program_file.h"
#include "lab/program_words.h"

#include <string.h>

/* The value of the option at argv[i], and how many words it took; NULL = it is not this option. */
static const char *option_at(const char *name, int argc, char **argv, int i, int *words)
{
	const size_t n = strlen(name);
	if (!argv[i] || strncmp(argv[i], name, n) != 0 || (argv[i][n] && argv[i][n] != '='))
		return NULL;
	*words = argv[i][n] || i + 1 == argc ? 1 : 2;
	return argv[i][n] ? argv[i] + n + 1 : i + 1 < argc ? argv[i + 1] : "";
}

const char *early_option(const char *name, int *argc, char **argv)
{
	const char *value = NULL;
	int i = 1, words;
	while (i < *argc && argv[i] && strcmp(argv[i], "--") != 0) {
		const char *here = option_at(name, *argc, argv, i, &words);
		if (here) {
			value = here;
			*argc -= words;
			memmove(argv + i, argv + i + words, (size_t)(*argc - i + 1) * sizeof *argv);
		} else if (argv[i][0] != '-' && strchr(argv[i], '/') && program_words_begin(argv[i]) &&
		           !program_file_is(argv[i])) {
			break;
		} else {
			i++;
		}
	}
	return value;
}
