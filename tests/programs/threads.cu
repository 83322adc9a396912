// Four host threads, each with its own stream and its own work.
#include "check.h"
#include <thread>
__global__ void triple(int *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] *= 3;
}

static void work(int id, bool *good)
{
	const int n = 5000;
	std::vector<int> h(n, id + 1);
	int *d;
	cudaStream_t s;
	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMalloc(&d, n * sizeof(int)));
	CHECK(cudaMemcpyAsync(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice, s));
	for (int k = 0; k < 3; k++)
		triple<<<(n + 255) / 256, 256, 0, s>>>(d, n);
	CHECK(cudaMemcpyAsync(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost, s));
	CHECK(cudaStreamSynchronize(s));
	*good = true;
	for (int v : h)
		*good = *good && v == 27 * (id + 1);
	CHECK(cudaFree(d));
	CHECK(cudaStreamDestroy(s));
}

int main()
{
	bool good[4] = { false, false, false, false };
	std::vector<std::thread> all;
	for (int i = 0; i < 4; i++)
		all.emplace_back(work, i, &good[i]);
	for (auto &t : all)
		t.join();
	return finish("threads", good[0] && good[1] && good[2] && good[3]);
}
