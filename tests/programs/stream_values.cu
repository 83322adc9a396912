// Values of memory that streams write and wait for: one stream waits for what the host, a copy, a
// kernel or another stream puts there.
// nvcc: -lcuda
#include "check.h"
#include <cuda.h>

#define DRIVER(call)                                                             \
	do {                                                                         \
		const CUresult r_ = (call);                                              \
		if (r_ != CUDA_SUCCESS) {                                                \
			printf("%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, (int)r_); \
			exit(1);                                                             \
		}                                                                        \
	} while (0)

__global__ void add(int *to, int v)
{
	*to += v;
}
__global__ void double_it(int *it)
{
	*it *= 2;
}
__global__ void put(unsigned *flag, unsigned v)
{
	*flag = v;
}

int main()
{
	int *x, found = 0, bad = 0, can = 0;
	unsigned *flag, *mapped;
	cudaStream_t first, second;
	CHECK(cudaMalloc(&x, sizeof *x));
	CHECK(cudaMalloc(&flag, 4 * sizeof *flag));
	CHECK(cudaHostAlloc(&mapped, sizeof *mapped, cudaHostAllocMapped));
	CHECK(cudaMemset(x, 0, sizeof *x));
	CHECK(cudaMemset(flag, 0, 4 * sizeof *flag));
	CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	// code that is loaded when it is first launched may wait for streams that wait: load it now
	cudaFuncAttributes attributes;
	CHECK(cudaFuncGetAttributes(&attributes, add));
	CHECK(cudaFuncGetAttributes(&attributes, double_it));
	CHECK(cudaFuncGetAttributes(&attributes, put));
	CHECK(cudaDeviceSynchronize());
	DRIVER(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
	printf("64 bits: %d\n", can);

	// the second stream is submitted first, and waits for what the first writes
	const CUdeviceptr at = (CUdeviceptr)(uintptr_t)flag;
	DRIVER(cuStreamWaitValue32(second, at, 3, CU_STREAM_WAIT_VALUE_GEQ));
	double_it<<<1, 1, 0, second>>>(x);
	add<<<1, 1, 0, first>>>(x, 21);
	DRIVER(cuStreamWriteValue32(first, at, 5, CU_STREAM_WRITE_VALUE_DEFAULT));
	CHECK(cudaStreamSynchronize(second));
	CHECK(cudaMemcpy(&found, x, sizeof found, cudaMemcpyDeviceToHost));
	printf("added, then doubled: %d\n", found);
	bad += found != 42;

	// 64 bits, and bits that a kernel sets
	DRIVER(cuStreamWaitValue64(second, at + 8, 1ull << 40, CU_STREAM_WAIT_VALUE_EQ));
	add<<<1, 1, 0, second>>>(x, 1);
	DRIVER(cuStreamWriteValue64(first, at + 8, 1ull << 40, 0));
	DRIVER(cuStreamWaitValue32(second, at, 0x100, CU_STREAM_WAIT_VALUE_AND));
	add<<<1, 1, 0, second>>>(x, 1);
	put<<<1, 1, 0, first>>>(flag, 0x300);
	CHECK(cudaStreamSynchronize(second));
	CHECK(cudaMemcpy(&found, x, sizeof found, cudaMemcpyDeviceToHost));
	printf("and two more: %d\n", found);
	bad += found != 44;

	// the host's own memory, and a batch of them
	*mapped = 0;
	CUdeviceptr here;
	DRIVER(cuMemHostGetDevicePointer(&here, mapped, 0));
	CUstreamBatchMemOpParams ops[2] = {};
	ops[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
	ops[0].waitValue.address = here;
	ops[0].waitValue.value = 7;
	ops[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
	ops[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	ops[1].writeValue.address = here;
	ops[1].writeValue.value = 8;
	DRIVER(cuStreamBatchMemOp(first, 2, ops, 0));
	*(volatile unsigned *)mapped = 7;
	CHECK(cudaStreamSynchronize(first));
	printf("in the host's memory: %u\n", *mapped);
	bad += *mapped != 8;
	bad += cuStreamWaitValue32(first, at + 1, 0, 0) != CUDA_ERROR_INVALID_VALUE;

	CHECK(cudaStreamDestroy(first));
	CHECK(cudaStreamDestroy(second));
	CHECK(cudaFreeHost(mapped));
	free_all(x, flag);
	printf("stream_values: %s\n", bad ? "failed" : "passed");
	return bad != 0;
}
