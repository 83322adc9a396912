#include <cstdio>
// two float32 at a time, each rounded twice as PTX has it
__global__ void pairs(const unsigned long long *in, unsigned long long *out)
{
#if __CUDA_ARCH__ >= 1000
	asm("{ .reg .b64 p; mul.rn.f32x2 p, %1, %2; add.rn.f32x2 %0, p, %3; }"
	    : "=l"(out[threadIdx.x])
	    : "l"(in[0]), "l"(in[1]), "l"(in[2]));
#endif
}
int main()
{
	const float h[6] = { 1.1f, 1.3f, 1.7f, 1.9f, -1.87f, -2.47f };
	unsigned long long *in, *out;
	float r[2];
	cudaMalloc(&in, sizeof h);
	cudaMalloc(&out, 256);
	cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
	pairs<<<1, 32>>>(in, out);
	cudaMemcpy(r, out, 8, cudaMemcpyDeviceToHost);
	printf("%g %g\n", r[0], r[1]);
	cudaFree(in);
	cudaFree(out);
}
