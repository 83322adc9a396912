// Calls that tune or ask and change no result: profiler range, shared banks, L2 window, advice,
// kernels by handle, batches of copies.
#include "check.h"
#include <cuda_profiler_api.h>

__global__ void twice(int *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] *= 2;
}

int main()
{
	const int n = 512;
	int *x, *y, host[n];
	bool good = true;
	CHECK(cudaProfilerStart());
	cudaSharedMemConfig banks;
	CHECK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
	CHECK(cudaDeviceGetSharedMemConfig(&banks));
	good = good && banks == cudaSharedMemBankSizeFourByte;
	CHECK(cudaFuncSetSharedMemConfig((const void *)twice, cudaSharedMemBankSizeFourByte));

	cudaStream_t stream;
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMallocManaged(&x, n * sizeof(int)));
	cudaStreamAttrValue window = {};
	window.accessPolicyWindow.base_ptr = x;
	window.accessPolicyWindow.num_bytes = n * sizeof(int);
	window.accessPolicyWindow.hitRatio = 0.5f;
	window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
	window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
	CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window));
	cudaStreamAttrValue got = {};
	CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &got));
	good = good && got.accessPolicyWindow.base_ptr == x && got.accessPolicyWindow.hitRatio == 0.5f;

	cudaMemLocation device = { cudaMemLocationTypeDevice, 0 }, cpu = { cudaMemLocationTypeHost, 0 };
	int mostly = -1, place = -5;
	CHECK(cudaMemAdvise(x, n * sizeof(int), cudaMemAdviseSetReadMostly, device));
	CHECK(cudaMemAdvise(x, n * sizeof(int), cudaMemAdviseSetPreferredLocation, cpu));
	CHECK(cudaMemPrefetchAsync(x, n * sizeof(int), device, 0, stream));
	CHECK(cudaMemRangeGetAttribute(&mostly, sizeof mostly, cudaMemRangeAttributeReadMostly, x,
	                               n * sizeof(int)));
	good = good && mostly == 1;
	CHECK(cudaMemRangeGetAttribute(&place, sizeof place, cudaMemRangeAttributePreferredLocation, x,
	                               n * sizeof(int)));
	good = good && place == cudaCpuDeviceId;
	CHECK(cudaMemRangeGetAttribute(&place, sizeof place, cudaMemRangeAttributeLastPrefetchLocation,
	                               x, n * sizeof(int)));
	good = good && place == 0;
	printf("read mostly %d, prefetched to %d\n", mostly, place);

	for (int i = 0; i < n; i++)
		x[i] = i;
	cudaKernel_t handle;
	cudaFunction_t function;
	CHECK(cudaGetKernel(&handle, (const void *)twice));
	CHECK(cudaGetFuncBySymbol(&function, (const void *)twice));
	int count = n;
	void *args[] = { &x, &count };
	CHECK(cudaLaunchKernel((const void *)handle, dim3(2), dim3(256), args, 0, stream));
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute attribute[2];
	attribute[0].id = cudaLaunchAttributePriority;
	attribute[0].val.priority = 0;
	attribute[1].id = cudaLaunchAttributeCooperative;
	attribute[1].val.cooperative = 1;
	config.gridDim = dim3(2);
	config.blockDim = dim3(256);
	config.stream = stream;
	config.attrs = attribute;
	config.numAttrs = 2;
	CHECK(cudaLaunchKernelEx(&config, twice, x, n));
	CHECK(cudaStreamSynchronize(stream));
	for (int i = 0; i < n; i++)
		good = good && x[i] == 4 * i;

	// two copies in one call, and one with a pitch between the device and itself
	CHECK(cudaMalloc(&y, n * sizeof(int)));
	void *to[] = { y, y + n / 2 };
	const void *from[] = { x + n / 2, x };
	size_t sizes[] = { n / 2 * sizeof(int), n / 2 * sizeof(int) }, first[] = { 0 };
	cudaMemcpyAttributes how = {};
	how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
	CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, first, 1, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
	good = good && host[0] == 4 * (n / 2) && host[n - 1] == 4 * (n / 2 - 1);
	cudaMemcpy3DPeerParms peer = {};
	peer.srcPtr = make_cudaPitchedPtr(x, 64, 64, n / 16);
	peer.dstPtr = make_cudaPitchedPtr(y, 32, 32, n / 16);
	peer.extent = make_cudaExtent(32, 8, 1);
	CHECK(cudaMemcpy3DPeer(&peer));
	CHECK(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
	good = good && host[7] == 28 && host[8] == 64;
	CHECK(cudaProfilerStop());
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaFree(x));
	CHECK(cudaFree(y));
	return finish("settings", good);
}
