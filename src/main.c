/*
 * Entry: locale, signals, and the only exits of the program. Everything else is in cli/, but for the
 * GPU worker, which is this program started by itself.
 */
#include "backend/cuda/cuda_worker.h"
#include "cli/cli.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], CUDA_WORKER_OPTION))
		exit(cuda_worker_main(atoi(argv[2])));
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* numbers read and print the same everywhere */
	signal(SIGPIPE, SIG_IGN);   /* a reader that has gone is an error of write() */
	bool busy = false;
	const int status = cli_main(argc, argv, &busy);
	if (busy)
		_Exit(status);
	exit(status);
}
