// Chunks in four streams with pinned memory, events between streams, a callback.
#include "check.h"

__global__ void scale(float *x, int n, float f)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = x[i] * f + 1;
}

static void on_done(void *p)
{
	++*(int *)p;
}

int main()
{
	const int n = 1 << 16, parts = 4, part = n / parts;
	float *host, *device;
	int done = 0;
	CHECK(cudaMallocHost(&host, n * 4));
	CHECK(cudaMalloc(&device, n * 4));
	for (int i = 0; i < n; i++)
		host[i] = (float)(i % 1000);
	cudaStream_t stream[parts];
	cudaEvent_t ready;
	CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
	for (int s = 0; s < parts; s++) {
		CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
		float *h = host + s * part, *d = device + s * part;
		CHECK(cudaMemcpyAsync(d, h, part * 4, cudaMemcpyHostToDevice, stream[s]));
		if (s)
			CHECK(cudaStreamWaitEvent(stream[s], ready, 0));
		scale<<<part / 256, 256, 0, stream[s]>>>(d, part, 2);
		CHECK(cudaEventRecord(ready, stream[s]));
		CHECK(cudaMemcpyAsync(h, d, part * 4, cudaMemcpyDeviceToHost, stream[s]));
		CHECK(cudaLaunchHostFunc(stream[s], on_done, &done));
	}
	CHECK(cudaDeviceSynchronize());
	bool good = done == parts;
	for (int i = 0; i < n; i++)
		good = good && host[i] == (i % 1000) * 2.0f + 1;
	for (auto s : stream) {
		CHECK(cudaStreamQuery(s));
		CHECK(cudaStreamDestroy(s));
	}
	CHECK(cudaEventDestroy(ready));
	printf("%d callbacks\n", done);
	CHECK(cudaFreeHost(host));
	CHECK(cudaFree(device));
	return finish("streams", good);
}
