// Kernels that wait for what the host, a copy, or another kernel does after their launch.
#include "check.h"

static bool good = true;

static void expect(bool holds, int line)
{
	if (!holds)
		printf("line %d does not hold\n", line);
	good = good && holds;
}
#define EXPECT(condition) expect(condition, __LINE__)

struct Mailbox {
	volatile int asked, answered, stop;
	volatile float value;
};

/* Answers until it is told to stop. */
__global__ void serve(Mailbox *m)
{
	for (int n = 0;; n++) {
		while (m->asked == n && !m->stop)
			;
		if (m->stop)
			return;
		__threadfence_system();
		m->value = m->value * m->value;
		__threadfence_system();
		m->answered = n + 1;
	}
}

__global__ void wait_for(const volatile int *flag, int *out)
{
	while (*flag == 0)
		;
	*out = *flag + 1;
}

__global__ void set(volatile int *flag, int value)
{
	*flag = value;
}

/* Every block waits, and all add what they were given. */
__global__ void wait_all(const volatile int *go, int *sum)
{
	if (threadIdx.x == 0)
		while (!*go)
			;
	__syncthreads();
	atomicAdd(sum, *go);
}

/* Place k is set by whoever has place k + 1, at last by threads of a later block. A thread looks at
 * its place until that is set, and goes on to its next one: the address changes, but not always. */
__global__ void pass_down(volatile int *place, int n)
{
	const int step = blockDim.x * gridDim.x;
	int k = n - step + threadIdx.x + blockIdx.x * blockDim.x;
	while (k >= 0) {
		const int value = place[k];
		if (value > 0) {
			if (k > 0)
				place[k - 1] = value + 1;
			k -= step;
		}
		__syncthreads();
	}
}

static void mailbox()
{
	Mailbox *m, *on_device;
	CHECK(cudaHostAlloc(&m, sizeof *m, cudaHostAllocMapped));
	CHECK(cudaHostGetDevicePointer(&on_device, m, 0));
	m->asked = m->answered = m->stop = 0;
	serve<<<1, 1>>>(on_device);
	for (int i = 1; i <= 4; i++) {
		m->value = (float)i;
		__sync_synchronize();
		m->asked = i;
		while (m->answered != i)
			;
		EXPECT(m->value == (float)(i * i));
	}
	m->stop = 1;
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFreeHost(m));
}

/* The copy that lets the kernel go is in another stream; what is behind the kernel waits for it. */
static void copied_flag()
{
	int *flag, *out, *host, pageable = 17;
	float ms;
	cudaStream_t a, b;
	cudaEvent_t begin, end, copied;
	CHECK(cudaMalloc(&flag, sizeof(int)));
	CHECK(cudaMalloc(&out, sizeof(int)));
	CHECK(cudaMallocHost(&host, 3 * sizeof(int)));
	CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	CHECK(cudaEventCreate(&copied));
	host[0] = 41;
	host[1] = host[2] = 0;
	CHECK(cudaMemset(flag, 0, sizeof(int)));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaEventRecord(begin, a));
	wait_for<<<1, 1, 0, a>>>(flag, out);
	CHECK(cudaEventRecord(end, a));
	CHECK(cudaMemcpyAsync(host + 1, out, sizeof(int), cudaMemcpyDeviceToHost, a));
	CHECK(cudaMemcpyAsync(out, &pageable, sizeof(int), cudaMemcpyHostToDevice, a));
	pageable = 0;
	CHECK(cudaMemcpyAsync(host + 2, out, sizeof(int), cudaMemcpyDeviceToHost, a));
	EXPECT(cudaStreamQuery(a) == cudaErrorNotReady);
	EXPECT(cudaEventQuery(end) == cudaErrorNotReady);
	EXPECT(cudaEventElapsedTime(&ms, begin, end) == cudaErrorNotReady);
	EXPECT(host[1] == 0);
	CHECK(cudaMemcpyAsync(flag, host, sizeof(int), cudaMemcpyHostToDevice, b));
	CHECK(cudaEventRecord(copied, b));
	CHECK(cudaEventSynchronize(copied));
	CHECK(cudaEventSynchronize(end));
	CHECK(cudaStreamSynchronize(a));
	EXPECT(host[1] == 42);
	EXPECT(host[2] == 17);
	CHECK(cudaEventElapsedTime(&ms, begin, end));
	EXPECT(ms > 0);
	CHECK(cudaEventDestroy(begin));
	CHECK(cudaEventDestroy(end));
	CHECK(cudaEventDestroy(copied));
	CHECK(cudaStreamDestroy(a));
	CHECK(cudaStreamDestroy(b));
	CHECK(cudaFree(flag));
	CHECK(cudaFree(out));
	CHECK(cudaFreeHost(host));
}

/* Who waits is launched before who writes; memory is taken meanwhile. */
static void two_kernels()
{
	int *flag, *out, *more;
	cudaStream_t a, b;
	CHECK(cudaMallocManaged(&flag, sizeof(int)));
	CHECK(cudaMallocManaged(&out, 2 * sizeof(int)));
	CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	*flag = out[0] = out[1] = 0;
	wait_for<<<1, 1, 0, a>>>(flag, out);
	wait_all<<<8, 64, 0, a>>>(flag, out + 1);
	CHECK(cudaMalloc(&more, 1 << 20));
	set<<<1, 1, 0, b>>>(flag, 5);
	CHECK(cudaStreamSynchronize(b));
	CHECK(cudaStreamSynchronize(a));
	EXPECT(out[0] == 6);
	EXPECT(out[1] == 8 * 64 * 5);
	CHECK(cudaStreamDestroy(a));
	CHECK(cudaStreamDestroy(b));
	CHECK(cudaFree(flag));
	CHECK(cudaFree(out));
	CHECK(cudaFree(more));
}

static void later_block_first()
{
	const int n = 4 * 6 * 64;
	int *place, one = 1, last = 0;
	CHECK(cudaMalloc(&place, n * sizeof *place));
	CHECK(cudaMemset(place, 0, n * sizeof *place));
	CHECK(cudaMemcpy(place + n - 1, &one, sizeof one, cudaMemcpyHostToDevice));
	pass_down<<<6, 64>>>(place, n);
	CHECK(cudaMemcpy(&last, place, sizeof last, cudaMemcpyDeviceToHost));
	EXPECT(last == n);
	CHECK(cudaFree(place));
}

int main()
{
	/* a kernel that is loaded no sooner than it is launched would wait for those that run */
	cudaFuncAttributes loaded;
	CHECK(cudaFuncGetAttributes(&loaded, wait_for));
	CHECK(cudaFuncGetAttributes(&loaded, wait_all));
	CHECK(cudaFuncGetAttributes(&loaded, set));
	mailbox();
	copied_flag();
	two_kernels();
	later_block_first();
	return finish("waiting_kernels", good);
}
