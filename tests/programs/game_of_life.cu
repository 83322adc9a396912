// A glider moves by one cell in four generations: bytes, wrap-around, templates of a border rule.
#include "check.h"

struct torus {
	static __device__ int at(int i, int n) { return (i + n) % n; }
};

template <class Border>
__global__ void generation(const char *in, char *out, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h)
		return;
	int n = 0;
#pragma unroll
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++)
			if (dx || dy)
				n += in[Border::at(y + dy, h) * w + Border::at(x + dx, w)];
	out[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
}

int main()
{
	const int w = 40, h = 30;
	std::vector<char> a(w * h, 0), b(w * h);
	const int glider[][2] = { { 1, 0 }, { 2, 1 }, { 0, 2 }, { 1, 2 }, { 2, 2 } };
	for (auto &c : glider)
		a[c[1] * w + c[0]] = 1;
	char *da, *db;
	CHECK(cudaMalloc(&da, a.size()));
	CHECK(cudaMalloc(&db, a.size()));
	CHECK(cudaMemcpy(da, a.data(), a.size(), cudaMemcpyHostToDevice));
	const int generations = 4 * 25;
	for (int g = 0; g < generations; g++) {
		generation<torus><<<dim3(5, 4), dim3(8, 8)>>>(da, db, w, h);
		std::swap(da, db);
	}
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(b.data(), da, b.size(), cudaMemcpyDeviceToHost));
	bool good = true;
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++)
			good = good && b[(y + 25) % h * w + (x + 25) % w] == a[y * w + x];
	printf("%d generations\n", generations);
	CHECK(cudaFree(da));
	CHECK(cudaFree(db));
	return finish("game_of_life", good);
}
