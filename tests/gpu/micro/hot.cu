/*
 * Few lines that all SMs ask L2 for: loads past L1 of lines chosen at random among so many, whole
 * lines or one sector of each, lines side by side or far apart. Nanoseconds by events, of a launch
 * and of a request of a warp.
 */
#include "micro.cuh"

/* Each warp in an order of its own; the next request does not wait for the one before. */
template <bool WHOLE>
static __global__ void m_hot(const unsigned *in, unsigned lines, unsigned words_apart,
                             unsigned times, unsigned *out)
{
	const unsigned lane = threadIdx.x % MICRO_WARP;
	unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) / MICRO_WARP * 2654435761u, sum = 0;
	for (unsigned i = 0; i < times; i++) {
		at = at * 1664525u + 1013904223u;
		unsigned v;
		asm volatile("ld.global.cg.u32 %0, [%1];"
		             : "=r"(v)
		             : "l"(in + (at >> 8) % lines * words_apart + (WHOLE ? lane : 0)));
		sum += v;
	}
	if (sum == 1)
		*out = sum;
}

template <bool WHOLE> static void all(const char *name, const unsigned *in, unsigned *out)
{
	const unsigned threads = 1024, times = 64;
	for (unsigned blocks : { 1u, (unsigned)micro_sms() })
		for (unsigned words_apart : { 32u, 1024u })
			for (unsigned lines = 1; lines <= 4096; lines *= lines < 64 ? 2 : 8) {
				const auto launch = [&] {
					m_hot<WHOLE><<<blocks, threads>>>(in, lines, words_apart, times, out);
				};
				const double ns = shortest_ns(launch, 3);
				Line("hot", name)("blocks", blocks)("bytes_apart", words_apart * 4)("lines", lines)(
					"ns", ns)("request_ns", ns / (blocks * threads / MICRO_WARP * times));
			}
}

int main()
{
	micro_begin("hot");
	unsigned *const in = micro_alloc<unsigned>((size_t)4096 * 1024), *const out =
																		 micro_alloc<unsigned>(1);
	all<true>("lines", in, out);
	all<false>("sectors", in, out);
	return 0;
}
