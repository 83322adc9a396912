/*
 * Rows of a matrix in pieces: each warp loads or stores so many words of so many rows, as blocks
 * that are narrow, or rows that begin anywhere, have it. Time by the width of a piece, the length
 * of a row and the size of a word, where the matrix lies in L2 and where it comes from DRAM.
 *
 * A block is `wide` words by 256 / wide rows; blocks follow each other along the rows. What a warp
 * leaves of a sector or a line the next one takes, soon after.
 */
#include "micro.cuh"

#define THREADS 256
#define EACH 4 /* rows of a thread, a grid apart: blocks start no faster than every 0.6 ns */

struct Matrix {
	unsigned width, height; /* words */
};

/* One word that depends on all. */
static __device__ unsigned folded(unsigned char v)
{
	return v;
}
static __device__ unsigned folded(unsigned v)
{
	return v;
}
static __device__ unsigned folded(uint4 v)
{
	return v.x ^ v.y ^ v.z ^ v.w;
}

static __device__ void make(unsigned char &v, unsigned from)
{
	v = (unsigned char)from;
}
static __device__ void make(unsigned &v, unsigned from)
{
	v = from;
}
static __device__ void make(uint4 &v, unsigned from)
{
	v = make_uint4(from, from, from, from);
}

template <typename T> static __global__ void m_load(T *p, unsigned *out, Matrix m)
{
	const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
	const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
	unsigned sum = 0;
	for (unsigned k = 0; k < EACH; k++) {
		const unsigned row = y + k * gridDim.y * blockDim.y;
		if (x < m.width && row < m.height)
			sum += folded(p[(size_t)row * m.width + x]);
	}
	micro_use(sum, out);
}

template <typename T> static __global__ void m_store(T *p, unsigned *, Matrix m)
{
	const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
	const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
	T v;
	make(v, x + y);
	for (unsigned k = 0; k < EACH; k++) {
		const unsigned row = y + k * gridDim.y * blockDim.y;
		if (x < m.width && row < m.height)
			p[(size_t)row * m.width + x] = v;
	}
}

/* Down the columns, along the rows: what a transposition does without shared memory. */
template <typename T> static __global__ void m_turn(T *p, unsigned *out, Matrix m)
{
	const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
	const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
	T *const to = (T *)out;
	for (unsigned k = 0; k < EACH; k++) {
		const unsigned row = y + k * gridDim.y * blockDim.y;
		if (x < m.width && row < m.height)
			to[(size_t)x * m.height + row] = p[(size_t)row * m.width + x];
	}
}

/* Words of a row so far apart, those between them by the instructions that follow: vectors that are
 * stored word by word. */
template <unsigned APART> static __global__ void m_apart(unsigned *p, unsigned *, Matrix m)
{
	const unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * APART;
	const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
#pragma unroll
	for (unsigned k = 0; k < APART; k++)
		if (x + k < m.width && y < m.height)
			p[(size_t)y * m.width + x + k] = x + y;
}

template <typename T>
static void measure(const char *name, void (*kernel)(T *, unsigned *, Matrix), void *words,
                    void *out, Matrix m, unsigned wide)
{
	const dim3 block(wide, THREADS / wide);
	const dim3 grid((m.width + wide - 1) / wide,
	                (m.height + block.y * EACH - 1) / (block.y * EACH));
	if (grid.y > 65535)
		return;
	const double bytes = (double)m.width * m.height * sizeof(T);
	const double ns =
		shortest_ns([&] { kernel<<<grid, block>>>((T *)words, (unsigned *)out, m); }, 5);
	Line("pieces", name)("word_bytes", sizeof(T))("width", m.width)("height", m.height)(
		"wide", wide)("bytes", bytes)("blocks", (double)grid.x * grid.y)("ns", ns)("gbs",
	                                                                               bytes / ns);
}

template <unsigned APART> static void apart(unsigned *words)
{
	static const unsigned widths[] = { 1024, 1021, 8191, 8192 };
	for (unsigned mib = 8; mib <= 256; mib *= 32)
		for (unsigned width : widths)
			for (unsigned wide = 4; wide <= MICRO_WARP; wide *= 2) {
				const Matrix m = { width, (mib << 20) / 4 / width };
				const dim3 block(wide, THREADS / wide);
				const dim3 grid((width + wide * APART - 1) / (wide * APART),
				                (m.height + block.y - 1) / block.y);
				const double bytes = 4.0 * m.width * m.height;
				const double ns =
					shortest_ns([&] { m_apart<APART><<<grid, block>>>(words, nullptr, m); }, 5);
				Line("pieces", "apart")("apart", APART)("width", width)("height", m.height)("wide",
				                                                                            wide)(
					"bytes", bytes)("blocks", (double)grid.x * grid.y)("ns", ns)("gbs", bytes / ns);
			}
}

template <typename T> static void sizes(void *words, void *out)
{
	static const unsigned widths[] = { 1024, 1021, 8191, 8192 };
	const unsigned mib[] = { 8, 256 };
	for (unsigned size : mib)
		for (unsigned width : widths)
			for (unsigned wide = 1; wide <= MICRO_WARP; wide *= 2) {
				const Matrix m = { width, (size << 20) / (unsigned)sizeof(T) / width };
				measure<T>("load", m_load<T>, words, out, m, wide);
				measure<T>("store", m_store<T>, words, out, m, wide);
				measure<T>("turn", m_turn<T>, words, out, m, wide);
			}
}

int main()
{
	micro_begin("pieces");
	void *const words = micro_alloc<char>((size_t)256 << 20);
	void *const out = micro_alloc<char>((size_t)256 << 20);
	sizes<unsigned char>(words, out);
	sizes<unsigned>(words, out);
	sizes<uint4>(words, out);
	apart<2>((unsigned *)words);
	apart<4>((unsigned *)words);
	apart<8>((unsigned *)words);
	return 0;
}
