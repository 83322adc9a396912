// Escape times: lanes of a warp leave the loop at different turns.
#include "check.h"

__global__ void escape(unsigned char *out, int w, int h, int limit)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h)
		return;
	double cr = -2.0 + 3.0 * x / w, ci = -1.0 + 2.0 * y / h, r = 0, i = 0;
	int n = 0;
	while (n < limit && r * r + i * i < 4) {
		double t = r * r - i * i + cr;
		i = 2 * r * i + ci;
		r = t;
		n++;
	}
	out[y * w + x] = (unsigned char)n;
}

int main()
{
	const int w = 120, h = 80, limit = 100;
	std::vector<unsigned char> image(w * h);
	unsigned char *d;
	CHECK(cudaMalloc(&d, image.size()));
	escape<<<dim3((w + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(d, w, h, limit);
	CHECK(cudaMemcpy(image.data(), d, image.size(), cudaMemcpyDeviceToHost));
	long inside = 0, sum = 0;
	for (unsigned char v : image) {
		inside += v == limit;
		sum += v;
	}
	for (int y = 0; y < h; y += 10) {
		for (int x = 0; x < w; x += 4)
			putchar(" .:-=+*#%@"[image[y * w + x] * 9 / limit]);
		putchar('\n');
	}
	printf("%ld points inside\n", inside);
	CHECK(cudaFree(d));
	return finish("mandelbrot", inside > 1000 && sum > inside * limit);
}
