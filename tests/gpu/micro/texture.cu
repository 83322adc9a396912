/*
 * Textures and surfaces: dependent fetches and independent ones, of linear memory, of arrays of one
 * to three dimensions and of layers, filtered and not, beside ordinary loads; by how much is
 * fetched (L1, L2, DRAM) and how the lanes' coordinates lie. Cycles each.
 */
#include "micro.cuh"

static const unsigned TIMES = 128;

struct Source {
	cudaTextureObject_t texture;
	cudaSurfaceObject_t surface;
	const float *plain;
	unsigned width, height;
};

enum Way { PLAIN, LINEAR, TEX1D, TEX2D, TEX3D, LAYERED, SURFACE_1D, SURFACE_2D, WAYS };
static const char *const ways[] = { "plain_load", "tex1Dfetch", "tex1D",      "tex2D",
	                                "tex3D",      "layered",    "surface_1d", "surface_2d" };

template <Way W> static __device__ __forceinline__ float fetch(const Source &s, int x, int y)
{
	float v = 0;
	if (W == PLAIN)
		v = s.plain[y * (int)s.width + x];
	else if (W == LINEAR)
		v = tex1Dfetch<float>(s.texture, y * (int)s.width + x);
	else if (W == TEX1D)
		v = tex1D<float>(s.texture, (float)x + 0.5f);
	else if (W == TEX2D)
		v = tex2D<float>(s.texture, (float)x + 0.5f, (float)y + 0.5f);
	else if (W == TEX3D)
		v = tex3D<float>(s.texture, (float)x + 0.5f, (float)y + 0.5f, 1.5f);
	else if (W == LAYERED)
		v = tex2DLayered<float>(s.texture, (float)x + 0.5f, (float)y + 0.5f, 1);
	else if (W == SURFACE_1D)
		surf1Dread(&v, s.surface, x * 4);
	else
		surf2Dread(&v, s.surface, x * 4, y);
	return v;
}

/* The next coordinates depend on what came (0): TIMES fetches in a row. @rows: lanes of a warp lie
 * in so many rows. */
template <Way W>
static __global__ void m_chain(Source s, unsigned step, unsigned rows, unsigned *cycles)
{
	int x = (int)(threadIdx.x % 32 / rows & (s.width - 1));
	int y = (int)((threadIdx.x / 32 * rows + threadIdx.x % rows) & (s.height - 1));
	const BlockClock clock;
#pragma unroll 1
	for (unsigned i = 0; i < TIMES; i++) {
		const float v = fetch<W>(s, x, y);
		x = (int)((unsigned)x + step + (unsigned)__float_as_int(v)) & (int)(s.width - 1);
		y = (int)((unsigned)y + step / 8) & (int)(s.height - 1);
	}
	clock.stop(cycles);
	micro_use(x, cycles);
}

/* Eight at a time that do not depend on each other. */
template <Way W>
static __global__ void m_stream(Source s, unsigned step, unsigned rows, unsigned *cycles)
{
	const int x = (int)(threadIdx.x % 32 / rows & (s.width - 1));
	const int y = (int)((threadIdx.x / 32 * rows + threadIdx.x % rows) & (s.height - 1));
	float sum = 0;
	const BlockClock clock;
#pragma unroll 8
	for (unsigned i = 0; i < TIMES; i++)
		sum += fetch<W>(s, (int)((unsigned)x + i * step) & (int)(s.width - 1), y);
	clock.stop(cycles);
	micro_use(sum, cycles);
}

static cudaArray_t array_of(unsigned width, unsigned height, unsigned depth, unsigned flags)
{
	const cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
	cudaArray_t a = nullptr;
	micro_fail("cudaMalloc3DArray",
	           cudaMalloc3DArray(&a, &d, make_cudaExtent(width, height, depth), flags));
	return a;
}

static Source source_of(Way w, bool filtered, unsigned width, unsigned height)
{
	Source s = {};
	cudaResourceDesc from = {};
	cudaTextureDesc how = {};
	const size_t words = (size_t)width * height;
	float *const plain = micro_alloc<float>(words);
	s.plain = plain;
	s.width = width;
	s.height = height;
	how.filterMode = filtered ? cudaFilterModeLinear : cudaFilterModePoint;
	how.readMode = cudaReadModeElementType;
	if (w == PLAIN)
		return s;
	if (w == LINEAR) {
		from.resType = cudaResourceTypeLinear;
		from.res.linear.devPtr = plain;
		from.res.linear.desc = cudaCreateChannelDesc<float>();
		from.res.linear.sizeInBytes = words * 4;
	} else {
		const unsigned depth = w == TEX3D || w == LAYERED ? 2 : 0;
		const bool row = w == TEX1D || w == SURFACE_1D,
				   surface = w == SURFACE_1D || w == SURFACE_2D;
		cudaArray_t const a = array_of(width, row ? 0 : height, depth,
		                               (w == LAYERED ? cudaArrayLayered : 0u) |
		                                   (surface ? cudaArraySurfaceLoadStore : 0u));
		cudaMemcpy3DParms copy = {};
		copy.srcPtr = make_cudaPitchedPtr(plain, width * 4, width, height);
		copy.dstArray = a;
		copy.kind = cudaMemcpyDeviceToDevice;
		copy.extent = make_cudaExtent(width, row ? 1 : height, 1);
		for (unsigned z = 0; z < (depth ? depth : 1); z++) {
			copy.dstPos = make_cudaPos(0, 0, z);
			micro_fail("cudaMemcpy3D", cudaMemcpy3D(&copy));
		}
		from.resType = cudaResourceTypeArray;
		from.res.array.array = a;
		if (surface) {
			micro_fail("surface", cudaCreateSurfaceObject(&s.surface, &from));
			return s;
		}
	}
	micro_fail("texture", cudaCreateTextureObject(&s.texture, &from, &how, nullptr));
	return s;
}

template <Way W> static void measure(bool filtered, unsigned width, unsigned height)
{
	const Source s = source_of(W, filtered, width, height);
	const unsigned sms = (unsigned)micro_sms();
	for (unsigned rows = 1; rows <= (height > 1 ? 32u : 1u); rows *= rows == 1 ? 4 : 8)
		for (unsigned step = 1; step <= 64; step *= 64)
			for (unsigned t = 32; t <= 1024; t *= 32)
				for (unsigned b = 1; b <= sms; b += sms - 1) {
					const double chain = median_cycles(
						b, [&] { m_chain<W><<<b, t>>>(s, step, rows, micro_cycles()); });
					const double stream = median_cycles(
						b, [&] { m_stream<W><<<b, t>>>(s, step, rows, micro_cycles()); });
					Line("texture", ways[W])("filtered", filtered)("width", width)(
						"height", height)("rows", rows)("step", step)("threads", t)("blocks", b)(
						"chain_cycles", chain / TIMES)("stream_cycles", stream / TIMES);
				}
	/* nobody frees: the program ends soon */
}

/* One lane, each time another line: from DRAM where L2 was emptied, else from L2. */
template <Way W> static void cold(unsigned width, unsigned height)
{
	const Source s = source_of(W, false, width, height);
	for (int flushed = 0; flushed < 2; flushed++) {
		const double c = median_cycles(1, [&] {
			if (flushed)
				micro_flush_l2();
			m_chain<W><<<1, 1>>>(s, 256, 1, micro_cycles());
		});
		Line("texture", ways[W])("flushed", flushed)("width", width)("height", height)(
			"far_chain_cycles", c / TIMES);
	}
}

int main()
{
	micro_begin("texture");
	static const unsigned sizes[] = { 64, 1024, 4096 };
	for (unsigned n : sizes) {
		measure<PLAIN>(false, n, n);
		measure<LINEAR>(false, n, n);
		measure<TEX1D>(false, n, 1);
		for (int filtered = 0; filtered < 2; filtered++) {
			measure<TEX2D>(filtered != 0, n, n);
			measure<LAYERED>(filtered != 0, n, n);
			measure<TEX3D>(filtered != 0, n, n);
		}
		measure<SURFACE_1D>(false, n, 1);
		measure<SURFACE_2D>(false, n, n);
	}
	cold<PLAIN>(4096, 4096);
	cold<LINEAR>(4096, 4096);
	cold<TEX2D>(4096, 4096);
	cold<LAYERED>(4096, 4096);
	cold<SURFACE_2D>(4096, 4096);
	return 0;
}
