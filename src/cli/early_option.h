/*
 * Options that hold for the whole program, whatever verb follows: --lang, --color. They are taken
 * out of the words before a verb sees them.
 */
#ifndef PMPP_CLI_EARLY_OPTION_H
#define PMPP_CLI_EARLY_OPTION_H

/* The value of the last option @name ("--lang") before "--" and before a program that has options
 * of its own; it and its value leave @argv. "" = it has none; NULL = it is not there. */
const char *early_option(const char *name, int *argc, char **argv);

#endif
