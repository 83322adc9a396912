// Rows with a pitch, a window of them copied, a volume of slices.
#include "check.h"

__global__ void number(char *base, size_t pitch, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x < w && y < h)
		((int *)(base + y * pitch))[x] = y * 1000 + x;
}

int main()
{
	const int w = 70, h = 30;
	char *device;
	size_t pitch;
	CHECK(cudaMallocPitch((void **)&device, &pitch, w * 4, h));
	number<<<dim3(1, h), 128>>>(device, pitch, w, h);
	std::vector<int> window(10 * 5);
	CHECK(cudaMemcpy2D(window.data(), 10 * 4, device + 3 * pitch + 20 * 4, pitch, 10 * 4, 5,
	                   cudaMemcpyDeviceToHost));
	bool good = pitch >= w * 4;
	for (int y = 0; y < 5; y++)
		for (int x = 0; x < 10; x++)
			good = good && window[y * 10 + x] == (y + 3) * 1000 + x + 20;
	cudaExtent extent = make_cudaExtent(16 * 4, 8, 4);
	cudaPitchedPtr volume;
	CHECK(cudaMalloc3D(&volume, extent));
	CHECK(cudaMemset3D(volume, 0x11, extent));
	std::vector<int> cube(16 * 8 * 4);
	cudaMemcpy3DParms p = {};
	p.srcPtr = volume;
	p.dstPtr = make_cudaPitchedPtr(cube.data(), 16 * 4, 16, 8);
	p.extent = extent;
	p.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3D(&p));
	for (int v : cube)
		good = good && v == 0x11111111;
	printf("window %d ... %d\n", window.front(), window.back());
	CHECK(cudaFree(device));
	CHECK(cudaFree(volume.ptr));
	return finish("pitched", good);
}
