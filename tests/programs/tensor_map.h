// Tensor maps and copies by them.
#pragma once
#include "check.h"
#include "hopper.h"
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

struct int5 {
	int x[5];
};

typedef CUresult (*map_encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                  const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                                  CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

// cuTensorMapEncodeTiled(), reached without linking the driver.
static inline map_encode_fn map_encoder()
{
	void *fn = nullptr;
	cudaDriverEntryPointQueryResult found;
	CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &fn, 12000, cudaEnableDefault, &found));
	return (map_encode_fn)fn;
}

template <int D>
static CUtensorMap tensor_map(CUtensorMapDataType type, void *at, const cuuint64_t (&size)[D],
                              std::vector<cuuint64_t> strides, const cuuint32_t (&box)[D], const cuuint32_t (&step)[D],
                              CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE,
                              CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
{
	CUtensorMap map;
	strides.resize(5);
	const CUresult r = map_encoder()(&map, type, D, at, size, strides.data(), box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
	                                 swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill);
	if (r != CUDA_SUCCESS) {
		printf("no tensor map: %d\n", (int)r);
		exit(1);
	}
	return map;
}

#define TENSOR_TO "cp.async.bulk.tensor."
#define TENSOR_FROM ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {"
template <int D> static __device__ inline void tensor_load(void *to, const CUtensorMap *map, int5 c, uint64_t *b)
{
	const uint32_t at = shared_address(to), bar = shared_address(b);
	if (D == 1)
		asm volatile(TENSOR_TO "1d" TENSOR_FROM "%2}], [%3];" ::"r"(at), "l"(map), "r"(c.x[0]), "r"(bar) : "memory");
	else if (D == 2)
		asm volatile(TENSOR_TO "2d" TENSOR_FROM "%2, %3}], [%4];" ::"r"(at), "l"(map), "r"(c.x[0]), "r"(c.x[1]), "r"(bar)
		             : "memory");
	else if (D == 3)
		asm volatile(TENSOR_TO "3d" TENSOR_FROM "%2, %3, %4}], [%5];" ::"r"(at), "l"(map), "r"(c.x[0]), "r"(c.x[1]),
		             "r"(c.x[2]), "r"(bar)
		             : "memory");
	else if (D == 4)
		asm volatile(TENSOR_TO "4d" TENSOR_FROM "%2, %3, %4, %5}], [%6];" ::"r"(at), "l"(map), "r"(c.x[0]), "r"(c.x[1]),
		             "r"(c.x[2]), "r"(c.x[3]), "r"(bar)
		             : "memory");
	else
		asm volatile(TENSOR_TO "5d" TENSOR_FROM "%2, %3, %4, %5, %6}], [%7];" ::"r"(at), "l"(map), "r"(c.x[0]),
		             "r"(c.x[1]), "r"(c.x[2]), "r"(c.x[3]), "r"(c.x[4]), "r"(bar)
		             : "memory");
}

static __device__ inline void tensor_multicast(void *to, const CUtensorMap *map, int x, int y, uint64_t *b, uint16_t blocks)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
	             " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
	             "l"(map), "r"(x), "r"(y), "r"(shared_address(b)), "h"(blocks)
	             : "memory");
}

template <int D> static __device__ inline void tensor_store(const CUtensorMap *map, int5 c, const void *from)
{
	static_assert(D == 2, "matrices");
	asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(c.x[0]),
	             "r"(c.x[1]), "r"(shared_address(from))
	             : "memory");
}

template <int D> static __device__ inline void tensor_add(const CUtensorMap *map, int5 c, const void *from)
{
	static_assert(D == 2, "matrices");
	asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
	             "r"(c.x[0]), "r"(c.x[1]), "r"(shared_address(from))
	             : "memory");
}
