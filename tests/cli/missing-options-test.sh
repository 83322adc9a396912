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
# headers of NVIDIA's samples
cat >sample.cu <<'EOF2'
#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_math.h>
__global__ void put(float4 *o, float3 a, float3 b)
{
	float3 n = normalize(cross(a, b)) + 0.5f * a / 2.0f - make_float3(1.0f);
	n += a;
	n *= 2.0f;
	o[0] = make_float4(clamp(lerp(n, b, 0.25f), 0.0f, 3.0f), dot(a, b));
	int3 q = make_int3(n) + 2;
	uint2 u = max(make_uint2(1, 2), make_uint2(2, 1));
	o[1] = make_float4(q.x, -q.y, length(make_float2(3, 4)), u.x + u.y);
}
int main(int argc, char **argv)
{
	float4 *o, h[2];
	StopWatchInterface *timer = NULL;
	const int times = getCmdLineArgumentInt(argc, (const char **)argv, "times");
	findCudaDevice(argc, (const char **)argv);
	sdkCreateTimer(&timer);
	sdkStartTimer(&timer);
	checkCudaErrors(cudaMalloc(&o, sizeof h));
	put<<<1, 1>>>(o, make_float3(1, 0, 0), make_float3(0, 1, 0));
	getLastCudaError("put");
	checkCudaErrors(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost));
	sdkStopTimer(&timer);
	for (int i = 0; i < 2; i++)
		printf("%g %g %g %g\n", h[i].x, h[i].y, h[i].z, h[i].w);
	printf("%d %d\n", times, sdkGetTimerValue(&timer) > 0);
	sdkDeleteTimer(&timer);
	checkCudaErrors(cudaFree(o));
	checkCudaErrors(cudaSetDevice(99));
}
EOF2
run sample 1 launches sample.cu -- --times=3
same sample-output 'GPU Device 0: "Ampere" with compute capability 8.0

0.375 0 0 0
2 0 5 4
3 1' "$(cat "$dir/out")"
says sample-noted 'the helper headers of NVIDIA'
says sample-error-named 'cudaErrorInvalidDevice'
# pictures and files of numbers
cat >picture.cu <<'EOF2'
#include <helper_functions.h>
int main()
{
	unsigned char *read = NULL, grey[6] = { 0, 51, 102, 153, 204, 255 };
	float *back = NULL, *numbers = NULL, values[3] = { 1.5f, -2, 3 };
	unsigned w = 0, h = 0, n = 0;
	sdkSavePGM("grey.pgm", grey, 3, 2);
	printf("%d", sdkLoadPGM("grey.pgm", &back, &w, &h));
	printf(" %ux%u %.1f %.1f\n", w, h, back[1], back[5]);
	unsigned char pixels[8] = { 1, 2, 3, 9, 4, 5, 6, 9 };
	sdkSavePPM4ub("pixels.ppm", pixels, 2, 1);
	printf("%d", sdkLoadPPM4ub("pixels.ppm", &read, &w, &h));
	printf(" %ux%u %d %d %d\n", w, h, read[2], read[3], read[4]);
	printf("%d %d\n", sdkComparePPM("pixels.ppm", "pixels.ppm", 0, 0, false),
	       sdkLoadPGM("pixels.ppm", &back, &w, &h));
	std::ofstream("numbers.txt") << "1.5 -2\n3";
	printf("%d", sdkReadFile("numbers.txt", &numbers, &n, true));
	printf(" %u %g %d\n", n, numbers[1],
	       compareDataAsFloatThreshold(values, numbers, 3, 1e-6f, 0.0f));
	printf("%d\n", sdkWriteFile("out.dat", numbers, n, 0.1f, false));
}
EOF2
run picture 0 launches picture.cu
same picture-output '1 3x2 0.2 1.0
1 2x1 3 0 4
1 0
1 3 -2 1
1' "$(cat "$dir/out")"
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
