/*
 * Lanes that leave a loop one after the other: which of them are together, and what a card counts.
 * One warp where it does not say otherwise; turns_of() has after how many turns a lane leaves. No
 * time is taken: the counters of each launch are the result (micro.sh, with ncu), and, without
 * MICRO_ONCE, the steps of some (steps.cuh). Some launches are blocks of
 * tests/programs/mandelbrot.cu and spmv.cu.
 */
#include "steps.cuh"

enum shape {
	DO,          /* do { } while (a) */
	WHILE_AND,   /* while (a && b) */
	WHILE_OR,    /* do { } while (a || b) */
	TWO_EXITS,   /* a break in between */
	THREE_EXITS, /* two of them, of which one does more */
	CONTINUE,    /* some turns are short */
	BRANCHES,    /* sides in each turn */
	NESTED,      /* a loop in a loop */
	RETURNS,     /* some lanes end in the loop */
	STORES,      /* shared memory */
	LOADS,       /* sums of what is loaded, by a place that is loaded */
	IN_BRANCH,   /* lanes with bits do the loop, the others wait */
	TWO_LOOPS,   /* one behind the other in a branch */
	BOTH_SIDES,  /* a loop in each side */
	N_SHAPES
};
static const char *const names[] = { "do",          "while_and", "while_or", "two_exits",
	                                 "three_exits", "continue",  "branches", "nested",
	                                 "returns",     "stores",    "loads",    "in_branch",
	                                 "two_loops",   "both_sides" };

template <int N> static __device__ __forceinline__ float add(float x)
{
#pragma unroll
	for (int i = 0; i < N; i++)
		asm volatile("fma.rn.f32 %0, %0, 0f3F000000, 0f3F800000;" : "+f"(x));
	return x;
}

/* Leaves after @turns turns, at place @at. */
template <bool ON>
static __device__ __forceinline__ float simple_loop(Steps<ON> &steps, float x, int turns, int at)
{
	int n = 0;
#pragma unroll 1
	do {
		x = add<4>(x);
		steps.note(at);
	} while (++n < turns);
	return x;
}

/* Loops that lanes leave from within, or whose turns they cut short. */
template <int SHAPE, bool ON>
static __device__ __forceinline__ float cut_loop(Steps<ON> &steps, float x, float *data, int turns)
{
	const unsigned lane = threadIdx.x;
	int n = 0;
	if (SHAPE == TWO_EXITS || SHAPE == THREE_EXITS) {
#pragma unroll 1
		for (;;) {
			x = add<4>(x);
			steps.note(0);
			if (n >= turns)
				break;
			x = add<12>(x);
			steps.note(1);
			if (SHAPE == THREE_EXITS && n + (int)lane % 3 >= turns) {
				x = add<16>(x);
				steps.note(2);
				break;
			}
			if (n + (int)(lane & 1) >= turns)
				break;
			n++;
		}
	}
	if (SHAPE == CONTINUE) {
#pragma unroll 1
		for (; n < turns; n++) {
			x = add<4>(x);
			steps.note(0);
			if ((n + lane) % 3 == 0)
				continue;
			x = add<16>(x);
			steps.note(1);
		}
	}
	if (SHAPE == RETURNS) {
#pragma unroll 1
		for (; n < turns; n++) {
			x = add<4>(x);
			steps.note(0);
			if ((int)lane % 8 == n) {
				data[lane] = add<12>(x);
				steps.end();
				asm volatile("exit;");
			}
		}
	}
	return x;
}

template <int SHAPE, bool ON>
static __device__ __forceinline__ float one_loop(Steps<ON> &steps, float x, float *data, int turns,
                                                 volatile float *room)
{
	const unsigned lane = threadIdx.x;
	const float bound = (float)(40 - turns);
	float y = 0;
	int n = 0;
	if (SHAPE == TWO_EXITS || SHAPE == THREE_EXITS || SHAPE == CONTINUE || SHAPE == RETURNS)
		return cut_loop<SHAPE>(steps, x, data, turns);
	if (SHAPE == DO || SHAPE == STORES || SHAPE == BRANCHES) {
#pragma unroll 1
		do {
			x = add<4>(x);
			if (SHAPE == STORES)
				room[lane] = x;
			if (SHAPE == BRANCHES) {
				if ((lane + n) & 1)
					x = add<12>(x);
				else
					x = add<16>(x);
			}
			steps.note(0);
		} while (++n < turns);
	}
	if (SHAPE == WHILE_AND) {
#pragma unroll 1
		while (n < 24 && y + bound < 40) {
			x = add<4>(x);
			y += 1;
			steps.note(0);
			n++;
		}
	}
	if (SHAPE == WHILE_OR) {
#pragma unroll 1
		do {
			x = add<4>(x);
			y += 1;
			steps.note(0);
		} while (n++ < 3 || y + bound < 40);
	}
	if (SHAPE == NESTED) {
#pragma unroll 1
		for (; n < 3; n++) {
			x = simple_loop(steps, x, turns + (n & 1 ? (int)lane % 4 : 0), 0);
			steps.note(1);
		}
	}
	if (SHAPE == LOADS) {
		const int from = (int)lane * 4;
#pragma unroll 1
		for (int e = from; e < from + turns; e++) {
			y += data[((const int *)data)[256 + e]];
			steps.note(0);
		}
		x += y;
	}
	return x;
}

template <int SHAPE, bool ON>
static __device__ __forceinline__ void body(float *data, const int *turns_of, unsigned outer)
{
	__shared__ volatile float room[STEPS_THREADS];
	const unsigned lane = threadIdx.x;
	const int turns = turns_of[lane];
	const bool inside = outer >> lane % 32 & 1;
	Steps<ON> steps;
	float x = (float)lane;
	room[lane] = 0;
	if (SHAPE == IN_BRANCH) {
		if (inside)
			x = simple_loop(steps, add<4>(x), turns, 0);
	} else if (SHAPE == TWO_LOOPS) {
		if (inside) {
			x = simple_loop(steps, add<4>(x), turns, 0);
			x = add<2>(x);
			if (turns > 2)
				x = simple_loop(steps, x, 12 - turns, 1);
			steps.note(2);
			x = add<2>(x);
		}
	} else if (SHAPE == BOTH_SIDES) {
		if (inside) {
			x = simple_loop(steps, add<4>(x), turns, 0);
		} else {
			x = simple_loop(steps, add<8>(x), turns, 1);
		}
	} else {
		x = one_loop<SHAPE>(steps, x, data, turns, room);
	}
	steps.note(9);
	x = add<4>(x);
	__syncwarp(__activemask());
	if (x == -1 || room[lane] == -2)
		data[lane] = x;
	steps.end();
}

template <int SHAPE> static __global__ void m_loop(float *data, const int *turns_of, unsigned outer)
{
	body<SHAPE, false>(data, turns_of, outer);
}
template <int SHAPE>
static __global__ void noted_loop(float *data, const int *turns_of, unsigned outer)
{
	body<SHAPE, true>(data, turns_of, outer);
}

/* --- two loops of programs, a block or a warp of them at a time --- */

static __global__ void m_escape(unsigned char *out, int w, int h, int limit, int bx, int by)
{
	int x = (blockIdx.x + bx) * blockDim.x + threadIdx.x;
	int y = (blockIdx.y + by) * blockDim.y + threadIdx.y;
	if (x >= w || y >= h)
		return;
	double cr = -2.0 + 3.0 * x / w, ci = -1.0 + 2.0 * y / h, r = 0, i = 0;
	int n = 0;
	while (n < limit && r * r + i * i < 4) {
		double t = r * r - i * i + cr;
		i = 2 * r * i + ci;
		r = t;
		n++;
	}
	out[y * w + x] = (unsigned char)n;
}

static __global__ void m_rows(const int *row, const int *col, const double *val, const double *x,
                              double *y, int n, int first)
{
	int r = (blockIdx.x + first) * blockDim.x + threadIdx.x;
	if (r >= n)
		return;
	double s = 0;
	for (int e = row[r]; e < row[r + 1]; e++)
		s += val[e] * x[col[e]];
	y[r] = s;
}

/* --- after how many turns lanes leave --- */

enum { N_PATTERNS = 17, THREADS = STEPS_THREADS };

static int turns_of(int pattern, int lane, uint64_t *random)
{
	static const int most[] = { 4, 8, 12, 16, 24, 24 };
	switch (pattern) {
	case 0: return lane + 1;
	case 1: return 32 - lane;
	case 2: return lane / 2 + 1;
	case 3: return lane % 16 + 1;
	case 4: return lane / 4 + 1;
	case 5: return lane < 16 ? 3 : 9;
	case 6: return lane == 5 ? 2 : 8;
	case 7: return lane == 5 ? 20 : 4;
	case 8: return lane & 1 ? lane / 2 + 1 : 3;
	case 9: return 5;
	case 10: return lane % 3 * 3 + 1;
	default: return 1 + (int)(micro_random(random) % most[pattern - 11]);
	}
}

template <int SHAPE> static void shape(float *data, int *device, unsigned threads, int first)
{
	for (int p = first; p < N_PATTERNS; p++) {
		static const unsigned outers[] = { 0xffff0000, 0x0000ffff, 0x0f0f0f0f, 0x00000fff,
			                               0xfffffff0, 0x55555555, 0x7fffffff };
		int turns[THREADS];
		uint64_t random = (uint64_t)p * 77 + 5;
		for (int t = 0; t < THREADS; t++)
			turns[t] = turns_of(p, t % 32, &random);
		micro_fail("copy", cudaMemcpy(device, turns, sizeof turns, cudaMemcpyHostToDevice));
		const unsigned outer = outers[p % 7];
		if (micro_once()) {
			Line("loops", names[SHAPE])("pattern", p)("threads", threads)("outer", outer)("untimed",
			                                                                              0.0);
			m_loop<SHAPE><<<1, threads>>>(data, device, outer);
		} else {
			Line line("loops", names[SHAPE]);
			noted_loop<SHAPE><<<1, threads>>>(data, device, outer);
			steps_line(line("pattern", p)("threads", threads)("outer", outer), threads);
		}
	}
}

static void escape()
{
	const int w = 120, h = 80;
	unsigned char *const out = micro_alloc<unsigned char>(w * h);
	for (int by = 0; by < h / 8; by++)
		for (int bx = 0; bx < (w + 15) / 16; bx++) {
			Line("loops", "escape")("bx", bx)("by", by)("untimed", 0.0);
			m_escape<<<1, dim3(16, 8)>>>(out, w, h, 100, bx, by);
		}
}

template <typename T> static T *device_copy(const std::vector<T> &from)
{
	T *const to = micro_alloc<T>(from.size());
	micro_fail("copy",
	           cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
	return to;
}

/* The same numbers as tests/programs/check.h makes. */
static unsigned program_random(unsigned &state)
{
	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

static void rows()
{
	const int n = 700;
	std::vector<int> row(n + 1), col;
	std::vector<double> val;
	unsigned seed = 31;
	for (int r = 0; r < n; r++) {
		row[r] = (int)col.size();
		for (int k = (int)(program_random(seed) % 60); k >= 0; k--) {
			col.push_back((int)(program_random(seed) % n));
			val.push_back((double)(program_random(seed) % 16) / 4 - 2);
		}
	}
	row[n] = (int)col.size();
	const int *const drow = device_copy(row), *const dcol = device_copy(col);
	const double *const dval = device_copy(val);
	double *const x = micro_alloc<double>(n), *const y = micro_alloc<double>(n);
	for (int threads = 32; threads <= 128; threads += 96)
		for (int first = 0; first * threads < n; first++) {
			Line("loops", "rows")("threads", threads)("first", first)("untimed", 0.0);
			m_rows<<<1, threads>>>(drow, dcol, dval, x, y, n, first);
		}
}

template <int SHAPE> static void shapes(float *data, int *turns)
{
	shape<SHAPE>(data, turns, 32, 0);
	if constexpr (SHAPE + 1 < N_SHAPES)
		shapes<SHAPE + 1>(data, turns);
}

int main()
{
	micro_begin("loops");
	float *const data = micro_alloc<float>(4096);
	int *const turns = micro_alloc<int>(THREADS);
	shapes<0>(data, turns);
	shape<DO>(data, turns, 64, 11);
	shape<DO>(data, turns, 128, 11);
	shape<LOADS>(data, turns, 64, 11);
	shape<LOADS>(data, turns, 128, 11);
	if (micro_once()) {
		escape();
		rows();
	}
	micro_fail("launch", cudaDeviceSynchronize());
	return 0;
}
