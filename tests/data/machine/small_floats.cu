// Halves, 8-bit floats, atomics at generic addresses and a switch: what PTX and machine code print of
// them is compared (tests/cli/machine-code-test.sh).
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
template <class T> __device__ void one(const T *a, T *o, int n)
{
	int t = threadIdx.x;
	T x = a[t], y = a[t + 1], z = a[t + 2];
	int k = 0;
	auto put = [&](T v) { o[(k++) * n + t] = v; };
	put(__hadd_sat(x, y));
	put(__hmul_sat(x, y));
	put(__hfma_sat(x, y, z));
	put(__hfma_relu(x, y, z));
	put(__hmax(x, y));
	put(__hmin_nan(x, y));
	put(hfloor(x));
	put(hceil(y));
	put(hrint(z));
	put(htrunc(x));
	put(htanh_approx(x));
	put(hexp2(x));
	put(hexp(y));
	put(hsin(x));
	put(htanh(y));
	put(hrcp(x));
	put(hsqrt(__habs(x)));
	put(hlog(__habs(y)));
	put(__hdiv(x, y));
}
template <class T> __device__ void two(const T *a, T *o, int n)
{
	int t = threadIdx.x;
	T x = a[t], y = a[t + 1], z = a[t + 2];
	int k = 0;
	auto put = [&](T v) { o[(k++) * n + t] = v; };
	put(__heq2(x, y));
	put(__hlt2(x, y));
	put(__hgtu2(x, y));
	put(__hne2(x, z));
	put(__hfma2_relu(x, y, z));
	put(__hfma2_sat(x, y, z));
	put(__hcmadd(x, y, z));
	unsigned m = __hgt2_mask(x, y) ^ __hleu2_mask(y, z);
	T r;
	*(unsigned *)&r = m;
	put(r);
	put(h2floor(x));
	put(h2rcp(x));
	put(__hmax2_nan(x, y));
}
__global__ void h1(const __half *a, __half *o, int n)
{
	one(a, o, n);
}
__global__ void b1(const __nv_bfloat16 *a, __nv_bfloat16 *o, int n)
{
	one(a, o, n);
}
__global__ void h2(const __half2 *a, __half2 *o, int n)
{
	two(a, o, n);
}
__global__ void b2(const __nv_bfloat162 *a, __nv_bfloat162 *o, int n)
{
	two(a, o, n);
}
__global__ void cv(const __half *h, const float *f, const double *d, int *o, int n)
{
	int t = threadIdx.x, k = 0;
	auto put = [&](int v) { o[(k++) * n + t] = v; };
	put(__half2int_rd(h[t]));
	put(__half2uint_ru(h[t]));
	long long l = __half2ll_rz(h[t]);
	put(l);
	put(l >> 32);
	put(__half2int_rn(h[t]));
	put(__nv_cvt_float_to_fp8(f[t], __NV_SATFINITE, __NV_E4M3));
	put(__nv_cvt_float_to_fp8(f[t], __NV_SATFINITE, __NV_E5M2));
	float2 p = make_float2(f[t], f[t + 1]);
	put(__nv_cvt_float2_to_fp8x2(p, __NV_SATFINITE, __NV_E4M3));
	put(__nv_cvt_float2_to_fp8x2(p, __NV_SATFINITE, __NV_E5M2));
	__half2 hh = __halves2half2(h[t], h[t + 1]);
	put(__nv_cvt_halfraw2_to_fp8x2(hh, __NV_SATFINITE, __NV_E4M3));
	put(__nv_cvt_halfraw2_to_fp8x2(hh, __NV_SATFINITE, __NV_E5M2));
	__half2_raw q = __nv_cvt_fp8x2_to_halfraw2((unsigned short)(t * 257 + 3), __NV_E4M3);
	put(q.x | q.y << 16);
	q = __nv_cvt_fp8x2_to_halfraw2((unsigned short)(t * 259), __NV_E5M2);
	put(q.x | q.y << 16);
	__nv_fp8x4_e4m3 w(make_float4(f[t], f[t + 1], f[t + 2], f[t + 3]));
	put(w.__x);
	float4 u = float4(w);
	put(__float_as_int(u.x));
	put(__float_as_int(u.y));
	put(__float_as_int(u.z));
	put(__float_as_int(u.w));
	__nv_bfloat16 b = __float2bfloat16_rz(f[t]);
	put(*(unsigned short *)&b);
	b = __double2bfloat16(d[t]);
	put(*(unsigned short *)&b);
	put(fmax(d[t], d[t + 1]) == d[t]);
	double mx = fmax(d[t], -d[t + 2]);
	put(__double2hiint(mx));
	put(__double2loint(fmin(mx, d[t + 1])));
}
__global__ void ga(double *g, int *o, int w)
{
	__shared__ double s;
	__shared__ __half2 hs;
	__shared__ unsigned long long ul;
	if (!threadIdx.x) {
		s = 1;
		hs = __float2half2_rn(1.f);
		ul = 3;
	}
	__syncthreads();
	double *p = w ? g : &s;
	atomicAdd(p, 1.5);
	__half2 *hp = w ? (__half2 *)(g + 1) : &hs;
	atomicAdd(hp, __float2half2_rn(.5f));
	unsigned long long *q = w ? (unsigned long long *)(g + 2) : &ul;
	atomicXor(q, 7ull << threadIdx.x);
	__syncthreads();
	if (!threadIdx.x) {
		o[0] = (int)*p;
		o[1] = *(int *)hp;
		o[2] = (int)*q;
		o[3] = (int)(*q >> 32);
		o[4] = __isShared(p);
	}
}
__global__ void sw(const int *a, int *o)
{
	int t = threadIdx.x, r = a[t];
	switch (a[t] & 15) {
	case 0: r += 3; break;
	case 1: r *= 7; break;
	case 2: r ^= o[t]; break;
	case 3: r -= a[t + 1]; break;
	case 4: r = a[r & 63]; break;
	case 5: r /= 3; break;
	case 6: r %= 11; break;
	case 7: r <<= 2; break;
	case 9: r = ~r; break;
	case 11: r = r * r; break;
	case 13: r = -r; break;
	default: r = 77;
	}
	o[t] = r;
}
unsigned hash(const void *p, size_t n)
{
	const unsigned char *c = (const unsigned char *)p;
	unsigned h = 2166136261u;
	while (n--)
		h = (h ^ *c++) * 16777619u;
	return h;
}
int main()
{
	const int N = 512;
	unsigned *u, *o;
	cudaMallocManaged(&u, 1 << 16);
	cudaMallocManaged(&o, 1 << 20);
	unsigned x = 12345;
	for (int i = 0; i < 16384; i++) {
		x = x * 1664525 + 1013904223;
		u[i] = x;
	}
	short *hs = (short *)u;
	for (int i = 0; i < 4000; i++)
		hs[i] = (hs[i] & 0x83ff) | ((14 + (i * 7) % 5) << 10);
	for (int rep = 0; rep < 2; rep++) {
		auto show = [&](const char *n, int words) {
			cudaError_t e = cudaDeviceSynchronize();
			printf("%s %s\n", n, cudaGetErrorString(e));
			for (int k = 0; k < words; k++)
				printf(" %d:%08x", k,
				       hash(o + k * (N / (n[0] == 'h' || n[0] == 'b' ? (n[1] == '1' ? 2 : 1) : 1)),
				            4 * N / (n[0] == 'h' || n[0] == 'b' ? (n[1] == '1' ? 2 : 1) : 1)));
			printf("\n");
		};
		cudaMemset(o, 0, 1 << 20);
		h1<<<1, N>>>((__half *)u, (__half *)o, N);
		show("h1", 19);
		cudaMemset(o, 0, 1 << 20);
		b1<<<1, N>>>((__nv_bfloat16 *)u, (__nv_bfloat16 *)o, N);
		show("b1", 19);
		cudaMemset(o, 0, 1 << 20);
		h2<<<1, N>>>((__half2 *)u, (__half2 *)o, N);
		show("h2", 11);
		cudaMemset(o, 0, 1 << 20);
		b2<<<1, N>>>((__nv_bfloat162 *)u, (__nv_bfloat162 *)o, N);
		show("b2", 11);
		float *f;
		cudaMallocManaged(&f, 4 * 1024);
		double *d;
		cudaMallocManaged(&d, 8 * 1024);
		for (int i = 0; i < 1024; i++) {
			f[i] = (hs[i] / 3000.f) * ((i % 7) ? 1 : 100);
			d[i] = f[i] * 1.0000001;
		}
		d[5] = 0.0 / 0.0;
		d[6] = 0.0 / 0.0;
		d[9] = -0.0;
		f[3] = 1e9;
		cudaMemset(o, 0, 1 << 20);
		cv<<<1, N>>>((__half *)u, f, d, (int *)o, N);
		show("cv", 22);
		double *g;
		cudaMallocManaged(&g, 64);
		for (int w = 0; w < 2; w++) {
			cudaMemset(g, 0, 64);
			ga<<<1, 32>>>(g, (int *)o, w);
			cudaDeviceSynchronize();
			printf("ga %d %08x %08x %08x %d\n", o[0], o[1], o[2], o[3], o[4]);
		}
		cudaMemset(o, 0, 1 << 20);
		sw<<<1, N>>>((int *)u, (int *)o);
		show("sw", 1);
		for (int i = 0; i < 8000; i++)
			hs[i] = i * 2654435761u >> 3;
	}
}
