// Three ways to transpose, with events around each.
#include "check.h"
#define TILE 32
#define ROWS 8

__global__ void naive(float *out, const float *in, int w, int h)
{
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	for (int j = 0; j < TILE; j += ROWS)
		if (x < w && y + j < h)
			out[x * h + y + j] = in[(y + j) * w + x];
}

template <int PAD>
__global__ void tiled(float *out, const float *in, int w, int h)
{
	__shared__ float tile[TILE][TILE + PAD];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	for (int j = 0; j < TILE; j += ROWS)
		if (x < w && y + j < h)
			tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
	__syncthreads();
	x = blockIdx.y * TILE + threadIdx.x;
	y = blockIdx.x * TILE + threadIdx.y;
	for (int j = 0; j < TILE; j += ROWS)
		if (x < h && y + j < w)
			out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main()
{
	const int w = 300, h = 200;
	std::vector<float> in(w * h), out(w * h);
	for (int i = 0; i < w * h; i++)
		in[i] = (float)i;
	float *din, *dout;
	CHECK(cudaMalloc(&din, in.size() * 4));
	CHECK(cudaMalloc(&dout, in.size() * 4));
	CHECK(cudaMemcpy(din, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
	dim3 grid((w + TILE - 1) / TILE, (h + TILE - 1) / TILE), block(TILE, ROWS);
	cudaEvent_t start, stop;
	CHECK(cudaEventCreate(&start));
	CHECK(cudaEventCreate(&stop));
	bool good = true;
	for (int v = 0; v < 3; v++) {
		CHECK(cudaMemset(dout, 0, in.size() * 4));
		CHECK(cudaEventRecord(start));
		if (v == 0)
			naive<<<grid, block>>>(dout, din, w, h);
		else if (v == 1)
			tiled<0><<<grid, block>>>(dout, din, w, h);
		else
			tiled<1><<<grid, block>>>(dout, din, w, h);
		CHECK(cudaEventRecord(stop));
		CHECK(cudaEventSynchronize(stop));
		float ms = -1;
		CHECK(cudaEventElapsedTime(&ms, start, stop));
		CHECK(cudaMemcpy(out.data(), dout, out.size() * 4, cudaMemcpyDeviceToHost));
		bool right = ms > 0 && ms < 1000;
		for (int y = 0; y < h; y++)
			for (int x = 0; x < w; x++)
				right = right && out[x * h + y] == in[y * w + x];
		printf("version %d %s\n", v, right ? "ok" : "wrong");
		good = good && right;
	}
	CHECK(cudaEventDestroy(start));
	CHECK(cudaEventDestroy(stop));
	CHECK(cudaFree(din));
	CHECK(cudaFree(dout));
	return finish("transpose", good);
}
