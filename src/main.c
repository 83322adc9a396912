/*
 * Entry: locale, signals, and the only exit of the program. Everything else is in cli/.
 */
#include "cli/cli.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* numbers read and print the same everywhere */
	signal(SIGPIPE, SIG_IGN);   /* a reader that has gone is an error of write() */
	exit(cli_main(argc, argv));
}
