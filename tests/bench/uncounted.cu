/* uncounted KERNEL N: N launches of it, each on memory that was changed, so that none repeats
 * another; see uncounted.sh. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

static const int n = 1 << 20;

__global__ void saxpy(float *y, const float *x)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	y[i] = 2 * x[i] + y[i];
}

__global__ void gather(int *y, const int *x, const int *from)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	y[i] += x[from[i] & (n - 1)];
}

__global__ void histogram(int *bins, const unsigned char *x)
{
	__shared__ int own[256];
	own[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4 * n; i += gridDim.x * blockDim.x)
		atomicAdd(&own[x[i]], 1);
	__syncthreads();
	atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void grey(unsigned char *x)
{
	const int i = 3 * (blockIdx.x * blockDim.x + threadIdx.x);
	const int v = (x[i] * 77 + x[i + 1] * 150 + x[i + 2] * 29) >> 8;
	x[i] = (unsigned char)v;
	x[i + 1] = (unsigned char)(v + 1);
	x[i + 2] = (unsigned char)(v + 2);
}

__global__ void own_array(float *y)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	float a[16];
	int at = (int)y[i] & 15;
	for (int k = 0; k < 16; k++)
		a[k] = y[i] + (float)k;
	for (int k = 0; k < 16; k++)
		at = ((int)a[at] + k) & 15;
	y[i] = a[at];
}

__global__ void matmul(float *c, const float *a, const float *b, int width)
{
	__shared__ float as[16][16], bs[16][16];
	const int x = threadIdx.x & 15, y = threadIdx.x >> 4, tiles = width / 16;
	const int row = blockIdx.x / tiles * 16 + y, column = blockIdx.x % tiles * 16 + x;
	float sum = 0;
	for (int t = 0; t < width; t += 16) {
		as[y][x] = a[row * width + t + x];
		bs[y][x] = b[(t + y) * width + column];
		__syncthreads();
		for (int k = 0; k < 16; k++)
			sum += as[y][k] * bs[k][x];
		__syncthreads();
	}
	c[row * width + column] = sum;
}

__global__ void matmul_naive(float *c, const float *a, const float *b, int width)
{
	const int x = threadIdx.x & 15, y = threadIdx.x >> 4, tiles = width / 16;
	const int row = blockIdx.x / tiles * 16 + y, column = blockIdx.x % tiles * 16 + x;
	float sum = 0;
	for (int k = 0; k < width; k++)
		sum += a[row * width + k] * b[k * width + column];
	c[row * width + column] = sum;
}

__global__ void bodies(float4 *speed, const float4 *at, int n_bodies)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	const float4 p = at[i];
	float ax = 0, ay = 0, az = 0;
	for (int j = 0; j < n_bodies; j++) {
		const float4 q = at[j];
		const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
		const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
		const float s = q.w * r * r * r;
		ax += dx * s, ay += dy * s, az += dz * s;
	}
	speed[i] = make_float4(ax, ay, az, 0);
}

template <typename real> __device__ int escape(real cx, real cy)
{
	real x = 0, y = 0;
	int k = 0;
	for (; k < 256 && x * x + y * y < 4; k++) {
		const real t = x * x - y * y + cx;
		y = 2 * x * y + cy;
		x = t;
	}
	return k;
}

__global__ void mandelbrot(int *y)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	y[i] += escape<float>((float)(i % 512) / 170 - 2, (float)(i / 512) / 170 - 0.7f);
}

__global__ void mandelbrot_double(int *y)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	y[i] += escape<double>((double)(i % 512) / 170 - 2, (double)(i / 512) / 170 - 0.7);
}

__global__ void stencil(float *y, const float *x, int width)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= width && i + width < n)
		y[i] += 0.2f * (x[i] + x[i - 1] + x[i + 1] + x[i - width] + x[i + width]);
}

__global__ void global_atomics(int *bins, const unsigned char *x)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	atomicAdd(&bins[x[i]], 1);
}

__global__ void sort(unsigned *x)
{
	__shared__ unsigned own[256];
	const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
	own[t] = x[i] * 2654435761u + i;
	__syncthreads();
	for (unsigned size = 2; size <= 256; size *= 2)
		for (unsigned step = size / 2; step; step /= 2) {
			const unsigned other = t ^ step;
			const unsigned a = own[t], b = own[other];
			if (other > t && (a > b) == !(t & size)) {
				own[t] = b;
				own[other] = a;
			}
			__syncthreads();
		}
	x[i] = own[t];
}

__global__ void options(float *y)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	const float price = 20 + (float)(i & 63), strike = 50, years = 1 + (float)(i & 7);
	const float root = 0.3f * sqrtf(years);
	const float d = (__logf(price / strike) + 0.045f * years) / root;
	y[i] += price * normcdff(d) - strike * __expf(-0.02f * years) * normcdff(d - root) +
	        sinf((float)i) * __cosf(d);
}

__global__ void collatz(int *y)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned v = (unsigned)i + 1;
	int turns = 0;
	for (; v != 1 && turns < 400; turns++)
		v = v & 1 ? 3 * v + 1 : v / 2;
	y[i] += turns;
}

int main(int argc, char **argv)
{
	const char *kernel = argc > 1 ? argv[1] : "saxpy";
	const int launches = argc > 2 ? atoi(argv[2]) : 1, blocks = n / 256;
	int *a, *b, *from, *host = (int *)malloc(n * sizeof(int));
	cudaMalloc(&a, n * sizeof(int));
	cudaMalloc(&b, n * sizeof(int));
	cudaMalloc(&from, n * sizeof(int));
	for (int i = 0; i < n; i++)
		host[i] = (int)((unsigned)i * 2654435761u % n);
	cudaMemcpy(from, host, n * sizeof(int), cudaMemcpyHostToDevice);
	cudaMemset(a, 0, n * sizeof(int));
	cudaMemset(b, 0, n * sizeof(int));
	float *real; /* no denormal numbers, which a CPU takes long for */
	cudaMalloc(&real, n * sizeof(float));
	for (int i = 0; i < n; i++)
		((float *)host)[i] = (float)(i % 1000) / 1000;
	cudaMemcpy(real, host, n * sizeof(float), cudaMemcpyHostToDevice);
	for (int i = 0; i < launches; i++) {
		cudaMemset(a + i, i + 1, 1);
		cudaMemset(b + i, i + 1, 1);
		cudaMemset(from + i, i + 1, 1);
		cudaMemset((char *)(real + i) + 1, i + 1, 1);
		if (!strcmp(kernel, "saxpy"))
			saxpy<<<blocks, 256>>>((float *)a, real);
		else if (!strcmp(kernel, "gather"))
			gather<<<blocks, 256>>>(a, b, from);
		else if (!strcmp(kernel, "histogram"))
			histogram<<<64, 256>>>(a, (unsigned char *)from);
		else if (!strcmp(kernel, "grey"))
			grey<<<blocks, 256>>>((unsigned char *)from);
		else if (!strcmp(kernel, "matmul"))
			matmul<<<256 * 256 / 256, 256>>>((float *)a, real, real + 65536, 256);
		else if (!strcmp(kernel, "matmul_naive"))
			matmul_naive<<<256 * 256 / 256, 256>>>((float *)a, real, real + 65536, 256);
		else if (!strcmp(kernel, "bodies"))
			bodies<<<4, 256>>>((float4 *)a, (float4 *)real, 1024);
		else if (!strcmp(kernel, "mandelbrot"))
			mandelbrot<<<512, 256>>>(a);
		else if (!strcmp(kernel, "mandelbrot_double"))
			mandelbrot_double<<<512, 256>>>(a);
		else if (!strcmp(kernel, "stencil"))
			stencil<<<blocks, 256>>>((float *)a, real, 1024);
		else if (!strcmp(kernel, "global_atomics"))
			global_atomics<<<blocks, 256>>>(a, (unsigned char *)from);
		else if (!strcmp(kernel, "sort"))
			sort<<<256, 256>>>((unsigned *)a);
		else if (!strcmp(kernel, "options"))
			options<<<512, 256>>>((float *)a);
		else if (!strcmp(kernel, "collatz"))
			collatz<<<64, 256>>>(a);
		else
			own_array<<<blocks, 256>>>((float *)a);
	}
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	cudaFree(a), cudaFree(b), cudaFree(from), cudaFree(real), free(host);
}
