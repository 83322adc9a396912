/*
 * Two blocks of a cluster that write to one another: a word that tells a barrier there
 * (st.async), or an arrival at the other's barrier, and back again. Cycles of one way.
 */
#include "micro.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

static const unsigned TURNS = 64;

static __device__ uint32_t shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ uint32_t there(const void *p, unsigned rank)
{
	uint32_t at;
	asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(p)), "r"(rank));
	return at;
}

static __device__ void wait(const uint64_t *barrier, unsigned parity)
{
	asm volatile("{\n .reg .pred p;\n"
	             "again:\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
	             " @p bra done;\n bra again;\n"
	             "done:\n}" ::"r"(shared_address(barrier)),
	             "r"(parity)
	             : "memory");
}

/* Expects the bytes of the next turn. */
static __device__ void expect(const uint64_t *barrier, unsigned bytes)
{
	asm volatile(
		"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
		"r"(bytes)
		: "memory");
}

template <bool STORES> static __global__ void __cluster_dims__(2, 1, 1) m_mail(unsigned *cycles)
{
	__shared__ alignas(16) int box[64];
	__shared__ uint64_t full;
	cg::cluster_group cluster = cg::this_cluster();
	const unsigned rank = cluster.block_rank(), t = threadIdx.x;
	if (t == 0) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&full)),
		             "r"(STORES ? 1 : 32));
		asm volatile("fence.mbarrier_init.release.cluster;");
		if (STORES)
			expect(&full, 32 * 4);
	}
	const uint32_t to = there(&box[t], rank ^ 1), bar = there(&full, rank ^ 1);
	cluster.sync();
	const BlockClock clock;
	for (unsigned i = 0; i < 2 * TURNS; i++) {
		if (i % 2 == rank) {
			if (STORES)
				asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], "
				             "%1, [%2];" ::"r"(to),
				             "r"(t), "r"(bar)
				             : "memory");
			else
				asm volatile(
					"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar)
					: "memory");
			continue;
		}
		wait(&full, i / 2 % 2);
		if (STORES && t == 0)
			expect(&full, 32 * 4);
		__syncwarp();
	}
	clock.stop(cycles);
	cluster.sync();
}

/* Once, as most kernels do it: from the store to the end of the wait. */
static __global__ void __cluster_dims__(2, 1, 1) m_mail_once(unsigned *cycles)
{
	__shared__ alignas(16) int box[64];
	__shared__ uint64_t full;
	cg::cluster_group cluster = cg::this_cluster();
	const unsigned rank = cluster.block_rank(), t = threadIdx.x;
	if (t == 0) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full)));
		asm volatile("fence.mbarrier_init.release.cluster;");
		expect(&full, 32 * 4);
	}
	const uint32_t to = there(&box[t], rank ^ 1), bar = there(&full, rank ^ 1);
	cluster.sync();
	const BlockClock clock;
	asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, "
	             "[%2];" ::"r"(to),
	             "r"(t), "r"(bar)
	             : "memory");
	wait(&full, 0);
	clock.stop(cycles);
	cluster.sync();
}

int main()
{
	micro_begin("mail");
	unsigned *const out = micro_cycles();
	Line("mail", "store")("cycles",
	                      median_cycles(2, [&] { m_mail<true><<<2, 32>>>(out); }) / (2 * TURNS));
	Line("mail", "arrival")("cycles",
	                        median_cycles(2, [&] { m_mail<false><<<2, 32>>>(out); }) / (2 * TURNS));
	Line("mail", "once")("cycles", median_cycles(2, [&] { m_mail_once<<<2, 32>>>(out); }));
	return 0;
}
