// A sum of which one side is a choice that only the assembler finds to be made always: of a product,
// which it then fuses with the sum.
#include <cstdio>

__global__ void choose(const float *x, float *y)
{
	const int i = threadIdx.x;
	const float a = x[i];
	y[2 * i] = ((unsigned)__float2int_rn(0.1f) & 1u ? a : a * a) + a;
	y[2 * i + 1] = a - ((unsigned)__float2int_rn(2.9f) & 1u ? a * x[31 - i] : a);
}

int main()
{
	float *x, *y;
	if (cudaMallocManaged(&x, 32 * sizeof *x) || cudaMallocManaged(&y, 64 * sizeof *y))
		return 1;
	for (int i = 0; i < 32; i++)
		x[i] = 1.0f + i * 0.37f;
	choose<<<1, 32>>>(x, y);
	if (cudaDeviceSynchronize())
		return 1;
	for (int i = 0; i < 64; i++)
		printf("%a\n", y[i]);
	cudaFree(x);
	cudaFree(y);
	return 0;
}
