#include <cstdio>
#define T 16 // "x"
namespace a {
template <class U, int N> __global__ void __launch_bounds__(256) k(const U *__restrict__ x, U *y, int n)
{
	extern __shared__ float s[];
	__shared__ float t[T][T + 1];
	y[threadIdx.y] = R"(})" [0] + '{' /* } */ ? x[n] : U(N);
}
}
extern "C" __global__ void plain(float4 v, unsigned long long *p) { p[0] = v.x; }
__device__ int f(int a) { return a; }
int main(int argc, char **argv) { a::k<float, 4><<<1, 256>>>(0, 0, 1); return f(0); }
