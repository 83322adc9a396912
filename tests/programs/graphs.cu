// The same work three times: as calls, as a captured graph, as a graph built by hand.
#include "check.h"

__global__ void add(int *x, int n, int v)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] += v;
}

int main()
{
	int n = 1000, host[1000], *x;
	CHECK(cudaMalloc(&x, n * 4));
	CHECK(cudaMemset(x, 0, n * 4));
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	add<<<4, 256, 0, s>>>(x, n, 1);

	cudaGraph_t graph, built;
	cudaGraphExec_t exec;
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	add<<<4, 256, 0, s>>>(x, n, 10);
	add<<<4, 256, 0, s>>>(x, n, 20);
	CHECK(cudaStreamEndCapture(s, &graph));
	size_t nodes = 0;
	CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 5; i++)
		CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaGraphExecDestroy(exec));

	CHECK(cudaGraphCreate(&built, 0));
	cudaGraphNode_t first, second;
	int v = 1000;
	void *args[] = { &x, &n, &v };
	cudaKernelNodeParams p = {};
	p.func = (void *)add;
	p.gridDim = dim3(4);
	p.blockDim = dim3(256);
	p.kernelParams = args;
	CHECK(cudaGraphAddKernelNode(&first, built, nullptr, 0, &p));
	CHECK(cudaGraphAddMemcpyNode1D(&second, built, &first, 1, host, x, n * 4,
	                               cudaMemcpyDeviceToHost));
	CHECK(cudaGraphInstantiate(&exec, built, 0));
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	bool good = true;
	for (int i = 0; i < n; i++)
		good = good && host[i] == 1 + 5 * 30 + 1000;
	printf("%zu nodes captured, x[0] is %d\n", nodes, host[0]);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphDestroy(built));
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaFree(x));
	return finish("graphs", good);
}
// seeds: S-430 S-092
