// printf in device code: every kind of argument, one thread at a time so that the order is defined.
#include "check.h"

__global__ void say(int who, const char *word)
{
	printf("thread %d of block %d says '%s' to %-6s|%6s|%.2s|\n", threadIdx.x, blockIdx.x, word,
	       "left", "right", "cut");
	printf("%d %i %u %5d|%-5d|%05d|%+d| %x %X %#x %o %c%c\n", who, -who, 4000000000u, who, who,
	       who, who, 48879, 48879, 48879, 64, 'o', 'k');
	printf("%f %.3f %10.2f|%e %G %g %a\n", 1.5, 3.14159265, -2.5, 12345.678, 1e-10, 1e20, 1.0);
	printf("%lld %llu %ld %lx %hd\n", -(1ll << 40), ~0ull, -5l, 255l, 70000);
	printf("%6d|%-6d|%.1f| 100%% %s\n", who, who, 2.25, (const char *)"end");
}

__global__ void count(int *n) { n[threadIdx.x] = printf("") + 10 * printf("x%c%s", 'y', ""); }

int main()
{
	char *word;
	int *n;
	CHECK(cudaMallocManaged(&word, 16));
	CHECK(cudaMallocManaged(&n, sizeof *n));
	snprintf(word, 16, "hello");
	for (int i = 1; i < 3; i++) {
		say<<<1, 1>>>(i * 21, word);
		CHECK(cudaDeviceSynchronize());
	}
	count<<<1, 1>>>(n);
	CHECK(cudaDeviceSynchronize());
	printf("\n%d\n", *n);
	const bool good = *n == 20;
	CHECK(cudaFree(word));
	CHECK(cudaFree(n));
	return finish("device_printf", good);
}
