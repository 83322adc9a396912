// Kernels that launch kernels: a tree, a chain of tail launches, copies and sets, streams, errors.
// nvcc: -rdc=true
#include "check.h"

struct setup {
	int scale;
	double shift;
	short odd[3];
};

// --- a tree: every grid launches two more, and all have ended when the host goes on ---

__device__ int nodes;

__global__ void tree(int *level, int depth, int most)
{
	extern __shared__ int seen[];
	seen[threadIdx.x] = 1;
	__syncthreads();
	if (threadIdx.x)
		return;
	int sum = 0;
	for (unsigned i = 0; i < blockDim.x; i++)
		sum += seen[i];
	atomicAdd(&level[depth], sum);
	atomicAdd(&nodes, 1);
	for (int child = 0; child < 2 && depth + 1 < most; child++)
		tree<<<1, 32 << child, 4 * (32 << child)>>>(level, depth + 1, most);
}

// --- tail launches: each begins when all before it has ended ---

__global__ void add(int *x, int n, setup s)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] += s.scale * i + (int)s.shift + s.odd[1];
}

__global__ void total(const int *x, int n, long long *sum)
{
	long long mine = 0;
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		mine += x[i];
	atomicAdd((unsigned long long *)sum, (unsigned long long)mine);
}

__global__ void steps(int *x, int n, long long *sum, int left)
{
	total<<<1, 64, 0, cudaStreamTailLaunch>>>(x, n, sum);
	if (left)
		steps<<<1, 1, 0, cudaStreamTailLaunch>>>(x, n, sum, left - 1);
	setup s = { left + 1, 2.5, { 0, 7, 0 } };
	add<<<(n + 127) / 128, 128, 0, cudaStreamFireAndForget>>>(x, n, s);
}

// --- memory, streams and events as device code has them ---

__global__ void arrange(int *x, const int *from, int n)
{
	cudaStream_t stream;
	cudaEvent_t event;
	cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
	cudaMemcpyAsync(x, from, n / 2 * sizeof *x, cudaMemcpyDeviceToDevice, stream);
	cudaMemsetAsync(x + n / 2, 0, n / 4 * sizeof *x, stream);
	// (in device code an H200 sets 0, whatever the value is: driver 580.159)
	cudaMemset2DAsync(x + n / 2 + n / 4, 8, 0, 4, n / 8, stream);
	cudaEventRecord(event, stream);
	cudaStreamWaitEvent(stream, event, 0);
	setup s = { 0, 1.0, { 0, 0, 0 } };
	add<<<(n + 31) / 32, 32, 0, stream>>>(x, n, s);
	cudaEventDestroy(event);
	cudaStreamDestroy(stream);
}

// --- what goes wrong stays with the thread that did it ---

__global__ void mistakes(int *result)
{
	if (threadIdx.x == 1) {
		add<<<1, 2048>>>(result, 0, setup());
		result[0] = cudaPeekAtLastError() != cudaSuccess;
		result[1] = cudaGetLastError() == cudaErrorInvalidConfiguration;
		result[2] = cudaGetLastError() == cudaSuccess;
	}
	if (threadIdx.x == 2)
		result[3] = cudaGetLastError() == cudaSuccess;
	if (threadIdx.x == 3) {
		int device = -1, count = 0, sms = 0, *memory = NULL;
		result[4] = cudaGetDevice(&device) == cudaSuccess && device == 0;
		result[5] = cudaGetDeviceCount(&count) == cudaSuccess && count >= 1;
		result[6] = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess;
		result[7] = sms;
		result[8] = cudaMalloc((void **)&memory, 1000) == cudaSuccess && memory;
		memory[249] = 5;
		result[9] = memory[249] + (int)cudaFree(memory);
	}
}

int main()
{
	const int n = 1000, most = 6;
	bool good = true;

	int *level, made;
	CHECK(cudaMallocManaged(&level, most * sizeof *level));
	CHECK(cudaMemset(level, 0, most * sizeof *level));
	tree<<<1, 32, 128>>>(level, 0, most);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpyFromSymbol(&made, nodes, sizeof made));
	good &= made == 63 && level[0] == 32;
	for (int d = 1; d < most; d++) // half of the grids have 32 threads, half 64
		good &= level[d] == (1 << (d - 1)) * (32 + 64);
	printf("%d grids\n", made);

	int *x;
	long long *sum, want = 0;
	CHECK(cudaMallocManaged(&x, n * sizeof *x));
	CHECK(cudaMallocManaged(&sum, sizeof *sum));
	CHECK(cudaMemset(x, 0, n * sizeof *x));
	*sum = 0;
	steps<<<1, 1>>>(x, n, sum, 3);
	CHECK(cudaDeviceSynchronize());
	long long now = 0;
	for (int left = 3; left >= 0; left--) {
		for (int i = 0; i < n; i++)
			now += (left + 1) * i + 2 + 7;
		want += now;
	}
	good &= *sum == want;
	printf("sum %lld\n", *sum);

	int *from;
	CHECK(cudaMallocManaged(&from, n * sizeof *from));
	for (int i = 0; i < n; i++)
		from[i] = 3 * i, x[i] = -1;
	arrange<<<1, 1>>>(x, from, n);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++) {
		int k = i - (n / 2 + n / 4);
		int was = i < n / 2 ? 3 * i : i < n / 2 + n / 4 ? 0 : k % 2 ? -1 : 0;
		good &= x[i] == was + 1;
	}

	int *result, sms;
	CHECK(cudaMallocManaged(&result, 10 * sizeof *result));
	CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
	mistakes<<<1, 4>>>(result);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < 10; i++)
		good &= result[i] == (i == 7 ? sms : i == 9 ? 5 : 1);
	free_all(level, x, sum, from, result);
	return finish("nested_launches", good);
}
