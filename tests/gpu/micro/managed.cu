/*
 * Managed memory: what a kernel waits for when its pages are with the host. Time of a kernel that
 * reads or writes buffers which the host wrote, which nobody touched yet, which the kernel before
 * had, or which were prefetched; by size, by the number of buffers and by how many blocks ask.
 */
#include "micro.cuh"

static const unsigned MOST = 8;
struct Buffers {
	uint4 *at[MOST];
};

static __global__ void m_managed(Buffers b, unsigned count, unsigned *cycles, size_t n, bool write)
{
	unsigned sum = 0;
	const size_t all = (size_t)gridDim.x * blockDim.x;
	for (unsigned k = 0; k < count; k++)
		for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += all) {
			if (write)
				b.at[k][i] = make_uint4((unsigned)i, 1, 2, 3);
			else
				sum ^= b.at[k][i].x;
		}
	micro_use(sum, cycles);
}

static void measure(const char *state, unsigned count, size_t bytes, unsigned blocks, bool write)
{
	Buffers b;
	cudaStream_t s = nullptr;
	int device = 0;
	for (unsigned k = 0; k < count; k++)
		micro_fail("cudaMallocManaged", cudaMallocManaged(&b.at[k], bytes));
	auto before = [&] {
		if (!strcmp(state, "fresh")) {
			for (unsigned k = 0; k < count; k++) {
				cudaFree(b.at[k]);
				micro_fail("cudaMallocManaged", cudaMallocManaged(&b.at[k], bytes));
			}
		} else if (strcmp(state, "kept")) {
			cudaDeviceSynchronize();
			for (unsigned k = 0; k < count; k++)
				memset(b.at[k], 1, bytes);
		}
		if (!strcmp(state, "prefetched"))
			for (unsigned k = 0; k < count; k++) {
#if CUDART_VERSION >= 13000
				cudaMemLocation where = { cudaMemLocationTypeDevice, device };
				cudaMemPrefetchAsync(b.at[k], bytes, where, 0, s);
#else
				cudaMemPrefetchAsync(b.at[k], bytes, device, s);
#endif
			}
		cudaDeviceSynchronize();
	};
	const double ns = shortest_ns(
		[&] { m_managed<<<blocks, 256>>>(b, count, micro_cycles(), bytes / 16, write); }, before,
		5);
	Line("managed", state)("buffers", count)("kib", (double)(bytes >> 10))("blocks", blocks)(
		"write", write)("ns", ns);
	for (unsigned k = 0; k < count; k++)
		cudaFree(b.at[k]);
}

int main()
{
	micro_begin("managed");
	const unsigned sms = (unsigned)micro_sms();
	static const char *const states[] = { "host", "fresh", "kept", "prefetched" };
	static const size_t kib[] = { 4, 16, 64, 128, 256, 1024, 2048, 4096, 16384, 65536, 131072 };
	for (unsigned i = 0; i < 4; i++)
		for (unsigned s = 0; s < sizeof kib / sizeof *kib; s++)
			for (int write = 0; write < 2; write++) {
				measure(states[i], 1, kib[s] << 10, 1, write != 0);
				measure(states[i], 1, kib[s] << 10, sms * 8, write != 0);
			}
	for (unsigned count = 1; count <= MOST; count *= 2)
		for (int write = 0; write < 2; write++) {
			measure("host", count, 4096, 1, write != 0);
			measure("host", count, 1 << 20, sms * 8, write != 0);
			measure("fresh", count, 4096, 1, write != 0);
		}
	return 0;
}
