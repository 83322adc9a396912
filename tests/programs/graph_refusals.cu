// What graphs refuse: to be destroyed while a stream is captured into them, and, where they have
// conditional nodes, a handle of another graph or for two nodes, copies, and a second executable
// graph at a time. What was refused leaves the graph as it was.
#include "check.h"

__global__ void add(int *x, int v)
{
	atomicAdd(x, v);
}

static bool good = true;
static int *x;

static void say(const char *what, cudaError_t got, cudaError_t wanted = cudaSuccess)
{
	printf("%s: %s\n", what, cudaGetErrorName(got));
	good = good && got == wanted;
	cudaGetLastError();
}

static void work(cudaGraph_t graph, int v)
{
	cudaGraphNode_t node;
	cudaKernelNodeParams p = {};
	void *args[] = { &x, &v };
	p.func = (void *)add;
	p.gridDim = p.blockDim = dim3(1);
	p.kernelParams = args;
	CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p));
}

static size_t nodes(cudaGraph_t graph)
{
	size_t n = 0;
	CHECK(cudaGraphGetNodes(graph, nullptr, &n));
	return n;
}

static void captured(cudaStream_t s)
{
	cudaGraph_t graph, copy, ended = nullptr;
	cudaGraphExec_t exec;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(
		cudaStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
	add<<<1, 1, 0, s>>>(x, 1);
	say("destroyed while captured", cudaGraphDestroy(graph), cudaErrorIllegalState);
	say("cloned while captured", cudaGraphClone(&copy, graph));
	add<<<1, 1, 0, s>>>(x, 2);
	say("end", cudaStreamEndCapture(s, &ended));
	good = good && ended == graph && nodes(graph) == 2 && nodes(copy) == 1;
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaGraphExecDestroy(exec));
	say("destroyed", cudaGraphDestroy(graph));
	CHECK(cudaGraphDestroy(copy));

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(
		cudaStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
	say("spoiled", cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
	say("end", cudaStreamEndCapture(s, nullptr), cudaErrorStreamCaptureInvalidated);
	say("the graph is gone", cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

static cudaError_t decide(cudaGraph_t graph, cudaGraphConditionalHandle handle, cudaGraph_t *body)
{
	cudaGraphNode_t node;
	cudaGraphNodeParams p = {};
	p.type = cudaGraphNodeTypeConditional;
	p.conditional.handle = handle;
	p.conditional.type = cudaGraphCondTypeIf;
	p.conditional.size = 1;
	const cudaError_t e = cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p);
	if (e == cudaSuccess)
		*body = p.conditional.phGraph_out[0];
	return e;
}

static void conditional(cudaStream_t s)
{
	cudaGraph_t graph, other, body = nullptr, inner = nullptr, copy;
	cudaGraphExec_t exec, second;
	cudaGraphNode_t child;
	cudaGraphConditionalHandle handle, nested;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphCreate(&other, 0));
	CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
	CHECK(cudaGraphConditionalHandleCreate(&nested, graph, 1, cudaGraphCondAssignDefault));
	say("of another graph", decide(other, handle, &body), cudaErrorInvalidValue);
	say("of this graph", decide(graph, handle, &body));
	say("for a second node", decide(graph, handle, &body), cudaErrorInvalidValue);
	say("a handle without a node", cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
	cudaGraphInstantiateParams why = {};
	say("with a reason", cudaGraphInstantiateWithParams(&exec, graph, &why), cudaErrorInvalidValue);
	printf("reason %d\n", why.result_out);
	good = good && why.result_out == cudaGraphInstantiateConditionalHandleUnused;
	say("in a body", decide(body, nested, &inner));
	good = good && nodes(graph) == 1 && nodes(body) == 1 && nodes(other) == 0;
	work(body, 10);
	work(inner, 100);
	say("a clone", cudaGraphClone(&copy, graph), cudaErrorNotSupported);
	say("a clone of a body", cudaGraphClone(&copy, body), cudaErrorNotSupported);
	say("a child", cudaGraphAddChildGraphNode(&child, other, nullptr, 0, graph),
	    cudaErrorNotSupported);
	say("a body by itself", cudaGraphInstantiate(&exec, body, 0), cudaErrorNotSupported);
	say("a body destroyed", cudaGraphDestroy(body), cudaErrorInvalidValue);
	say("instantiated", cudaGraphInstantiate(&exec, graph, 0));
	say("once more", cudaGraphInstantiate(&second, graph, 0), cudaErrorNotSupported);
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaGraphExecDestroy(exec));
	say("behind the first", cudaGraphInstantiate(&second, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphLaunch(second, s));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaGraphExecDestroy(second));
	CHECK(cudaGraphDestroy(other));
}

int main()
{
	int host = 0;
	cudaStream_t s;
	CHECK(cudaMalloc(&x, sizeof *x));
	CHECK(cudaMemset(x, 0, sizeof *x));
	CHECK(cudaStreamCreate(&s));
	captured(s);
	conditional(s);
	CHECK(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
	printf("%d\n", host);
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaFree(x));
	return finish("graph_refusals", good && host == 223);
}
