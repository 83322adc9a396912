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

/* --- how far it is: a walk over lines of 128 bytes, each of which names the next --- */

static __host__ __device__ unsigned next_line(unsigned i, unsigned lines)
{
	return (i * 5 + 1) % lines; /* a power of two: comes to all of them */
}

static __global__ void m_walk(const unsigned *p, unsigned *cycles, unsigned steps)
{
	unsigned at = 0;
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < steps; i++)
		at = p[at * 32];
	micro_use(at, cycles + 1);
	clock.stop(cycles);
}

static __global__ void write_lines(unsigned *p, unsigned lines, bool turned)
{
	const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
	for (unsigned i = t; i < lines * 32; i += gridDim.x * blockDim.x) {
		const unsigned at = turned ? lines * 32 - 1 - i : i;
		p[at] = next_line(at / 32, lines);
	}
}

static void walks(unsigned *p, unsigned *q, unsigned *pinned)
{
	static const char *const last[] = { "walk",   "read",     "write",   "write_alone",
		                                "pinned", "pageable", "copy_to", "copy_from" };
	const unsigned blocks = (unsigned)micro_sms() * 8;
	for (unsigned who = 0; who < sizeof last / sizeof *last; who++)
		for (unsigned kib = 4; kib <= 16384; kib *= 4) {
			const unsigned lines = kib * 8, steps = lines < 4096 ? lines : 4096;
			const size_t bytes = (size_t)kib << 10;
			for (unsigned i = 0; i < lines * 32; i++)
				pinned[i] = next_line(i / 32, lines);
			micro_fail("copy", cudaMemcpy(p, pinned, bytes, cudaMemcpyHostToDevice));
			micro_fail("copy", cudaMemcpy(q, pinned, bytes, cudaMemcpyHostToDevice));
			unsigned sum = 0, n = 0;
			const unsigned turns = micro_once() ? 1 : 5;
			for (unsigned t = 0; t <= turns; t++) {
				if (who != 0)
					micro_flush_l2();
				switch (who) {
				case 1: touch_read<<<blocks, 256>>>((uint4 *)p, micro_cycles(), bytes / 16); break;
				case 2: write_lines<<<blocks, 256>>>(p, lines, t % 2); break;
				case 3: write_lines<<<1, 256>>>(p, lines, false); break;
				case 4: cudaMemcpyAsync(p, pinned, bytes, cudaMemcpyHostToDevice); break;
				case 5: {
					void *const plain = malloc(bytes);
					memcpy(plain, pinned, bytes);
					cudaMemcpy(p, plain, bytes, cudaMemcpyHostToDevice);
					free(plain);
					break;
				}
				case 6: cudaMemcpyAsync(p, q, bytes, cudaMemcpyDeviceToDevice); break;
				case 7: cudaMemcpyAsync(q, p, bytes, cudaMemcpyDeviceToDevice); break;
				default: break;
				}
				m_walk<<<1, 1>>>(p, micro_cycles(), steps);
				micro_fail("walk",
				           cudaMemcpy(&n, micro_cycles(), sizeof n, cudaMemcpyDeviceToHost));
				sum += t ? n : 0;
			}
			Line("kept", "walk")("after", last[who])("kib", kib)("cycles",
			                                                     (double)sum / turns / steps);
		}
}

int main()
{
	micro_begin("kept");
	const size_t most = (size_t)128 << 20;
	uint4 *const p = micro_alloc<uint4>(most / 16), *const q = micro_alloc<uint4>(most / 16);
	void *pinned = nullptr, *const plain = calloc(1, most);
	micro_fail("cudaMallocHost", cudaMallocHost(&pinned, most));
	memset(pinned, 1, most);
	if (!micro_once())
		walks((unsigned *)p, (unsigned *)q, (unsigned *)pinned);
	const unsigned blocks = (unsigned)micro_sms() * 8;
	static const char *const last[] = { "nothing", "read",    "write",     "pinned", "pageable",
		                                "set",     "copy_to", "copy_from", "back" };
	static const double mib[] = { 1. / 64, 1. / 16, 1. / 4, 1,  4,  8,  16, 24,
		                          28,      32,      40,     48, 56, 64, 96, 128 };
	for (unsigned who = 0; who < sizeof last / sizeof *last; who++)
		for (unsigned s = 0; s < sizeof mib / sizeof *mib; s++) {
			const size_t bytes = (size_t)(mib[s] * 1024 * 1024), n = bytes / 16;
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
