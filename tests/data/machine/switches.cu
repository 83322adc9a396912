// A choice among many that all threads make alike, by a parameter: a branch by a table through a uniform
// register (BRXU), beside one that each thread makes for itself (BRX).
#include <cstdio>

__global__ void alike(const float *in, float *out, int kind)
{
	float v = in[threadIdx.x];
	switch (kind) { // far enough apart from one another that no selection does
	case 0: v = sqrtf(v) + 1; break;
	case 1: v = v / 3 - 2; break;
	case 2: out[threadIdx.x + 64] = v; break;
	case 3: v = __expf(v) * 5; break;
	case 4:
		for (int k = 0; k < 5; k++)
			v += in[(threadIdx.x + k) % 64];
		break;
	case 5: v = fmaxf(v, 0.25f); break;
	case 6: v = rintf(8 * v); break;
	}
	out[threadIdx.x] = v;
}

__global__ void each(const float *in, float *out)
{
	float v = in[threadIdx.x];
	switch (threadIdx.x % 8) {
	case 0: v = sqrtf(v) + 1; break;
	case 1: v = v / 3 - 2; break;
	case 2: out[threadIdx.x + 64] = v; break;
	case 3: v = __expf(v) * 5; break;
	case 4:
		for (int k = 0; k < 5; k++)
			v += in[(threadIdx.x + k) % 64];
		break;
	case 5: v = fmaxf(v, 0.25f); break;
	case 6: v = rintf(8 * v); break;
	}
	out[threadIdx.x] = v;
}

int main()
{
	float *in, *out;
	cudaMallocManaged(&in, 64 * sizeof *in);
	cudaMallocManaged(&out, 128 * sizeof *out);
	for (int i = 0; i < 64; i++)
		in[i] = (float)(i * 37 % 64) / 16;
	for (int kind = 0; kind < 9; kind++) {
		for (int i = 0; i < 128; i++)
			out[i] = -1;
		if (kind < 8)
			alike<<<1, 64>>>(in, out, kind);
		else
			each<<<1, 64>>>(in, out);
		cudaDeviceSynchronize();
		unsigned h = 0;
		for (int i = 0; i < 128; i++)
			h = h * 31 + ((const unsigned *)out)[i];
		printf("%d: %08x\n", kind, h);
	}
	printf("%s\n", cudaGetErrorString(cudaGetLastError()));
	return 0;
}
