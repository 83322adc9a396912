// A graph that decides by itself how it goes on: Newton's method until it is exact enough, one of
// three units for the result, and a remark only where the root is large.
#include "check.h"

struct state {
	double value, root;
	int steps, unit, remarks;
};

__global__ void begin(state *s)
{
	s->root = s->value > 1 ? s->value : 1;
	s->steps = 0;
}

__global__ void step(cudaGraphConditionalHandle more, state *s)
{
	const double next = (s->root + s->value / s->root) / 2;
	cudaGraphSetConditional(more, fabs(next - s->root) > 1e-12 * next);
	s->root = next;
	s->steps++;
}

__global__ void judge(cudaGraphConditionalHandle unit, cudaGraphConditionalHandle large, state *s)
{
	cudaGraphSetConditional(unit, s->root < 1 ? 0 : s->root < 1000 ? 1 : 2);
	cudaGraphSetConditional(large, s->root >= 100);
}

__global__ void in_unit(state *s, int unit)
{
	s->unit = unit;
}
__global__ void remark(state *s, int by)
{
	s->remarks += by;
}

// A kernel of one thread behind @after (null = the first), with up to three arguments.
template <typename F, typename... A>
static cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t *after, F *kernel, A... argument)
{
	cudaGraphNode_t node;
	cudaGraphNodeParams p = {};
	void *arguments[] = { &argument... };
	p.type = cudaGraphNodeTypeKernel;
	p.kernel.func = (void *)kernel;
	p.kernel.gridDim = p.kernel.blockDim = dim3(1);
	p.kernel.kernelParams = arguments;
	CHECK(cudaGraphAddNode(&node, graph, after, nullptr, after ? 1 : 0, &p));
	return node;
}

static cudaGraphNode_t conditional(cudaGraph_t graph, cudaGraphNode_t after,
                                   cudaGraphConditionalHandle handle,
                                   cudaGraphConditionalNodeType type, unsigned n, cudaGraph_t *body)
{
	cudaGraphNode_t node;
	cudaGraphNodeParams p = {};
	p.type = cudaGraphNodeTypeConditional;
	p.conditional.handle = handle;
	p.conditional.type = type;
	p.conditional.size = n;
	CHECK(cudaGraphAddNode(&node, graph, &after, nullptr, 1, &p));
	for (unsigned i = 0; i < n; i++)
		body[i] = p.conditional.phGraph_out[i];
	return node;
}

int main()
{
	state *s, host = {};
	cudaGraph_t graph, loop, units[3], large[2];
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraphConditionalHandle more, unit, is_large;
	CHECK(cudaMalloc(&s, sizeof *s));
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
	CHECK(cudaGraphConditionalHandleCreate(&unit, graph, 0, 0));
	CHECK(cudaGraphConditionalHandleCreate(&is_large, graph, 0, 0));
	cudaGraphNode_t at = add(graph, nullptr, begin, s);
	at = conditional(graph, at, more, cudaGraphCondTypeWhile, 1, &loop);
	at = add(graph, &at, judge, unit, is_large, s);
	at = conditional(graph, at, unit, cudaGraphCondTypeSwitch, 3, units);
	conditional(graph, at, is_large, cudaGraphCondTypeIf, 1, large);
	CHECK(cudaStreamBeginCaptureToGraph(stream, loop, nullptr, nullptr, 0,
	                                    cudaStreamCaptureModeGlobal));
	step<<<1, 1, 0, stream>>>(more, s);
	CHECK(cudaStreamEndCapture(stream, nullptr));
	for (int i = 0; i < 3; i++)
		add(units[i], nullptr, in_unit, s, i);
	add(large[0], nullptr, remark, s, 1);
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	bool good = true;

	for (double value : { 2.0, 0.01, 1e6, 5e9, 144.0 }) {
		host.value = value;
		CHECK(cudaMemcpy(s, &host, sizeof host, cudaMemcpyHostToDevice));
		CHECK(cudaGraphLaunch(exec, stream));
		CHECK(cudaStreamSynchronize(stream));
		CHECK(cudaMemcpy(&host, s, sizeof host, cudaMemcpyDeviceToHost));
		printf("root of %g: %.10g after %d steps, unit %d, %d large ones so far\n", value,
		       host.root, host.steps, host.unit, host.remarks);
		good = good && fabs(host.root * host.root - value) < 1e-10 * value;
	}
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaFree(s));
	return finish("graph_conditions", good);
}
