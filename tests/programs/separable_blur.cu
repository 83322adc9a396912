// A picture blurred twice: a separable filter in constant memory, tiles with a halo, two streams with
// an event between them, times by chrono and by events.
#include "check.h"
#include <chrono>

constexpr int RADIUS = 4, WIDTH = 200, HEIGHT = 120, TILE = 32;
__constant__ float weights[2 * RADIUS + 1];

__global__ void blur_rows(const unsigned char *in, float *out)
{
	__shared__ float row[4][TILE + 2 * RADIUS];
	const int y = blockIdx.y * 4 + threadIdx.y, x0 = blockIdx.x * TILE;
	for (int i = threadIdx.x; i < TILE + 2 * RADIUS; i += TILE) {
		const int x = min(max(x0 + i - RADIUS, 0), WIDTH - 1);
		row[threadIdx.y][i] = y < HEIGHT ? (float)in[y * WIDTH + x] : 0.0f;
	}
	__syncthreads();
	const int x = x0 + threadIdx.x;
	if (x >= WIDTH || y >= HEIGHT)
		return;
	float sum = 0;
#pragma unroll
	for (int k = 0; k <= 2 * RADIUS; k++)
		sum += weights[k] * row[threadIdx.y][threadIdx.x + k];
	out[y * WIDTH + x] = sum;
}

__global__ void blur_columns(const float *__restrict__ in, unsigned char *out)
{
	const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= WIDTH || y >= HEIGHT)
		return;
	float sum = 0;
	for (int k = -RADIUS; k <= RADIUS; k++)
		sum += weights[k + RADIUS] * __ldg(&in[min(max(y + k, 0), HEIGHT - 1) * WIDTH + x]);
	out[y * WIDTH + x] = (unsigned char)__float2int_rn(sum);
}

int main()
{
	std::vector<unsigned char> image(WIDTH * HEIGHT), result(image.size());
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			image[y * WIDTH + x] = (unsigned char)((x / 10 + y / 10) % 2 * 200 + 20);
	float w[2 * RADIUS + 1], sum = 0;
	for (int k = 0; k <= 2 * RADIUS; k++)
		sum += w[k] = (float)(RADIUS + 1 - abs(k - RADIUS));
	for (float &v : w)
		v /= sum; // 25: all weights are exact multiples
	unsigned char *in, *out;
	float *middle;
	CHECK(cudaMalloc(&in, image.size()));
	CHECK(cudaMalloc(&out, image.size()));
	CHECK(cudaMalloc(&middle, image.size() * sizeof(float)));
	CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
	cudaStream_t first, second;
	cudaEvent_t rows_done, start, stop;
	CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&rows_done, cudaEventDisableTiming));
	CHECK(cudaEventCreate(&start));
	CHECK(cudaEventCreate(&stop));
	const auto before = std::chrono::steady_clock::now();
	CHECK(cudaEventRecord(start, first));
	CHECK(cudaMemcpyAsync(in, image.data(), image.size(), cudaMemcpyHostToDevice, first));
	blur_rows<<<dim3((WIDTH + TILE - 1) / TILE, (HEIGHT + 3) / 4), dim3(TILE, 4), 0, first>>>(in, middle);
	CHECK(cudaEventRecord(rows_done, first));
	CHECK(cudaStreamWaitEvent(second, rows_done, 0));
	blur_columns<<<dim3((WIDTH + 31) / 32, (HEIGHT + 7) / 8), dim3(32, 8), 0, second>>>(middle, out);
	CHECK(cudaEventRecord(stop, second));
	CHECK(cudaMemcpyAsync(result.data(), out, image.size(), cudaMemcpyDeviceToHost, second));
	CHECK(cudaStreamSynchronize(second));
	float ms = -1;
	CHECK(cudaEventElapsedTime(&ms, start, stop));
	const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
	bool good = ms > 0 && wall > 0;
	long long total = 0;
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++) {
			double want = 0;
			for (int j = -RADIUS; j <= RADIUS; j++)
				for (int i = -RADIUS; i <= RADIUS; i++) {
					const int yy = std::min(std::max(y + j, 0), HEIGHT - 1);
					const int xx = std::min(std::max(x + i, 0), WIDTH - 1);
					want += (double)w[j + RADIUS] * w[i + RADIUS] * image[yy * WIDTH + xx];
				}
			good = good && fabs(result[y * WIDTH + x] - want) <= 0.51;
			total += result[y * WIDTH + x];
		}
	printf("mean %.3f\n", (double)total / (WIDTH * HEIGHT));
	CHECK(cudaStreamDestroy(first));
	CHECK(cudaStreamDestroy(second));
	CHECK(cudaEventDestroy(rows_done));
	CHECK(cudaEventDestroy(start));
	CHECK(cudaEventDestroy(stop));
	free_all(in, out, middle);
	return finish("separable_blur", good);
}
// seeds: S-080
