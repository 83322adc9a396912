// A box of a tensor that begins at no multiple of 16 bytes: the copy engine takes it for an illegal instruction.
#include "tensor_map.h"

__global__ void take(const __grid_constant__ CUtensorMap map, int5 c, float *out)
{
	__shared__ alignas(1024) float box[8][32];
	__shared__ uint64_t full;
	if (threadIdx.x == 0) {
		barrier_init(&full, 1);
		fence_init();
		barrier_expect(&full, sizeof box);
		tensor_load<2>(box, &map, c, &full);
	}
	__syncthreads();
	barrier_wait(&full, 0);
	out[threadIdx.x] = box[threadIdx.x / 32][threadIdx.x % 32];
}

int main()
{
	float *in, *out;
	CHECK(cudaMalloc(&in, 96 * 40 * 4));
	CHECK(cudaMalloc(&out, 1024));
	CHECK(cudaMemset(in, 0, 96 * 40 * 4));
	const CUtensorMap map = tensor_map<2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, in, { 96, 40 }, { 384 }, { 32, 8 }, { 1, 1 },
	                                      CU_TENSOR_MAP_SWIZZLE_128B);
	take<<<1, 256>>>(map, int5{ { -8, 3 } }, out);
	const cudaError_t first = cudaDeviceSynchronize();
	take<<<1, 256>>>(map, int5{ { -5, 3 } }, out);
	const cudaError_t second = cudaDeviceSynchronize();
	printf("-8: %s\n-5: %s\n", cudaGetErrorName(first), cudaGetErrorName(second));
	return finish("tensor_misaligned", first == cudaSuccess && second == cudaErrorIllegalInstruction);
}
