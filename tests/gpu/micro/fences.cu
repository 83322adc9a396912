/*
 * What fences cost, each kind alone and behind a store of the same warp; a barrier of a cluster
 * that orders nothing; waits for groups of bulk copies of which there are none; conditions of
 * graphs that a kernel sets. Cycles of one, of a warp or of one lane.
 */
#include "micro.cuh"

static const unsigned TIMES = 64;

enum Where { NOWHERE, GLOBAL, SHARED };
static const char *const where_name[] = { "nowhere", "global", "shared" };

/* @F: one of the statements below. */
template <int F> static __device__ __forceinline__ void statement()
{
	if (F == 0)
		asm volatile("fence.sc.gpu;" ::: "memory");
	else if (F == 1)
		asm volatile("fence.acq_rel.gpu;" ::: "memory");
	else if (F == 2)
		asm volatile("fence.acq_rel.cluster;" ::: "memory");
	else if (F == 3)
		asm volatile("fence.acq_rel.cta;" ::: "memory");
	else if (F == 4)
		asm volatile("fence.acq_rel.sys;" ::: "memory");
	else if (F == 5)
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	else if (F == 6)
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	else if (F == 7)
		asm volatile("fence.proxy.async;" ::: "memory");
	else if (F == 8)
		asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
	else if (F == 9)
		asm volatile("barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.aligned;");
	else if (F == 10)
		asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::
		                 : "memory");
}
static const char *const statement_name[] = {
	"sc.gpu",          "acq_rel.gpu",     "acq_rel.cluster",  "acq_rel.cta",
	"acq_rel.sys",     "mbarrier_init",   "proxy.async.cta",  "proxy.async",
	"bulk.wait_group", "cluster.relaxed", "cluster.released",
};

template <int F>
static __global__ void __cluster_dims__(2, 1, 1)
	m_statement(unsigned *to, Where where, unsigned *cycles)
{
	__shared__ volatile unsigned box[1024];
	unsigned *const mine = to + (blockIdx.x * blockDim.x + threadIdx.x) * 32;
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TIMES; i++) {
		if (where == GLOBAL)
			*(volatile unsigned *)mine = i;
		else if (where == SHARED)
			box[threadIdx.x] = i;
		statement<F>();
	}
	clock.stop(cycles);
}

template <int F> static void measure(unsigned *to)
{
	for (int w = NOWHERE; w <= SHARED; w++)
		for (unsigned threads = 1; threads <= 256; threads *= threads < 32 ? 32 : 8)
			Line("fences", statement_name[F])("behind", where_name[w])("threads", threads)(
				"cycles", median_cycles(2, [&] {
							  m_statement<F><<<2, threads>>>(to, (Where)w, micro_cycles());
						  }) / TIMES);
}

static __global__ void m_condition(cudaGraphConditionalHandle h, unsigned times, unsigned *cycles)
{
	const long long from = clock64();
	for (unsigned i = 0; i < times; i++)
		cudaGraphSetConditional(h, i & 1);
	cycles[0] = (unsigned)(clock64() - from);
}

/* The calls themselves, and how much longer the node of the graph takes with them. */
static void conditions()
{
	for (unsigned times = 0; times <= 16; times = times ? 2 * times : 1) {
		cudaGraph_t graph;
		cudaGraphExec_t run;
		cudaGraphConditionalHandle handle;
		cudaGraphNode_t node;
		unsigned *cycles = micro_cycles(), n = 0;
		void *args[] = { &handle, &times, &cycles };
		cudaKernelNodeParams k = {};
		k.func = (void *)m_condition;
		k.gridDim = k.blockDim = dim3(1);
		k.kernelParams = args;
		micro_fail("graph", cudaGraphCreate(&graph, 0));
		micro_fail("handle", cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
		micro_fail("node", cudaGraphAddKernelNode(&node, graph, nullptr, 0, &k));
		cudaGraphNodeParams c = {};
		c.type = cudaGraphNodeTypeConditional;
		c.conditional.handle = handle;
		c.conditional.type = cudaGraphCondTypeIf;
		c.conditional.size = 1;
		cudaGraphNode_t end;
#if CUDART_VERSION >= 13000
		micro_fail("node", cudaGraphAddNode(&end, graph, &node, nullptr, 1, &c));
#else
		micro_fail("node", cudaGraphAddNode(&end, graph, &node, 1, &c));
#endif
		micro_fail("graph", cudaGraphInstantiate(&run, graph, 0));
		const Times t = times_ns([&] { cudaGraphLaunch(run, 0); }, [] {});
		micro_fail("copy", cudaMemcpy(&n, cycles, sizeof n, cudaMemcpyDeviceToHost));
		Line("fences", "condition")("times", times)("cycles", n)("graph_ns", t.median);
		cudaGraphExecDestroy(run);
		cudaGraphDestroy(graph);
	}
}

int main()
{
	micro_begin("fences");
	unsigned *const to = micro_alloc<unsigned>(2 * 256 * 32);
	measure<0>(to);
	measure<1>(to);
	measure<2>(to);
	measure<3>(to);
	measure<4>(to);
	measure<5>(to);
	measure<6>(to);
	measure<7>(to);
	measure<8>(to);
	measure<9>(to);
	measure<10>(to);
	conditions();
	return 0;
}
