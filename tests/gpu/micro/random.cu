/*
 * Addresses without a pattern: what L2 and DRAM give by the piece that is read at once and by the
 * memory it lies in; how many loads an SM has under way, by what shared memory leaves of its L1;
 * and how long one takes, by the memory it lies in.
 */
#include "micro.cuh"

/* Pieces of @vectors of 16 bytes, a power of two, read by as many lanes side by side; longer ones
 * by a warp, 512 bytes after the other. @pieces: how many there are. */
static __global__ void m_pieces(const uint4 *p, unsigned *cycles, unsigned pieces, unsigned vectors,
                                int times)
{
	const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
	const unsigned lanes = vectors < MICRO_WARP ? vectors : MICRO_WARP;
	const unsigned group = t / lanes, lane = t % lanes;
	unsigned sum = 0;
	for (int i = 0; i < times; i++) {
		const unsigned piece =
			(unsigned)((unsigned long long)micro_hash(group * 40503u + (unsigned)i * 2654435761u) *
		               pieces >> 32);
		const uint4 *const from = p + (size_t)piece * vectors + lane;
#pragma unroll 4
		for (unsigned v = 0; v < vectors; v += lanes)
			sum ^= micro_load_l2(from + v).x;
	}
	micro_use(sum, cycles);
}

/* Every thread follows CHAINS chains of dependent loads of 4 bytes in @n words, which are 0. The
 * block takes @shared bytes that nothing touches. */
template <int CHAINS>
static __global__ void m_chains(const unsigned *p, unsigned *cycles, unsigned n, int hops)
{
	const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned at[CHAINS], sum = 0;
	for (int c = 0; c < CHAINS; c++)
		at[c] = (t * CHAINS + (unsigned)c) * 2654435761u;
	for (int h = 0; h < hops; h++)
#pragma unroll
		for (int c = 0; c < CHAINS; c++) {
			const unsigned word =
				(unsigned)((unsigned long long)micro_hash(at[c]) * n >> 32);
			at[c] += p[word] + 40503u;
		}
	for (int c = 0; c < CHAINS; c++)
		sum ^= at[c];
	micro_use(sum, cycles);
}

static void in_pieces(const uint4 *p, unsigned sms)
{
	static const unsigned mib[] = { 8,  16, 20, 24,  28,  32,  36,   40,
		                            48, 56, 64, 96, 128, 256, 1024, 8192 };
	for (unsigned bytes = 32; bytes <= 4096; bytes *= bytes < 512 ? 2 : 8)
		for (const unsigned m : mib) {
			const unsigned vectors = bytes / 16, blocks = sms * 8, threads = 256;
			const unsigned pieces = (unsigned)(((unsigned long long)m << 20) / bytes);
			const unsigned each = vectors < MICRO_WARP ? 1 : vectors / MICRO_WARP;
			const int times = (int)(256 / each);
			const double all = (double)blocks * threads * times * each * 16;
			const double ns = shortest_ns(
				[&] { m_pieces<<<blocks, threads>>>(p, micro_cycles(), pieces, vectors, times); },
				2);
			Line("random", "pieces")("bytes", bytes)("mib", m)("ns", ns)("gbs", all / ns);
		}
}

template <int CHAINS> static void under_way(const unsigned *p, unsigned sms)
{
	static const unsigned kib[] = { 0, 8, 16, 32, 64, 100, 132, 164, 196, 227 };
	static const unsigned mib[] = { 16, 1024 };
	micro_fail("shared", cudaFuncSetAttribute(m_chains<CHAINS>,
	                                          cudaFuncAttributeMaxDynamicSharedMemorySize,
	                                          227 * 1024));
	for (unsigned threads = 256; threads <= 1024; threads *= 4)
		for (const unsigned m : mib)
			for (const unsigned k : kib) {
				const unsigned n = m << 18;
				const int hops = 512;
				const double ns = shortest_ns(
					[&] {
						m_chains<CHAINS>
							<<<sms, threads, k * 1024>>>(p, micro_cycles(), n, hops);
					},
					2);
				Line("random", "under_way")("chains", CHAINS)("threads", threads)("mib", m)(
					"shared_kib", k)("ns", ns)("loads_per_ns",
				                               (double)sms * threads * CHAINS * hops / ns)(
					"hop_ns", ns / hops);
			}
}

static void alone(const unsigned *p)
{
	static const unsigned mib[] = { 1, 4, 16, 24, 32, 40, 48, 64, 128, 512, 2048, 8192 };
	for (unsigned lanes = 1; lanes <= 32; lanes *= 32)
		for (const unsigned m : mib) {
			const unsigned n = m << 18;
			const int hops = 1 << 14;
			const double ns =
				shortest_ns([&] { m_chains<1><<<1, lanes>>>(p, micro_cycles(), n, hops); }, 2);
			Line("random", "alone")("lanes", lanes)("mib", m)("hop_ns", ns / hops);
		}
}

int main()
{
	micro_begin("random");
	const unsigned sms = (unsigned)micro_sms();
	uint4 *const p = micro_alloc<uint4>(((size_t)8192 << 20) / 16);
	in_pieces(p, sms);
	under_way<1>((const unsigned *)p, sms);
	under_way<4>((const unsigned *)p, sms);
	alone((const unsigned *)p);
	return 0;
}
