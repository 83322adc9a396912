// Several files, a header in a folder, a macro from the command line, text on standard input, OpenMP threads
// that launch, a child process, and the end by exit().
#include "scale.cuh"
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	std::string line;
	int words = 0, total = 0;
	while (std::getline(std::cin, line))
		words += !line.empty();
#pragma omp parallel for reduction(+ : total) num_threads(3)
	for (int part = 0; part < 6; part++)
		total += scaled_sum(part, 64);
	printf("%s: %d lines, total %d, host %d\n", argc > 1 ? argv[1] : "", words, total, host_part(total));
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0)
		_exit(7);
	int status = 0;
	waitpid(child, &status, 0);
	printf("child ended with %d\n", WEXITSTATUS(status));
	exit(total == 6 * 64 * FACTOR + 15 * 64 * FACTOR && words == 2 ? 0 : 1);
}
