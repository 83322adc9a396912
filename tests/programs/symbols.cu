// Variables of the device: set, read back, asked for their address, changed by kernels.
#include "check.h"
__device__ int counter = 5;
__device__ float table[64];
__constant__ int limits[4] = { 1, 2, 3, 4 };
__device__ const char *const names[2] = { "even", "odd" };
__device__ char letters[2];

__global__ void use()
{
	int i = threadIdx.x;
	table[i] = i * 0.5f + limits[i % 4];
	if (i < 2)
		letters[i] = names[i][0];
	atomicAdd(&counter, limits[i % 4]);
}

int main()
{
	int value = -1, more[2] = { 30, 40 };
	float host[64];
	char first[2];
	CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
	bool good = value == 5;
	CHECK(cudaMemcpyToSymbol(limits, more, sizeof more, 2 * sizeof(int)));
	use<<<1, 64>>>();
	CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
	CHECK(cudaMemcpyFromSymbol(host, table, sizeof host));
	CHECK(cudaMemcpyFromSymbol(first, letters, sizeof first));
	good = good && value == 5 + 16 * (1 + 2 + 30 + 40) && host[6] == 3 + 30;
	good = good && first[0] == 'e' && first[1] == 'o';
	void *address;
	size_t bytes;
	CHECK(cudaGetSymbolAddress(&address, table));
	CHECK(cudaGetSymbolSize(&bytes, table));
	CHECK(cudaMemset(address, 0, bytes));
	CHECK(cudaMemcpyFromSymbol(host, table, sizeof host));
	good = good && bytes == sizeof host && host[6] == 0;
	printf("counter %d, letters %c %c\n", value, first[0], first[1]);
	return finish("symbols", good);
}
