// Values that one lane hands to the whole warp (R2UR under a guard), which of two halves is the
// larger one (VIMNMX with predicates), and halves whose subnormals are zero (HADD2.FTZ): what PTX
// and machine code print of them is compared (tests/cli/machine-code-test.sh).
#include <cstdint>
#include <cstdio>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
__global__ void bulk(const unsigned *in, unsigned *o)
{
	__shared__ alignas(128) unsigned s[64];
	__shared__ uint64_t bar;
	if (!threadIdx.x) {
		ptx::mbarrier_init(&bar, 1);
		asm volatile("fence.mbarrier_init.release.cluster;");
	}
	__syncthreads();
	if (!threadIdx.x) {
		ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in, sizeof s, &bar);
		ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
		                               sizeof s);
	}
	while (!ptx::mbarrier_try_wait_parity(&bar, 0))
		;
	o[threadIdx.x] = s[threadIdx.x] * 3 + 1;
}
__global__ void larger(const unsigned *in, unsigned *o)
{
	const unsigned x = in[threadIdx.x], y = in[threadIdx.x ^ 5];
	bool high, low, high_u, low_u;
	o[threadIdx.x] = __vibmax_s16x2(x, y, &high, &low) ^ __vibmin_u16x2(x, y, &high_u, &low_u);
	o[threadIdx.x] += high + 2 * low + 4 * high_u + 8 * low_u;
}
__global__ void flushed(const unsigned *in, unsigned *o)
{
	const unsigned x = in[threadIdx.x], y = in[threadIdx.x ^ 3];
	unsigned sum, product, fused;
	asm("add.ftz.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(x), "r"(y));
	asm("mul.ftz.f16x2 %0, %1, %2;" : "=r"(product) : "r"(x & 0x9fff9fffu), "r"(y));
	asm("fma.rn.ftz.f16x2 %0, %1, %2, %3;"
	    : "=r"(fused)
	    : "r"(x & 0xbfffbfffu), "r"(y & 0x9fff9fffu), "r"(x & 0x83ff83ffu));
	o[threadIdx.x] = sum ^ product << 1 ^ fused << 2;
}
static void print(const char *name, const unsigned *o)
{
	printf("%s %s", name, cudaGetErrorString(cudaDeviceSynchronize()));
	for (int i = 0; i < 64; i++)
		printf(" %x", o[i]);
	puts("");
}
int main()
{
	unsigned *in, *o;
	cudaMallocManaged(&in, 256);
	cudaMallocManaged(&o, 256);
	for (unsigned i = 0; i < 64; i++)
		in[i] = (i + 1) * 0x9e3779b1u >> i % 7 * 2;
	bulk<<<1, 64>>>(in, o);
	print("bulk", o);
	larger<<<1, 64>>>(in, o);
	print("larger", o);
	flushed<<<1, 64>>>(in, o);
	print("flushed", o);
	cudaFree(in);
	cudaFree(o);
}
