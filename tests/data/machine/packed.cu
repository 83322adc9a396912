// Least, greatest, sums and differences of packed and of wide numbers, lanes that meet in sets, and
// registers that tell where a warp runs: what PTX and machine code print of them is compared
// (tests/cli/machine-code-test.sh).
#include <cstdio>
__device__ unsigned mixed(unsigned v)
{
	v = (v ^ v >> 15) * 0x2c1b3c6du;
	v = (v ^ v >> 12) * 0x297a2d39u;
	return v ^ v >> 15;
}
__global__ void packed(unsigned *o)
{
	const int t = threadIdx.x;
	int k = 0;
	auto put = [&](unsigned v) { o[k++ * 64 + t] = v; };
	const unsigned a = mixed(t), b = mixed(t + 1000), c = mixed(t + 5000);
	put(__viaddmax_s16x2(a, b, c));
	put(__viaddmin_s16x2(a, b, 0x00047fff));
	put(__viaddmax_u16x2(a, b, c));
	put(__viaddmin_u16x2(a, b, c));
	put(__vimax3_s16x2(a, b, c));
	put(__vimin3_u16x2(a, b, c));
	put(__vimax_s16x2_relu(a, b));
	put(__vimin3_s16x2_relu(a, b, c));
	put(__viaddmax_s16x2_relu(a, b, c));
	put(__viaddmax_s32_relu(a, b, c));
	put(__vimax3_s32(a, b, c));
	put(__vmaxs2(a, b));
	put(__vminu2(a, b));
	put(__vadd2(a, b));
	put(__vsub2(a, b));
	put(__vabsdiffu4(a, b));
	put(__vsadu4(a, b));
	put(__vabsdiffs4(a, b));
	put(__vsads4(a, b));
	put(__sad(a, b, c));
	put(__usad(a, b, c));
}
__global__ void wide(unsigned *o, long long n, unsigned long long m)
{
	const int t = threadIdx.x;
	const long long a = (long long)mixed(t) << 32 | mixed(t + 64), b = (long long)mixed(t * 3) << 32;
	const unsigned long long c = a, d = b;
	long long k = min(a, b) ^ max(a, b + 1) * 3;
	k += min(c, d) ^ max(c, d + 7) * 5;
	for (unsigned long long at = 0; at < m; at += min(m, 1024ull)) // the same in all lanes
		k = k * 31 + (long long)max(at, 5ull) + min(n, (long long)at - 3000);
	o[2 * t] = (unsigned)k;
	o[2 * t + 1] = (unsigned)(k >> 32);
}
__global__ void sets(unsigned *o)
{
	const int t = threadIdx.x;
	__shared__ int seen[64];
	seen[t] = t * t;
	if (t % 3) // masks that differ from lane to lane of the warp
		__syncwarp(__match_any_sync(__activemask(), t % 3));
	__syncwarp();
	unsigned k = seen[t ^ 1];
	const unsigned mine = __match_any_sync(0xffffffffu, t / 5);
	k += __shfl_sync(mine, seen[t], __ffs(mine) - 1);
	for (int i = 0; i < t % 4; i++) {
		__nanosleep(20);
		k = k * 3 + __popc(__ballot_sync(__activemask(), k & 1 << i));
	}
	unsigned warp;
	asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
	__syncthreads();
	o[t] = k + (warp << 20);
}
__global__ void together(unsigned *o)
{
#if __CUDA_ARCH__ >= 800
	const int t = threadIdx.x;
	const unsigned v = mixed(t);
	unsigned k = __reduce_max_sync(0xffffffffu, v) ^ __reduce_min_sync(0xffffffffu, (int)v);
	if (t & 1)
		k += __reduce_min_sync(0xaaaaaaaau, (int)v) + __reduce_or_sync(0xaaaaaaaau, v >> t % 32);
	o[t] = k + __reduce_add_sync(0xffffffffu, v);
#endif
}
static void print(const char *name, const unsigned *o, int n)
{
	printf("%s %s", name, cudaGetErrorString(cudaDeviceSynchronize()));
	for (int i = 0; i < n; i++)
		printf(" %x", o[i]);
	puts("");
}
int main()
{
	unsigned *o;
	cudaDeviceProp p;
	cudaGetDeviceProperties(&p, 0);
	cudaMallocManaged(&o, 65536);
	packed<<<1, 64>>>(o);
	print("packed", o, 21 * 64);
	wide<<<1, 64>>>(o, 77, 1 << 14);
	print("wide", o, 128);
	sets<<<1, 64>>>(o);
	print("sets", o, 64);
	if (p.major >= 8) {
		together<<<1, 64>>>(o);
		print("together", o, 64);
	}
	cudaFree(o);
}
