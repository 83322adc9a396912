// Sums of products in half precision: which of them the assembler fuses is up to it, so that what
// PTX gives must be what its machine code gives, to the bit.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ __half number(float v, __half) { return __float2half(v); }
__device__ __half2 number(float v, __half2) { return __float2half2_rn(v); }
__device__ __nv_bfloat16 number(float v, __nv_bfloat16) { return __float2bfloat16(v); }
__device__ __nv_bfloat162 number(float v, __nv_bfloat162) { return __float2bfloat162_rn(v); }

template <class T> __global__ void sums(const T *in, T *out, bool other)
{
	const int i = threadIdx.x;
	const T a = in[i], b = in[i + 32], c = in[i + 64], d = in[i + 96];
	out[i] = a * b + c * d; // one of two
	out[i + 32] = c * d - b * a;
	const T p = a * c; // for two sums, and by itself
	out[i + 64] = p + b;
	out[i + 96] = d - p;
	out[i + 128] = p;
	T s = a - b; // a product of numbers alone
	if (other)
		s = s + number(0.3f, a) * number(-0.75f, a);
	out[i + 160] = s;
	T t = a; // one that a branch may take away
	if (i % 3 == 0)
		t = b * d;
	out[i + 192] = t + c;
	out[i + 224] = -(b * c) - a * number(3.0f, a);
	out[i + 256] = (a * b + c) * d + (b - c * a) * (d + a * number(0.125f, a));
}

// more of them than fit one by one: the assembler packs two single ones into an instruction
template <class T> __global__ void packed(const T *in, T *out, bool other)
{
	const int i = threadIdx.x;
	const T half = number(0.5f, T()), low = number(-0.75f, T()), two = number(2.0f, T());
	T a = in[i], b = in[i + 32], c = in[i + 64], d = in[i + 96];
	a = (d * c + b) * (half * (b - a));
	c = b;
	b = (two + c) * (c + c) + (a + two) * (d - c);
	c = low - (two * d) * (a + a);
	d = (half + b * a) * (c - b) + (c * b - d * number(0.3f, T()));
	out[i] = a;
	out[i + 32] = b;
	out[i + 64] = c;
	out[i + 96] = d;
	const T third = number(0.3f, T()); // of two products one is exact, and the other is not taken
	T e = third * b, f = e - c;
	if (i % 3 == 0 && other)
		b = third * number(-1.0f, T()) - third * f;
	out[i + 128] = b;
	out[i + 160] = e + c;
	out[i + 192] = f;
	out[i + 224] = out[i + 256] = a;
}

template <class T> void show(const char *name, const unsigned short *in, unsigned short *out)
{
	const int n = 288 * sizeof(T) / 2;
	for (int kernel = 0; kernel < 2; kernel++) {
		if (kernel)
			packed<<<1, 32>>>((const T *)in, (T *)out, true);
		else
			sums<<<1, 32>>>((const T *)in, (T *)out, true);
		cudaDeviceSynchronize();
		for (int part = 0; part < 9; part++) {
			unsigned h = 0;
			for (int j = n / 9 * part; j < n / 9 * (part + 1); j++)
				h = h * 31 + out[j];
			printf("%s %d %d: %08x\n", name, kernel, part, h);
		}
	}
}

int main()
{
	unsigned short *in, *out;
	unsigned long long r = 88172645463325252ull;
	cudaMallocManaged(&in, 2048);
	cudaMallocManaged(&out, 2048);
	for (int j = 0; j < 1024; j++) { // numbers from 1/128 to 1
		r ^= r << 13, r ^= r >> 7, r ^= r << 17;
		in[j] = (r & 0x83ff) | (8 + (r >> 20 & 7)) << 10;
	}
	show<__half>("half", in, out);
	show<__half2>("half2", in, out);
	for (int j = 0; j < 1024; j++)
		in[j] = (in[j] & 0x807f) | (120 + (in[j] >> 8 & 7)) << 7;
	show<__nv_bfloat16>("bfloat16", in, out);
	show<__nv_bfloat162>("bfloat162", in, out);
	return 0;
}
