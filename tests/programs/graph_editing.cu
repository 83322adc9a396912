// A graph read back, changed and drawn: parameters, edges, children, memory nodes, user objects.
#include "check.h"
#include <cstring>
#include <string>
#include <unistd.h>

__global__ void scale(float *x, float by, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] *= by;
}

static volatile int destroyed = 0;
static int called = 0;

static void on_destroy(void *counter)
{
	*(volatile int *)counter += 1;
}

static void on_host(void *amount)
{
	called += *(int *)amount;
}

/* One step's verdict, told when it is bad. */
static bool told(const char *step, bool good)
{
	if (!good)
		printf("%s: not as expected\n", step);
	return good;
}

static bool near(float a, float b)
{
	return fabsf(a - b) <= 1e-5f * fabsf(b);
}

int main()
{
	const int n = 256;
	float host[n], *x;
	CHECK(cudaMalloc(&x, sizeof host));
	cudaGraph_t graph, child;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphCreate(&child, 0));

	// memset -> kernel twice (as a child) -> host -> copy out
	cudaGraphNode_t set, kernel, inside, call, copy;
	cudaMemsetParams s = {};
	const float one = 1.0f;
	s.dst = x;
	memcpy(&s.value, &one, 4);
	s.elementSize = 4;
	s.width = n;
	s.height = 1;
	CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &s));
	float by = 3.0f;
	int count = n;
	void *args[] = { &x, &by, &count };
	cudaKernelNodeParams k = {};
	k.func = (void *)scale;
	k.gridDim = dim3(2);
	k.blockDim = dim3(128);
	k.kernelParams = args;
	CHECK(cudaGraphAddKernelNode(&inside, child, nullptr, 0, &k));
	CHECK(cudaGraphAddChildGraphNode(&kernel, graph, &set, 1, child));
	int amount = 5;
	cudaHostNodeParams h = { on_host, &amount };
	CHECK(cudaGraphAddHostNode(&call, graph, &kernel, 1, &h));
	CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, host, x, sizeof host,
	                               cudaMemcpyDeviceToHost));
	CHECK(cudaGraphAddDependencies(graph, &call, &copy, nullptr, 1));
	cudaUserObject_t object;
	CHECK(cudaUserObjectCreate(&object, (void *)&destroyed, on_destroy, 1, cudaUserObjectNoDestructorSync));
	CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));

	// what it says of itself
	size_t nodes = 0, edges = 0, before = 0;
	CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
	CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
	CHECK(cudaGraphNodeGetDependencies(copy, nullptr, nullptr, &before));
	cudaKernelNodeParams back;
	CHECK(cudaGraphKernelNodeGetParams(inside, &back));
	printf("%zu nodes, %zu edges, %zu before the copy, block %u\n", nodes, edges, before,
	       back.blockDim.x);
	bool good = told("counts", nodes == 4 && edges == 3 && before == 1);
	good &= told("parameters",
	             back.func == (void *)scale && *(float *)back.kernelParams[1] == 3.0f);
	CHECK(cudaGraphDebugDotPrint(graph, "graph_editing.dot", 0));
	FILE *f = fopen("graph_editing.dot", "r");
	char line[256];
	int arrows = 0;
	while (f && fgets(line, sizeof line, f))
		arrows += strstr(line, "->") != nullptr;
	if (f)
		fclose(f);
	remove("graph_editing.dot");
	good &= told("drawing", arrows == 3);

	// run, change, run again
	cudaStream_t stream;
	cudaGraphExec_t exec;
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	good &= told("first launch", near(host[7], 3.0f) && called == 5);
	const float half = 0.5f;
	memcpy(&s.value, &half, 4);
	CHECK(cudaGraphExecMemsetNodeSetParams(exec, set, &s));
	by = 10.0f;
	cudaGraph_t other;
	CHECK(cudaGraphCreate(&other, 0));
	CHECK(cudaGraphAddKernelNode(&inside, other, nullptr, 0, &k));
	CHECK(cudaGraphExecChildGraphNodeSetParams(exec, kernel, other));
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	good &= told("changed launch", near(host[7], 5.0f) && called == 10);
	printf("x[7] is %.1f, host called for %d\n", host[7], called);
	CHECK(cudaGraphNodeSetEnabled(exec, set, 1));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	for (int i = 0; i < 100 && !destroyed; i++) // it runs when the driver finds time
		usleep(10000);
	good &= told("destructor", destroyed == 1);

	// captured into a graph of one's own, from two streams; nodes that allocate
	cudaStream_t side;
	cudaEvent_t fork, join;
	CHECK(cudaStreamCreate(&side));
	CHECK(cudaEventCreate(&fork));
	CHECK(cudaEventCreate(&join));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	scale<<<2, 128, 0, stream>>>(x, 2.0f, n);
	CHECK(cudaEventRecord(fork, stream));
	CHECK(cudaStreamWaitEvent(side, fork, 0));
	scale<<<1, 128, 0, side>>>(x, 2.0f, 128);
	scale<<<1, 128, 0, stream>>>(x + 128, 3.0f, 128);
	CHECK(cudaEventRecord(join, side));
	CHECK(cudaStreamWaitEvent(stream, join, 0));
	cudaStreamCaptureStatus status;
	const cudaGraphNode_t *front;
	const cudaGraphEdgeData *data;
	unsigned long long id;
	cudaGraph_t under_way;
	CHECK(cudaStreamGetCaptureInfo(stream, &status, &id, &under_way, &front, &data, &before));
	good &= told("capture", status == cudaStreamCaptureStatusActive && before == 2);
	CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
	CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
	printf("captured %zu nodes, %zu edges\n", nodes, edges);
	cudaGraphNodeParams p = {};
	p.type = cudaGraphNodeTypeMemAlloc;
	p.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
	p.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
	p.alloc.bytesize = 4096;
	cudaGraphNode_t taken, given;
	CHECK(cudaGraphAddNode(&taken, graph, nullptr, nullptr, 0, &p));
	void *block = p.alloc.dptr;
	CHECK(cudaGraphAddMemFreeNode(&given, graph, &taken, 1, block));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	good &= told("captured launch", nodes == 4 && edges == 4 && near(host[0], 20.0f) && near(host[200], 30.0f));
	cudaGraphNodeType type;
	CHECK(cudaGraphNodeGetType(taken, &type));
	good &= told("allocating node", type == cudaGraphNodeTypeMemAlloc && block);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphDestroy(child));
	CHECK(cudaGraphDestroy(other));
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaStreamDestroy(side));
	CHECK(cudaEventDestroy(fork));
	CHECK(cudaEventDestroy(join));
	CHECK(cudaFree(x));
	return finish("graph_editing", good);
}
