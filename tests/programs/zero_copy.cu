// The host's own memory, registered, and mapped pinned memory, read and written by a kernel.
#include "check.h"
__global__ void square(const int *in, int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i] * in[i];
}

int main()
{
	const int n = 3000;
	int *mapped, *dmapped, *downed;
	std::vector<int> owned(n);
	for (int i = 0; i < n; i++)
		owned[i] = i % 181;
	CHECK(cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped));
	CHECK(cudaHostGetDevicePointer(&dmapped, mapped, 0));
	CHECK(cudaHostRegister(owned.data(), n * sizeof(int), cudaHostRegisterMapped));
	CHECK(cudaHostGetDevicePointer(&downed, owned.data(), 0));
	square<<<(n + 127) / 128, 128>>>(downed, dmapped, n);
	CHECK(cudaDeviceSynchronize());
	bool good = true;
	for (int i = 0; i < n; i++)
		good = good && mapped[i] == owned[i] * owned[i];
	cudaPointerAttributes a;
	CHECK(cudaPointerGetAttributes(&a, mapped));
	printf("mapped memory is of the host: %d\n", a.type == cudaMemoryTypeHost);
	good = good && a.type == cudaMemoryTypeHost;
	CHECK(cudaHostUnregister(owned.data()));
	CHECK(cudaFreeHost(mapped));
	return finish("zero_copy", good);
}
// seeds: S-433
