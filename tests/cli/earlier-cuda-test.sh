#!/bin/sh
# Programs written for an earlier CUDA: what nvcc of today refuses in them is supplied, and said.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip earlier-cuda: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
export XDG_CACHE_HOME="$dir/cache"
cat >old.cu <<'EOF'
#include <cstdio>
#include <nvToolsExt.h>
#include <thrust/device_vector.h>
texture<float, 2, cudaReadModeElementType> plane;
texture<uchar4, 1, cudaReadModeNormalizedFloat> bytes;
__global__ void fetch(float *out)
{
	out[threadIdx.x] = tex2D(plane, threadIdx.x, 1) + tex1Dfetch(bytes, threadIdx.x).y;
}
__global__ void warp_sum(int *out)
{
	int v = threadIdx.x;
	for (int d = 16; d; d /= 2)
		v += __shfl_down(v, d);
	if (threadIdx.x == 0)
		out[0] = v;
}
int main()
{
	cudaDeviceProp p;
	float *x, *y;
	uchar4 *z;
	nvtxRangePushA("all");
	cudaGetDeviceProperties(&p, 0);
	cudaMallocManaged(&x, 4096);
	cudaMallocManaged(&y, 128);
	cudaMallocManaged(&z, 128);
	cudaMemAdvise(x, 4096, cudaMemAdviseSetReadMostly, 0);
	cudaMemPrefetchAsync(x, 4096, 0, NULL);
	for (int i = 0; i < 1024; i++)
		x[i] = i;
	for (int i = 0; i < 32; i++)
		z[i] = make_uchar4(0, 51 * (i % 6), 0, 0);
	plane.addressMode[0] = plane.addressMode[1] = cudaAddressModeClamp;
	plane.filterMode = cudaFilterModePoint;
	cudaBindTexture2D(0, plane, x, cudaCreateChannelDesc<float>(), 32, 32, 128);
	cudaBindTexture(0, bytes, z, 128);
	fetch<<<1, 32>>>(y);
	cudaThreadSynchronize();
	printf("%d %.1f %.1f\n", p.clockRate > 100000 && p.computeMode == 0, y[0], y[4]);
	warp_sum<<<1, 32>>>((int *)y);
	cudaThreadSynchronize();
	printf("%d\n", ((int *)y)[0]);
	cudaUnbindTexture(plane);
	cudaUnbindTexture(bytes);
	cudaFree(x), cudaFree(y), cudaFree(z);
	nvtxRangePop();
}
EOF
run earlier 0 launches old.cu -std=c++14 -arch=sm_60 -lnvToolsExt -o old
same earlier-output '1 32.0 36.8 496' "$(head -n 2 "$dir/out" | tr '\n' ' ' | sed 's/ $//')"
for note in 'took out of the runtime API' 'become texture objects' 'compiled with -std=c++17' \
	'knows no architecture so old' 'linked without it'; do
	says "earlier-notes: $note" "$note"
done
run earlier-kept 0 launches old.cu -std=c++14 -arch=sm_60 -lnvToolsExt -o old
says earlier-notes-of-a-kept-build 'become texture objects'
cat >objects.cu <<'EOF'
#include <cstdio>
#include <cub/cub.cuh>
#include <cub/iterator/transform_input_iterator.cuh>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/system/cuda/experimental/pinned_allocator.h>
#include <thrust/transform_reduce.h>
struct square : public thrust::unary_function<int, int> {
	__host__ __device__ int operator()(int x) const { return x * x; }
};
struct odd : public thrust::unary_function<int, bool> {
	__host__ __device__ bool operator()(int x) const { return x & 1; }
};
__global__ void lanes(int *out)
{
	if (threadIdx.x == 37)
		out[1] = 32 + cub::LaneId();
	else if (threadIdx.x < 4 && threadIdx.x != 1)
		out[threadIdx.x] = threadIdx.x;
}
int main()
{
	thrust::device_vector<int> v(4, 3);
	int sum = thrust::transform_reduce(v.begin(), v.end(), square(), 0, thrust::plus<int>());
	printf("%d %d %d\n", sum, thrust::identity<int>()(7), cub::Max()(2, 5));
	typedef cub::CountingInputIterator<int> from_one;
	cub::TransformInputIterator<int, square, from_one> squares(from_one(1), square());
	thrust::host_vector<int, thrust::cuda::experimental::pinned_allocator<int>> on_host(1);
	size_t bytes = 0;
	cub::DeviceReduce::Reduce(nullptr, bytes, squares, v.data(), 10, cub::Sum(), 0);
	thrust::device_vector<char> scratch(bytes);
	cub::DeviceReduce::Reduce(scratch.data().get(), bytes, squares, v.data(), 10, cub::Sum(), 0);
	on_host[0] = v[0];
	cudaPointerAttributes where;
	cudaPointerGetAttributes(&where, &on_host[0]);
	printf("%d %d %d\n", on_host[0], squares[3], where.type == cudaMemoryTypeHost);
	lanes<<<1, 64>>>(thrust::raw_pointer_cast(v.data()));
	printf("%d %d\n", (int)v[1], (int)thrust::count_if(v.begin(), v.end(), thrust::not1(odd())));
}
EOF
run earlier-objects 0 launches objects.cu
same earlier-objects-output '36 7 5 385 16 1 37 2' "$(paste -sd ' ' "$dir/out")"
cat >surfaces.cu <<'EOF'
#include <cstdio>
#include <cuda_texture_types.h>
#include <surface_functions.h>
#include <texture_fetch_functions.h>
surface<void, cudaSurfaceType2D> plane;
__device__ double atomicAdd(double *to, double value)
{
	unsigned long long *bits = (unsigned long long *)to, seen = *bits, before;
	do {
		before = seen;
		seen = atomicCAS(bits, before,
		                 __double_as_longlong(value + __longlong_as_double(before)));
	} while (seen != before);
	return __longlong_as_double(seen);
}
__global__ void fill(int *lines)
{
	surf2Dwrite((float)(10 * threadIdx.x + blockIdx.x), plane, 4 * threadIdx.x, blockIdx.x);
	atomicAdd(lines, threadIdx.x == 0);
}
__global__ void sum(double *out)
{
	float same;
	surf2Dread(&same, plane, 4 * threadIdx.x, blockIdx.x);
	atomicAdd(out, (double)surf2Dread<float>(plane, 4 * threadIdx.x, blockIdx.x) + same);
}
int main()
{
	const cudaChannelFormatDesc form = cudaCreateChannelDesc<float>();
	cudaArray *first, *wide;
	float rows[16] = { 0 };
	double *total;
	int *lines;
	cudaMallocArray(&first, &form, 8, 4, cudaArraySurfaceLoadStore);
	cudaMallocArray(&wide, &form, 16, 2, cudaArraySurfaceLoadStore);
	cudaMallocManaged(&total, sizeof *total);
	cudaMallocManaged(&lines, sizeof *lines);
	*total = *lines = 0;
	cudaBindSurfaceToArray(plane, first);
	fill<<<4, 8>>>(lines);
	sum<<<4, 8>>>(total);
	cudaMemcpyArrayToArray(wide, 8, 0, first, 4, 1, 64, cudaMemcpyDeviceToDevice);
	cudaMemcpyFromArray(rows, wide, 0, 0, 64, cudaMemcpyDeviceToHost);
	printf("%g %d %g %g %g\n", *total, *lines, rows[2], rows[3], rows[10]);
	cudaFreeArray(first), cudaFreeArray(wide), cudaFree(total), cudaFree(lines);
}
EOF
run earlier-surfaces 0 launches surfaces.cu
same earlier-surfaces-output '2336 4 11 21 12' "$(cat "$dir/out")"
says earlier-surfaces-noted 'become surface objects'
says earlier-own-sum-noted 'its own atomicAdd() of doubles stands'
cat >contexts.cu <<'EOF'
#include <cstdio>
#include <cuda.h>
int main()
{
	CUcontext made, same;
	CUdevice device;
	cuInit(0);
	cuDeviceGet(&device, 0);
	cuCtxCreate(&made, 0, device);
	printf("%d", cuCtxAttach(&same, 0) == CUDA_SUCCESS && same == made);
	printf(" %d %d", cuCtxDetach(made), cuCtxDetach(made));
	printf(" %d\n", cuCtxDetach(made) == CUDA_ERROR_INVALID_CONTEXT);
}
EOF
run earlier-contexts 0 launches contexts.cu
same earlier-contexts-output '1 0 0 1' "$(cat "$dir/out")"
cat >votes.cu <<'EOF'
#include <cstdio>
__global__ void vote(int *out)
{
	int any = __any(threadIdx.x == 7), all = __all(threadIdx.x < 40);
	unsigned ballot = __ballot(threadIdx.x & 1);
	if (threadIdx.x == 0)
		out[0] = any * 1000 + all * 100 + __popc(ballot);
}
int main()
{
	int *x, y;
	cudaMalloc(&x, 4);
	vote<<<1, 32>>>(x);
	cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost);
	printf("%d\n", y);
	cudaFree(x);
}
EOF
run earlier-votes 0 launches votes.cu
same earlier-votes-output 1116 "$(cat "$dir/out")"
says earlier-votes-noted 'votes are taken of the lanes'
cat >graphs.cu <<'EOF'
#include <cstdio>
__global__ void choose(cudaGraphConditionalHandle handle, unsigned value)
{
	cudaGraphSetConditional(handle, value);
}
__global__ void add(int *x) { *x += 1; }
int main()
{
	cudaGraph_t graph, captured;
	cudaGraphExec_t exec;
	cudaGraphNode_t first, second, third;
	cudaGraphConditionalHandle handle;
	cudaStream_t s;
	cudaStreamCaptureStatus status;
	unsigned long long id;
	const cudaGraphNode_t *on;
	size_t n = 0, n2 = 0;
	int *x;
	cudaMallocManaged(&x, 4);
	*x = 5;
	cudaGraphCreate(&graph, 0);
	cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault);
	cudaGraphNodeParams kernel = {};
	unsigned value = 1;
	void *choice[] = { &handle, &value }, *what[] = { &x };
	kernel.type = cudaGraphNodeTypeKernel;
	kernel.kernel.func = (void *)choose;
	kernel.kernel.gridDim = kernel.kernel.blockDim = dim3(1);
	kernel.kernel.kernelParams = choice;
	cudaGraphAddNode(&first, graph, NULL, 0, &kernel);
	cudaGraphNodeParams when = {};
	when.type = cudaGraphNodeTypeConditional;
	when.conditional.handle = handle;
	when.conditional.type = cudaGraphCondTypeIf;
	when.conditional.size = 1;
	cudaGraphAddNode(&second, graph, &first, 1, &when);
	kernel.kernel.func = (void *)add;
	kernel.kernel.kernelParams = what;
	cudaGraphAddNode_v2(&third, when.conditional.phGraph_out[0], NULL, NULL, 0, &kernel);
	cudaStreamCreate(&s);
	cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
	add<<<1, 1, 0, s>>>(x);
	cudaStreamGetCaptureInfo(s, &status, &id, &captured, &on, &n);
	cudaStreamUpdateCaptureDependencies(s, NULL, 0, cudaStreamSetCaptureDependencies);
	cudaStreamGetCaptureInfo_v2(s, &status, NULL, NULL, &on, &n2);
	cudaStreamEndCapture(s, &captured);
	cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
	cudaGraphLaunch(exec, s);
	cudaStreamSynchronize(s);
	printf("%d %zu %zu\n", *x, n, n2);
	cudaGraphExecDestroy(exec);
	cudaGraphDestroy(graph), cudaGraphDestroy(captured);
	cudaStreamDestroy(s);
	cudaFree(x);
}
EOF
run earlier-graphs 0 launches graphs.cu
same earlier-graphs-output '6 1 0' "$(cat "$dir/out")"
# what no repair helps is refused with nvcc's words, and no note is made of a program that needs none
echo 'int main() { cudaThreadNothing(); texture<float> t; return nothing; }' >wrong.cu
run earlier-wrong 1 launches wrong.cu
says earlier-wrong-named 'cudaThreadNothing'
printf '#include <cstdio>\nint main() { puts("new"); }\n' >new.cu
run newer 0 launches new.cu -std=c++17
grep -q 'built:' "$dir/err" && not_ok newer-notes "$(cat "$dir/err")" || ok newer-notes
