/*
 * Blocks as such: how fast they start and follow one another, by threads, shared memory and
 * residency; what the last, partly filled wave costs; and two-dimensional blocks of all shapes that
 * copy an image or look around in it.
 */
#include "micro.cuh"

static __global__ void m_empty(int *p, int n)
{
	if (n == -1)
		p[threadIdx.x] = n;
}

static __global__ void m_one_store(int *p, int n)
{
	p[blockIdx.x * blockDim.x + threadIdx.x] = n;
}

/* Every thread waits for @n cycles by itself. */
static __global__ void m_spin(unsigned n)
{
	const unsigned from = (unsigned)clock64();
	while ((unsigned)clock64() - from < n)
		;
}

/* A chain of @n multiply-adds. */
static __global__ void m_work(float *p, int n)
{
	float x = (float)threadIdx.x;
#pragma unroll 4
	for (int i = 0; i < n; i++)
		asm volatile("fma.rn.f32 %0, %0, 0f3F000000, %0;" : "+f"(x));
	if (x == -1)
		*p = x;
}

static __global__ void m_image_copy(const float *a, float *b, int w, int h)
{
	const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
	if (x < w && y < h)
		b[(long)y * w + x] = a[(long)y * w + x];
}

/* The sum of (2r + 1)^2 neighbours; the edge reads itself. */
static __global__ void m_image_patch(const float *a, float *b, int w, int h, int r)
{
	const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
	float sum = 0;
	if (x >= w || y >= h)
		return;
	for (int dy = -r; dy <= r; dy++)
		for (int dx = -r; dx <= r; dx++)
			if (x + dx >= 0 && x + dx < w && y + dy >= 0 && y + dy < h)
				sum += a[(long)(y + dy) * w + x + dx];
	b[(long)y * w + x] = sum;
}

/* A row of one matrix with a column of another one, both as their threads lie. */
static __global__ void m_product(const float *a, const float *b, float *c, int n, int b_by_columns)
{
	const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
	float sum = 0;
	for (int k = 0; k < n; k++)
		sum += a[y * n + k] * (b_by_columns ? b[x * n + k] : b[k * n + x]);
	c[y * n + x] = sum;
}

static void starts(int *p)
{
	const unsigned sms = (unsigned)micro_sms();
	for (unsigned t = 32; t <= 1024; t += t < 128 ? 16 : t) {
		const double none = shortest_ns([&] { m_empty<<<sms * 1024, t>>>(p, 1); });
		const double store = shortest_ns([&] { m_one_store<<<sms * 512, t>>>(p, 1); });
		Line("blocks", "start")("threads", t)("empty_ns_per_block", none / (sms * 1024))(
			"one_store_ns_per_block", store / (sms * 512));
	}
	for (unsigned bytes = 1024; bytes <= 98304; bytes *= 3) {
		cudaFuncSetAttribute(m_empty, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
		const double none = shortest_ns([&] { m_empty<<<sms * 256, 128, bytes>>>(p, 1); });
		Line("blocks", "start_shared")("shared_bytes", bytes)("empty_ns_per_block",
		                                                      none / (sms * 256));
	}
}

/* Sixteen waves of blocks that live for a known time: what is left is from one block to the next.
 */
static void followers(float *p)
{
	const unsigned sms = (unsigned)micro_sms();
	for (unsigned t = 32; t <= 1024; t *= 2) {
		int resident = 0;
		cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, m_spin, (int)t, 0);
		for (unsigned n = 500; n <= 32000; n *= 4) {
			const unsigned wave = sms * (unsigned)resident;
			const double one = shortest_ns([&] { m_spin<<<wave, t>>>(n); });
			const double many = shortest_ns([&] { m_spin<<<16 * wave, t>>>(n); });
			Line("blocks", "follow")("threads", t)("resident", resident)("spin_cycles", n)(
				"one_wave_ns", one)("next_wave_ns", (many - one) / 15);
		}
		for (int n = 32; n <= 8192; n *= 16)
			for (int part = 1; part <= 9; part++) {
				/* quarters of a wave, to two and a quarter */
				const unsigned blocks = sms * (unsigned)resident * (unsigned)part / 4;
				const double ns = shortest_ns([&] { m_work<<<blocks ? blocks : 1, t>>>(p, n); });
				Line("blocks", "waves")("threads", t)("resident", resident)("chain", n)(
					"quarter_waves", part)("ns", ns);
			}
	}
}

static void shapes(float *a, float *b, float *c)
{
	static const unsigned shape[][2] = {
		{ 32, 1 }, { 64, 1 },  { 128, 1 }, { 256, 1 }, { 1024, 1 }, { 32, 2 },
		{ 32, 4 }, { 32, 8 },  { 32, 16 }, { 32, 32 }, { 16, 2 },   { 16, 4 },
		{ 16, 8 }, { 16, 16 }, { 16, 32 }, { 16, 64 }, { 8, 4 },    { 8, 8 },
		{ 8, 16 }, { 8, 32 },  { 4, 8 },   { 4, 16 },  { 4, 64 },   { 2, 16 },
		{ 2, 64 }, { 1, 32 },  { 1, 256 }, { 64, 4 },  { 64, 16 },  { 128, 8 }
	};
	for (const auto &s : shape) {
		const dim3 block(s[0], s[1]);
		for (int n = 1024; n <= 8192; n *= 8) {
			const dim3 grid((unsigned)n / s[0], (unsigned)n / s[1]);
			if (grid.y > 65535)
				continue;
			const double copy =
				shortest_ns([&] { m_image_copy<<<grid, block>>>(a, b, n, n); }, micro_flush_l2, 3);
			const double patch = shortest_ns([&] { m_image_patch<<<grid, block>>>(a, b, n, n, 1); },
			                                 micro_flush_l2, 3);
			const double wide = shortest_ns([&] { m_image_patch<<<grid, block>>>(a, b, n, n, 3); },
			                                micro_flush_l2, 3);
			Line("blocks", "shape_image")("x", s[0])("y", s[1])("n", n)("copy_ns", copy)(
				"patch3_ns", patch)("patch7_ns", wide);
		}
		const int n = 1024;
		const dim3 grid((unsigned)n / s[0], (unsigned)n / s[1]);
		const double rows = shortest_ns([&] { m_product<<<grid, block>>>(a, b, c, n, 0); }, 3);
		const double cols = shortest_ns([&] { m_product<<<grid, block>>>(a, b, c, n, 1); }, 3);
		Line("blocks", "shape_product")("x", s[0])("y", s[1])("n", n)("rows_ns", rows)("columns_ns",
		                                                                               cols);
	}
}

int main()
{
	micro_begin("blocks");
	float *const a = micro_alloc<float>((size_t)1 << 26), *const b =
															  micro_alloc<float>((size_t)1 << 26);
	float *const c = micro_alloc<float>((size_t)1 << 20);
	starts((int *)a);
	followers(a);
	shapes(a, b, c);
	return 0;
}
