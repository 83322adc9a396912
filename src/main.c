/*
 * Entry: locale, signals, and the only exits of the program. Everything else is in cli/, but for
 * the GPU worker and the compile worker, which are this program started by itself.
 */
#include "base/mem.h"
#include "cuda/cuda_worker.h"
#include "cli/cli.h"
#include "compile/compile_worker.h"

#include <fcntl.h>
#include <jansson.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define COMPILE_LIMIT_S 60

/* Of the standard descriptors, those that are closed must not become a file of ours, which messages
 * would then be written into. Opened the wrong way round they fail as closed ones do. */
static void reserve_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			_Exit(3);
}

/* The file descriptor that this program gave to a copy of itself. */
static int descriptor(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

/* A locale that is not installed here may still say that the terminal takes UTF-8. */
static void locale_of_environment(void)
{
	const char *name = getenv("LC_ALL");
	if (setlocale(LC_ALL, ""))
		return;
	name = name && *name ? name : getenv("LC_CTYPE");
	name = name && *name ? name : getenv("LANG");
	if (name && (strstr(name, "UTF-8") || strstr(name, "utf8")))
		setlocale(LC_CTYPE, "C.UTF-8");
}

int main(int argc, char **argv)
{
	reserve_standard_descriptors();
	json_set_alloc_funcs(mem_alloc,
	                     free); /* nothing of a document is left out for want of memory */
	if (argc == 3 && !strcmp(argv[1], CUDA_WORKER_OPTION))
		exit(cuda_worker_main(descriptor(argv[2])));
	if (argc == 3 && !strcmp(argv[1], COMPILE_WORKER_OPTION))
		exit(compile_worker_main(descriptor(argv[2])));
	compile_use_worker(COMPILE_LIMIT_S);
	locale_of_environment();
	setlocale(LC_NUMERIC, "C"); /* numbers read and print the same everywhere */
	signal(SIGPIPE, SIG_IGN);   /* a reader that has gone is an error of write() */
	signal(SIGXFSZ, SIG_IGN);   /* so is a file that may not grow */
	bool busy = false;
	const int status = cli_main(argc, argv, &busy);
	if (busy)
		_Exit(status);
	exit(status);
}
