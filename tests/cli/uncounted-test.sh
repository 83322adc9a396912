#!/bin/sh
# A launch that nobody counts leaves what a counted one leaves: atomics of all kinds, in global and shared
# memory, of whole warps and of parts; one word read by a part of a warp. The program checks it all.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip uncounted: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
cat >atomics.cu <<'EOF'
#include <cstdio>
#include <cstring>
typedef unsigned long long u64;
struct words {
	int sum, least, most, bits_and, bits_or, bits_xor;
	unsigned up, down, by_swap, olds;
	float f;
	u64 wide_sum, wide_most;
	long long wide_least;
	double d;
	int generic;
};
__device__ void all(words *w, int v, unsigned turns)
{
	const int old = atomicAdd(&w->sum, 1);
	atomicAdd(&w->olds, (unsigned)old);
	atomicMin(&w->least, v);
	atomicMax(&w->most, v);
	atomicAnd(&w->bits_and, v | 0xff00);
	atomicOr(&w->bits_or, v);
	atomicXor(&w->bits_xor, v);
	atomicInc(&w->up, turns);
	atomicDec(&w->down, turns);
	atomicAdd(&w->f, 0.5f);
	atomicAdd(&w->wide_sum, (u64)v << 20);
	atomicMax(&w->wide_most, (u64)v << 33);
	atomicMin(&w->wide_least, -(long long)v << 33);
	atomicAdd(&w->d, 0.25);
	for (unsigned seen = w->by_swap, next; (next = atomicCAS(&w->by_swap, seen, seen + v)) != seen;)
		seen = next;
}
__global__ void mixed(words *global, words *of_block, const int *limit, unsigned turns)
{
	__shared__ words shared;
	if (threadIdx.x == 0)
		shared = *global;
	__syncthreads();
	const int v = blockIdx.x * blockDim.x + threadIdx.x + turns;
	words *where = turns & 1 ? &shared : global; /* also by a generic address */
	if (threadIdx.x % 3) {
		if (v < *limit)
			all(global, v, turns);
		all(&shared, v, turns);
	}
	atomicAdd(&where->generic, 2);
	__syncthreads();
	if (threadIdx.x == 0)
		of_block[blockIdx.x] = shared;
}
static bool good(const words &w, const words &of, int n, unsigned turns, int extra)
{
	words e = of;
	for (int t = 0; t < n; t++) {
		const int v = t + turns;
		if (t % 3 == 0)
			continue;
		e.olds += e.sum++;
		e.least = v < e.least ? v : e.least;
		e.most = v > e.most ? v : e.most;
		e.bits_and &= v | 0xff00;
		e.bits_or |= v;
		e.bits_xor ^= v;
		e.up = e.up >= turns ? 0 : e.up + 1;
		e.down = e.down == 0 || e.down > turns ? turns : e.down - 1;
		e.f += 0.5f;
		e.wide_sum += (u64)v << 20;
		e.wide_most = (u64)v << 33 > e.wide_most ? (u64)v << 33 : e.wide_most;
		e.wide_least = -(long long)v << 33 < e.wide_least ? -(long long)v << 33 : e.wide_least;
		e.d += 0.25;
		e.by_swap += v;
	}
	e.generic += extra;
	return w.generic == e.generic && w.sum == e.sum && w.olds == e.olds && w.least == e.least && w.most == e.most &&
	       w.bits_and == e.bits_and && w.bits_or == e.bits_or && w.bits_xor == e.bits_xor &&
	       w.up == e.up && w.down == e.down && w.f == e.f && w.wide_sum == e.wide_sum &&
	       w.wide_most == e.wide_most && w.wide_least == e.wide_least && w.d == e.d &&
	       w.by_swap == e.by_swap;
}
int main()
{
	words *global, *of_block, w, b, start;
	int *limit, bad = 0;
	const int threads = 96, many = 1 << 20;
	cudaMalloc(&global, sizeof w);
	cudaMalloc(&of_block, sizeof w);
	cudaMalloc(&limit, sizeof *limit);
	cudaMemcpy(limit, &many, sizeof many, cudaMemcpyHostToDevice);
	memset(&start, 0, sizeof start);
	start.least = 1 << 30;
	start.bits_and = -1;
	start.wide_least = 1ll << 60;
	for (unsigned turn = 1; turn <= 6; turn++) {
		cudaMemcpy(global, &start, sizeof start, cudaMemcpyHostToDevice);
		cudaMemset(of_block, 0, sizeof w);
		mixed<<<1, threads>>>(global, of_block, limit, turn);
		cudaMemcpy(&w, global, sizeof w, cudaMemcpyDeviceToHost);
		cudaMemcpy(&b, of_block, sizeof b, cudaMemcpyDeviceToHost);
		bad += !good(w, start, threads, turn, turn & 1 ? 0 : 2 * threads);
		bad += !good(b, start, threads, turn, turn & 1 ? 2 * threads : 0);
	}
	printf("%d wrong\n", bad);
	cudaFree(global), cudaFree(of_block), cudaFree(limit);
	return bad;
}
EOF
run only-done 0 launches atomics.cu --no-races
same only-done-right '0 wrong' "$(head -n 1 out)"
run all-counted 0 launches atomics.cu --no-races --count 6
same all-counted-right '0 wrong' "$(head -n 1 out)"
