// Codes over graphs, by vertices and by worklists, with their verdicts; see README.md.
// Vertex v of 256 has the neighbours next(v, 0) to next(v, 2).
#define T threadIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)

__device__ int work_count, best, changed;
__device__ __forceinline__ int next(int v, int e)
{
	return (v * 7 + e * 37 + 1) & 255;
}

// push: every vertex raises its neighbours
//: clean 4 x 64
extern "C" __global__ void push_by_atomics(int *a, int *b, int n)
{
	for (int e = 0; e < 3; e++)
		atomicMax(&b[next(I, e)], a[I]);
}
//: race 4 x 64
extern "C" __global__ void push_without_atomics(int *a, int *b, int n)
{
	for (int e = 0; e < 3; e++)
		if (b[next(I, e)] < a[I])
			b[next(I, e)] = a[I];
}
//: customary 4 x 64
extern "C" __global__ void push_guarded_by_a_plain_read(int *a, int *b, int n)
{
	for (int e = 0; e < 3; e++)
		if (b[next(I, e)] < a[I])
			atomicMax(&b[next(I, e)], a[I]);
}
//: clean 4 x 64
extern "C" __global__ void push_guarded_by_an_atomic_read(int *a, int *b, int n)
{
	for (int e = 0; e < 3; e++)
		if (atomicAdd(&b[next(I, e)], 0) < a[I])
			atomicMax(&b[next(I, e)], a[I]);
}
//: race 4 x 64
extern "C" __global__ void push_in_place(int *a, int *b, int n)
{
	for (int e = 0; e < 3; e++)
		atomicMax(&a[next(I, e)], a[I]);
}
// pull: every vertex looks at its neighbours
//: clean 4 x 64
extern "C" __global__ void pull_into_another_array(int *a, int *b, int n)
{
	int m = a[I];
	for (int e = 0; e < 3; e++)
		m = max(m, a[next(I, e)]);
	b[I] = m;
}
//: race 4 x 64
extern "C" __global__ void pull_in_place(int *a, int *b, int n)
{
	int m = a[I];
	for (int e = 0; e < 3; e++)
		m = max(m, a[next(I, e)]);
	a[I] = m;
}
//: clean 4 x 64
extern "C" __global__ void pull_in_place_volatile(int *a, int *b, int n)
{
	volatile int *value = a;
	int m = value[I];
	for (int e = 0; e < 3; e++)
		m = max(m, value[next(I, e)]);
	value[I] = m;
}
//: race 1 x 256
extern "C" __global__ void pull_with_one_barrier_too_few(int *a, int *b, int n)
{
	for (int i = 0; i < 3; i++) {
		int m = a[I];
		for (int e = 0; e < 3; e++)
			m = max(m, a[next(I, e)]);
		__syncthreads();
		a[I] = m;
	}
}
//: clean 1 x 256
extern "C" __global__ void pull_with_two_barriers(int *a, int *b, int n)
{
	for (int i = 0; i < 3; i++) {
		int m = a[I];
		for (int e = 0; e < 3; e++)
			m = max(m, a[next(I, e)]);
		__syncthreads();
		a[I] = m;
		__syncthreads();
	}
}
// the best vertex of all
//: clean 4 x 64
extern "C" __global__ void best_vertex(int *a, int *b, int n)
{
	int m = 0;
	for (int e = 0; e < 3; e++)
		m += a[next(I, e)];
	if (m > 300)
		atomicMax(&best, m);
}
//: race 4 x 64
extern "C" __global__ void best_vertex_by_look_and_store(int *a, int *b, int n)
{
	int m = 0;
	for (int e = 0; e < 3; e++)
		m += a[next(I, e)];
	if (m > best)
		best = m;
}
// worklists
//: clean 4 x 64
extern "C" __global__ void fill_a_worklist(int *a, int *b, int n)
{
	if (a[I] % 3 == 0)
		b[8 + atomicAdd(&b[0], 1)] = I;
}
//: race 4 x 64
extern "C" __global__ void fill_a_worklist_by_counting(int *a, int *b, int n)
{
	if (a[I] % 3 == 0)
		b[8 + b[0]++] = I;
}
//: customary 4 x 64
extern "C" __global__ void fill_and_look_at_the_count(int *a, int *b, int n)
{
	if (a[I] % 3 == 0 && b[0] < 1000)
		b[8 + atomicAdd(&b[0], 1)] = I;
}
//: clean 4 x 64
extern "C" __global__ void work_of_a_list_into_the_next(int *a, int *b, int n)
{
	const int v = a[I] & 255;
	for (int e = 0; e < 3; e++)
		if (atomicCAS(&b[1024 + next(v, e)], 0, 1) == 0)
			b[8 + atomicAdd(&b[0], 1)] = next(v, e);
}
//: race 4 x 64
extern "C" __global__ void work_of_a_list_by_flag(int *a, int *b, int n)
{
	const int v = a[I] & 255;
	for (int e = 0; e < 3; e++)
		if (b[1024 + next(v, e)] == 0) {
			b[1024 + next(v, e)] = 1;
			b[8 + atomicAdd(&b[0], 1)] = next(v, e);
		}
}
//: clean 4 x 64
extern "C" __global__ void worklist_of_each_block(int *a, int *b, int n)
{
	__shared__ int list[64], count, at;
	if (T == 0)
		count = 0;
	__syncthreads();
	if (a[I] % 3 == 0)
		list[atomicAdd(&count, 1)] = I;
	__syncthreads();
	if (T == 0)
		at = atomicAdd(&b[0], count);
	__syncthreads();
	if (T < count)
		b[8 + at + T] = list[T];
}
//: race 4 x 64
extern "C" __global__ void worklist_of_each_block_sent_too_soon(int *a, int *b, int n)
{
	__shared__ int list[64], count, at;
	if (T == 0)
		count = 0;
	__syncthreads();
	if (a[I] % 3 == 0)
		list[atomicAdd(&count, 1)] = I;
	if (T == 0)
		at = atomicAdd(&b[0], count);
	__syncthreads();
	if (T < count)
		b[8 + at + T] = list[T];
}
// breadth first
//: clean 4 x 64
extern "C" __global__ void visited_by_swap(int *a, int *b, int n)
{
	if (a[I] < 64)
		for (int e = 0; e < 3; e++)
			if (atomicCAS(&b[next(I, e)], 0, 2) == 0)
				changed = 1;
}
//: clean 4 x 64
extern "C" __global__ void everybody_marks_alike(int *a, int *b, int n)
{
	for (int e = 0; e < 3; e++)
		b[next(I, e)] = 1;
}
//: race 4 x 64
extern "C" __global__ void everybody_marks_with_its_name(int *a, int *b, int n)
{
	for (int e = 0; e < 3; e++)
		b[next(I, e)] = I;
}
// union and find
//: race 4 x 64
extern "C" __global__ void path_halving(int *a, int *b, int n)
{
	int v = I;
	a[v] = v / 2;
	for (int p = a[v]; p != a[p]; p = a[v])
		a[v] = a[p], v = p;
}
//: clean 4 x 64
extern "C" __global__ void path_halving_by_atomics(int *a, int *b, int n)
{
	int v = I;
	atomicExch(&a[v], v / 2);
	for (int i = 0; i < 9; i++) {
		const int p = atomicAdd(&a[v], 0), q = atomicAdd(&a[p], 0);
		atomicCAS(&a[v], p, q);
		v = p;
	}
}
//: clean 4 x 64
extern "C" __global__ void hooking_by_swap(int *a, int *b, int n)
{
	for (int e = 0; e < 3; e++) {
		int u = I, v = next(I, e);
		if (u < v)
			atomicMin(&b[v], u);
		else
			atomicMin(&b[u], v);
	}
}
// shortest paths
//: race 4 x 64
extern "C" __global__ void relax_from_a_plain_distance(int *a, int *b, int n)
{
	for (int e = 0; e < 3; e++)
		atomicMin(&a[next(I, e)], a[I] + e);
}
//: clean 4 x 64
extern "C" __global__ void relax_from_an_atomic_distance(int *a, int *b, int n)
{
	for (int e = 0; e < 3; e++)
		atomicMin(&a[next(I, e)], atomicAdd(&a[I], 0) + e);
}
// ranks
//: race 4 x 64
extern "C" __global__ void rank_spread_by_addition(int *a, int *b, int n)
{
	for (int e = 0; e < 3; e++)
		b[next(I, e)] += a[I] / 3;
}
//: clean 4 x 64
extern "C" __global__ void rank_spread_by_atomics(int *a, int *b, int n)
{
	float *r = (float *)b;
	for (int e = 0; e < 3; e++)
		atomicAdd(&r[next(I, e)], a[I] / 3.0f);
}
// a warp for each vertex
//: clean 4 x 64
extern "C" __global__ void warp_for_each_vertex(int *a, int *b, int n)
{
	const int v = I / 32, lane = T % 32;
	int sum = a[(v * 5 + lane) & 255];
	for (int d = 16; d > 0; d /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, d);
	if (lane == 0)
		b[v] = sum;
}
//: race 4 x 64
extern "C" __global__ void warp_for_each_vertex_all_store(int *a, int *b, int n)
{
	const int v = I / 32, lane = T % 32;
	int sum = a[(v * 5 + lane) & 255];
	for (int d = 16; d > 0; d /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, d);
	b[v] = sum;
}
//: race 4 x 64
extern "C" __global__ void two_blocks_for_one_vertex(int *a, int *b, int n)
{
	const int v = blockIdx.x / 2;
	if (T == 0)
		b[v] += a[blockIdx.x];
}
// greedy colouring: looks at neighbours that choose meanwhile
//: race 4 x 64
extern "C" __global__ void colour_in_place(int *a, int *b, int n)
{
	unsigned used = 0;
	for (int e = 0; e < 3; e++)
		used |= 1u << (b[next(I, e)] & 31);
	b[I] = __ffs(~used) + 1;
}
//: clean 4 x 64
extern "C" __global__ void independent_set_by_priority(int *a, int *b, int n)
{
	bool highest = true;
	for (int e = 0; e < 3; e++)
		highest &= a[next(I, e)] * 37 % 101 <= a[I] * 37 % 101;
	if (highest)
		b[I] = 1;
}

// a plain look at a place that swaps change, elsewhere than before its own swap
//: race 4 x 64 "atomic"
extern "C" __global__ void looks_where_others_swap(int *a, int *b, int n)
{
	if (atomicCAS(&b[I % 8], 0, I + 1) != 0)
		b[2048 + I] = b[(I + 1) % 8];
}
// the same before its own swap, but it keeps what it saw
//: race 4 x 64 "atomic"
extern "C" __global__ void keeps_what_it_saw(int *a, int *b, int n)
{
	const int seen = b[0];
	if (a[I] % 3 == 0) {
		atomicMax(&b[0], a[I]);
		b[2048 + I] = seen;
	}
}
//: customary 4 x 64 "atomic"
extern "C" __global__ void looks_before_it_swaps(int *a, int *b, int n)
{
	if (b[I % 8] == 0)
		atomicCAS(&b[I % 8], 0, I + 1);
}
