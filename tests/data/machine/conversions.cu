// Conversions between integers and floating point of every width, rounded in every direction: what
// PTX and machine code print of them is compared (tests/cli/machine-code-test.sh).
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__device__ unsigned mixed(unsigned v)
{
	v = (v ^ v >> 15) * 0x2c1b3c6du;
	v = (v ^ v >> 12) * 0x297a2d39u;
	return v ^ v >> 15;
}
struct values {
	int i;
	long long l;
	float f;
	double d;
	__half h;
	__nv_bfloat16 b;
};
// Numbers of all sizes, beyond what the narrow types hold, and some that are odd.
__device__ values value(int t)
{
	const unsigned r = mixed(t + 1);
	values v;
	v.i = (int)r >> r % 31;
	v.l = (long long)((unsigned long long)r << 32 | mixed(r)) >> r % 60;
	v.f = ldexpf((int)mixed(r + 1), (int)(r >> 8) % 40 - 35);
	if (t < 5) {
		const unsigned odd[] = { 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x80000000u, 1u };
		v.f = __uint_as_float(odd[t]);
	}
	v.d = (double)v.f * 1.0000000123;
	v.h = __float2half(v.f);
	v.b = __float2bfloat16(v.f);
	return v;
}
template <class T> __device__ void put(unsigned long long *out, int &k, T v)
{
	unsigned long long bits = 0;
	memcpy(&bits, &v, sizeof v);
	out[k++ * 64 + threadIdx.x] = bits;
}
__global__ void to_integers(unsigned long long *o)
{
	const values v = value(threadIdx.x);
	int k = 0;
	put(o, k, (long long)v.f);
	put(o, k, (unsigned long long)v.d);
	put(o, k, (short)v.f);
	put(o, k, (signed char)v.d);
	put(o, k, __float2int_ru(v.f));
	put(o, k, __double2uint_rd(v.d));
	put(o, k, __half2short_rz(v.h));
	put(o, k, __half2short_rn(v.h));
	put(o, k, __half2ushort_ru(v.h));
	put(o, k, __half2char_rz(v.h));
	put(o, k, __half2uchar_rz(v.h));
	put(o, k, __half2int_rd(v.h));
	put(o, k, __half2uint_rn(v.h));
	put(o, k, __half2ll_ru(v.h));
	put(o, k, __half2ull_rz(v.h));
	put(o, k, __bfloat162short_rz(v.b));
	put(o, k, __bfloat162int_rn(v.b));
	put(o, k, __bfloat162ll_rd(v.b));
	short s;
	unsigned short u;
	asm("cvt.rni.s16.f32 %0, %1;" : "=h"(s) : "f"(v.f));
	put(o, k, s);
	asm("cvt.rpi.u16.f64 %0, %1;" : "=h"(u) : "d"(v.d));
	put(o, k, u);
}
__global__ void to_floats(unsigned long long *o)
{
	const values v = value(threadIdx.x);
	int k = 0;
	put(o, k, __int2half_rn(v.i));
	put(o, k, __uint2half_rz(v.i));
	put(o, k, __int2half_rd(v.i));
	put(o, k, __ll2half_rn(v.l));
	put(o, k, __ll2half_ru(v.l));
	put(o, k, __ull2half_rd(v.l));
	put(o, k, __short2half_rn(v.i));
	put(o, k, __ushort2half_ru(v.i));
	put(o, k, __int2bfloat16_rn(v.i));
	put(o, k, __ll2bfloat16_rn(v.l));
	put(o, k, __ull2bfloat16_rz(v.l));
	put(o, k, __int2float_rz(v.i));
	put(o, k, __uint2float_ru(v.i));
	put(o, k, __ll2float_rd(v.l));
	put(o, k, __ull2double_ru(v.l));
	put(o, k, (float)(signed char)v.i);
	put(o, k, (double)(unsigned short)v.i);
	put(o, k, __double2float_rz(v.d));
	put(o, k, __double2half(v.d));
	put(o, k, __float2half_ru(v.f));
	put(o, k, __float2half_rd(v.f));
	put(o, k, __double2bfloat16(v.d));
	put(o, k, __float2bfloat16_ru(v.f));
	put(o, k, __half2float(v.h) + 1);
	put(o, k, __bfloat162float(v.b) + 1);
	put(o, k, v.d / 4294967087.0); // the reciprocal of a number, by its upper word
}
// A half that stands in the constant bank, where a sum that widens it reads it.
__global__ void of_parameters(unsigned long long *o, __half low, __half2 both)
{
	int k = 0;
	put(o, k, __half2float(low) + threadIdx.x);
	put(o, k, __low2float(both) * threadIdx.x);
	put(o, k, __high2float(both) - threadIdx.x);
	put(o, k, fabsf(__half2float(low)));
}
int main()
{
	enum { MOST = 32 };
	unsigned long long *out;
	cudaMallocManaged(&out, MOST * 64 * sizeof *out);
	for (int n = 0; n < 3; n++) {
		cudaMemset(out, 0, MOST * 64 * sizeof *out);
		if (n == 0)
			to_integers<<<1, 64>>>(out);
		else if (n == 1)
			to_floats<<<1, 64>>>(out);
		else
			of_parameters<<<1, 64>>>(out, __float2half(-0.3f), __floats2half2_rn(1.7f, -2.9f));
		cudaDeviceSynchronize();
		for (int i = 0; i < MOST * 64; i++)
			printf("%llx%c", out[i], i % 64 == 63 ? '\n' : ' ');
	}
	printf("%s\n", cudaGetErrorString(cudaGetLastError()));
	cudaFree(out);
}
