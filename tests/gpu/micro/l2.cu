/*
 * L2: bandwidth by what lies in it, sectors that several SMs ask for at the same time, and what
 * becomes of written lines.
 */
#include "micro.cuh"

/*
 * Every block reads @n vectors of 16 bytes, @times over. Blocks in groups of @alike read the same
 * ones; a block is late by @skew cycles for each before it in its group.
 */
static __global__ void m_l2_read(const uint4 *p, unsigned *cycles, unsigned n, unsigned alike,
                                 unsigned skew, int times)
{
	const uint4 *const from = p + (size_t)(blockIdx.x / alike) * n;
	unsigned sum = 0;
	const unsigned start = (unsigned)clock64(), late = blockIdx.x % alike * skew;
	while ((unsigned)clock64() - start < late)
		;
	for (int t = 0; t < times; t++)
#pragma unroll 4
		for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
			const uint4 v = micro_load_l2(from + i);
			sum ^= v.x ^ v.y ^ v.z ^ v.w;
		}
	micro_use(sum, cycles);
}

static __global__ void m_l2_sweep(const uint4 *p, unsigned *cycles, size_t n, int times)
{
	unsigned sum = 0;
	const size_t all = (size_t)gridDim.x * blockDim.x;
	for (int t = 0; t < times; t++)
#pragma unroll 4
		for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += all) {
			const uint4 v = micro_load_l2(p + i);
			sum ^= v.x ^ v.y ^ v.z ^ v.w;
		}
	micro_use(sum, cycles);
}

static __global__ void m_write(uint4 *p, size_t n, int times)
{
	const size_t all = (size_t)gridDim.x * blockDim.x;
	for (int t = 0; t < times; t++)
		for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += all)
			p[i] = make_uint4((unsigned)t, 1, 2, 3);
}

/* Writes a part and reads another one of the same size. */
static __global__ void m_write_and_read(uint4 *to, const uint4 *from, unsigned *cycles, size_t n)
{
	const size_t all = (size_t)gridDim.x * blockDim.x;
	unsigned sum = 0;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += all) {
		sum ^= micro_load_l2(from + i).x;
		to[i] = make_uint4(sum, 1, 2, 3);
	}
	micro_use(sum, cycles);
}

int main()
{
	micro_begin("l2");
	const unsigned sms = (unsigned)micro_sms();
	const size_t most = (size_t)1 << 30;
	uint4 *const p = micro_alloc<uint4>(most / 16), *const q = micro_alloc<uint4>(most / 16);
	for (unsigned alike = 1; alike <= sms; alike = alike < 4      ? alike + 1
	                                               : alike == 128 ? sms
	                                                              : alike * 2)
		for (unsigned skew = 0; skew <= 10000; skew = skew ? skew * 10 : 100) {
			const unsigned n = 16384; /* 256 KiB a block: never in L1, all in L2 */
			const int times = 8;
			const double ns = shortest_ns(
				[&] { m_l2_read<<<sms, 1024>>>(p, micro_cycles(), n, alike, skew, times); }, 3);
			Line("l2", "merge")("blocks_alike", alike)("skew_cycles", skew)("ns", ns)(
				"asked_sectors", (double)sms * n * times / 2)("gbs",
			                                                  (double)sms * n * times * 16 / ns);
			if (alike == 1)
				break;
		}
	for (size_t mib = 1; mib <= 512; mib *= 2) {
		const size_t n = (mib << 20) / 16;
		const int times = (int)(1024 / mib < 4 ? 4 : 1024 / mib > 64 ? 64 : 1024 / mib);
		const double reads =
			shortest_ns([&] { m_l2_sweep<<<2 * sms, 1024>>>(p, micro_cycles(), n, times); }, 3);
		Line("l2", "sweep_read")("mib", (double)mib)("times", times)("ns", reads)(
			"gbs", (double)n * 16 * times / reads);
		const double writes = shortest_ns([&] { m_write<<<2 * sms, 1024>>>(p, n, times); }, 3);
		Line("l2", "sweep_write")("mib", (double)mib)("times", times)("ns", writes)(
			"gbs", (double)n * 16 * times / writes);
	}
	/* once over, into an L2 that holds: this data, clean or dirty; other dirty data */
	for (size_t mib = 4; mib <= 512; mib *= 2) {
		const size_t n = (mib << 20) / 16;
		const auto clean = [&] { m_l2_sweep<<<2 * sms, 1024>>>(q, micro_cycles(), most / 32, 1); };
		const auto dirty = [&] { m_write<<<2 * sms, 1024>>>(q, most / 64, 1); };
		const auto write = [&] { m_write<<<2 * sms, 1024>>>(p, n, 1); };
		const auto read = [&] { m_l2_sweep<<<2 * sms, 1024>>>(p, micro_cycles(), n, 1); };
		const auto both = [&] { m_write_and_read<<<2 * sms, 1024>>>(p, q, micro_cycles(), n); };
		if (micro_once())
			break; /* its preparations would count as measured kernels */
		Line("l2", "write_once")("mib", (double)mib)("into_clean_ns", shortest_ns(write, clean, 3))(
			"into_dirty_ns", shortest_ns(write, dirty, 3))("again_ns", shortest_ns(write, 3));
		Line("l2", "read_once")("mib", (double)mib)("from_clean_ns", shortest_ns(read, clean, 3))(
			"from_dirty_ns", shortest_ns(read, dirty, 3))("own_writes_ns",
		                                                  shortest_ns(read, write, 3));
		Line("l2", "write_and_read")("mib", (double)mib)("clean_ns", shortest_ns(both, clean, 3))(
			"dirty_ns", shortest_ns(both, dirty, 3));
	}
	for (size_t mib = 4; micro_once() && mib <= 512; mib *= 2) {
		const size_t n = (mib << 20) / 16;
		const double ns = shortest_ns([&] { m_write<<<2 * sms, 1024>>>(p, n, 1); });
		Line("l2", "write_once")("mib", (double)mib)("ns", ns);
	}
	return 0;
}
