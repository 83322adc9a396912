/*
 * Bulk copies: from the instruction to the moment when the barrier in shared memory lets its waiter
 * go, or when the group of a store is done. By bytes, by where they come from, by boxes of tensor
 * maps of one to three dimensions, by copies that are under way together, alone and on all SMs.
 */
#include "micro.cuh"

#include <cuda.h>

static const unsigned TIMES = 16;

static __device__ __forceinline__ uint32_t shared_at(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void expect(uint64_t *b, unsigned bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_at(b)),
	             "r"(bytes)
	             : "memory");
}

static __device__ __forceinline__ void wait_for(uint64_t *b, unsigned parity)
{
	asm volatile("{\n .reg .pred p;\n"
	             "again:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
	             " @!p bra again;\n}" ::"r"(shared_at(b)),
	             "r"(parity)
	             : "memory");
}

static __device__ __forceinline__ void begin(uint64_t *b)
{
	if (threadIdx.x == 0) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_at(b)) : "memory");
		asm volatile("fence.mbarrier_init.release.cluster;\n fence.proxy.async;" ::: "memory");
	}
	__syncthreads();
}

/* @pieces copies of @bytes each, awaited together, TIMES times; all threads wait. */
static __global__ void m_bulk_load(const char *in, size_t apart, unsigned bytes, unsigned pieces,
                                   unsigned *cycles)
{
	extern __shared__ __align__(128) char room[];
	__shared__ uint64_t full;
	begin(&full);
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TIMES; i++) {
		if (threadIdx.x == 0) {
			expect(&full, bytes * pieces);
			for (unsigned k = 0; k < pieces; k++)
				asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
				             "[%0], [%1], %2, [%3];" ::"r"(shared_at(room) + k * bytes),
				             "l"(in + (blockIdx.x * TIMES + i) * apart + k * bytes), "r"(bytes),
				             "r"(shared_at(&full))
				             : "memory");
		}
		wait_for(&full, i % 2);
	}
	clock.stop(cycles);
}

/* The same bytes by ordinary loads of 16 bytes, stored to shared memory, and a barrier. */
static __global__ void m_plain_load(const char *in, size_t apart, unsigned bytes, unsigned *cycles)
{
	extern __shared__ __align__(128) char room[];
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TIMES; i++) {
		const uint4 *const from = (const uint4 *)(in + (blockIdx.x * TIMES + i) * apart);
		for (unsigned k = threadIdx.x; k < bytes / 16; k += blockDim.x)
			((uint4 *)room)[k] = micro_load_l2(from + k);
		__syncthreads();
	}
	clock.stop(cycles);
	micro_use((int)room[threadIdx.x], cycles);
}

/* To global memory; @read: until the source may be overwritten, else until it is there. */
static __global__ void m_bulk_store(char *out, size_t apart, unsigned bytes, bool read,
                                    unsigned *cycles)
{
	extern __shared__ __align__(128) char room[];
	const BlockClock clock;
	if (threadIdx.x == 0)
#pragma unroll 1
		for (unsigned i = 0; i < TIMES; i++) {
			asm volatile(
				"cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
				"cp.async.bulk.commit_group;" ::"l"(out + (blockIdx.x * TIMES + i) * apart),
				"r"(shared_at(room)), "r"(bytes)
				: "memory");
			if (read)
				asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
			else
				asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
		}
	clock.stop(cycles);
}

/* Sums into global memory, in one place for all blocks or each in its own. */
static __global__ void m_bulk_add(int *out, unsigned bytes, bool one_place, unsigned *cycles)
{
	extern __shared__ __align__(128) char room[];
	const BlockClock clock;
	if (threadIdx.x == 0)
#pragma unroll 1
		for (unsigned i = 0; i < TIMES; i++)
			asm volatile(
				"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;\n"
				"cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::"l"(
					(char *)out + (one_place ? 0 : (size_t)blockIdx.x * bytes)),
				"r"(shared_at(room)), "r"(bytes)
				: "memory");
	clock.stop(cycles);
}

#define TENSOR(d, where)      \
	"cp.async.bulk.tensor." d \
	".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" where
template <int D>
static __global__ void m_tensor(const __grid_constant__ CUtensorMap map, unsigned box0,
                                unsigned bytes, unsigned *cycles)
{
	extern __shared__ __align__(128) char room[];
	__shared__ uint64_t full;
	begin(&full);
	const uint32_t to = shared_at(room), bar = shared_at(&full);
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TIMES; i++) {
		const int x = (int)((i % 4) * box0), y = (int)(blockIdx.x + i / 4);
		if (threadIdx.x == 0) {
			expect(&full, bytes);
			if (D == 1)
				asm volatile(TENSOR("1d", "%2}], [%3];")::"r"(to), "l"(&map),
				             "r"((int)((blockIdx.x * TIMES + i) * box0)), "r"(bar)
				             : "memory");
			else if (D == 2)
				asm volatile(TENSOR("2d", "%2, %3}], [%4];")::"r"(to), "l"(&map), "r"(x),
				             "r"(y * 8), "r"(bar)
				             : "memory");
			else
				asm volatile(TENSOR("3d", "%2, %3, %4}], [%5];")::"r"(to), "l"(&map), "r"(x),
				             "r"(y), "r"((int)i), "r"(bar)
				             : "memory");
		}
		wait_for(&full, i % 2);
	}
	clock.stop(cycles);
}

typedef CUresult (*encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                              const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                              const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static encode_fn encoder()
{
	void *fn = nullptr;
	cudaDriverEntryPointQueryResult found;
	micro_fail("entry point", cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &fn, 12000,
	                                                           cudaEnableDefault, &found));
	return (encode_fn)fn;
}

/* Floats in 256 x 1024 x 64, or in a row. */
template <int D> static void tensor(float *data, unsigned b0, unsigned b1, unsigned b2, bool cold)
{
	const cuuint64_t size[3] = { D == 1 ? 1u << 24 : 256u, 1024, 64 };
	const cuuint64_t strides[3] = { 256 * 4, 256 * 1024 * 4, 0 };
	const cuuint32_t box[3] = { b0, b1, b2 }, step[3] = { 1, 1, 1 };
	const unsigned bytes = b0 * (D > 1 ? b1 : 1) * (D > 2 ? b2 : 1) * 4;
	CUtensorMap map;
	if (encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, D, data, size, strides, box, step,
	              CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
	              CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) {
		fprintf(stderr, "copies_latency: no map %u %u %u\n", b0, b1, b2);
		return;
	}
	const unsigned sms = (unsigned)micro_sms();
	for (unsigned blocks = 1; blocks <= sms; blocks += sms - 1) {
		const double c = median_cycles(blocks, [&] {
			if (cold)
				micro_flush_l2();
			m_tensor<D><<<blocks, 128, bytes>>>(map, b0, bytes, micro_cycles());
		});
		Line("copies_latency", "tensor")("dimensions", D)("box0", b0)("box1", D > 1 ? b1 : 0.0)(
			"box2", D > 2 ? b2 : 0.0)("bytes", bytes)("cold", cold)("blocks", blocks)("cycles",
		                                                                              c / TIMES);
	}
}

static void loads(const char *data, unsigned bytes, unsigned pieces, bool cold)
{
	const unsigned sms = (unsigned)micro_sms(), room = bytes * pieces;
	const size_t apart = room < 4096 ? 4096 : room;
	for (unsigned blocks = 1; blocks <= sms; blocks += sms - 1) {
		const auto prepare = [&] {
			if (cold)
				micro_flush_l2();
		};
		const double bulk = median_cycles(blocks, [&] {
			prepare();
			m_bulk_load<<<blocks, 128, room>>>(data, apart, bytes, pieces, micro_cycles());
		});
		const double plain = median_cycles(blocks, [&] {
			prepare();
			m_plain_load<<<blocks, 128, room>>>(data, apart, room, micro_cycles());
		});
		Line("copies_latency", "bulk_load")("bytes", bytes)("pieces", pieces)("cold", cold)(
			"blocks", blocks)("cycles", bulk / TIMES)("plain_cycles", plain / TIMES);
	}
}

static void stores(char *data, unsigned bytes)
{
	const unsigned sms = (unsigned)micro_sms();
	const size_t apart = bytes < 4096 ? 4096 : bytes;
	for (unsigned blocks = 1; blocks <= sms; blocks += sms - 1) {
		double c[4];
		for (int k = 0; k < 2; k++) {
			c[k] = median_cycles(blocks, [&] {
				m_bulk_store<<<blocks, 128, bytes>>>(data, apart, bytes, k != 0, micro_cycles());
			});
			c[2 + k] = median_cycles(blocks, [&] {
				m_bulk_add<<<blocks, 128, bytes>>>((int *)data, bytes, k != 0, micro_cycles());
			});
		}
		Line("copies_latency", "bulk_store")("bytes", bytes)("blocks", blocks)(
			"cycles", c[0] / TIMES)("read_cycles", c[1] / TIMES)("add_cycles", c[2] / TIMES)(
			"add_one_place_cycles", c[3] / TIMES);
	}
}

int main()
{
	micro_begin("copies_latency");
	char *const data = micro_alloc<char>((size_t)256 << 20);
	for (int cold = 0; cold < 2; cold++) {
		for (unsigned bytes = 16; bytes <= 32768; bytes *= 2)
			loads(data, bytes, 1, cold != 0);
		for (unsigned pieces = 2; pieces <= 16; pieces *= 2)
			loads(data, 1024, pieces, cold != 0);
		for (unsigned b = 8; b <= 256; b *= 2)
			tensor<1>((float *)data, b, 0, 0, cold != 0);
		for (unsigned b = 8; b <= 64; b *= 2)
			for (unsigned rows = 1; rows <= 64; rows *= 4)
				tensor<2>((float *)data, b, rows, 0, cold != 0);
		for (unsigned b = 8; b <= 64; b *= 8)
			for (unsigned rows = 1; rows <= 16; rows *= 4)
				tensor<3>((float *)data, b, rows, 4, cold != 0);
	}
	for (unsigned bytes = 16; bytes <= 32768; bytes *= 2)
		stores(data, bytes);
	return 0;
}
