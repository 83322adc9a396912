// Tensor copies by maps: one to five dimensions, swizzles, what lies outside, strides, stores, reductions, multicast.
#include "check.h"
#include "hopper.h"
#include "tensor_map.h"
#include <cooperative_groups.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

// The box at c, as it lies in shared memory.
template <int D> __global__ void take(const __grid_constant__ CUtensorMap map, int bytes, int5 c, unsigned *out)
{
	extern __shared__ __align__(1024) unsigned box[];
	__shared__ uint64_t full;
	if (threadIdx.x == 0) {
		asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
		barrier_init(&full, 1);
		fence_init();
		barrier_expect(&full, bytes);
		tensor_load<D>(box, &map, c, &full);
	}
	__syncthreads();
	barrier_wait(&full, 0);
	for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
		out[i] = box[i];
}

// Writes, or adds, a box of numbers.
template <int D, bool add> __global__ void put(const __grid_constant__ CUtensorMap map, int n, int5 c)
{
	extern __shared__ __align__(1024) unsigned box[];
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		((float *)box)[i] = i + 1;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		if (add)
			tensor_add<D>(&map, c, box);
		else
			tensor_store<D>(&map, c, box);
		asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
	}
}

// Each block of the cluster brings one half of the box to both.
__global__ void __cluster_dims__(2, 1, 1) share(const __grid_constant__ CUtensorMap map, float *out)
{
	__shared__ alignas(1024) float box[2][8][32];
	__shared__ uint64_t full;
	cg::cluster_group cluster = cg::this_cluster();
	const unsigned rank = cluster.block_rank();
	if (threadIdx.x == 0) {
		barrier_init(&full, 1);
		fence_init();
		barrier_expect(&full, sizeof box);
	}
	cluster.sync();
	if (threadIdx.x == 0)
		tensor_multicast(box[rank], &map, 0, 8 * rank, &full, 3);
	barrier_wait(&full, 0);
	for (int i = threadIdx.x; i < 512; i += blockDim.x)
		out[blockIdx.x * 512 + i] = (&box[0][0][0])[i];
	cluster.sync();
}

static unsigned hash(const std::vector<unsigned> &v)
{
	unsigned h = 2166136261u;
	for (unsigned x : v)
		h = (h ^ x) * 16777619u;
	return h;
}

int main()
{
	bool good = true;
	const int width = 96, height = 40;
	std::vector<float> a(width * height);
	for (int i = 0; i < width * height; i++)
		a[i] = i;
	float *in, *to;
	unsigned *out;
	CHECK(cudaMalloc(&in, a.size() * 4));
	CHECK(cudaMalloc(&to, a.size() * 4));
	CHECK(cudaMalloc(&out, 65536));
	CHECK(cudaMemcpy(in, a.data(), a.size() * 4, cudaMemcpyHostToDevice));

	// rows of 32, 64 and 128 bytes in their patterns, and none
	for (int mode = 0; mode < 4; mode++) {
		const unsigned row = mode ? 4u << mode : 16;
		const CUtensorMap map = tensor_map<2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, in, { width, height }, { width * 4 },
		                                      { row, 16 }, { 1, 1 }, (CUtensorMapSwizzle)mode);
		std::vector<unsigned> got(row * 16);
		take<2><<<1, 64, 16384>>>(map, row * 64, int5{ { 8, 5 } }, out);
		CHECK(cudaMemcpy(got.data(), out, row * 64, cudaMemcpyDeviceToHost));
		bool right = true;
		for (unsigned y = 0; y < 16; y++)
			for (unsigned x = 0; x < row; x++) {
				unsigned at = (y * row + x) * 4;
				const unsigned pieces = mode == 3 ? 7 : mode == 2 ? 3 : mode;
				at ^= (at >> 7 & pieces) << 4;
				float v;
				memcpy(&v, &got[at / 4], 4);
				right &= v == (y + 5) * width + x + 8;
			}
		good &= right;
		printf("swizzle %d: %s %08x\n", mode, right ? "as expected" : "DIFFERENT", hash(got));
	}

	// over each edge
	for (int fill = 0; fill < 2; fill++)
		for (int where = 0; where < 3; where++) {
			const CUtensorMap map =
				tensor_map<2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, in, { width, height }, { width * 4 }, { 32, 8 }, { 1, 1 },
			                  CU_TENSOR_MAP_SWIZZLE_128B, (CUtensorMapFloatOOBfill)fill);
			const int5 at[3] = { { { -8, -3 } }, { { 80, 36 } }, { { 200, 2 } } };
			std::vector<unsigned> got(256);
			take<2><<<1, 64, 16384>>>(map, 1024, at[where], out);
			CHECK(cudaMemcpy(got.data(), out, 1024, cudaMemcpyDeviceToHost));
			printf("outside, fill %d, place %d: %08x %08x %08x\n", fill, where, got[0], got[255], hash(got));
		}

	// one, three, four and five dimensions; 16-bit and 8-bit elements; every second row
	const CUtensorMap line = tensor_map<1>(CU_TENSOR_MAP_DATA_TYPE_UINT32, in, { 3840 }, {}, { 64 }, { 1 });
	const CUtensorMap cube = tensor_map<3>(CU_TENSOR_MAP_DATA_TYPE_UINT16, in, { 24, 16, 20 }, { 48, 768 }, { 16, 4, 3 },
	                                       { 1, 1, 1 }, CU_TENSOR_MAP_SWIZZLE_32B);
	const CUtensorMap four = tensor_map<4>(CU_TENSOR_MAP_DATA_TYPE_UINT8, in, { 64, 6, 5, 8 }, { 64, 384, 1920 },
	                                       { 32, 3, 2, 2 }, { 1, 1, 1, 1 });
	const CUtensorMap five = tensor_map<5>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, in, { 12, 5, 4, 4, 4 }, { 48, 240, 960, 3840 },
	                                       { 8, 2, 3, 2, 2 }, { 1, 1, 1, 1, 1 });
	const CUtensorMap steps = tensor_map<2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, in, { width, height }, { width * 4 },
	                                        { 8, 16 }, { 1, 2 });
	std::vector<unsigned> got;
	auto show = [&](const char *what, int bytes) {
		got.resize(bytes / 4);
		CHECK(cudaMemcpy(got.data(), out, bytes, cudaMemcpyDeviceToHost));
		printf("%s: %08x %08x %08x\n", what, got[0], got[bytes / 4 - 1], hash(got));
	};
	take<1><<<1, 64, 16384>>>(line, 256, int5{ { 3800 } }, out);
	show("1 dimension", 256);
	take<3><<<1, 64, 16384>>>(cube, 384, int5{ { 16, 14, 2 } }, out);
	show("3 dimensions", 384);
	take<4><<<1, 64, 16384>>>(four, 384, int5{ { 48, -1, 3, 1 } }, out);
	show("4 dimensions", 384);
	take<5><<<1, 64, 16384>>>(five, 768, int5{ { 8, 1, 2, -1, 3 } }, out);
	show("5 dimensions", 768);
	take<2><<<1, 64, 16384>>>(steps, 256, int5{ { 4, 3 } }, out);
	show("every second row", 256);

	// stores and sums, over the edge
	std::vector<float> b(a.size());
	for (int adds = 0; adds < 2; adds++) {
		const CUtensorMap map = tensor_map<2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, to, { width, height }, { width * 4 },
		                                      { 16, 8 }, { 1, 1 }, CU_TENSOR_MAP_SWIZZLE_64B);
		CHECK(cudaMemcpy(to, in, a.size() * 4, cudaMemcpyDeviceToDevice));
		if (adds)
			put<2, true><<<3, 64, 16384>>>(map, 128, int5{ { 88, 36 } });
		else
			put<2, false><<<1, 64, 16384>>>(map, 128, int5{ { 88, 36 } });
		CHECK(cudaMemcpy(b.data(), to, b.size() * 4, cudaMemcpyDeviceToHost));
		bool right = true;
		for (int y = 0; y < height; y++)
			for (int x = 0; x < width; x++) {
				unsigned at = ((y - 36) * 16 + x - 88) * 4;
				at ^= (at >> 7 & 3) << 4;
				const bool in_box = x >= 88 && y >= 36;
				const float v = at / 4 + 1;
				right &= b[y * width + x] == (in_box ? (adds ? a[y * width + x] + 3 * v : v) : a[y * width + x]);
			}
		good &= right;
		printf("%s: %s\n", adds ? "added" : "stored", right ? "as expected" : "DIFFERENT");
	}

	const CUtensorMap half = tensor_map<2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, in, { width, height }, { width * 4 }, { 32, 8 },
	                                       { 1, 1 });
	share<<<2, 64>>>(half, to);
	CHECK(cudaMemcpy(b.data(), to, 4096, cudaMemcpyDeviceToHost));
	bool right = true;
	for (int i = 0; i < 1024; i++)
		right &= b[i] == i % 512 / 32 * width + i % 32;
	good &= right;
	printf("multicast: %s\n", right ? "as expected" : "DIFFERENT");
	CHECK(cudaDeviceSynchronize());

	// maps that cannot be
	CUtensorMap no;
	const cuuint64_t size[2] = { 96, 40 }, stride[1] = { 384 }, odd[1] = { 388 };
	const cuuint32_t box[2] = { 32, 8 }, wide[2] = { 64, 8 }, tall[2] = { 32, 257 }, thin[2] = { 3, 8 }, one[2] = { 1, 1 };
	auto try_map = [&](const char *what, void *at, const cuuint64_t *st, const cuuint32_t *bx) {
		const CUresult r = map_encoder()(&no, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, at, size, st, bx, one,
		                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
		                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
		printf("%s: %d\n", what, (int)r);
	};
	try_map("right", in, stride, box);
	try_map("address", in + 1, stride, box);
	try_map("stride", in, odd, box);
	try_map("wide box", in, stride, wide);
	try_map("tall box", in, stride, tall);
	try_map("thin box", in, stride, thin);
	// of one batch, as libraries have it: nothing is to be told of the next one
	const cuuint64_t batch[3] = { 96, 40, 1 }, none[2] = { 384, 0 };
	const cuuint32_t part[3] = { 32, 8, 1 }, each[3] = { 1, 1, 1 };
	good &= map_encoder()(&no, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, in, batch, none, part, each, CU_TENSOR_MAP_INTERLEAVE_NONE,
	                      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
	                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
	free_all(in, to, out);
	return finish("tensor_maps", good);
}
