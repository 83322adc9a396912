/*
 * What a kernel of a few blocks takes as a call, and as a node of a graph: alone, in a chain, side
 * by side, behind a memset, before a copy, behind a host's function, in a child, in a body that a
 * condition repeats. Prints a line per launch: the kernel, and where it stands. Times by
 * `pmpp-explore launches --backend cuda` (before.py).
 */
#include "micro.cuh"

#define TIMES 5
#define N 1000

static __global__ void nothing(int *, int) {}

static __global__ void add(int *x, int v)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N)
		x[i] += v;
}

static __global__ void one(int *x, int v)
{
	if (threadIdx.x == 0)
		x[0] += v;
}

static __global__ void again(cudaGraphConditionalHandle more, int *x, int times)
{
	const int left = x[0] + 1;
	cudaGraphSetConditional(more, left % times != 0);
	x[0] = left;
}

typedef void kernel(int *, int);
static int *x;
static cudaStream_t stream, side;

static void start(kernel *k, cudaStream_t s)
{
	if (k == one)
		one<<<1, 32, 0, s>>>(x, 1);
	else if (k == add)
		add<<<4, 256, 0, s>>>(x, 1);
	else
		nothing<<<4, 256, 0, s>>>(x, 1);
}

static void on_host(void *) {}

enum form { CALLS, SYNCED, CHAIN, ABREAST, SET, COPY, HOST, FORMS };
static const char *const forms[] = { "call", "synced", "chain", "abreast", "set", "copy", "host" };

static void put(kernel *k, form f, int nodes)
{
	static int host[N];
	cudaEvent_t fork, join;
	for (int i = 0; i < nodes; i++) {
		if (f == SET)
			cudaMemsetAsync(x, 0, N * sizeof *x, stream);
		if (f == HOST)
			cudaLaunchHostFunc(stream, on_host, nullptr);
		if (f == ABREAST) {
			cudaEventCreate(&fork);
			cudaEventCreate(&join);
			cudaEventRecord(fork, stream);
			cudaStreamWaitEvent(side, fork, 0);
			start(k, side);
		}
		start(k, stream);
		if (f == ABREAST) {
			cudaEventRecord(join, side);
			cudaStreamWaitEvent(stream, join, 0);
		}
		if (f == COPY)
			cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream);
	}
}

static void times(const char *name, kernel *k, form f, int nodes)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	if (f > SYNCED) {
		micro_fail("capture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
		put(k, f, nodes);
		micro_fail("capture", cudaStreamEndCapture(stream, &graph));
		micro_fail("graph", cudaGraphInstantiate(&exec, graph, 0));
	}
	for (int t = 0; t < TIMES; t++) {
		if (f > SYNCED)
			micro_fail("graph", cudaGraphLaunch(exec, stream));
		else
			for (int i = 0; i < nodes; i++) {
				start(k, stream);
				if (f == SYNCED)
					cudaStreamSynchronize(stream);
			}
		for (int i = 0; i < nodes * (f == ABREAST ? 2 : 1); i++)
			printf("%s%s %s/%d/%d\n", t ? "" : "other_", name, forms[f], nodes, i);
		micro_fail("graph", cudaStreamSynchronize(stream));
	}
	if (f > SYNCED) {
		cudaGraphExecDestroy(exec);
		cudaGraphDestroy(graph);
	}
}

/* @turns of a body that a condition repeats. */
static void repeated(int turns)
{
	cudaGraph_t graph, body;
	cudaGraphExec_t exec;
	cudaGraphConditionalHandle more;
	cudaGraphNode_t node;
	cudaGraphNodeParams p = {};
	micro_fail("memset", cudaMemset(x, 0, N * sizeof *x));
	micro_fail("graph", cudaGraphCreate(&graph, 0));
	micro_fail("handle",
	           cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
	p.type = cudaGraphNodeTypeConditional;
	p.conditional.handle = more;
	p.conditional.type = cudaGraphCondTypeWhile;
	p.conditional.size = 1;
	micro_fail("node", cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
	body = p.conditional.phGraph_out[0];
	micro_fail("body", cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0,
	                                                 cudaStreamCaptureModeGlobal));
	again<<<1, 1, 0, stream>>>(more, x, turns);
	micro_fail("body", cudaStreamEndCapture(stream, nullptr));
	micro_fail("graph", cudaGraphInstantiate(&exec, graph, 0));
	for (int t = 0; t < TIMES; t++) {
		micro_fail("graph", cudaGraphLaunch(exec, stream));
		for (int i = 0; i < turns; i++)
			printf("%sagain body/%d/%d\n", t ? "" : "other_", turns, i);
		micro_fail("graph", cudaStreamSynchronize(stream));
	}
	cudaGraphExecDestroy(exec);
	cudaGraphDestroy(graph);
}

int main()
{
	x = micro_alloc<int>(N);
	cudaStreamCreate(&stream);
	cudaStreamCreate(&side);
	kernel *const kernels[] = { nothing, one, add };
	static const char *const names[] = { "nothing", "one", "add" };
	for (int k = 0; k < 3; k++)
		for (int f = 0; f < FORMS; f++)
			for (int nodes : { 1, 2, 3, 5 })
				times(names[k], kernels[k], (form)f, nodes);
	repeated(3);
	repeated(6);
	return 0;
}
