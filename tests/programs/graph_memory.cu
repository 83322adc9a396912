// Memory that a graph allocates: used behind the graph, freed by the stream or by cudaFree(), and
// there again when the graph runs again.
#include "check.h"

__global__ void squares(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i] * in[i];
}

__global__ void total(const float *in, int n, float *sum)
{
	float own = 0;
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		own += in[i];
	atomicAdd(sum, own);
}

int main()
{
	const int n = 1000;
	std::vector<float> host(n, 2.0f);
	float *in, *sum, result = 0;
	CHECK(cudaMalloc(&in, n * sizeof *in));
	CHECK(cudaMalloc(&sum, sizeof *sum));
	CHECK(cudaMemcpy(in, host.data(), n * sizeof *in, cudaMemcpyHostToDevice));

	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t alloc, kernel;
	cudaStream_t stream;
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGraphCreate(&graph, 0));
	cudaMemAllocNodeParams memory = {};
	memory.poolProps.allocType = cudaMemAllocationTypePinned;
	memory.poolProps.location.type = cudaMemLocationTypeDevice;
	memory.bytesize = n * sizeof(float);
	CHECK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &memory));
	int count = n;
	void *args[] = { &in, &memory.dptr, &count };
	cudaKernelNodeParams launch = {};
	launch.func = (void *)squares;
	launch.gridDim = dim3(4);
	launch.blockDim = dim3(256);
	launch.kernelParams = args;
	CHECK(cudaGraphAddKernelNode(&kernel, graph, &alloc, 1, &launch));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));

	bool good = true;
	for (int round = 0; round < 4; round++) {
		CHECK(cudaGraphLaunch(exec, stream));
		CHECK(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
		total<<<1, 128, 0, stream>>>((const float *)memory.dptr, n, sum);
		if (round % 2)
			CHECK(cudaFreeAsync(memory.dptr, stream));
		CHECK(cudaMemcpyAsync(&result, sum, sizeof result, cudaMemcpyDeviceToHost, stream));
		CHECK(cudaStreamSynchronize(stream));
		if (round % 2 == 0)
			CHECK(cudaFree(memory.dptr));
		// memory of another owner must not land in what the graph will use again
		float *other;
		CHECK(cudaMalloc(&other, n * sizeof *other));
		CHECK(cudaMemset(other, 0, n * sizeof *other));
		good = good && result == 4.0f * n && other != memory.dptr;
		CHECK(cudaFree(other));
		printf("round %d: %g\n", round, result);
	}
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaStreamDestroy(stream));
	free_all(in, sum);
	return finish("graph_memory", good);
}
