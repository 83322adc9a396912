#!/bin/sh
# Programs whose makefile gives nvcc an option that is not on the command line: it is given where
# nvcc's words ask for it, and that is said.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip missing-options: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
export XDG_CACHE_HOME="$dir/cache"
cat >lambda.cu <<'EOF2'
#include <cstdio>
template <class F> __global__ void each(int *x, F f) { x[threadIdx.x] = f(x[threadIdx.x]); }
int main()
{
	int *x, add = 3;
	cudaMallocManaged(&x, 4);
	*x = 4;
	each<<<1, 1>>>(x, [=] __device__(int v) { return v + add; });
	cudaDeviceSynchronize();
	printf("%d\n", *x);
	return cudaFree(x);
}
EOF2
cat >constant.cu <<'EOF2'
#include <algorithm>
#include <cstdio>
constexpr int twice(int x) { return 2 * x; }
__global__ void set(int *x) { *x = std::max(twice(*x), 5); }
int main()
{
	int *x;
	cudaMallocManaged(&x, 4);
	*x = 4;
	set<<<1, 1>>>(x);
	cudaDeviceSynchronize();
	printf("%d\n", *x);
	return cudaFree(x);
}
EOF2
cat >newest.cu <<'EOF2'
#include <concepts>
#include <cstdio>
#include <numbers>
#include <span>
template <std::integral T> __global__ void set(T *x) { *x = 5; }
template <class T> requires std::integral<T> T sum(std::span<const T> s)
{
	T n = 0;
	for (T v : s)
		n += v;
	return n;
}
int main()
{
	int *x, h[2] = { 3, 0 };
	cudaMalloc(&x, 4);
	set<<<1, 1>>>(x);
	cudaMemcpy(h + 1, x, 4, cudaMemcpyDeviceToHost);
	printf("%d %d\n", sum(std::span<const int>(h)), (int)std::numbers::pi);
	return cudaFree(x);
}
EOF2
cat >threads.cu <<'EOF2'
#include <cstdio>
#include <omp.h>
__global__ void set(int *x) { *x = 5; }
int main()
{
	int *x, h, n = 0;
	cudaMalloc(&x, 4);
#pragma omp parallel num_threads(3) reduction(+ : n)
	n += omp_get_num_threads();
	set<<<1, 1>>>(x);
	cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost);
	printf("%d %d\n", h, n);
	return cudaFree(x);
}
EOF2
cat >driver.cu <<'EOF2'
#include <cstdio>
#include <cuda.h>
#include <nvrtc.h>
int main()
{
	int n = 0, major = 0, minor;
	cuInit(0);
	cuDeviceGetCount(&n);
	nvrtcVersion(&major, &minor);
	printf("%d %d\n", n > 0, major > 10);
}
EOF2
while read -r name output word; do
	run "$name" 0 launches "$name.cu"
	same "$name-output" "$(echo "$output" | tr _ ' ')" "$(cat "$dir/out")"
	says "$name-noted" "$word"
done <<'EOF2'
lambda 7 --extended-lambda
constant 8 --expt-relaxed-constexpr
newest 8_3 -std=c++20
threads 5_9 -fopenmp
driver 1_1 -lcuda
EOF2
says driver-noted-nvrtc 'linked with -lnvrtc'
# what no option helps is told as before
echo 'int main() { return std::nothing_of_the_kind(); }' >wrong.cu
run wrong 1 launches wrong.cu
says wrong-told 'nothing_of_the_kind'
cat >blas.cu <<'EOF2'
#include <cublas_v2.h>
int main()
{
	cublasHandle_t h;
	return cublasCreate(&h);
}
EOF2
if nvcc -c -o blas.o blas.cu 2>/dev/null; then
	run blas 1 launches blas.cu
	says blas-remedy 'give -lcublas'
fi
