/* Graphs of the driver API: built, instantiated, launched. Nodes and graphs are the runtime's. */
#include "runtime/guest/driver/driver.h"

GUEST_API CUresult CUDAAPI cuGraphCreate(CUgraph *graph, unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphCreate(graph, flags));
}

GUEST_API CUresult CUDAAPI cuGraphDestroy(CUgraph graph)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphDestroy(graph));
}

GUEST_API CUresult CUDAAPI cuGraphClone(CUgraph *out, CUgraph graph)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphClone(out, graph));
}

GUEST_API CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *out, CUgraph graph,
                                              unsigned long long flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphInstantiateWithFlags(out, graph, flags));
}

GUEST_API CUresult CUDAAPI cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphLaunch(exec, stream));
}

GUEST_API CUresult CUDAAPI cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphUpload(exec, stream));
}

GUEST_API CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphExecDestroy(exec));
}

GUEST_API CUresult CUDAAPI cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphGetNodes(graph, nodes, n));
}

GUEST_API CUresult CUDAAPI cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphGetRootNodes(graph, nodes, n));
}

GUEST_API CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphNodeGetType(node, (enum cudaGraphNodeType *)type));
}

GUEST_API CUresult CUDAAPI cuGraphDestroyNode(CUgraphNode node)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphDestroyNode(node));
}

GUEST_API CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                                                  const CUgraphNode *to,
                                                  const CUgraphEdgeData *data, size_t n)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaGraphAddDependencies(graph, from, to, (const cudaGraphEdgeData *)data, n));
}

/* --- nodes --- */

static struct cudaKernelNodeParams kernel_params(const CUDA_KERNEL_NODE_PARAMS *p)
{
	return (struct cudaKernelNodeParams){
		.func = p->func ? (void *)p->func : (void *)p->kern,
		.gridDim = { p->gridDimX, p->gridDimY, p->gridDimZ },
		.blockDim = { p->blockDimX, p->blockDimY, p->blockDimZ },
		.sharedMemBytes = p->sharedMemBytes,
		.kernelParams = p->kernelParams,
		.extra = p->extra,
	};
}

static cudaError_t add_kernel(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n,
                              const CUDA_KERNEL_NODE_PARAMS *p)
{
	if (!p)
		return cudaErrorInvalidValue;
	const struct cudaKernelNodeParams own = kernel_params(p);
	return cudaGraphAddKernelNode(out, graph, after, n, &own);
}

GUEST_API CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph,
                                                const CUgraphNode *after, size_t n,
                                                const CUDA_KERNEL_NODE_PARAMS *p)
{
	DRIVER_CALL(DRIVER_CONTEXT, add_kernel(out, graph, after, n, p));
}

static cudaError_t set_kernel(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	if (!p)
		return cudaErrorInvalidValue;
	const struct cudaKernelNodeParams own = kernel_params(p);
	return exec ? cudaGraphExecKernelNodeSetParams(exec, node, &own)
	            : cudaGraphKernelNodeSetParams(node, &own);
}

GUEST_API CUresult CUDAAPI cuGraphKernelNodeSetParams(CUgraphNode node,
                                                      const CUDA_KERNEL_NODE_PARAMS *p)
{
	DRIVER_CALL(DRIVER_CONTEXT, set_kernel(NULL, node, p));
}

GUEST_API CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                          const CUDA_KERNEL_NODE_PARAMS *p)
{
	DRIVER_CALL(DRIVER_CONTEXT, exec ? set_kernel(exec, node, p) : cudaErrorInvalidValue);
}

static cudaError_t add_copy(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n,
                            const CUDA_MEMCPY3D *c)
{
	struct cudaMemcpy3DParms p;
	if (!c)
		return cudaErrorInvalidValue;
	const cudaError_t e = driver_copy_params(c, &p);
	return e != cudaSuccess ? e : cudaGraphAddMemcpyNode(out, graph, after, n, &p);
}

GUEST_API CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph,
                                                const CUgraphNode *after, size_t n,
                                                const CUDA_MEMCPY3D *c, CUcontext context)
{
	(void)context;
	DRIVER_CALL(DRIVER_CONTEXT, add_copy(out, graph, after, n, c));
}

static cudaError_t add_set(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n,
                           const CUDA_MEMSET_NODE_PARAMS *p)
{
	if (!p)
		return cudaErrorInvalidValue;
	const struct cudaMemsetParams own = {
		.dst = driver_pointer(p->dst),
		.pitch = p->pitch,
		.value = p->value,
		.elementSize = p->elementSize,
		.width = p->width,
		.height = p->height,
	};
	return cudaGraphAddMemsetNode(out, graph, after, n, &own);
}

GUEST_API CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph,
                                                const CUgraphNode *after, size_t n,
                                                const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
	(void)context;
	DRIVER_CALL(DRIVER_CONTEXT, add_set(out, graph, after, n, p));
}

static cudaError_t add_host(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n,
                            const CUDA_HOST_NODE_PARAMS *p)
{
	if (!p)
		return cudaErrorInvalidValue;
	const struct cudaHostNodeParams own = { .fn = p->fn, .userData = p->userData };
	return cudaGraphAddHostNode(out, graph, after, n, &own);
}

GUEST_API CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode *out, CUgraph graph,
                                              const CUgraphNode *after, size_t n,
                                              const CUDA_HOST_NODE_PARAMS *p)
{
	DRIVER_CALL(DRIVER_CONTEXT, add_host(out, graph, after, n, p));
}

GUEST_API CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph,
                                                    const CUgraphNode *after, size_t n,
                                                    CUgraph child)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphAddChildGraphNode(out, graph, after, n, child));
}

GUEST_API CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph,
                                               const CUgraphNode *after, size_t n)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGraphAddEmptyNode(out, graph, after, n));
}
