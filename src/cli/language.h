/*
 * Which language a person gets: --lang, else the setting "lang", else the environment.
 */
#ifndef PMPP_CLI_LANGUAGE_H
#define PMPP_CLI_LANGUAGE_H

#include "base/err.h"

#include <stdbool.h>

#define LANG_OPTION "--lang"

/* Takes LANG_OPTION and its value out of @argv, wherever they stand before "--" and before a
 * program with arguments of its own, and chooses the language (base/lang.h). Where nobody asked by
 * option, a terminal without UTF-8 (@utf8) gets English. False: no such language. */
bool language_choose(int *argc, char **argv, bool utf8, struct err *err);

#endif
