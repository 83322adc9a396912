/*
 * Small kernels of whole programs, cut short behind each of their parts: what a part takes is the
 * difference of two launches. Each is launched four times in a row; prints a line per launch:
 * the kernel and how far it goes, and whether it is the first or "again". Times are taken by
 * `pmpp-explore launches --backend cuda` (before.py), by the emulator the same way.
 * Needs compute capability 9.0a.
 */
#include "micro.cuh"

#include "../../programs/hopper.h"
#include "../../programs/tensor_map.h"
#include "../../programs/warp_group.h"

#define TIMES 4

/* A sum of a block by halves; STEPS of them. */
template <class T, int BLOCK, int STEPS> static __global__ void tree(const T *in, T *out, int n)
{
	__shared__ T s[BLOCK];
	T mine = in[threadIdx.x % n];
	for (int i = threadIdx.x + BLOCK; i < n; i += BLOCK)
		mine += in[i];
	s[threadIdx.x] = mine;
	__syncthreads();
	for (int d = BLOCK / 2, k = 0; d > 0 && k < STEPS; d /= 2, k++) {
		if (threadIdx.x < d)
			s[threadIdx.x] += s[threadIdx.x + d];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*out = s[0];
}

/* The same with the block's size unknown to the compiler. */
static __global__ void tree_any(const float *in, float *out, int steps)
{
	extern __shared__ float halves[];
	halves[threadIdx.x] = in[threadIdx.x];
	__syncthreads();
	for (unsigned d = blockDim.x / 2; d > 0 && steps > 0; d /= 2, steps--) {
		if (threadIdx.x < d)
			halves[threadIdx.x] += halves[threadIdx.x + d];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*out = halves[0];
}

static __global__ void scan(const int *in, int *out, int steps)
{
	extern __shared__ int sums[];
	const int t = threadIdx.x;
	sums[t] = in[t];
	for (int d = 1; d < (int)blockDim.x && steps > 0; d *= 2, steps--) {
		__syncthreads();
		const int v = t >= d ? sums[t - d] : 0;
		__syncthreads();
		sums[t] += v;
	}
	out[blockIdx.x * blockDim.x + t] = sums[t];
}

/* A dot product: 0 one load each, 1 the loop, 2 sums of warps, 3 of the block, 4 of all blocks. */
template <class T, int PARTS> static __global__ void dot(const T *a, const T *b, T *out, int n)
{
	__shared__ T part[32];
	const int first = blockIdx.x * blockDim.x + threadIdx.x;
	T v = a[first] * b[first];
	if (PARTS > 0)
		for (int i = first + gridDim.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
			v += a[i] * b[i];
	if (PARTS > 1)
		for (int d = 16; d; d >>= 1)
			v += __shfl_down_sync(~0u, v, d);
	if (PARTS < 3) {
		if (threadIdx.x % 32 == 0)
			out[first / 32] = v;
		return;
	}
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	if (threadIdx.x != 0)
		return;
	for (int w = 1; w < (int)blockDim.x / 32; w++)
		v += part[w];
	if (PARTS > 3)
		atomicAdd(out, v);
	else
		out[blockIdx.x] = v;
}

/* Elements: 0 stored only, then one load, two, and eight around it. */
template <class T, int LOADS> static __global__ void map(const T *a, const T *b, T *out, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	T v = i;
	if (LOADS > 0)
		v += a[i];
	if (LOADS == 2)
		v += b[i];
	if (LOADS == 8)
#pragma unroll
		for (int d = 1; d < 8; d++)
			v += a[(i + d * 37) % n];
	out[i] = v;
}

static __global__ void map_in_place(int *x, int n, int v)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] += v;
}

/* A row of a sparse matrix: 0 its ends, 1 the numbers, 2 what they ask for, 3 the sum. */
template <int PARTS>
static __global__ void row_of_warp(const int *row, const int *col, const double *val,
                                   const double *x, double *y, int n)
{
	const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	if (r >= n)
		return;
	double s = 0;
	if (PARTS == 0)
		s = row[r] + row[r + 1];
	else
		for (int e = row[r] + lane; e < row[r + 1]; e += 32)
			s += val[e] * (PARTS == 1 ? col[e] : x[col[e]]);
	if (PARTS == 3)
		for (int d = 16; d; d /= 2)
			s += __shfl_xor_sync(~0u, s, d);
	if (lane == 0)
		y[r] = s;
}

/* What a row's numbers ask for: 0 one word, 1 words side by side, 2 words anywhere. */
template <int WHERE>
static __global__ void gather(const int *row, const int *col, const double *x, double *y, int n)
{
	const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	if (r >= n)
		return;
	const int e = row[r] + lane, c = col[e];
	y[r * 32 + lane] = x[WHERE == 0 ? c & 1 : WHERE == 1 ? (c & 1) + lane : c];
}

struct numbers {
	int at[256];
};

/* So many lines of parameters, 256 bytes each. */
template <int LINES> static __global__ void parameters(const __grid_constant__ numbers p, int *out)
{
	int sum = p.at[0];
	for (int i = 1; i < LINES; i++)
		sum += p.at[i * 64];
	out[threadIdx.x] = sum;
}

static __constant__ int table[1024];

/* So many lines of constants. */
template <int LINES> static __global__ void constants(int *out)
{
	int sum = 0;
	for (int i = 0; i < LINES; i++)
		sum += table[i * 64];
	out[threadIdx.x] = sum;
}

static __global__ void sized(int *out)
{
	out[blockIdx.x * blockDim.x + threadIdx.x] = gridDim.x;
}

static __global__ void surface_write(cudaSurfaceObject_t s)
{
	surf2Dwrite((unsigned char)(threadIdx.x * 7 + threadIdx.y), s, threadIdx.x, threadIdx.y);
}

template <int LOADS> static __global__ void surface_read(cudaSurfaceObject_t s, int *out)
{
	int sum = 0;
#pragma unroll
	for (int i = 0; i < LOADS; i++)
		sum += surf2Dread<unsigned char>(s, threadIdx.x + i % 3 - 1, threadIdx.y + i / 3 - 1,
		                                 cudaBoundaryModeZero);
	out[threadIdx.y * blockDim.x + threadIdx.x] = sum;
}

/* A box by TMA: 0 the barrier alone, 1 the box, 2 stored as well. */
template <int PARTS>
static __global__ void take(const __grid_constant__ CUtensorMap map, int bytes, int5 c,
                            unsigned *out)
{
	extern __shared__ __align__(1024) unsigned box[];
	__shared__ uint64_t full;
	if (threadIdx.x == 0) {
		barrier_init(&full, 1);
		fence_init();
		if (PARTS > 0) {
			barrier_expect(&full, bytes);
			tensor_load<2>(box, &map, c, &full);
		}
	}
	__syncthreads();
	if (PARTS > 0)
		barrier_wait(&full, 0);
	for (int i = threadIdx.x; i < (PARTS > 1 ? bytes / 4 : 64); i += blockDim.x)
		out[i] = box[i];
}

/* A product of a warp group: 0 tiles stored, 1 shown to the tensor cores, 2 multiplied. */
template <int PARTS>
static __global__ void product(const unsigned *a, const unsigned *b, int words, float *d)
{
	__shared__ alignas(1024) unsigned in_a[4096], in_b[4096];
	for (int i = threadIdx.x; i < words; i += 128)
		in_a[i] = a[i];
	for (int i = threadIdx.x; i < words; i += 128)
		in_b[i] = b[i];
	if (PARTS > 0)
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	float sum[16];
	for (int i = 0; i < 16; i++)
		sum[i] = i % 3;
	if (PARTS > 1) {
		group_fence();
		const uint64_t x = matrix_descriptor(in_a, 128, 256, 0),
					   y = matrix_descriptor(in_b, 128, 256, 0);
		asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %18, 0;\n"
		             "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, "
		             "%6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, p, 1, 1, 0, 0;\n}"
		             : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]),
		               "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]),
		               "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]),
		               "+f"(sum[15])
		             : "l"(x), "l"(y), "r"(1));
		group_commit();
		group_wait<0>();
	} else {
		sum[0] += in_a[threadIdx.x * 5 % words] + in_b[threadIdx.x * 3 % words];
	}
	for (int i = 0; i < 16; i++)
		d[(threadIdx.x / 4 + 8 * (i / 2 % 2)) * 32 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] =
			sum[i];
}

/* Sums of products as a warp group stores them, so many of the 16 of a thread: words apart, of 8
 * rows at a time. SAME: all warps to the same rows; PAIRS: two words at once. */
template <int STORES, bool SAME, bool PAIRS> static __global__ void fragments(float *d, float v)
{
	const int t = threadIdx.x;
#pragma unroll
	for (int i = 0; i < STORES; i += PAIRS ? 2 : 1) {
		const int row = (SAME ? 0 : t / 32 * 16) + t % 32 / 4 + 8 * (i / 2 % 2);
		float *const to = d + row * 32 + i / 4 * 8 + t % 4 * 2;
		if (PAIRS)
			*(float2 *)to = make_float2(v, v + 1);
		else
			to[i % 2] = v;
	}
}

template <class F> static void times(const char *name, int parts, F launch)
{
	for (int i = 0; i < TIMES; i++) {
		launch();
		printf("%s/%d %s\n", name, parts, i ? "again" : "first");
	}
	micro_fail(name, cudaDeviceSynchronize());
}

#define N 4096
static double *in, *in2, *out;

template <class T, int BLOCK, int STEPS> static void tree_steps(const char *name)
{
	times(name, STEPS, [] { tree<T, BLOCK, STEPS><<<1, BLOCK>>>((T *)in, (T *)out, 500); });
}

template <class T> static void trees(const char *name)
{
	tree_steps<T, 128, 0>(name);
	tree_steps<T, 128, 1>(name);
	tree_steps<T, 128, 2>(name);
	tree_steps<T, 128, 4>(name);
	tree_steps<T, 128, 7>(name);
}

template <class T> static void dots(const char *name)
{
	times(name, 0, [] { dot<T, 0><<<4, 256>>>((T *)in, (T *)in2, (T *)out, N); });
	times(name, 1, [] { dot<T, 1><<<4, 256>>>((T *)in, (T *)in2, (T *)out, N); });
	times(name, 2, [] { dot<T, 2><<<4, 256>>>((T *)in, (T *)in2, (T *)out, N); });
	times(name, 3, [] { dot<T, 3><<<4, 256>>>((T *)in, (T *)in2, (T *)out, N); });
	times(name, 4, [] { dot<T, 4><<<4, 256>>>((T *)in, (T *)in2, (T *)out, N); });
}

template <class T> static void maps(const char *name, int blocks)
{
	char text[64];
	snprintf(text, sizeof text, "%s_%d", name, blocks);
	const int n = blocks * 256;
	times(text, 0, [&] { map<T, 0><<<blocks, 256>>>((T *)in, (T *)in2, (T *)out, n); });
	times(text, 1, [&] { map<T, 1><<<blocks, 256>>>((T *)in, (T *)in2, (T *)out, n); });
	times(text, 2, [&] { map<T, 2><<<blocks, 256>>>((T *)in, (T *)in2, (T *)out, n); });
	times(text, 8, [&] { map<T, 8><<<blocks, 256>>>((T *)in, (T *)in2, (T *)out, n); });
}

static void rows()
{
	const int n = 700;
	static int row[701], col[64 * 700];
	int made = 0;
	unsigned seed = 31;
	for (int r = 0; r < n; r++) {
		row[r] = made;
		for (int k = (seed = seed * 1664525u + 1013904223u) >> 16 & 63; k >= 0; k--)
			col[made++] = (int)((seed = seed * 1664525u + 1013904223u) >> 8) % n;
	}
	row[n] = made;
	int *const d_row = micro_alloc<int>(n + 1), *const d_col = micro_alloc<int>(made);
	double *const val = micro_alloc<double>(made);
	cudaMemcpy(d_row, row, sizeof row, cudaMemcpyHostToDevice);
	cudaMemcpy(d_col, col, made * sizeof *col, cudaMemcpyHostToDevice);
	times("row", 0, [&] { row_of_warp<0><<<175, 128>>>(d_row, d_col, val, in, out, n); });
	times("row", 1, [&] { row_of_warp<1><<<175, 128>>>(d_row, d_col, val, in, out, n); });
	times("row", 2, [&] { row_of_warp<2><<<175, 128>>>(d_row, d_col, val, in, out, n); });
	times("row", 3, [&] { row_of_warp<3><<<175, 128>>>(d_row, d_col, val, in, out, n); });
	times("gather_175", 0, [&] { gather<0><<<175, 128>>>(d_row, d_col, in, out, n); });
	times("gather_175", 1, [&] { gather<1><<<175, 128>>>(d_row, d_col, in, out, n); });
	times("gather_175", 2, [&] { gather<2><<<175, 128>>>(d_row, d_col, in, out, n); });
	times("gather_1", 0, [&] { gather<0><<<1, 128>>>(d_row, d_col, in, out, n); });
	times("gather_1", 1, [&] { gather<1><<<1, 128>>>(d_row, d_col, in, out, n); });
	times("gather_1", 2, [&] { gather<2><<<1, 128>>>(d_row, d_col, in, out, n); });
}

static void launched()
{
	numbers p = {};
	times("parameters", 1, [&] { parameters<1><<<1, 32>>>(p, (int *)out); });
	times("parameters", 2, [&] { parameters<2><<<1, 32>>>(p, (int *)out); });
	times("parameters", 4, [&] { parameters<4><<<1, 32>>>(p, (int *)out); });
	times("constants", 0, [&] { constants<0><<<1, 32>>>((int *)out); });
	times("constants", 1, [&] { constants<1><<<1, 32>>>((int *)out); });
	times("constants", 2, [&] { constants<2><<<1, 32>>>((int *)out); });
	times("constants", 4, [&] { constants<4><<<1, 32>>>((int *)out); });
	times("sized", 1, [&] { sized<<<1, 32>>>((int *)out); });
}

static void surfaces()
{
	const cudaChannelFormatDesc byte = cudaCreateChannelDesc<unsigned char>();
	cudaArray_t array;
	cudaSurfaceObject_t s;
	cudaResourceDesc r = {};
	micro_fail("array", cudaMallocArray(&array, &byte, 32, 32, cudaArraySurfaceLoadStore));
	r.resType = cudaResourceTypeArray;
	r.res.array.array = array;
	micro_fail("surface", cudaCreateSurfaceObject(&s, &r));
	const dim3 block(32, 32);
	times("surface_write", 1, [&] { surface_write<<<1, block>>>(s); });
	times("surface_write", 0, [&] { surface_write<<<1, 32>>>(s); });
	times("surface_read", 1, [&] { surface_read<1><<<1, block>>>(s, (int *)out); });
	times("surface_read", 3, [&] { surface_read<3><<<1, block>>>(s, (int *)out); });
	times("surface_read", 9, [&] { surface_read<9><<<1, block>>>(s, (int *)out); });
	times("surface_read_warp", 9, [&] { surface_read<9><<<1, 32>>>(s, (int *)out); });
}

static void boxes()
{
	const CUtensorMap m = tensor_map<2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, in, { 96, 40 }, { 96 * 4 },
	                                    { 16, 16 }, { 1, 1 }, CU_TENSOR_MAP_SWIZZLE_NONE);
	const int5 c{ { 8, 5 } };
	times("take", 0, [&] { take<0><<<1, 64, 16384>>>(m, 1024, c, (unsigned *)out); });
	times("take", 1, [&] { take<1><<<1, 64, 16384>>>(m, 1024, c, (unsigned *)out); });
	times("take", 2, [&] { take<2><<<1, 64, 16384>>>(m, 1024, c, (unsigned *)out); });
	times("take_wide", 2, [&] { take<2><<<1, 256, 16384>>>(m, 1024, c, (unsigned *)out); });
}

template <bool SAME, bool PAIRS> static void stored(const char *name)
{
	times(name, 2, [] { fragments<2, SAME, PAIRS><<<1, 128>>>((float *)out, 1); });
	times(name, 4, [] { fragments<4, SAME, PAIRS><<<1, 128>>>((float *)out, 1); });
	times(name, 8, [] { fragments<8, SAME, PAIRS><<<1, 128>>>((float *)out, 1); });
	times(name, 16, [] { fragments<16, SAME, PAIRS><<<1, 128>>>((float *)out, 1); });
}

static void products()
{
	stored<false, false>("stored_apart");
	stored<true, false>("stored_apart_same");
	stored<false, true>("stored_pairs");
	stored<true, true>("stored_pairs_same");
	const unsigned *const a = (unsigned *)in, *const b = (unsigned *)in2;
	for (int words : { 128, 512, 2048 }) {
		char text[32];
		snprintf(text, sizeof text, "product_%d", words);
		times(text, 0, [&] { product<0><<<1, 128>>>(a, b, words, (float *)out); });
		times(text, 1, [&] { product<1><<<1, 128>>>(a, b, words, (float *)out); });
		times(text, 2, [&] { product<2><<<1, 128>>>(a, b, words, (float *)out); });
	}
}

int main()
{
	in = micro_alloc<double>(1 << 17);
	in2 = micro_alloc<double>(1 << 17);
	out = micro_alloc<double>(1 << 17);
	trees<float>("tree_float");
	trees<double>("tree_double");
	for (int steps : { 0, 1, 2, 4, 8 })
		times("tree_any", steps,
		      [&] { tree_any<<<1, 256, 1024>>>((float *)in, (float *)out, steps); });
	for (int steps : { 0, 1, 2, 4, 8 })
		times("scan", steps, [&] { scan<<<1, 256, 1024>>>((int *)in, (int *)out, steps); });
	for (int steps : { 0, 8 })
		times("scan_118", steps, [&] { scan<<<118, 256, 1024>>>((int *)in, (int *)out, steps); });
	dots<float>("dot_float");
	dots<double>("dot_double");
	for (int blocks : { 1, 16, 196 }) {
		maps<int>("map_int", blocks);
		maps<double>("map_double", blocks);
		maps<char>("map_char", blocks);
		char text[32];
		snprintf(text, sizeof text, "map_in_place_%d", blocks);
		times(text, 1, [&] { map_in_place<<<blocks, 256>>>((int *)out, blocks * 256, 3); });
	}
	launched();
	rows();
	surfaces();
	boxes();
	products();
	return 0;
}
