// The instructions of compute capability 9.0 that CUDA C++ reaches only through PTX.
#pragma once
#include <cstdint>

static __device__ inline uint32_t shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

// The same place in the shared memory of block @rank of the cluster.
static __device__ inline uint32_t remote_address(uint32_t address, unsigned rank)
{
	uint32_t there;
	asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
	return there;
}

// --- barriers in shared memory

static __device__ inline void barrier_init(uint64_t *b, unsigned count)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count) : "memory");
}

static __device__ inline void fence_init()
{
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	asm volatile("fence.proxy.async;" ::: "memory");
}

static __device__ inline void barrier_expect(uint64_t *b, unsigned bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
}

static __device__ inline void barrier_arrive(uint64_t *b)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}

static __device__ inline void barrier_arrive_at(uint64_t *b, unsigned rank)
{
	asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
			     remote_address(shared_address(b), rank))
	             : "memory");
}

#define BARRIER_WAIT(name, acquire)                                                      \
	static __device__ inline void name(uint64_t *b, unsigned parity)                     \
	{                                                                                    \
		asm volatile("{\n .reg .pred p;\n"                                               \
		             "again:\n mbarrier.try_wait.parity" acquire                         \
		             ".shared::cta.b64 p, [%0], %1;\n"                                   \
		             " @p bra done;\n bra again;\n"                                      \
		             "done:\n}" ::"r"(shared_address(b)),                                \
		             "r"(parity)                                                         \
		             : "memory");                                                        \
	}
BARRIER_WAIT(barrier_wait, "")
BARRIER_WAIT(barrier_wait_cluster, ".acquire.cluster")

// --- bulk copies

static __device__ inline void bulk_load(void *to, const void *from, unsigned bytes, uint64_t *b)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
			     shared_address(to)),
	             "l"(from), "r"(bytes), "r"(shared_address(b))
	             : "memory");
}

static __device__ inline void bulk_multicast(void *to, const void *from, unsigned bytes, uint64_t *b, uint16_t blocks)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
	             " [%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
	             "l"(from), "r"(bytes), "r"(shared_address(b)), "h"(blocks)
	             : "memory");
}

static __device__ inline void bulk_to_block(uint32_t to, const void *from, unsigned bytes, uint32_t b)
{
	asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
	             "r"(shared_address(from)), "r"(bytes), "r"(b)
	             : "memory");
}

static __device__ inline void bulk_store(void *to, const void *from, unsigned bytes)
{
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)),
	             "r"(bytes)
	             : "memory");
}
