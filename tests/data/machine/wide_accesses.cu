// Loads and stores of 32 bytes a thread, which sm_100 and later have: two groups of registers each.
#include <cstdio>

__global__ void loads(const float *a, float *out)
{
	float v[8];
	asm volatile("ld.global.v8.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
	             : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]),
	               "=f"(v[7])
	             : "l"(a + 8 * threadIdx.x));
	for (int i = 0; i < 8; i++)
		out[32 * i + threadIdx.x] = v[i];
}

__global__ void both(const unsigned long long *a, unsigned long long *out)
{
	unsigned long long v[4];
	asm volatile("ld.global.nc.v4.b64 {%0, %1, %2, %3}, [%4];"
	             : "=l"(v[0]), "=l"(v[1]), "=l"(v[2]), "=l"(v[3])
	             : "l"(a + 4 * threadIdx.x));
	asm volatile("st.global.v4.b64 [%4], {%1, %0, %3, %2};"
	             :
	             : "l"(v[0]), "l"(v[1]), "l"(v[2] + 1), "l"(v[3]), "l"(out + 4 * threadIdx.x)
	             : "memory");
}

__global__ void stores(float *out)
{
	const float x = threadIdx.x;
	asm volatile("st.global.v8.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"
	             :
	             : "l"(out + 8 * threadIdx.x), "f"(x), "f"(x + 1), "f"(x + 2), "f"(x * 3), "f"(x + 4),
	               "f"(x + 5), "f"(x * 6), "f"(0.0f)
	             : "memory");
}

int main()
{
	float *a, *out;
	cudaMallocManaged(&a, 2048 * sizeof *a);
	cudaMallocManaged(&out, 256 * sizeof *out);
	for (int i = 0; i < 2048; i++)
		a[i] = i * 0.5f;
	for (int k = 0; k < 3; k++) {
		if (k == 0)
			loads<<<1, 32>>>(a, out);
		else if (k == 1)
			both<<<1, 32>>>((const unsigned long long *)a, (unsigned long long *)out);
		else
			stores<<<1, 32>>>(out);
		cudaDeviceSynchronize();
		for (int i = 0; i < 256; i++)
			printf("%g%c", out[i], i % 8 == 7 ? '\n' : ' ');
	}
	printf("%s\n", cudaGetErrorString(cudaGetLastError()));
	return 0;
}
