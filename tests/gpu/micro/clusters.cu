/*
 * Shared memory of a cluster: additions whose result nobody wants and loads, to the block's own
 * words or to those of the blocks beside it, by the size of the cluster, the warps of a block and
 * where the lanes go: each to a word of its own, all to one, at random among 256. Generic
 * addresses, as cooperative groups give them. Nanoseconds by events, of a launch and of a turn.
 */
#include "micro.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { OWN_WORDS, ONE_WORD, AT_RANDOM };

template <int WHERE, bool ADD> static __global__ void m_cluster(unsigned times, unsigned *out)
{
	__shared__ unsigned words[256];
	cg::cluster_group cluster = cg::this_cluster();
	const unsigned size = cluster.num_blocks(), each = 256 / size;
	words[threadIdx.x % 256] = 0;
	cluster.sync();
	unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
	for (unsigned i = 0; i < times; i++) {
		unsigned rank, word;
		at = at * 1664525u + 1013904223u;
		if (WHERE == AT_RANDOM) {
			const unsigned place = at >> 16 & 255;
			rank = place / each;
			word = place % each;
		} else {
			rank = (cluster.block_rank() + 1) % size;
			word = WHERE == OWN_WORDS ? threadIdx.x % 256 : i % 16;
		}
		unsigned *const there = cluster.map_shared_rank(words, rank) + word;
		if (ADD)
			atomicAdd(there, 1u);
		else
			at += *(volatile unsigned *)there;
	}
	cluster.sync();
	if (at == 1)
		*out = words[0];
}

template <int WHERE, bool ADD> static void all(const char *name, unsigned *out)
{
	for (unsigned size = 1; size <= 8; size *= 2)
		for (unsigned threads = 32; threads <= 512; threads *= 4) {
			cudaLaunchAttribute a = {};
			a.id = cudaLaunchAttributeClusterDimension;
			a.val.clusterDim.x = size;
			a.val.clusterDim.y = a.val.clusterDim.z = 1;
			cudaLaunchConfig_t c = {};
			c.gridDim = dim3(16);
			c.blockDim = dim3(threads);
			c.attrs = &a;
			c.numAttrs = 1;
			const unsigned times = 256;
			const double ns = shortest_ns(
				[&] {
					micro_fail("launch", cudaLaunchKernelEx(&c, m_cluster<WHERE, ADD>, times, out));
				},
				3);
			Line("clusters", name)("size", size)("threads", threads)("ns", ns)("turn_ns",
			                                                                   ns / times);
		}
}

int main()
{
	micro_begin("clusters");
	unsigned *const out = micro_alloc<unsigned>(1);
	all<OWN_WORDS, true>("add_own_words", out);
	all<ONE_WORD, true>("add_one_word", out);
	all<AT_RANDOM, true>("add_at_random", out);
	all<OWN_WORDS, false>("load_own_words", out);
	all<AT_RANDOM, false>("load_at_random", out);
	return 0;
}
