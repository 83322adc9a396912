// Three random generators in one kernel: thousands of instructions in subroutines, which all calls of
// them share, with hundreds of places in local memory.
#include <cstdio>
#include <curand_kernel.h>

__global__ void draw(unsigned *out)
{
	const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
	curandStateXORWOW_t a;
	curandStatePhilox4_32_10_t b;
	curandStateMRG32k3a_t c;
	curand_init(1234, i, 0, &a);
	curand_init(1234, i, 0, &b);
	curand_init(1234, i, 0, &c);
	unsigned sum = 0;
	for (int k = 0; k < 8; k++)
		sum += curand(&a) + curand_poisson(&b, 12.5) + (unsigned)(1000 * curand_log_normal(&c, 0, 1)) +
		       (unsigned)(1000 * curand_uniform_double(&a)) + (unsigned)(1000 * curand_uniform(&c)) +
		       __float_as_uint(curand_normal(&b)); // a sine and a cosine of the machine's own
	out[i] = sum;
}

int main()
{
	unsigned *out, all = 0;
	cudaMallocManaged(&out, 128 * sizeof *out);
	draw<<<2, 64>>>(out);
	cudaDeviceSynchronize();
	for (int i = 0; i < 128; i++)
		all = all * 31 + out[i];
	printf("generators: %08x\n", all);
	return 0;
}
