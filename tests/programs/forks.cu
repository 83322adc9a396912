// emulator only: a record of a GPU would show the launches of one process alone
// Processes that a program forks before it uses the GPU: each has the GPU for itself. One is
// recorded, the first; the others' calls are served as well.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void multiples(int *to, int of)
{
	to[threadIdx.x] = of * (int)threadIdx.x;
}

static int wrong(int of)
{
	int *there, found[64], bad = 0;
	CHECK(cudaMalloc(&there, sizeof found));
	multiples<<<1, 64>>>(there, of);
	CHECK(cudaMemcpy(found, there, sizeof found, cudaMemcpyDeviceToHost));
	CHECK(cudaFree(there));
	for (int i = 0; i < 64; i++)
		bad += found[i] != of * i;
	return bad;
}

int main()
{
	int bad = 0, status;
	for (int child = 1; child <= 3; child++) {
		if (fork() == 0)
			_exit(wrong(child) ? 1 : 10 + child);
		wait(&status);
		bad += !WIFEXITED(status) || WEXITSTATUS(status) != 10 + child;
		printf("child %d ends with %d\n", child, WEXITSTATUS(status));
		fflush(stdout);
	}
	bad += wrong(7);
	if (fork() == 0)
		exit(4); // one that has the runtime's handlers, too, and is not the program
	wait(&status);
	bad += WEXITSTATUS(status) != 4;
	bad += wrong(9);
	printf("forks: %s\n", bad ? "failed" : "passed");
	return bad != 0;
}
