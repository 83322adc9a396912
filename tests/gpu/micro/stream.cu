/*
 * Bandwidth: reads, writes and mixtures by bytes per access, block size and amount; and how much of
 * it loads under way bring: warps of an SM x independent loads of each, from L1, L2 and DRAM.
 */
#include "micro.cuh"

template <typename T> static __device__ unsigned mix(const T &v);
template <> __device__ unsigned mix(const unsigned &v)
{
	return v;
}
template <> __device__ unsigned mix(const uint2 &v)
{
	return v.x ^ v.y;
}
template <> __device__ unsigned mix(const uint4 &v)
{
	return v.x ^ v.y ^ v.z ^ v.w;
}

template <typename T> static __global__ void m_read(const T *a, unsigned *cycles)
{
	const unsigned v = mix(a[blockIdx.x * (size_t)blockDim.x + threadIdx.x]);
	micro_use(v, cycles);
}
template <typename T> static __global__ void m_write(T *a)
{
	a[blockIdx.x * (size_t)blockDim.x + threadIdx.x] = T{};
}
template <typename T> static __global__ void m_copy(const T *a, T *b)
{
	const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	b[i] = a[i];
}
template <typename T> static __global__ void m_in_place(T *a)
{
	const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	T v = a[i];
	v.x ^= 1;
	a[i] = v;
}
template <> __global__ void m_in_place(unsigned *a)
{
	a[blockIdx.x * (size_t)blockDim.x + threadIdx.x] ^= 1;
}
template <typename T> static __global__ void m_two_to_one(const T *a, const T *b, T *c)
{
	const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	T v = a[i];
	const T w = b[i];
	*(unsigned *)&v ^= *(const unsigned *)&w;
	c[i] = v;
}

/* @LOADS at a time, each warp in a place of its own, once over. */
template <int LOADS>
static __global__ void m_in_flight(const unsigned *a, unsigned *cycles, size_t words, int times)
{
	const size_t warps = (size_t)gridDim.x * blockDim.x / 32;
	const size_t warp = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
	size_t at = warp * 32 + threadIdx.x % 32;
	unsigned sum = 0;
#pragma unroll 1
	for (int t = 0; t < times; t++) {
		unsigned v[LOADS];
#pragma unroll
		for (int k = 0; k < LOADS; k++) {
			v[k] = __ldcg(a + at);
			at = (at + warps * 32) & (words - 1);
		}
#pragma unroll
		for (int k = 0; k < LOADS; k++)
			sum ^= v[k];
		if (sum == 0x12345678) /* waits for them */
			at++;
	}
	micro_use(sum, cycles);
}

template <typename T> static void streams(char *a, char *b, char *c)
{
	for (size_t mib = 1; mib <= 1024; mib *= 4)
		for (unsigned t = 64; t <= 1024; t *= 2) {
			const size_t bytes = mib << 20;
			const unsigned blocks = (unsigned)(bytes / sizeof(T) / t);
			T *const x = (T *)a, *const y = (T *)b, *const z = (T *)c;
			Line line("stream", "once_over");
			line("bytes_per_access", sizeof(T))("threads", t)("mib", (double)mib);
			const auto flush = micro_flush_l2;
			line("read_ns",
			     shortest_ns([&] { m_read<T><<<blocks, t>>>(x, micro_cycles()); }, flush, 3));
			line("write_ns", shortest_ns([&] { m_write<T><<<blocks, t>>>(x); }, flush, 3));
			line("copy_ns", shortest_ns([&] { m_copy<T><<<blocks, t>>>(x, y); }, flush, 3));
			line("in_place_ns", shortest_ns([&] { m_in_place<T><<<blocks, t>>>(x); }, flush, 3));
			line("two_to_one_ns",
			     shortest_ns([&] { m_two_to_one<T><<<blocks, t>>>(x, y, z); }, flush, 3));
		}
}

template <int LOADS> static void in_flight(const unsigned *a, size_t bytes, const char *where)
{
	const unsigned sms = (unsigned)micro_sms();
	for (unsigned warps = 1; warps <= 64; warps *= 2) {
		const unsigned t = warps < 32 ? warps * 32 : 1024, blocks = sms * (warps > 32 ? 2 : 1);
		const size_t each = (size_t)blocks * t * LOADS;
		int times = (int)(((size_t)1 << 26) / each);
		times = times > 4096 ? 4096 : times;
		const double ns = shortest_ns(
			[&] { m_in_flight<LOADS><<<blocks, t>>>(a, micro_cycles(), bytes / 4, times); }, 3);
		Line("stream", "in_flight")("from", where)("warps_per_sm", warps)("loads", LOADS)(
			"bytes_in_flight_per_sm", warps * 128.0 * LOADS)("ns", ns)("ns_per_round", ns / times)(
			"gbs", (double)each * times * 4 / ns);
	}
}

int main()
{
	micro_begin("stream");
	const size_t bytes = (size_t)1 << 30;
	char *const a = micro_alloc<char>(bytes), *const b = micro_alloc<char>(bytes);
	char *const c = micro_alloc<char>(bytes);
	streams<unsigned>(a, b, c);
	streams<uint2>(a, b, c);
	streams<uint4>(a, b, c);
	static const struct {
		const char *name;
		size_t bytes;
	} places[] = { { "L2", (size_t)16 << 20 }, { "DRAM", (size_t)1 << 30 } };
	for (const auto &p : places) {
		in_flight<1>((unsigned *)a, p.bytes, p.name);
		in_flight<2>((unsigned *)a, p.bytes, p.name);
		in_flight<4>((unsigned *)a, p.bytes, p.name);
		in_flight<8>((unsigned *)a, p.bytes, p.name);
		in_flight<16>((unsigned *)a, p.bytes, p.name);
	}
	return 0;
}
