/*
 * What L2 still holds for a kernel that reads a buffer: bytes from DRAM and time, by who touched
 * the buffer last (a kernel that read or wrote it, a copy, a set) and by its size. The counters
 * say whether copies and sets leave their data in L2, and how much of it stays.
 */
#include "micro.cuh"

static __global__ void m_kept(const uint4 *p, unsigned *cycles, size_t n)
{
	unsigned sum = 0;
	const size_t all = (size_t)gridDim.x * blockDim.x;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += all) {
		const uint4 v = p[i];
		sum ^= v.x ^ v.y ^ v.z ^ v.w;
	}
	micro_use(sum, cycles);
}

static __global__ void touch_read(const uint4 *p, unsigned *cycles, size_t n)
{
	unsigned sum = 0;
	const size_t all = (size_t)gridDim.x * blockDim.x;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += all)
		sum ^= p[i].x;
	micro_use(sum, cycles);
}

static __global__ void touch_write(uint4 *p, size_t n)
{
	const size_t all = (size_t)gridDim.x * blockDim.x;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += all)
		p[i] = make_uint4((unsigned)i, 1, 2, 3);
}

int main()
{
	micro_begin("kept");
	const size_t most = (size_t)128 << 20;
	uint4 *const p = micro_alloc<uint4>(most / 16), *const q = micro_alloc<uint4>(most / 16);
	void *pinned = nullptr, *const plain = calloc(1, most);
	micro_fail("cudaMallocHost", cudaMallocHost(&pinned, most));
	memset(pinned, 1, most);
	const unsigned blocks = (unsigned)micro_sms() * 8;
	static const char *const last[] = { "nothing", "read",  "write", "pinned", "pageable",
		                                "set",     "copy_to", "copy_from", "back" };
	static const int mib[] = { 1, 4, 8, 16, 24, 28, 32, 40, 48, 56, 64, 96, 128 };
	for (unsigned who = 0; who < sizeof last / sizeof *last; who++)
		for (unsigned s = 0; s < sizeof mib / sizeof *mib; s++) {
			const size_t bytes = (size_t)mib[s] << 20, n = bytes / 16;
			auto before = [&] {
				micro_flush_l2();
				switch (who) {
				case 1: touch_read<<<blocks, 256>>>(p, micro_cycles(), n); break;
				case 2: touch_write<<<blocks, 256>>>(p, n); break;
				case 3: cudaMemcpyAsync(p, pinned, bytes, cudaMemcpyHostToDevice); break;
				case 4: cudaMemcpy(p, plain, bytes, cudaMemcpyHostToDevice); break;
				case 5: cudaMemsetAsync(p, 0, bytes); break;
				case 6: cudaMemcpyAsync(p, q, bytes, cudaMemcpyDeviceToDevice); break;
				case 7: cudaMemcpyAsync(q, p, bytes, cudaMemcpyDeviceToDevice); break;
				case 8: cudaMemcpyAsync(pinned, p, bytes, cudaMemcpyDeviceToHost); break;
				default: break;
				}
			};
			const double ns =
				shortest_ns([&] { m_kept<<<blocks, 256>>>(p, micro_cycles(), n); }, before, 3);
			Line("kept", "read")("after", last[who])("mib", mib[s])("ns", ns)("gbs",
			                                                                 (double)bytes / ns);
		}
	return 0;
}
