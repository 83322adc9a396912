// Boxes that are stored beyond the end of a tensor, and before its beginning: the copy engine takes that for an illegal instruction.
#include "tensor_map.h"

__global__ void put(const __grid_constant__ CUtensorMap map, int5 c)
{
	__shared__ alignas(1024) float box[8][16];
	box[threadIdx.x / 16][threadIdx.x % 16] = threadIdx.x + 1;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		tensor_store<2>(&map, c, box);
		asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
	}
}

int main()
{
	std::vector<float> a(96 * 40);
	float *to;
	CHECK(cudaMalloc(&to, a.size() * 4));
	CHECK(cudaMemset(to, 0, a.size() * 4));
	const CUtensorMap map = tensor_map<2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, to, { 96, 40 }, { 384 }, { 16, 8 }, { 1, 1 });
	put<<<1, 128>>>(map, int5{ { 88, 36 } });
	put<<<1, 128>>>(map, int5{ { 112, 50 } });
	CHECK(cudaMemcpy(a.data(), to, a.size() * 4, cudaMemcpyDeviceToHost));
	bool right = true;
	for (int y = 0; y < 40; y++)
		for (int x = 0; x < 96; x++)
			right &= a[y * 96 + x] == (x >= 88 && y >= 36 ? (y - 36) * 16 + x - 88 + 1 : 0);
	printf("over the edge: %s\n", right ? "as expected" : "DIFFERENT");
	put<<<1, 128>>>(map, int5{ { 0, -1 } });
	const cudaError_t before = cudaDeviceSynchronize();
	printf("a row before: %s\n", cudaGetErrorName(before));
	return finish("tensor_before", right && before == cudaErrorIllegalInstruction);
}
